// The three lists of the queue as rows.

import type { Prompts } from '../../state/prompts.svelte';
import type { Arranged } from '../../state/prompts/view';
import { GROUP_HEIGHT, ROW_HEIGHT, type Row, type Rows } from './rows';

export const TABS = ['needsYou', 'results', 'history'] as const;
export type BoardTab = (typeof TABS)[number];

export function rowsOf(prompts: Prompts, tab: BoardTab, delivered: string): Rows {
  switch (tab) {
    case 'needsYou': {
      const pending = prompts.listed;
      // How many fit a query is known when they are read: one row more asks for the next page.
      const all = prompts.query === '' ? prompts.needsYou : pending.length + 1;
      return {
        // Rows that were not read yet have their place, so that the scroll bar tells the truth.
        count: pending.complete ? pending.length : Math.max(pending.length, pending.started ? all : 0),
        at: (index) => {
          const item = pending.at(index);
          return item && { item };
        },
        indexOf: (id) => pending.indexOf(id),
      };
    }
    case 'results':
      return resultRows(prompts, delivered);
    case 'history': {
      const { rows, complete, started } = prompts.history;
      return {
        count: rows.length + (complete || !started ? 0 : 1),
        at: (index) => {
          const row = rows[index];
          return row ? { item: row.item, steps: row.steps.length, quiet: true } : null;
        },
        indexOf: (id) => rows.findIndex((row) => row.steps.some((step) => step.id === id)),
      };
    }
  }
}

/** Questions that were sifted or grouped. While not all are read, the last row stands for those to come. */
export function arrangedRows({ fitting, groups }: Arranged, grouped: boolean, folded: ReadonlySet<string>, complete: boolean): Rows {
  const rows: (Row | null)[] = [];
  const tops: number[] = [];
  const places = new Map<string, number>();
  const heads = new Map<string, number>();
  let top = 0;
  const add = (row: Row | null, height: number): void => {
    rows.push(row);
    tops.push(top);
    top += height;
  };
  for (const { key, label, title, items } of groups) {
    const shut = grouped && folded.has(key);
    if (grouped) {
      heads.set(key, rows.length);
      add({ group: key, label, title, count: items.length, folded: shut }, GROUP_HEIGHT);
    }
    if (shut) continue;
    for (const item of items) {
      places.set(item.id, rows.length);
      add({ item }, ROW_HEIGHT);
    }
  }
  if (!complete) add(null, ROW_HEIGHT);
  tops.push(top);
  return {
    count: rows.length,
    at: (index) => rows[index] ?? null,
    indexOf: (id) => places.get(id) ?? -1,
    arranged: {
      tops,
      fitting,
      groupIndex: (group) => heads.get(group) ?? -1,
      within: (group) => groups.find(({ key }) => key === group)?.items ?? [],
      groupOf: (id) => (grouped ? (groups.find(({ items }) => items.some((item) => item.id === id))?.key ?? null) : null),
    },
  };
}

/** Unread results, then what went straight to a tool call. */
function resultRows(prompts: Prompts, delivered: string): Rows {
  const { unread } = prompts;
  const known = unread.complete ? unread.length : Math.max(unread.length, unread.started ? prompts.results : 0);
  const quiet = prompts.delivered;
  return {
    count: known + (quiet.length > 0 ? quiet.length + 1 : 0),
    at: (index) => {
      if (index < known) {
        const item = unread.at(index);
        return item && { item };
      }
      if (index === known) return { heading: delivered };
      const item = quiet[index - known - 1];
      return item ? { item, quiet: true } : null;
    },
    indexOf: (id) => {
      const index = unread.indexOf(id);
      if (index >= 0) return index;
      const at = quiet.findIndex((item) => item.id === id);
      return at < 0 ? -1 : known + 1 + at;
    },
  };
}
