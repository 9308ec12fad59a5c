import { describe, expect, test, vi } from 'vitest';
import { ApiError } from '../../api/error';
import type { PromptList, PromptView } from '../../protocol/wire';
import { LiveList } from './live.svelte';
import { item, wire } from './testing';

const at = (second: number) => new Date(Date.UTC(2026, 0, 11, 0, 0, second)).toISOString();
const asked = (id: string, second: number, position = second) =>
  wire({ kind: 'choice', options: [{ value: 'a' }] }, { requestId: id, ts: at(second), positions: { request: position, response: null } });
const arrived = (id: string, second: number, position = second) =>
  item({ kind: 'choice', options: [{ value: 'a' }] }, { requestId: id, ts: at(second), positions: { request: position, response: null } });

function page(items: PromptView[], nextCursor: string | null): PromptList {
  return { items, nextCursor, counts: { needsYou: 0, results: 0 }, problems: { unreadableLines: 0, lines: {}, lockMissed: 0, modeNarrowed: 0, replaced: 0, missing: false, unreadable: null, unwritable: null, lost: 0, previous: null } };
}

const ids = (list: LiveList) => Array.from({ length: list.length }, (_, index) => list.at(index)?.id);

describe('LiveList', () => {
  test('reads only as far as somebody looks', async () => {
    const all = Array.from({ length: 10 }, (_, index) => asked(`p${index}`, index));
    const read = vi.fn((cursor: string | null) => {
      const from = Number(cursor ?? 0);
      return Promise.resolve(page(all.slice(from, from + 3), from + 3 < all.length ? String(from + 3) : null));
    });
    const list = new LiveList('oldest', read);
    await list.ensure(0);
    expect([read.mock.calls.length, list.length, list.complete]).toEqual([1, 3, false]);
    await list.ensure(4);
    expect([read.mock.calls.length, list.length]).toEqual([2, 6]);
    await Promise.all([list.ensure(5), list.ensure(8)]);
    expect(list.length).toBe(9);
    await list.ensure(1_000);
    expect([list.length, list.complete, list.indexOf('p7')]).toEqual([10, true, 7]);
  });

  test('new prompts are put in order, in what was read; the rest comes with its page', async () => {
    const list = new LiveList('oldest', (cursor) =>
      Promise.resolve(cursor === null ? page([asked('a', 1), asked('c', 3)], 'x') : page([asked('e', 5), asked('f', 6)], null)),
    );
    await list.ensure(0);
    list.put(arrived('b', 2));
    list.put(arrived('z', 9));
    expect(ids(list)).toEqual(['a', 'b', 'c']);
    await list.ensure(10);
    list.put(arrived('z', 9));
    list.put(arrived('z', 9));
    expect(ids(list)).toEqual(['a', 'b', 'c', 'e', 'f', 'z']);
  });

  test('what is told while a page is on its way is not missed, and is newer than the page', async () => {
    let answer: (value: PromptList) => void = () => undefined;
    const list = new LiveList('oldest', () => new Promise((resolve) => (answer = resolve)));
    const reading = list.ensure(0);
    list.put(arrived('b', 2));
    list.put(arrived('gone', 3));
    list.put({ ...arrived('a', 1), forged: 1 });
    list.drop('gone');
    answer(page([asked('a', 1), asked('gone', 3)], null));
    await reading;
    expect([ids(list), list.at(0)?.forged]).toEqual([['a', 'b'], 1]);
    const again = list.reload();
    list.put(arrived('c', 3));
    answer(page([asked('a', 1), asked('b', 2)], null));
    await again;
    expect(ids(list)).toEqual(['a', 'b', 'c']);
  });

  test('the same time: the place in the file decides, then who came first', async () => {
    const list = new LiveList('oldest', () => Promise.resolve(page([], null)));
    await list.ensure(0);
    for (const [id, position] of [['late', 30], ['early', 10], ['tie1', 20], ['tie2', 20]] as const) list.put(arrived(id, 1, position));
    expect(ids(list)).toEqual(['early', 'tie1', 'tie2', 'late']);
    expect(ids(list).map((id) => list.indexOf(id ?? ''))).toEqual([0, 1, 2, 3]);
  });

  test('results are newest first', async () => {
    const list = new LiveList('newest', () => Promise.resolve(page([asked('b', 2), asked('a', 1)], null)));
    await list.ensure(0);
    list.put(arrived('c', 3));
    list.put(arrived('0', 0));
    expect(ids(list)).toEqual(['c', 'b', 'a', '0']);
  });

  test('what is closed while a page is on its way does not come back with it', async () => {
    let deliver: (page: PromptList) => void = () => undefined;
    const list = new LiveList('oldest', () => new Promise((resolve) => (deliver = resolve)));
    const reading = list.ensure(0);
    list.drop('a');
    deliver(page([asked('a', 1), asked('b', 2)], null));
    await reading;
    expect(ids(list)).toEqual(['b']);
    list.drop('b');
    list.drop('never there');
    expect(list.length).toBe(0);
  });

  test('a prompt whose key changes moves instead of being there twice', async () => {
    const list = new LiveList('oldest', () => Promise.resolve(page([asked('a', 1), asked('b', 2)], null)));
    await list.ensure(0);
    list.put(arrived('a', 3));
    expect(ids(list)).toEqual(['b', 'a']);
    list.drop('a');
    expect(ids(list)).toEqual(['b']);
  });

  test('reading again keeps the rows until the new ones are here', async () => {
    let round = 0;
    let deliver: () => void = () => undefined;
    const list = new LiveList('oldest', () => {
      round += 1;
      const now = round;
      return new Promise((resolve) => (deliver = () => resolve(page([asked(`r${now}`, 1)], null))));
    });
    const first = list.ensure(0);
    deliver();
    await first;
    const again = list.reload();
    expect(ids(list)).toEqual(['r1']);
    deliver();
    await again;
    expect(ids(list)).toEqual(['r2']);
  });

  test('a host that still reads its log is asked again, and says how far it is', async () => {
    vi.useFakeTimers();
    let tries = 0;
    const list = new LiveList('oldest', () => {
      tries += 1;
      if (tries < 3) return Promise.reject(new ApiError(503, 'unavailable', 'reading', null, { phase: 'loading', done: 1, total: 4 }));
      return Promise.resolve(page([asked('a', 1)], null));
    });
    const reading = list.ensure(0);
    await vi.advanceTimersByTimeAsync(0);
    expect(list.reading).toEqual({ done: 1, total: 4 });
    expect(list.error).toBeNull();
    await vi.advanceTimersByTimeAsync(1_000);
    await reading;
    vi.useRealTimers();
    expect([list.reading, ids(list)]).toEqual([null, ['a']]);
  });

  test('a failure is kept and the next try starts over', async () => {
    let fail = true;
    const list = new LiveList('oldest', () => (fail ? Promise.reject(new ApiError(500, 'internal', 'boom')) : Promise.resolve(page([asked('a', 1)], null))));
    await list.ensure(0);
    expect([list.error?.message, list.started]).toEqual(['boom', false]);
    fail = false;
    await list.ensure(0);
    expect([list.error, ids(list)]).toEqual([null, ['a']]);
  });

  test('ten thousand arrivals and departures keep the order', async () => {
    const list = new LiveList('oldest', () => Promise.resolve(page([], null)));
    await list.ensure(0);
    for (let n = 0; n < 10_000; n += 1) list.put(arrived(`p${(n * 7_919) % 10_000}`, (n * 7_919) % 10_000));
    for (let n = 0; n < 10_000; n += 2) list.drop(`p${n}`);
    expect(list.length).toBe(5_000);
    expect([list.at(0)?.id, list.at(4_999)?.id, list.indexOf('p5001')]).toEqual(['p1', 'p9999', 2_500]);
  });
});

