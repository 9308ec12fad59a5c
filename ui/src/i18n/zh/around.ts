// 各页面之外的文字：手机底栏、无效地址、命令面板、离开提醒。

import type { around as source } from '../en/around';

export const around: typeof source = {
  more: '更多',
  notFound: {
    title: '没有这个页面',
    text: '地址可能输错了，或者已经失效：',
    back: '前往对话',
  },
  leave: {
    title: '不保存就离开吗？',
    text: '这里的更改尚未保存，离开后会丢失。',
    action: '离开',
    appTitle: (app: string) => `${app} 想离开此页面`,
    appText: '你在这里输入的内容尚未保存。',
  },
  palette: {
    title: '查找与操作',
    placeholder: '搜索页面、对话、智能体、应用、操作和设置',
    none: (query: string) => `没有找到“${query}”`,
    groups: { pages: '页面', chats: '对话', agents: '智能体', apps: '应用', actions: '操作', settings: '设置' },
    newChat: '新建对话',
    openInbox: '打开待办',
    shortcuts: '查看键盘快捷键',
    theme: (name: string) => `主题：${name}`,
    language: (name: string) => `语言：${name}`,
  },
};
