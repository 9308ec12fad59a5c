import { describe, expect, test, vi } from 'vitest';
import type { PromptsApi } from '../api/prompts';
import type { PromptQuery } from '../api/prompts';
import type { PromptList, PromptView } from '../protocol/wire';
import { badgeText, Prompts } from './prompts.svelte';
import { History, NO_FILTERS, toQuery, toRows } from './prompts/history.svelte';
import type { PromptItem } from './prompts/item';
import { type Note, Notifier, SEVERAL_ID } from './prompts/notifier';
import { item, wire } from './prompts/testing';

const OPTIONS = { kind: 'choice', options: [{ value: 'a' }] };
const asked = (id: string, more: Partial<PromptView> = {}) => wire(OPTIONS, { requestId: id, ...more });
const closed = (id: string, auto = false): Partial<PromptView> => ({
  requestId: id,
  state: 'closed',
  answer: { status: 'ok', ts: '2026-01-11T00:00:02Z', by: 'person:ui', verified: true, auto, response: { status: 'ok' } },
});

function setup(pages: Partial<Record<string, PromptView[]>> = {}) {
  const api = {
    list: vi.fn((query: PromptQuery): Promise<PromptList> =>
      Promise.resolve({ items: pages[query.view] ?? [], nextCursor: null, counts: { needsYou: pages['needs_you']?.length ?? 0, results: pages['results']?.length ?? 0 }, problems: null as never }),
    ),
    respond: vi.fn(() => Promise.resolve({ ok: true, mirrored: true })),
  };
  const arrivals: string[][] = [];
  let flush: () => void = () => undefined;
  const prompts = new Prompts({
    api: api as unknown as PromptsApi,
    onArrivals: (items: PromptItem[]) => arrivals.push(items.map(({ id }) => id)),
    schedule: (run) => (flush = run),
  });
  let seq = 0;
  const event = (type: string, data: unknown) => prompts.onEvent({ seq: (seq += 1), topic: 'prompts', type, data });
  return { prompts, api, arrivals, event, flush: () => flush() };
}

describe('events', () => {
  test('are applied together; arrivals are told once', async () => {
    const { prompts, arrivals, event, flush } = setup();
    await prompts.pending.ensure(0);
    for (let n = 0; n < 1_000; n += 1) event('prompt_requested', asked(`p${n}`));
    event('prompt_counts', { needsYou: 1_000, results: 0 });
    expect(prompts.pending.length).toBe(0);
    flush();
    expect([prompts.pending.length, prompts.needsYou, arrivals.length, arrivals[0]?.length]).toEqual([1_000, 1_000, 1, 1_000]);
  });

  test('a prompt that is answered in the same breath is no news', () => {
    const { arrivals, event, flush, prompts } = setup();
    event('prompt_requested', wire({ kind: 'result', markdown: 'x' }, { requestId: 'r' }));
    event('prompt_answered', wire({ kind: 'result', markdown: 'x' }, closed('r', true)));
    flush();
    expect(arrivals).toEqual([]);
    expect(prompts.isClosed('r')).toBe(true);
  });

  test('questions and results go to their own lists, and leave them when closed', async () => {
    const { prompts, event, flush } = setup();
    await Promise.all([prompts.pending.ensure(0), prompts.unread.ensure(0)]);
    event('prompt_requested', asked('q'));
    event('prompt_requested', wire({ kind: 'result', markdown: 'x' }, { requestId: 'r' }));
    flush();
    expect([prompts.pending.at(0)?.id, prompts.unread.at(0)?.id]).toEqual(['q', 'r']);
    event('prompt_expired', wire(OPTIONS, closed('q')));
    event('prompt_answered', wire({ kind: 'result', markdown: 'x' }, closed('r')));
    flush();
    expect([prompts.pending.length, prompts.unread.length]).toEqual([0, 0]);
  });

  test('a forged answer updates the row and is no arrival', async () => {
    const { prompts, arrivals, event, flush } = setup({ needs_you: [asked('q')] });
    await prompts.pending.ensure(0);
    event('prompt_forged', { item: asked('q', { foreignResponses: 1 }), line: { offset: 3, line: 'x' } });
    flush();
    expect([prompts.pending.at(0)?.forged, prompts.pending.length, arrivals]).toEqual([1, 1, []]);
  });

  test('counts ignore what is no number, unknown events do nothing', () => {
    const { prompts, event, flush } = setup();
    event('prompt_counts', { needsYou: 3, results: 'x' });
    event('prompt_counts', null);
    event('prompt_something', null);
    event('prompt_requested', { nonsense: true });
    flush();
    expect([prompts.needsYou, prompts.results]).toEqual([3, 0]);
  });

  test('counts of an answer that was asked for before an event are not taken', async () => {
    const { prompts, event, flush, api } = setup();
    const mark = prompts.countsMark;
    event('prompt_counts', { needsYou: 1, results: 0 });
    prompts.setCounts({ needsYou: 0, results: 0 }, mark);
    flush();
    prompts.setCounts({ needsYou: 0, results: 0 }, mark);
    expect(prompts.needsYou).toBe(1);
    let answer: () => void = () => undefined;
    api.list.mockImplementationOnce(() => new Promise((resolve) => (answer = () => resolve({ items: [], nextCursor: null, counts: { needsYou: 0, results: 0 }, problems: null as never }))));
    const reading = prompts.pending.ensure(0);
    event('prompt_counts', { needsYou: 2, results: 0 });
    answer();
    await reading;
    flush();
    expect(prompts.needsYou).toBe(2);
    prompts.setCounts({ needsYou: 3 }, prompts.countsMark);
    expect(prompts.needsYou).toBe(3);
  });

  test('a gap reads the lists again', async () => {
    const { prompts, api, event, flush } = setup({ needs_you: [asked('q')] });
    await prompts.pending.ensure(0);
    event('prompt_resync', null);
    flush();
    await vi.waitFor(() => expect(api.list).toHaveBeenCalledTimes(2));
  });
});