test('a gap in the stream during the first page has it read once more, and one that failed as well', async () => {
  const waiting: { resolve: (value: PromptList) => void; reject: (error: unknown) => void }[] = [];
  const list = new LiveList('oldest', () => new Promise((resolve, reject) => waiting.push({ resolve, reject })));
  await list.reload();
  expect(waiting).toHaveLength(0);
  const first = list.ensure(0);
  void list.reload();
  waiting[0]?.resolve(page([asked('before', 1)], null));
  await expect.poll(() => waiting.length).toBe(2);
  waiting[1]?.reject(new ApiError(500, 'internal', 'broken'));
  await first;
  expect([list.started, list.error?.code]).toEqual([false, 'internal']);
  const again = list.reload();
  waiting[2]?.resolve(page([asked('after', 1)], null));
  await again;
  expect(ids(list)).toEqual(['after']);
});

test('a call in the moment a page is here is served', async () => {
  const list = new LiveList('oldest', (cursor) => Promise.resolve(cursor === null ? page([asked('a', 1)], 'x') : page([asked('b', 2)], null)));
  void list.ensure(0);
  for (let turn = 0; turn < 12 && !list.started; turn += 1) await Promise.resolve();
  await list.ensure(1);
  expect(ids(list)).toEqual(['a', 'b']);
});
