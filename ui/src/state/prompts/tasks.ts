// Editing a proposed list of tasks: moving, and what differs from the proposal. No DOM.

import type { DraftTask } from './draft';
import type { Task } from './item';

export type Field = 'title' | 'details' | 'priority' | 'status' | 'tags';

export interface TaskMark {
  added: boolean;
  deleted: boolean;
  moved: boolean;
  changed: Field[];
}

const FIELDS: Field[] = ['title', 'details', 'priority', 'status', 'tags'];

/** How each edited task differs from the proposal, by draft id. */
export function taskMarks(proposal: Task[], edited: DraftTask[]): Map<string, TaskMark> {
  const before = new Map(proposal.map((task, index) => [task.draftId, { task, index }]));
  const kept = edited.filter((task) => before.has(task.draftId) && !task.deleted);
  const inOrder = longestIncreasing(kept.map((task) => before.get(task.draftId)?.index ?? 0));
  const still = new Set(inOrder.map((at) => kept[at]?.draftId));
  const marks = new Map<string, TaskMark>();
  for (const task of edited) {
    const old = before.get(task.draftId)?.task;
    marks.set(task.draftId, {
      added: old === undefined,
      deleted: task.deleted,
      moved: old !== undefined && !task.deleted && !still.has(task.draftId),
      changed: old ? FIELDS.filter((field) => !same(old[field], task[field])) : [],
    });
  }
  return marks;
}

function same(a: string | string[], b: string | string[]): boolean {
  return Array.isArray(a) && Array.isArray(b) ? a.length === b.length && a.every((tag, index) => tag === b[index]) : a === b;
}

/** Positions of a longest increasing run: the fewest tasks are then said to have moved. */
export function longestIncreasing(values: number[]): number[] {
  const tails: number[] = [];
  const previous = new Array<number>(values.length).fill(-1);
  values.forEach((value, index) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[tails[middle] ?? 0] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    previous[index] = low > 0 ? (tails[low - 1] ?? -1) : -1;
    tails[low] = index;
  });
  const run: number[] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) run.push(at);
  return run.reverse();
}

/** Moves one entry to another place. Out of range stays where it is. */
export function moved<T>(list: T[], from: number, to: number): T[] {
  if (from === to || from < 0 || to < 0 || from >= list.length || to >= list.length) return list;
  const next = [...list];
  const [entry] = next.splice(from, 1);
  if (entry !== undefined) next.splice(to, 0, entry);
  return next;
}

/** The place a kept task goes to when it moves by one: deleted ones in between are passed. */
export function neighbour(tasks: DraftTask[], from: number, by: -1 | 1): number {
  for (let at = from + by; at >= 0 && at < tasks.length; at += by) {
    if (!tasks[at]?.deleted) return at;
  }
  return from;
}