test('“Got it, all” answers each result once, also those consumed meanwhile', async () => {
  const results = [wire({ kind: 'result', markdown: 'a' }, { requestId: 'a' }), wire({ kind: 'result', markdown: 'b' }, { requestId: 'b', shown: null })];
  const { prompts, api } = setup();
  api.list.mockImplementationOnce(() => Promise.resolve({ items: results, nextCursor: null, counts: { needsYou: 0, results: 2 }, problems: null as never }));
  api.respond.mockRejectedValueOnce(Object.assign(new Error('no'), { code: 'already_answered' }));
  expect(await prompts.acknowledgeAll()).toBe(2);
  expect(api.respond.mock.calls).toEqual([['a', { status: 'ok' }, 'sha256:1'], ['b', { status: 'ok' }, null]]);
});

test('every surface gets the same form', () => {
  const { prompts } = setup();
  expect(prompts.form('x')).toBe(prompts.form('x'));
  for (let n = 0; n < 200; n += 1) prompts.form(`p${n}`);
  expect(prompts.form('p199')).toBe(prompts.form('p199'));
});

test('badge text', () => {
  expect([-1, 0, 1, 99, 100].map(badgeText)).toEqual(['', '', '1', '99', '99+']);
});

describe('history', () => {
  test('steps of one chain are one row; the same id of another asker is another chain', () => {
    const step = (id: string, n: number, source: string) => item({ ...OPTIONS, chain: { id: 'c', step: n } }, { requestId: id, source });
    const rows = toRows([step('a3', 3, 'x'), item(OPTIONS, { requestId: 'q' }), step('b1', 1, 'y'), step('a2', 2, 'x'), step('a1', 1, 'x')]);
    expect(rows.map((row) => [row.item.id, row.steps.length])).toEqual([['a3', 3], ['q', 1], ['b1', 1]]);
  });

  test('days are whole days where the person is', () => {
    const query = toQuery({ ...NO_FILTERS, q: ' x ', from: '2026-01-11', to: '2026-01-11' });
    expect(query.q).toBe('x');
    expect(Date.parse(query.until ?? '') - Date.parse(query.since ?? '')).toBe(86_400_000);
    expect(new Date(query.since ?? '').getHours()).toBe(0);
    expect(toQuery({ ...NO_FILTERS, from: 'x' }).since).toBeUndefined();
  });
});

