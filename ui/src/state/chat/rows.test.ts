import { describe, expect, test } from 'vitest';
import { Entry } from './entry.svelte';
import { buildRows, Chunks } from './rows';
import { message } from './testing';

function entry(seq: number, role: 'user' | 'assistant' = seq % 2 === 0 ? 'assistant' : 'user'): Entry {
  const made = new Entry(`m${seq}`, role);
  made.take(message(`m${seq}`, seq, role, `text ${seq}`), false);
  return made;
}
const entries = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => entry(from + index));

describe('rows', () => {
  test('a row that says the same stays the same object', () => {
    const all = entries(1, 7);
    const before = buildRows(all, new Map(), []);
    const after = buildRows([...all, entry(7)], new Map(), [], before);
    expect(after.slice(0, 6).every((row, index) => row === before[index])).toBe(true);
    // The last answer of before is now followed by another of the same turn: it is no longer the last.
    const grown = buildRows([...all, entry(7, 'assistant')], new Map(), [], before);
    expect(grown[5]).not.toBe(before[5]);
    expect(grown[5]).toMatchObject({ last: false });
  });
});

test('a message that waited for its turn stands before its own answer, not in the middle of the one before', () => {
  const of = (seq: number, role: 'user' | 'assistant', runId: string, kind: 'normal' | 'correction' = 'normal') => {
    const made = new Entry(`m${seq}`, role);
    made.take(message(`m${seq}`, seq, role, '', { runId, kind }), false);
    return made;
  };
  const said = [of(1, 'user', 'a'), of(2, 'assistant', 'a'), of(3, 'user', 'b'), of(4, 'user', 'c'), of(5, 'user', 'a', 'correction'), of(6, 'assistant', 'a')];
  const keys = (entries: Entry[]) => buildRows(entries, new Map(), []).map((row) => row.key);
  expect(keys(said)).toEqual(['m1', 'm2', 'm5', 'm6', 'm3', 'm4']);
  expect(keys([...said, of(7, 'assistant', 'b')])).toEqual(['m1', 'm2', 'm5', 'm6', 'm3', 'm7', 'm4']);
  // One whose run left nothing behind is not carried along to the end.
  expect(keys([...said, of(7, 'assistant', 'c'), of(8, 'user', 'd')])).toEqual(['m1', 'm2', 'm5', 'm6', 'm3', 'm4', 'm7', 'm8']);
});

describe('chunks', () => {
  test('older pages move no cut, and chunks they do not touch stay the same objects', () => {
    const chunks = new Chunks();
    const newest = entries(61, 121);
    const rows = buildRows(newest, new Map(), []);
    const before = chunks.of(rows);
    const after = chunks.of(buildRows([...entries(1, 61), ...newest], new Map(), [], rows));
    expect(after.flatMap((chunk) => chunk.rows)).toHaveLength(120);
    const kept = before.filter((chunk) => after.includes(chunk));
    // Only the one that the page's edge cut in two is another.
    expect(before.length - kept.length).toBeLessThanOrEqual(1);
    expect(after.every((chunk, index) => index === 0 || chunk.id > (after[index - 1]?.id ?? -1))).toBe(true);
    expect(Math.max(...after.map((chunk) => chunk.rows.length))).toBeLessThanOrEqual(8);
  });
});
