import { describe, expect, test } from 'vitest';
import type { ToolsApi } from '../../api/tools';
import type { ToolLogPage, ToolLogQuery, ToolRecord } from '../../protocol/tools';
import { ANY, fits, ToolLog, toRows } from './log.svelte';

const call = (callId: string, more: Partial<ToolRecord> = {}): ToolRecord => ({
  ts: '2026-01-11T00:00:00.000Z',
  type: 'tool_call',
  callId,
  server: 'project_files',
  toolName: 'read_file',
  args: { path: 'a' },
  ...more,
});
const end = (callId: string, more: Partial<ToolRecord> = {}) => call(callId, { type: 'tool_result', status: 'ok', code: 'ok', isError: false, ...more });

function setup(pages: Record<string, ToolLogPage> = {}) {
  const asked: ToolLogQuery[] = [];
  const waiting: (() => void)[] = [];
  let held = false;
  const api = {
    log: async (query: ToolLogQuery): Promise<ToolLogPage> => {
      asked.push(query);
      if (held) await new Promise<void>((resolve) => waiting.push(resolve));
      return pages[query.cursor ?? query.callId ?? (query.q || 'first')] ?? { items: [], nextCursor: null };
    },
  };
  const log = new ToolLog(api as unknown as ToolsApi);
  let seq = 0;
  const told = (data: unknown, type = 'tool_log') => log.onEvent({ seq: (seq += 1), topic: 'logs', type, data });
  const release = (index: number) => (waiting[index]?.(), new Promise<void>((done) => setTimeout(done, 0)));
  return { log, asked, told, hold: () => (held = true), release, ids: () => log.rows.map((row) => row.callId) };
}

test('the lines of one call are one row, newest first', () => {
  expect(toRows([end('b'), call('b'), call('c'), end('a')])).toMatchObject([
    { callId: 'b', begun: call('b'), ended: end('b') },
    { callId: 'c', begun: call('c'), ended: null },
    { callId: 'a', begun: null, ended: end('a') },
  ]);
});

test('calls of different runs are different rows, although their models gave them the same id', async () => {
  const one = { runId: 'r1', args: { path: 'one' } };
  const two = { runId: 'r2', args: { path: 'two' } };
  const lines = [end('call_1', two), call('call_1', two), end('call_1', one), call('call_1', one), call('call_1')];
  const rows = toRows(lines);
  expect(rows.map((row) => [row.runId, row.begun?.args, row.ended?.runId])).toEqual([
    ['r2', { path: 'two' }, 'r2'],
    ['r1', { path: 'one' }, 'r1'],
    [null, { path: 'a' }, undefined],
  ]);
  expect(new Set(rows.map((row) => row.key)).size).toBe(3);
  const { log, told, asked } = setup({ first: { items: lines, nextCursor: null }, call_1: { items: lines, nextCursor: null } });
  await log.search();
  told(call('call_1', { runId: 'r3' }));
  expect(log.rows.map((row) => row.runId)).toEqual(['r3', 'r2', 'r1', null]);
  // Both lines of one call, when the filters left only one of them.
  const [, first] = rows;
  const whole = first ? await log.call({ ...first, begun: null }) : null;
  expect([whole?.begun?.runId, whole?.ended?.runId, asked.at(-1)?.runId]).toEqual(['r1', 'r1', 'r1']);
});

test('filters are those of the host', () => {
  expect(fits(call('a'), ANY)).toBe(true);
  expect(fits(end('a'), { ...ANY, status: 'ok', server: 'project_files', tool: 'read_file', q: 'READ_' })).toBe(true);
  expect(fits(call('a'), { ...ANY, status: 'ok' })).toBe(false);
  expect(fits(call('a'), { ...ANY, q: 'zebra' })).toBe(false);
});

describe('pages and what comes live', () => {
  test('new lines go on top, each once; a result joins its call', async () => {
    const { log, told, ids } = setup({ first: { items: [call('a')], nextCursor: 'p2' }, p2: { items: [call('z')], nextCursor: null } });
    told(call('early'));
    await log.search();
    told(call('b'));
    told(call('b'));
    told(end('a'));
    told({ nonsense: true });
    expect(ids()).toEqual(['a', 'b']);
    expect(log.rows[0]).toMatchObject({ begun: { callId: 'a' }, ended: { status: 'ok' } });
    await log.more();
    expect([ids(), log.complete]).toEqual([['a', 'b', 'z'], true]);
  });

  test('what comes while the first page is on its way is not missed', async () => {
    const { log, told, hold, release, ids } = setup({ first: { items: [call('a')], nextCursor: null } });
    hold();
    void log.search();
    told(call('b'));
    await release(0);
    expect(ids()).toEqual(['b', 'a']);
  });

  test('a late page of an older search does not win', async () => {
    const { log, hold, release, ids, asked } = setup({ first: { items: [call('a')], nextCursor: null }, zebra: { items: [call('z')], nextCursor: null } });
    hold();
    void log.search();
    log.filters.q = 'zebra';
    expect(log.stale).toBe(true);
    void log.search();
    await release(1);
    await release(0);
    expect([ids(), asked.map((query) => query.q), log.loading]).toEqual([['z'], ['', 'zebra'], false]);
  });

  test('while nobody follows, lines are counted, and read when somebody does again', async () => {
    const { log, told, ids, asked } = setup({ first: { items: [call('a')], nextCursor: null } });
    await log.search();
    log.follow(false);
    told(call('b'));
    told(null, 'tool_log_gap');
    expect([ids(), log.missed]).toEqual([['a'], 2]);
    log.follow(true);
    expect([asked.length, log.missed]).toEqual([2, 0]);
  });

  test('a gap reads again', async () => {
    const { log, told, asked } = setup();
    told(null, 'tool_log_gap');
    expect(asked).toEqual([]);
    await log.search();
    told(null, 'tool_log_gap');
    expect(asked).toHaveLength(2);
  });

  test('a flood is kept within bounds, and older lines can be read again', async () => {
    const { log, told, asked } = setup({ first: { items: [], nextCursor: null } });
    await log.search();
    for (let n = 0; n < 2_500; n += 1) told(call(`c${n}`));
    expect([log.rows.length <= 2_000, log.rows[0]?.callId, log.complete]).toEqual([true, 'c2499', false]);
    await log.more();
    expect(asked).toHaveLength(2);
  });
});
