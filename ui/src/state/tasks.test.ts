import { describe, expect, it } from 'vitest';
import { byDay, joined, parseTags } from './tasks.svelte';

describe('parseTags', () => {
  it('takes spaces, commas of both languages and leading hashes', () => {
    expect(parseTags(' #docs, ui，测试  docs ')).toEqual(['docs', 'ui', '测试']);
    expect(parseTags('')).toEqual([]);
  });
});

describe('joined', () => {
  const pages = new Map<string | null, { items: { id: string }[]; nextCursor: string | null; total: number }>([
    [null, { items: [{ id: 'a' }, { id: 'b' }], nextCursor: '2', total: 5 }],
    ['2', { items: [{ id: 'b' }, { id: 'c' }], nextCursor: '4', total: 5 }],
    ['4', { items: [{ id: 'd' }], nextCursor: null, total: 4 }],
  ]);
  const get = (cursor: string | null) => {
    const page = pages.get(cursor);
    return page ? Promise.resolve(page) : Promise.reject(new Error('no such page'));
  };
  const ids = async (count: number) => (await joined(count, get)).items.map(({ id }) => id);

  it('reads as many pages as wanted and no more than there are, each item once', async () => {
    expect(await ids(1)).toEqual(['a', 'b']);
    expect(await ids(2)).toEqual(['a', 'b', 'c']);
    expect(await ids(9)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('says what the last page said', async () => {
    const whole = await joined(9, get);
    expect([whole.nextCursor, whole.total]).toEqual([null, 4]);
  });
});

describe('byDay', () => {
  it('keeps the order and begins anew with each day', () => {
    const entries = ['2026-01-02T09:00', '2026-01-02T08:00', '2026-01-01T23:00'].map((ts) => ({ ts }));
    const days = byDay(entries, (ts) => ts.slice(0, 10));
    expect(days.map(({ day, entries: of }) => [day, of.length])).toEqual([
      ['2026-01-02', 2],
      ['2026-01-01', 1],
    ]);
    expect(byDay([], String)).toEqual([]);
  });
});
