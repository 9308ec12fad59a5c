// What a call is about, in a few words.

/** What is worth a glance: the path, the command, the question. */
const TARGETS = ['path', 'paths', 'file', 'command', 'cmd', 'query', 'pattern', 'q', 'url', 'title', 'name', 'task', 'text', 'message', 'id'];
const LONGEST = 200;

export function aboutOf(args: Record<string, unknown> | null): string {
  if (!args) return '';
  const key = TARGETS.find((name) => isShort(args[name])) ?? Object.keys(args).find((name) => isShort(args[name]));
  const value = key === undefined ? undefined : args[key];
  return oneLine(Array.isArray(value) ? value.join(', ') : String(value ?? ''));
}

/** The beginning of a text, on one line. */
export function oneLine(text: string): string {
  return text.slice(0, 2 * LONGEST).replaceAll(/\s+/gu, ' ').trim().slice(0, LONGEST);
}

function isShort(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
}
