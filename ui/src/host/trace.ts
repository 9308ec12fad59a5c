// What apps ask of the page, for whoever wants to watch: the inspector of `chatos dev`. Without a watcher nothing
// is kept, and asking costs one look at an empty set.

import { type AppRef, keyOf } from './services';

export interface Traced {
  id: number;
  app: string;
  kind: 'call' | 'fire' | 'subscribe';
  member: string;
  args: unknown;
  at: number;
  /** Null while there is no answer. */
  ms: number | null;
  ok: boolean | null;
  outcome: unknown;
}

type Watcher = (entry: Traced) => void;

const watchers = new Set<Watcher>();
let next = 1;

/** Tells every entry twice: when it begins, and, as a new object, when it is over. */
export function watchBridge(watcher: Watcher): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Something was asked; the answer tells how it ended. */
export function traced(app: AppRef, kind: Traced['kind'], member: string, args: unknown): (ok: boolean, outcome: unknown) => void {
  if (watchers.size === 0) return () => undefined;
  const began = performance.now();
  const entry: Traced = { id: next, app: keyOf(app), kind, member, args, at: Date.now(), ms: null, ok: null, outcome: undefined };
  next += 1;
  for (const watcher of watchers) watcher(entry);
  return (ok, outcome) => {
    const over = { ...entry, ms: Math.round((performance.now() - began) * 10) / 10, ok, outcome };
    for (const watcher of watchers) watcher(over);
  };
}
