import { expect, test } from 'vitest';
import type { SpanView } from '../../protocol/wire';
import { waterfall } from './trace';

const span = (spanId: string, parentSpanId: string | null, from: number, ms: number | null, more: Partial<SpanView> = {}): SpanView => ({
  spanId,
  parentSpanId,
  kind: 'tool',
  name: '',
  runId: 'r',
  status: 'ok',
  trace: null,
  startedAt: new Date(1_000_000 + from).toISOString(),
  durationMs: ms,
  ...more,
});

test('main, subagent and tool are one chain, by start, with their place in time', () => {
  const { rows, errors } = waterfall(
    [span('tool', 'sub', 40, 20, { status: 'error' }), span('sub', 'call', 30, 50), span('late', 'run', 90, 10), span('call', 'run', 20, 60), span('run', null, 0, 100)],
    2_000_000,
  );
  expect(rows.map((row) => [row.span.spanId, row.depth])).toEqual([['run', 0], ['call', 1], ['sub', 2], ['tool', 3], ['late', 1]]);
  expect(rows[3]).toMatchObject({ left: 0.4, width: 0.2, failed: true, path: ['run', 'call', 'sub'] });
  expect(errors).toBe(1);
});

test('a span without end reaches to now; a lost parent or a ring loses nothing', () => {
  const open = waterfall([span('run', null, 0, null), span('gone', 'nobody', 500, 100)], 1_001_000);
  expect(open.rows[0]).toMatchObject({ end: null, width: 1 });
  expect(open.rows.map((row) => row.depth)).toEqual([0, 0]);
  const ring = waterfall([span('a', 'b', 0, 1), span('b', 'a', 0, 1), span('self', 'self', 0, 1)], 0);
  expect(ring.rows).toHaveLength(3);
  expect(waterfall([], 5)).toMatchObject({ rows: [], start: 5, end: 5 });
});
