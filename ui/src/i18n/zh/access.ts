// 设置 › 沙箱的文字。

import type { access as en } from '../en/access';

export const access: typeof en = {
  intro: '智能体的命令在沙箱中运行：只能写入所在文件夹，没有网络。这里按文件夹列出你额外开放给它们的内容。智能体需要时会询问你。',
  empty: '没有开放项：命令只有沙箱给予的权限。',
  kinds: { read: '读取', write: '写入', host: '访问' },
  granted: '开放于',
  used: '最近使用',
  unused: '尚未使用',
  revoke: '收回',
  revokeOf: (value) => `收回 ${value}`,
  revokeTitle: (value) => `收回 ${value}？`,
  revokeText: '正在运行的命令在结束前仍可使用。智能体可以再次请求。',
  done: (value) => `已收回 ${value}`,
  add: '也可以在终端中、在对应的文件夹里开放：',
};
