// English: what commands may use beyond their sandbox.

type AccessKind = 'read' | 'write' | 'host';

/** `read x`, `write x` or `reach x`. */
const may = (kind: AccessKind, value: string) => `${kind === 'host' ? 'reach' : kind} \`${value}\``;

export const access = {
  intro: 'Agents’ commands run in a sandbox: they can write only in their folder and have no network. This is what you have opened to them beyond that, folder by folder. An agent asks when it needs more.',
  empty: 'Nothing extra is open: commands have only what the sandbox allows.',
  kinds: { read: 'Read', write: 'Write', host: 'Reach' },
  granted: 'Allowed',
  used: 'last used',
  unused: 'not used yet',
  revoke: 'Revoke',
  revokeOf: (value: string) => `Revoke ${value}`,
  revokeTitle: (value: string) => `Revoke ${value}?`,
  revokeText: 'Commands running now keep it until they end. Agents can ask for it again.',
  done: (value: string) => `${value} revoked`,
  add: 'To open something, run this in the folder it’s meant for:',
  /** On the card of a command that was refused something. */
  note: {
    denied: (one: { access: string; path: string | null; host: string | null }) => {
      if (one.access === 'network') return one.host ? `The sandbox didn’t let the command reach \`${one.host}\`.` : 'The sandbox has no network.';
      const verb = one.access === 'write' ? 'write' : one.access === 'execute' ? 'run' : 'read';
      return `The sandbox didn’t let the command ${verb} \`${one.path ?? ''}\`.`;
    },
    notAtFault: 'Nothing is wrong with the command. You decide whether commands in this project may use it.',
    never: 'ChatOS never opens its own files to commands.',
    closed: 'This place stays closed. If it’s needed, the agent can ask to run the command once outside the sandbox.',
    opens: (kind: AccessKind, value: string) => `Nothing is wrong with the command. You can let commands in this project ${may(kind, value)}.`,
    allow: (kind: AccessKind) => ({ read: 'Allow reading', write: 'Allow writing', host: 'Allow this machine' })[kind],
    opened: (kind: AccessKind, value: string) => `Commands in this project may now ${may(kind, value)}.`,
    notAgain: 'The command wasn’t run again.',
    tellAgent: 'Tell the agent',
    tell: (kind: AccessKind, value: string) => `Commands may now ${may(kind, value)}. Go on.`,
    told: 'Sent to the agent.',
    manage: 'See what’s allowed',
    settings: (access: string): string => (access === 'network' ? 'Network settings' : 'Allowed paths'),
  },
};
