// What the palette offers and how it is searched: words in any order, the closest match first.

import type { IconName } from '../../components/Icon.svelte';

export type Group = 'actions' | 'pages' | 'chats' | 'agents' | 'apps' | 'settings';

export interface Command {
  key: string;
  group: Group;
  label: string;
  /** More that it is found by. */
  words?: string;
  icon: IconName;
  run: () => void;
}

/** Of each group; the palette is for what one knows by name. */
const MOST = 10;
const ORDER: readonly Group[] = ['actions', 'pages', 'chats', 'agents', 'apps', 'settings'];
/** Before anything is typed: where one goes most. */
const AT_FIRST: readonly Group[] = ['chats', 'pages', 'actions'];

export interface Found {
  group: Group;
  items: Command[];
}

/** The commands that hold every word, by group. A label that begins with what was typed comes before the rest. */
export function find(commands: readonly Command[], query: string): Found[] {
  const text = query.trim().toLowerCase();
  const words = text.split(/\s+/u).filter(Boolean);
  const score = (command: Command): number => {
    const label = command.label.toLowerCase();
    if (label.startsWith(text)) return 0;
    return words.every((word) => label.includes(word)) ? 1 : 2;
  };
  const holds = (command: Command) => words.every((word) => `${command.label}\n${command.words ?? ''}`.toLowerCase().includes(word));
  return (text === '' ? AT_FIRST : ORDER)
    .map((group) => {
      const items = commands.filter((command) => command.group === group && holds(command));
      // Sorting keeps the order of equals: chats stay newest first.
      return { group, items: (text === '' ? items : items.sort((a, b) => score(a) - score(b))).slice(0, MOST) };
    })
    .filter(({ items }) => items.length > 0)
    .sort((a, b) => (text === '' ? 0 : Math.min(...a.items.map(score)) - Math.min(...b.items.map(score))));
}

/** `g` and then this letter. */
export const JUMPS = { c: 'chat', i: 'queue', a: 'apps', e: 'agents', t: 'tasks', r: 'runs', h: 'changes', s: 'settings' } as const;

/** Whether a key pressed there is text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest('input, textarea, select, [role="textbox"], [role="combobox"]') !== null;
}
