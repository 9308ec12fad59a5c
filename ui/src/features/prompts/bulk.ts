// Which questions are ticked, and which can be answered together (inbox §3.3).

import type { PromptItem } from '../../state/prompts/item';
import type { Rows } from './rows';

/** More would not be read; the host refuses more than 500. */
export const MOST = 200;

/** Whether one look at the sheet is enough to approve it: all of it is there, and it costs little. */
export function approvable(item: PromptItem): boolean {
  const whole = !item.partial && item.cut === null && item.hidden.length === 0;
  const simple = item.kind === 'file_change_confirm' || allowsOnce(item);
  return simple && item.served && item.card !== null && item.card.risk !== 'high' && whole && item.problem === null;
}

/** A call of a tool that may be allowed this once. */
export function allowsOnce({ effectName, body }: PromptItem): boolean {
  return effectName === 'tool_approval' && body.kind === 'choice' && !body.multiple && body.options.some(({ value }) => value === 'once');
}

/** Whether it can be refused without filling anything in. */
export function refusable(item: PromptItem): boolean {
  return item.allowCancel && item.kind !== 'result' && item.problem === null;
}

/** Why these cannot be approved together, or nothing. */
export function together(items: PromptItem[]): 'none' | 'alone' | 'mixed' | null {
  if (items.length === 0) return 'none';
  if (!items.every(approvable)) return 'alone';
  return new Set(items.map((item) => item.effectName)).size > 1 ? 'mixed' : null;
}

/** The questions between two rows, both included, that can be ticked; in the order of the list. */
export function between(rows: Rows, from: number, to: number): PromptItem[] {
  const found: PromptItem[] = [];
  for (let index = Math.max(0, Math.min(from, to)); index <= Math.max(from, to) && found.length < MOST; index += 1) {
    const row = rows.at(index);
    if (row && 'item' in row && !row.quiet && refusable(row.item)) found.push(row.item);
  }
  return found;
}

/** Those of the ticked ids that are still in the list, as they are now; in a folded group they are still there. */
export function ticked(rows: Rows, ids: ReadonlySet<string>): PromptItem[] {
  if (ids.size === 0) return [];
  if (rows.arranged) return rows.arranged.fitting.filter((item) => ids.has(item.id) && refusable(item));
  const places = [...ids].map((id) => rows.indexOf(id)).filter((index) => index >= 0);
  return places.sort((a, b) => a - b).flatMap((index) => between(rows, index, index));
}

/** The ticks after a key or a click: one row the other way round, or from the row ticked last to this one. */
export function tick(rows: Rows, ids: ReadonlySet<string>, id: string, since: string | null): Set<string> {
  const next = new Set(ticked(rows, ids).map((item) => item.id));
  const [from, to] = [since === null ? -1 : rows.indexOf(since), rows.indexOf(id)];
  if (from >= 0) between(rows, from, to).forEach((item) => next.size < MOST && next.add(item.id));
  else if (!next.delete(id)) between(rows, to, to).forEach((item) => next.size < MOST && next.add(item.id));
  return next;
}

/** The ticks with all of these, or without them when they all have one already. */
export function tickAll(rows: Rows, ids: ReadonlySet<string>, items: readonly PromptItem[]): Set<string> {
  const next = new Set(ticked(rows, ids).map((item) => item.id));
  const wanted = items.filter(refusable).slice(0, MOST);
  if (wanted.length > 0 && wanted.every((item) => next.has(item.id))) wanted.forEach((item) => next.delete(item.id));
  else wanted.forEach((item) => next.size < MOST && next.add(item.id));
  return next;
}

/** All that is listed and can be ticked, folded or not; at most so many as one answer can have. */
export function tickable(rows: Rows): PromptItem[] {
  return rows.arranged ? rows.arranged.fitting.filter(refusable).slice(0, MOST) : between(rows, 0, rows.count - 1);
}
