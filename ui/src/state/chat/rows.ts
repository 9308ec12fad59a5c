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

export function buildRows(entries: readonly Entry[], calls: ReadonlyMap<string, ToolCall>, summaries: readonly SummaryView[]): Row[] {
  const rows: Row[] = [];
  const named = new Set(entries.flatMap((entry) => entry.callKeys));
  const waiting = [...summaries].sort((a, b) => a.toSeq - b.toSeq);
  for (const entry of entries) {
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
  return rows;
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
