import { expect, test, vi } from 'vitest';
import type { RunsApi } from '../api/chat';
import type { RunView } from '../protocol/wire';
import { PROGRAMS, Runs } from './runs.svelte';

function setup() {
  const asked: { state: string; answer: (items: RunView[]) => void }[] = [];
  const api = {
    list: ({ state, kind }: { state?: string; kind?: string }) => new Promise((resolve) => asked.push({ state: state ?? `kind ${kind}`, answer: (items) => resolve({ items, nextCursor: null }) })),
  };
  const runs = new Runs(api as unknown as RunsApi);
  const of = (state: string) => asked.filter((one) => one.state === state);
  return { runs, of, changed: () => runs.onEvent({ seq: 1, topic: 'runs', type: 'run_changed', data: {} }) };
}

const run = (id: string) => ({ id, kind: 'chat', state: 'running' }) as unknown as RunView;
const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

test('a run that changes while the first page is on its way has it read once more', async () => {
  vi.useFakeTimers();
  const { runs, of, changed } = setup();
  void runs.load();
  changed();
  // Changes that never stop do not put the reading off.
  await vi.advanceTimersByTimeAsync(200);
  changed();
  await vi.advanceTimersByTimeAsync(100);
  vi.useRealTimers();
  expect(of('')).toHaveLength(2);
  of('')[1]?.answer([run('after')]);
  of('')[0]?.answer([run('before')]);
  await settle();
  expect(runs.items.map((one) => one.id)).toEqual(['after']);
});

test('the count of interrupted runs is the one that was asked for last', async () => {
  const { runs, of } = setup();
  void runs.loadInterrupted();
  void runs.loadInterrupted();
  of('interrupted')[1]?.answer([]);
  of('interrupted')[0]?.answer([run('was interrupted')]);
  await settle();
  expect(runs.interrupted).toEqual([]);
});

test('the work of other programs is a list of its own', async () => {
  const { runs, of } = setup();
  runs.filter(PROGRAMS);
  of('kind client')[0]?.answer([run('cl_1')]);
  await settle();
  expect(runs.items.map((one) => one.id)).toEqual(['cl_1']);
});
