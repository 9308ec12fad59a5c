// What the transcript draws, in order: messages with their tool calls, results whose call is on an older
// page, and a line where older messages were summarised for the model (agents §9).

import type { SummaryView } from '../../protocol/wire';
import type { Entry, ToolCall } from './entry.svelte';

export type Row =
  | { kind: 'user'; key: string; entry: Entry }
  | { kind: 'assistant'; key: string; entry: Entry; calls: ToolCall[]; first: boolean; last: boolean }
  | { kind: 'system'; key: string; entry: Entry }
  | { kind: 'orphan'; key: string; call: ToolCall }
  | { kind: 'summary'; key: string; summary: SummaryView };

/** `before`: the rows drawn so far. One that would say the same stays the same object, so that nobody draws it again. */
export function buildRows(entries: readonly Entry[], calls: ReadonlyMap<string, ToolCall>, summaries: readonly SummaryView[], before: readonly Row[] = []): Row[] {
  const rows: Row[] = [];
  const named = new Set(entries.flatMap((entry) => entry.callKeys));
  const waiting = [...summaries].sort((a, b) => a.toSeq - b.toSeq);
  for (const entry of inTurn(entries)) {
    while (waiting[0] && waiting[0].toSeq < entry.seq) {
      const [summary] = waiting.splice(0, 1);
      // Above the oldest message that is loaded there is nothing to draw a line under.
      if (summary && rows.length > 0) rows.push({ kind: 'summary', key: `summary ${summary.id}`, summary });
    }
    const row = rowOf(entry, calls, named);
    if (row) rows.push(row);
  }
  for (const summary of waiting) if (rows.length > 0) rows.push({ kind: 'summary', key: `summary ${summary.id}`, summary });
  markTurns(rows);
  const known = new Map(before.map((row) => [row.key, row]));
  return rows.map((row) => {
    const same = known.get(row.key);
    return same && alike(same, row) ? same : row;
  });
}

/** A message that waited for its turn stands where its run began, not where it was said: in the middle of the answer
    before. Runs of a chat begin in the order of their messages. */
function inTurn(entries: readonly Entry[]): readonly Entry[] {
  const out: Entry[] = [];
  let held: Entry[] = [];
  for (const entry of entries) {
    if (entry.role === 'user' && entry.kind !== 'correction' && entry.runId !== null) {
      held.push(entry);
      continue;
    }
    const begins = held.findLastIndex((one) => one.runId === entry.runId);
    out.push(...held.slice(0, begins + 1));
    held = held.slice(begins + 1);
    out.push(entry);
  }
  return [...out, ...held];
}

function alike(one: Row, other: Row): boolean {
  if (one.kind === 'assistant' && other.kind === 'assistant') {
    const calls = one.calls.length === other.calls.length && one.calls.every((call, index) => call === other.calls[index]);
    return calls && one.entry === other.entry && one.first === other.first && one.last === other.last;
  }
  if (one.kind === 'orphan' && other.kind === 'orphan') return one.call === other.call;
  if (one.kind === 'summary' && other.kind === 'summary') return one.summary === other.summary;
  return one.kind === other.kind && 'entry' in one && 'entry' in other && one.entry === other.entry;
}

/** Rows that are drawn, and let go, together. */
export interface Chunk {
  id: number;
  rows: Row[];
}

/** Messages of a chunk: few enough to be drawn between two frames, many enough that a long chat has few chunks. */
const CHUNK = 8;

/** Cuts rows into chunks by the number of their messages, so that older pages move no cut. A chunk whose rows are the
    same stays the same object. */
export class Chunks {
  #known = new Map<number, Chunk>();

  of(rows: readonly Row[]): Chunk[] {
    const cut: Chunk[] = [];
    for (const row of rows) {
      const last = cut.at(-1);
      const seq = 'entry' in row ? row.entry.seq : null;
      const id = seq === null ? (last?.id ?? -1) : Math.floor(seq / CHUNK);
      if (last && id <= last.id) last.rows.push(row);
      else cut.push({ id, rows: [row] });
    }
    const chunks = cut.map((chunk) => {
      const known = this.#known.get(chunk.id);
      const same = known && known.rows.length === chunk.rows.length && chunk.rows.every((row, index) => row === known.rows[index]);
      return same ? known : chunk;
    });
    this.#known = new Map(chunks.map((chunk) => [chunk.id, chunk]));
    return chunks;
  }
}

/** What a row says, as text: what a search of the browser finds while the row is not drawn. */
export function textOf(row: Row): string {
  if (row.kind === 'summary') return '';
  if (row.kind === 'orphan') return row.call.label;
  return row.entry.content.text;
}

function rowOf(entry: Entry, calls: ReadonlyMap<string, ToolCall>, named: ReadonlySet<string>): Row | null {
  switch (entry.role) {
    case 'user':
      return { kind: 'user', key: entry.id, entry };
    case 'assistant': {
      const own = entry.callKeys.map((key) => calls.get(key)).filter((call) => call !== undefined);
      return { kind: 'assistant', key: entry.id, entry, calls: own, first: true, last: true };
    }
    case 'tool': {
      const key = entry.callKey;
      if (key === null || named.has(key)) return null;
      const call = calls.get(key);
      return call ? { kind: 'orphan', key: entry.id, call } : null;
    }
    default:
      return { kind: 'system', key: entry.id, entry };
  }
}

/** Consecutive assistant messages are one turn: one head, one foot. */
function markTurns(rows: Row[]): void {
  rows.forEach((row, index) => {
    if (row.kind !== 'assistant') return;
    row.first = rows[index - 1]?.kind !== 'assistant';
    row.last = rows[index + 1]?.kind !== 'assistant';
  });
}
