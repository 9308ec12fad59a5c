// What a key means in a tree, whatever its rows look like: arrows, Home, End, letters. Both trees of the shared
// modules ask here, so they answer the same keys.

export interface TreeRows {
  /** Which of the visible rows has the focus. */
  at: number;
  count: number;
  /** Whether that row can be opened, and whether it is. */
  branch: boolean;
  open: boolean;
  levelOf(row: number): number;
  labelOf(row: number): string;
}

export type TreeAct = { kind: 'move'; to: number } | { kind: 'open' | 'close' | 'enter' | 'space' | 'stay' };

/** What to do, or null where the key is none of a tree's. */
export function treeAct(event: KeyboardEvent, rows: TreeRows): TreeAct | null {
  const { at, count, branch, open } = rows;
  const move = (to: number): TreeAct => (to >= 0 && to < count ? { kind: 'move', to } : { kind: 'stay' });
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  switch (event.key) {
    case 'ArrowDown': return move(at + 1);
    case 'ArrowUp': return move(at - 1);
    case 'Home': return move(0);
    case 'End': return move(count - 1);
    case 'ArrowRight':
      if (branch && !open) return { kind: 'open' };
      return branch && at + 1 < count && rows.levelOf(at + 1) > rows.levelOf(at) ? move(at + 1) : { kind: 'stay' };
    case 'ArrowLeft': {
      if (branch && open) return { kind: 'close' };
      let parent = at - 1;
      while (parent >= 0 && rows.levelOf(parent) >= rows.levelOf(at)) parent -= 1;
      return move(parent);
    }
    case 'Enter': return { kind: 'enter' };
    case ' ': return { kind: 'space' };
    default:
  }
  if (event.key.length !== 1) return null;
  const letter = event.key.toLowerCase();
  for (let step = 1; step <= count; step += 1) {
    const to = (at + step) % count;
    if (rows.labelOf(to).toLowerCase().startsWith(letter)) return { kind: 'move', to };
  }
  return null;
}
