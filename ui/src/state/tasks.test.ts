import { describe, expect, it } from 'vitest';
import type { Client, TaskQuery } from '../api/client';
import type { Task } from '../protocol';
import { byDay, joined, parseTags, Tasks } from './tasks.svelte';

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

describe('counts of the board', () => {
  const task = (id: string, status: string) => ({ id, status, title: id }) as Task;
  const totals: Record<string, number> = { todo: 9_700, doing: 250, blocked: 50, done: 0 };

  function setup(items: Task[], nextCursor: string | null) {
    const asked: TaskQuery[] = [];
    const client = {
      tasks: (query: TaskQuery) => {
        asked.push(query);
        return Promise.resolve({ items, nextCursor, total: totals[query.status ?? ''] ?? 10_000, open: 10_000 });
      },
      changeTask: (id: string, change: { status?: string }) => Promise.resolve(task(id, change.status ?? 'todo')),
    };
    return { asked, tasks: new Tasks(client as unknown as Client) };
  }

  it('come from the host when the list is longer than what is here, and follow a move', async () => {
    const first = task('a', 'todo');
    const { tasks, asked } = setup([first, task('b', 'doing')], '200');
    await tasks.list.load();
    expect(tasks.list.data?.counts).toEqual(totals);
    expect(asked.slice(1).map(({ status, limit }) => [status, limit])).toEqual([['todo', 1], ['doing', 1], ['blocked', 1], ['done', 1]]);
    await tasks.change(first, { status: 'done' });
    expect(tasks.list.data?.counts).toEqual({ ...totals, todo: 9_699, done: 1 });
  });

  it('of a whole list are counted here', async () => {
    const { tasks, asked } = setup([task('a', 'todo'), task('b', 'todo')], null);
    await tasks.list.load();
    expect([tasks.list.data?.counts['todo'], tasks.list.data?.counts['done'], asked.length]).toEqual([2, 0, 1]);
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
