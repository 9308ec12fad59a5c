// English texts of giving a server or an app to agents.

export const give = {
  title: 'Agents that can use it',
  nobody: 'No agent can use it yet.',
  chip: 'No agent uses it',
  button: 'Give to an agent…',
  others: 'Give to another agent…',
  takeBack: (agent: string) => `Take it back from ${agent}`,
  takenBack: (agent: string, server: string) => `${agent} can no longer use ${server}`,
  dialogTitle: (server: string) => `Who can use ${server}?`,
  already: 'can already use it',
  ask: 'Ask me before each tool (recommended)',
  sub: 'Subagents can use it too',
  gains: (n: number) => (n === 0 ? 'gains all its tools' : `gains ${n} ${n === 1 ? 'tool' : 'tools'}`),
  same: 'nothing changes',
  copied: (from: string, agent: string) => `“${from}” is shared, so ${agent} gets a copy of that permissions profile.`,
  give: 'Give',
  notNow: 'Not now',
  given: (server: string, agents: string) => `${agents} can use ${server}`,
};
