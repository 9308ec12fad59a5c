// What the virtual list of prompts needs to know of its rows.

import type { IconName } from '../../components/Icon.svelte';
import type { PromptItem } from '../../state/prompts/item';

export interface PromptRow {
  item: PromptItem;
  /** Steps of a chain that this row stands for. */
  steps?: number;
  /** Nothing is asked of anybody any more. */
  quiet?: boolean;
}

/** The head of a group of questions. */
export interface GroupRow {
  group: string;
  label: string;
  title: string;
  count: number;
  folded: boolean;
}

export type Row = PromptRow | { heading: string } | GroupRow;

/** Rows by index, without all of them existing at once. */
export interface Rows {
  count: number;
  /** Null: not read yet. */
  at: (index: number) => Row | null;
  indexOf: (id: string) => number;
  /** Lists the page has sifted or grouped by itself have more to tell. */
  arranged?: ArrangedRows;
}

export interface ArrangedRows {
  /** Where each row begins, and at last where they end. */
  tops: number[];
  /** All questions in order; those of folded groups have no row. */
  fitting: PromptItem[];
  groupIndex: (group: string) => number;
  within: (group: string) => PromptItem[];
  /** The group a question is in. */
  groupOf: (id: string) => string | null;
}

/** Every row has this height, so that a place in the list is a multiplication; heads of groups are lower. */
export const ROW_HEIGHT = 64;
export const GROUP_HEIGHT = 40;

/** Where a row begins; for the number of rows, where they end. */
export function topOf(rows: Rows, index: number): number {
  return rows.arranged?.tops[index] ?? index * ROW_HEIGHT;
}

/** The row at a height. */
export function indexAt(rows: Rows, y: number): number {
  const tops = rows.arranged?.tops;
  if (!tops) return Math.floor(y / ROW_HEIGHT);
  let [low, high] = [0, rows.count];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? Infinity) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function idOf(row: Row | null): string | null {
  return row && 'item' in row ? row.item.id : null;
}

/** The next row with a prompt, going by `step` from `index`; -1 when there is none. With `groups` the keys stop at
    heads of groups as well. */
export function nextPrompt(rows: Rows, index: number, step: 1 | -1, groups = false): number {
  for (let at = index + step; at >= 0 && at < rows.count; at += step) {
    const row = rows.at(at);
    if (row === null || 'item' in row || (groups && 'group' in row)) return at;
  }
  return -1;
}

/** Where a prompt stands in its list, for when it has left it. */
export interface Spot {
  id: string;
  index: number;
  next: string | null;
  previous: string | null;
}

export function spotOf(rows: Rows, id: string): Spot | null {
  const index = rows.indexOf(id);
  if (index < 0) return null;
  return { id, index, next: openId(rows, index + 1), previous: openId(rows, index - 1, -1) };
}

/** The prompt to go on with after the one at `spot` was answered: the one below it, else the one above;
    by their ids, because rows may have come and gone meanwhile. */
export function afterSpot(rows: Rows, spot: Spot): string | null {
  // The answered prompt itself may still be in the list, or not.
  const at = (index: number, step: 1 | -1 = 1) => {
    const id = openId(rows, index, step);
    return id === spot.id ? null : id;
  };
  const near = (id: string | null, by: 0 | 1) => {
    const index = id === null ? -1 : rows.indexOf(id);
    return index < 0 ? null : at(index + by);
  };
  return near(spot.next, 0) ?? near(spot.previous, 1) ?? near(spot.previous, 0) ?? at(spot.index) ?? at(spot.index - 1, -1);
}

/** The open question at a row; heads of groups are passed, going by `step`. */
function openId(rows: Rows, index: number, step: 1 | -1 = 1): string | null {
  let at = index;
  let row = at < 0 ? null : rows.at(at);
  while (row && 'group' in row) {
    at += step;
    row = at < 0 ? null : rows.at(at);
  }
  return row && 'item' in row && !row.quiet ? row.item.id : null;
}

/** The rows drawn at a scroll position: `count` of them from `start`. Their number stays the same while
    scrolling, so that each drawn row is used again for another one instead of being made anew. */
export function windowOf(scrollTop: number, viewport: number, rows: Rows, overscan = 4): { start: number; count: number } {
  const lowest = rows.arranged ? GROUP_HEIGHT : ROW_HEIGHT;
  const count = Math.min(rows.count, Math.ceil(viewport / lowest) + 1 + 2 * overscan);
  const wanted = indexAt(rows, scrollTop) - overscan;
  return { start: Math.max(0, Math.min(wanted, rows.count - count)), count };
}

/** The row that a drawn element shows: the one in the window with the same remainder. */
export function indexOfSlot(slot: number, start: number, count: number): number {
  return start + ((((slot - start) % count) + count) % count);
}

export function kindIcon(item: PromptItem): IconName {
  if (item.problem || item.kind === null) return 'warning';
  switch (item.kind) {
    case 'kv':
      return 'text';
    case 'choice':
      return item.body.kind === 'choice' && item.body.url !== null ? 'external' : 'queue';
    case 'task_confirm':
      return 'tasks';
    case 'file_change_confirm':
      return item.card?.verb === 'run_command' || item.card?.verb === 'send_input' ? 'terminal' : 'file';
    case 'result':
      return 'ok';
  }
}