describe('history, searched while answers are on their way', () => {
  const page = (ids: string[], nextCursor: string | null = null): PromptList => ({
    items: ids.map((id) => wire(OPTIONS, closed(id))),
    nextCursor,
    counts: { needsYou: 0, results: 0 },
    problems: null as never,
  });
  /** A host that answers when told to, and does not care whether somebody still listens. */
  function slowHost() {
    const calls: { query: PromptQuery; answer: (answer: PromptList) => Promise<void>; fail: () => Promise<void> }[] = [];
    const list = (query: PromptQuery) =>
      new Promise<PromptList>((resolve, reject) => {
        const settled = () => new Promise<void>((done) => setTimeout(done, 0));
        calls.push({
          query,
          answer: (answer) => (resolve(answer), settled()),
          fail: () => (reject(new Error('late')), settled()),
        });
      });
    const history = new History({ list } as unknown as PromptsApi);
    const shown = () => history.rows.map((row) => row.item.id);
    const call = (index: number) => calls[index] ?? expect.fail(`there was no call ${index}`);
    return { history, shown, call };
  }

  test('an answer that comes too late does not win', async () => {
    const { history, shown, call } = slowHost();
    void history.search();
    history.filters.q = 'zebra';
    expect(history.stale).toBe(true);
    void history.search();
    expect([history.stale, call(1).query.q]).toEqual([false, 'zebra']);
    await call(1).answer(page(['z']));
    await call(0).answer(page(['a', 'b', 'c']));
    expect([shown(), history.loading, history.complete]).toEqual([['z'], false, true]);
  });

  test('nor does a failure that comes too late', async () => {
    const { history, shown, call } = slowHost();
    void history.search();
    history.filters.q = 'zebra';
    void history.search();
    await call(0).fail();
    expect([history.error, history.loading]).toEqual([null, true]);
    await call(1).answer(page(['z']));
    expect([shown(), history.error]).toEqual([['z'], null]);
  });

  test('nor does the next page of what was looked for before', async () => {
    const { history, shown, call } = slowHost();
    void history.search();
    await call(0).answer(page(['a'], 'more'));
    void history.more();
    history.filters.q = 'zebra';
    void history.search();
    await call(2).answer(page(['z']));
    await call(1).answer(page(['b', 'c']));
    expect([shown(), history.complete]).toEqual([['z'], true]);
    void history.more();
    expect(() => call(3)).toThrow('no call 3');
  });

  test('what was typed while nobody was there to look for it is known to be looked for still', async () => {
    const { history, call } = slowHost();
    void history.search();
    await call(0).answer(page(['a']));
    history.filters.q = 'z';
    expect([history.started, history.stale]).toEqual([true, true]);
    history.clear();
    expect([history.started, history.stale]).toEqual([false, false]);
  });

  test('what is closed while the first page is on its way is not missed', async () => {
    const { history, shown, call } = slowHost();
    void history.search();
    history.closed(item(OPTIONS, closed('new')));
    await call(0).answer(page(['a']));
    expect(shown()).toEqual(['new', 'a']);
    void history.search();
    history.closed(item(OPTIONS, closed('newer')));
    await call(1).answer(page(['newer', 'new', 'a']));
    expect(shown()).toEqual(['newer', 'new', 'a']);
  });
});

describe('Notifier', () => {
  function notifier() {
    let now = 0;
    const shown: string[] = [];
    const closedIds: string[] = [];
    const instance = new Notifier({
      now: () => now,
      several: (count) => ({ title: `${count}`, body: '' }),
      show: (note: Note) => {
        shown.push(note.id === SEVERAL_ID ? `several ${note.title}` : note.id);
        return { close: () => closedIds.push(note.id) };
      },
    });
    return { add: (id: string) => instance.add({ id, title: id, body: '' }), pass: (ms: number) => (now += ms), shown, closedIds };
  }

  test('two are shown one by one, a third within two seconds makes one of all', () => {
    const { add, pass, shown, closedIds } = notifier();
    add('a');
    pass(500);
    add('b');
    expect(shown).toEqual(['a', 'b']);
    add('c');
    add('d');
    expect(shown).toEqual(['a', 'b', 'several 3', 'several 4']);
    expect(closedIds).toContain('a');
    expect(closedIds).toContain('b');
    pass(2_500);
    add('e');
    expect(shown.at(-1)).toBe('e');
  });

  test('slowly, each has its own', () => {
    const { add, pass, shown } = notifier();
    for (const id of ['a', 'b', 'c', 'd']) {
      add(id);
      pass(1_500);
    }
    expect(shown).toEqual(['a', 'b', 'c', 'd']);
  });
});
