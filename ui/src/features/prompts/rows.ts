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

export type Row = PromptRow | { heading: string };

/** Rows by index, without all of them existing at once. */
export interface Rows {
  count: number;
  /** Null: not read yet. */
  at: (index: number) => Row | null;
  indexOf: (id: string) => number;
}

/** Every row has this height, so that a place in the list is a multiplication. */
export const ROW_HEIGHT = 64;

export function idOf(row: Row | null): string | null {
  return row && 'item' in row ? row.item.id : null;
}

/** The next row with a prompt, going by `step` from `index`; -1 when there is none. */
export function nextPrompt(rows: Rows, index: number, step: 1 | -1): number {
  for (let at = index + step; at >= 0 && at < rows.count; at += step) {
    const row = rows.at(at);
    if (row === null || 'item' in row) return at;
  }
  return -1;
}

/** The rows to draw for a scroll position. */
export function windowOf(scrollTop: number, viewport: number, count: number, overscan = 8): { start: number; end: number } {
  const start = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - overscan);
  const end = Math.min(count, Math.ceil((scrollTop + viewport) / ROW_HEIGHT) + overscan);
  return { start: Math.min(start, count), end: Math.max(end, 0) };
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
      return 'file';
    case 'result':
      return 'ok';
  }
}
