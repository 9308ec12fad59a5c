// The order of the queue (ui-prompts §4): by time of asking, then by place in the file. Needs-you is
// oldest first, results are newest first.

import type { PromptItem } from './item';

export type Direction = 'oldest' | 'newest';

/** Negative when `a` was asked before `b`. A prompt that is not in the file yet comes last. */
export function compare(a: PromptItem, b: PromptItem): number {
  if (a.at !== b.at) return a.at - b.at;
  const left = a.position ?? Number.MAX_SAFE_INTEGER;
  const right = b.position ?? Number.MAX_SAFE_INTEGER;
  return left - right;
}

/** Where `item` belongs; after those that compare equal, so that arrival order decides a tie. */
export function placeOf(items: PromptItem[], item: PromptItem, direction: Direction): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = items[middle];
    if (!other) break;
    const order = direction === 'oldest' ? compare(other, item) : compare(item, other);
    if (order <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of an item known to be in the list: found by its key, so a long list costs little. */
export function indexIn(items: PromptItem[], item: PromptItem, direction: Direction): number {
  const end = placeOf(items, item, direction);
  for (let index = end - 1; index >= 0; index -= 1) {
    const other = items[index];
    if (other?.id === item.id) return index;
    if (!other || compare(other, item) !== 0) break;
  }
  // The key changed meanwhile (a prompt got its place in the file): look everywhere.
  return items.findIndex((other) => other.id === item.id);
}
