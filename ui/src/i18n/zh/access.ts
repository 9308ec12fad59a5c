// 设置 › 沙箱的文字。

import type { access as en } from '../en/access';

const VERB = { read: '读取', write: '写入', host: '访问' };

export const access: typeof en = {
  intro: '智能体的命令在沙箱中运行：只能写入自己的文件夹，没有网络。这里按文件夹列出你额外开放给它们的内容。智能体需要时会询问你。',
  empty: '没有额外开放：命令只能做沙箱允许的事。',
  kinds: { read: '读取', write: '写入', host: '访问' },
  granted: '开放于',
  used: '最近使用',
  unused: '尚未使用',
  revoke: '收回',
  revokeOf: (value) => `收回 ${value}`,
  revokeTitle: (value) => `收回 ${value}？`,
  revokeText: '正在运行的命令在结束前仍可使用。智能体可以再次请求。',
  done: (value) => `已收回 ${value}`,
  add: '要额外开放，请在对应的文件夹中运行：',
  note: {
    denied: (one) => {
      if (one.access === 'network') return one.host ? `沙箱不允许命令访问 \`${one.host}\`。` : '沙箱没有网络。';
      const verb = one.access === 'write' ? '写入' : one.access === 'execute' ? '运行' : '读取';
      return `沙箱不允许命令${verb} \`${one.path ?? ''}\`。`;
    },
    notAtFault: '命令本身没有问题。是否允许此项目的命令使用它，由你决定。',
    never: 'ChatOS 不会向命令开放自己的文件。',
    closed: '这个位置始终关闭。如确有需要，智能体可以请求在沙箱外运行一次该命令。',
    opens: (kind, value) => `命令本身没有问题。你可以允许此项目的命令${VERB[kind]} \`${value}\`。`,
    allow: (kind) => ({ read: '允许读取', write: '允许写入', host: '允许访问' })[kind],
    opened: (kind, value) => `此项目的命令现在可以${VERB[kind]} \`${value}\`。`,
    notAgain: '命令没有重新运行。',
    tellAgent: '告诉智能体',
    tell: (kind, value) => `命令现在可以${VERB[kind]} \`${value}\`。请继续。`,
    told: '已告诉智能体。',
    manage: '查看已开放的内容',
    settings: (access) => (access === 'network' ? '网络设置' : '允许的路径'),
  },
};
