// 把服务器或应用交给智能体使用的文字。

import type { give as en } from '../../en/admin/give';

export const give: typeof en = {
  title: '可以使用它的智能体',
  nobody: '还没有智能体可以使用它。',
  chip: '没有智能体使用',
  button: '交给智能体…',
  others: '交给其他智能体…',
  takeBack: (agent) => `不再让 ${agent} 使用`,
  takenBack: (agent, server) => `${agent} 不能再使用 ${server}`,
  dialogTitle: (server) => `谁可以使用 ${server}？`,
  already: '已经可以使用',
  ask: '每次调用工具前先问我（推荐）',
  sub: '子智能体也可以使用',
  gains: (n) => (n === 0 ? '将获得它的全部工具' : `将获得 ${n} 个工具`),
  same: '没有变化',
  copied: (from, agent) => `“${from}”是共用的，${agent} 将改用该授权配置的副本。`,
  give: '交给它',
  notNow: '暂不',
  given: (server, agents) => `${agents} 可以使用 ${server}`,
};
