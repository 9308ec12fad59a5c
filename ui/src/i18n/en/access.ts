// English: what commands may use beyond their sandbox.

export const access = {
  intro: 'Commands of agents run in a sandbox: they write only in their folder and have no network. Here is what you opened to them beyond that, folder by folder. An agent asks when it needs something.',
  empty: 'Nothing is open: commands have what the sandbox gives.',
  kinds: { read: 'Read', write: 'Write', host: 'Reach' },
  granted: 'Opened',
  used: 'last used',
  unused: 'not used yet',
  revoke: 'Take back',
  revokeOf: (value: string) => `Take back ${value}`,
  revokeTitle: (value: string) => `Close ${value} again?`,
  revokeText: 'Commands that run now keep it until they end. Agents may ask for it again.',
  done: (value: string) => `${value} is closed again`,
  add: 'Open something in the terminal, in the folder it is meant for:',
};
