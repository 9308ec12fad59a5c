// A trace as rows of a waterfall: parents before children, by start; spans whose parent is missing are
// roots; nothing is lost and nothing loops, whatever the list says.

import type { SpanView } from '../../protocol/wire';

export interface SpanRow {
  span: SpanView;
  depth: number;
  children: number;
  /** Ids of all spans above it. */
  path: string[];
  start: number;
  /** Null: not ended. */
  end: number | null;
  /** In parts of the whole, 0 to 1. */
  left: number;
  width: number;
  failed: boolean;
}

export interface Waterfall {
  rows: SpanRow[];
  start: number;
  end: number;
  errors: number;
}

export function waterfall(spans: readonly SpanView[], now: number): Waterfall {
  const all = flatten(spans);
  const known = new Set(all.map((span) => span.spanId));
  const children = new Map<string | null, SpanView[]>();
  for (const span of all) {
    const parent = span.parentSpanId && span.parentSpanId !== span.spanId && known.has(span.parentSpanId) ? span.parentSpanId : null;
    children.set(parent, [...(children.get(parent) ?? []), span]);
  }
  for (const list of children.values()) list.sort((a, b) => at(a.startedAt) - at(b.startedAt) || a.spanId.localeCompare(b.spanId));

  const start = Math.min(...all.map((span) => at(span.startedAt)).filter((time) => time > 0), Number.POSITIVE_INFINITY);
  const ends = all.filter((span) => span.startedAt).map((span) => endOf(span) ?? now);
  const end = Math.max(...ends, Number.NEGATIVE_INFINITY);
  const whole = Math.max(1, end - start);
  const rows: SpanRow[] = [];
  const seen = new Set<string>();

  const visit = (span: SpanView, path: string[]): void => {
    if (seen.has(span.spanId)) return;
    seen.add(span.spanId);
    // A step that was never begun has no start; it is drawn where its run begins.
    const from = at(span.startedAt) || start;
    const to = span.startedAt ? endOf(span) : from;
    const own = children.get(span.spanId) ?? [];
    rows.push({
      span,
      depth: path.length,
      children: own.length,
      path,
      start: from,
      end: to,
      left: clamp((from - start) / whole),
      width: clamp(((to ?? now) - from) / whole),
      failed: isFailed(span),
    });
    for (const child of own) visit(child, [...path, span.spanId]);
  };
  for (const root of children.get(null) ?? []) visit(root, []);
  // A ring of spans has no root; it is shown from its first one.
  for (const span of all) visit(span, []);
  return { rows, start: rows.length > 0 ? start : now, end: rows.length > 0 ? end : now, errors: rows.filter((row) => row.failed).length };
}

export function isFailed(span: SpanView): boolean {
  return ['error', 'failed', 'denied', 'timeout', 'invalid', 'not_found', 'uncertain'].includes(span.status ?? '');
}

function flatten(spans: readonly SpanView[]): SpanView[] {
  const known = new Map(spans.map((span) => [span.spanId, span]));
  return [...known.values()];
}

function at(moment: string | null | undefined): number {
  const time = Date.parse(moment ?? '');
  return Number.isNaN(time) ? 0 : time;
}

function endOf(span: SpanView): number | null {
  if (typeof span.durationMs === 'number') return at(span.startedAt) + span.durationMs;
  return span.finishedAt ? at(span.finishedAt) : null;
}

function clamp(part: number): number {
  return Math.min(1, Math.max(0, part));
}
