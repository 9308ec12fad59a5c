// 应用页面的文字。

import type { apps as source } from '../en/apps';

export const apps: typeof source = {
  title: '应用',
  search: '搜索应用',
  searchPlaceholder: '名称、标识或说明',
  count: (shown, all) => (shown === all ? `${all} 个插件` : `${all} 个插件中的 ${shown} 个`),
  empty: '尚未安装应用：把插件文件夹放进下面的目录，它就会自动出现在这里。',
  emptyButton: '复制目录路径',
  exampleIntro: '也可以在终端里安装一个包：',
  example: 'chatos plugin install ./my-app.zip',
  noMatch: (text) => `没有与“${text}”匹配的应用。`,
  noApps: '这个插件不含应用。',
  version: (version) => `v${version}`,
  by: (name) => `发布者：${name}（未核实）`,
  sources: { builtin: '内置', user: '已安装', dev: '开发中' },
  trust: { trusted: '已信任', untrusted: '未信任', changed: '信任后已被改动' },
  trustNote: {
    untrusted: '在你信任它之前，其中的任何代码都不会运行。',
    changed: '它的文件已不是你信任时的内容。在你再次信任之前，其中的任何代码都不会运行。',
  },
  shadowsBuiltin: '信任后将取代相同标识的内置插件。',
  backend: '后端',
  backendUnavailable: '缺少后端',
  offers: {
    server: '给智能体的工具',
    prompt: '给智能体的说明',
    compact: '紧凑视图',
    agent: '智能体模板',
  },
  problems: '问题',
  problemsNone: '没有问题。',
  problemsCount: (n) => `${n} 个问题`,
  problemsIntro: '有问题的部分会被略去，其余部分照常工作。',
  severity: { error: '错误', warning: '警告' },
  otherPlugin: '不属于某个插件',
  wholeFile: '整个文件',
};
