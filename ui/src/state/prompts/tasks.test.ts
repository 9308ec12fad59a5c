import { expect, test } from 'vitest';
import { initialDraft } from './draft';
import { longestIncreasing, moved, neighbour, taskMarks } from './tasks';
import { item } from './testing';

const PROMPT = item({ kind: 'task_confirm', tasks: ['1', '2', '3', '4'].map((draftId) => ({ draftId, title: draftId })) });
const { body } = PROMPT;
const proposal = body.kind === 'task_confirm' ? body.tasks : [];

test('as proposed, nothing is marked', () => {
  const marks = taskMarks(proposal, initialDraft(PROMPT).tasks);
  expect([...marks.values()].every((mark) => !mark.added && !mark.deleted && !mark.moved && mark.changed.length === 0)).toBe(true);
});

test('one task carried over the others is the one that moved', () => {
  const tasks = moved(initialDraft(PROMPT).tasks, 0, 3);
  const marks = taskMarks(proposal, tasks);
  expect(tasks.map((task) => task.draftId)).toEqual(['2', '3', '4', '1']);
  expect([...marks].filter(([, mark]) => mark.moved).map(([id]) => id)).toEqual(['1']);
});

test('changed fields, deleted and added ones', () => {
  const { tasks } = initialDraft(PROMPT);
  const [first, second, third] = tasks;
  if (!first || !second || !third) throw new Error('tasks');
  first.tags = ['x'];
  first.priority = 'high';
  second.deleted = true;
  tasks.push({ ...third, draftId: 'new', added: true });
  const marks = taskMarks(proposal, tasks);
  expect(marks.get('1')?.changed).toEqual(['priority', 'tags']);
  expect(marks.get('2')).toMatchObject({ deleted: true, moved: false });
  expect(marks.get('new')).toMatchObject({ added: true, moved: false, changed: [] });
});

test('moving stays inside the list', () => {
  expect(moved(['a', 'b'], 0, 2)).toEqual(['a', 'b']);
  expect(moved(['a', 'b'], -1, 0)).toEqual(['a', 'b']);
  expect(moved(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b']);
});

test('a step passes deleted tasks', () => {
  const { tasks } = initialDraft(PROMPT);
  if (tasks[1]) tasks[1].deleted = true;
  expect(neighbour(tasks, 0, 1)).toBe(2);
  expect(neighbour(tasks, 2, -1)).toBe(0);
  expect(neighbour(tasks, 0, -1)).toBe(0);
  expect(neighbour(tasks, 3, 1)).toBe(3);
});

test('a longest increasing run is increasing and as long as brute force finds', () => {
  const best = (values: number[]): number => {
    const ends = values.map(() => 1);
    values.forEach((value, index) => {
      for (let before = 0; before < index; before += 1) {
        if ((values[before] ?? 0) < value) ends[index] = Math.max(ends[index] ?? 1, (ends[before] ?? 0) + 1);
      }
    });
    return Math.max(0, ...ends);
  };
  let seed = 7;
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  for (let round = 0; round < 200; round += 1) {
    const values = Array.from({ length: round % 12 }, () => Math.floor(random() * 20));
    const run = longestIncreasing(values).map((at) => values[at] ?? 0);
    expect(run.every((value, index) => index === 0 || (run[index - 1] ?? 0) < value)).toBe(true);
    expect(run.length).toBe(best(values));
  }
});
