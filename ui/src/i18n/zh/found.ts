// Chinese texts about coding agents of other makers that were found on this machine.

import type { found as en } from '../en/found';

export const found: typeof en = {
  intro: '也可以直接使用你已有的智能体：',
  label: (name: string) => `${name}（已找到）`,
  add: '添加',
  confirmTitle: (name: string) => `添加 ${name}？`,
  confirmText: (command: string, folder: string) => `ChatOS 将以你的身份和登录状态在 ${folder} 中启动“${command}”。它会自行读写文件、运行命令；ChatOS 显示它汇报的内容，并在它请求许可时转来问你。`,
  confirmed: (name: string) => `已添加 ${name}`,
  chosen: (name: string) => `已添加 ${name}，在下方给它发消息吧。`,
};
