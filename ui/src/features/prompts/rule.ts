// The record of a rule as the page shows it. Whoever can write the database can write anything: a part of the wrong
// type counts as absent.

export interface RuleText {
  name: string;
  effect: 'allow' | 'deny' | 'ask';
  scope: 'run' | 'chat' | 'agent' | 'project' | 'everywhere';
  place: string;
  /** Commands, paths, or a tool with its arguments: what it is about. */
  about: string[];
  /** It is about changes of these files and nothing else. */
  files: boolean;
  until: number | null;
  paused: boolean;
}

const EFFECTS = ['allow', 'deny', 'ask'] as const;
const SCOPES = ['run', 'chat', 'agent', 'project', 'everywhere'] as const;

export function readRule(value: unknown): RuleText | null {
  const record = object(value);
  const scope = object(record['scope']);
  const effect = EFFECTS.find((known) => known === record['effect']);
  const kind = SCOPES.find((known) => known === scope['kind']);
  if (effect === undefined || kind === undefined) return null;
  const commands = list(object(record['shell'])['commands']).map((entry) => {
    const command = object(entry);
    const more = command['more'] === 'words' || command['more'] === 'paths' ? ['…'] : [];
    return [text(command['program']), ...list(command['argv']).map(text), ...more].join(' ');
  });
  const paths = list(object(record['paths'])['globs']).map(text);
  const args = list(record['args']).map((entry) => {
    const arg = object(entry);
    return arg['op'] === 'absent' ? `${text(arg['at'])} –` : `${text(arg['at']).replace(/^\//, '')} = ${JSON.stringify(arg['value'])}`;
  });
  const until = record['until'];
  return {
    name: text(record['name']),
    effect,
    scope: kind,
    place: text(scope['id']),
    about: [...commands, ...paths, ...(args.length > 0 ? [text(record['tool']), ...args] : [])],
    files: paths.length > 0 && commands.length === 0 && args.length === 0,
    until: typeof until === 'number' ? until : null,
    paused: record['paused'] === true,
  };
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
