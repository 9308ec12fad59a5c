import { describe, expect, test, vi } from 'vitest';
import type { ChangeQuery, ChangesApi, UndoOrder } from '../../api/changes';
import { ApiError } from '../../api/error';
import type { FileChange, UndoAnswer } from '../../protocol/changes';
import { Changes, filtersOf, grouped, splitPath } from './list.svelte';
import { readWarning, Undo } from './undo.svelte';

const change = (id: string, more: Partial<FileChange> = {}): FileChange =>
  ({ id, root: '/work', path: `${id}.txt`, change: 'modified', createdAt: '2026-01-02T10:00:00Z', undoneBy: null, undoes: [], runId: '', ...more }) as FileChange;

const event = (type: string) => ({ seq: 1, topic: 'admin', type, data: {} });

function setup(pages: Record<string, { changes: FileChange[]; next: string | null }>) {
  const list = vi.fn(({ before }: ChangeQuery) => Promise.resolve(pages[before ?? ''] ?? { changes: [], next: null }));
  const get = vi.fn((id: string) => Promise.resolve({ change: change(id) }));
  const changes = new Changes({ list, get } as unknown as ChangesApi);
  return { list, get, changes };
}

describe('the list', () => {
  const first = { '': { changes: [change('b'), change('a', { undoneBy: 'u' })], next: 'a' }, a: { changes: [change('old')], next: null } };

  test('is read with the filters of the address and only those', async () => {
    const { list, changes } = setup(first);
    changes.show(filtersOf({ runId: 'r1', change: 'created', other: 'x' }));
    await changes.list.load();
    expect(list.mock.calls[0]?.[0]).toEqual({ limit: 50, runId: 'r1', change: 'created' });
    expect(changes.filtered).toBe(true);
  });

  test('grows by older pages, and is read as a whole when something changed', async () => {
    const { list, get, changes } = setup(first);
    changes.show(filtersOf({}));
    await changes.list.load();
    expect(changes.items.map(({ id }) => id)).toEqual(['b', 'a']);
    await changes.more();
    expect(changes.items.map(({ id }) => id)).toEqual(['b', 'a', 'old']);
    changes.open('a');
    await changes.current?.data.load();
    const [lists, gets] = [list.mock.calls.length, get.mock.calls.length];
    changes.onEvent(event('tasks_changed'));
    expect(list.mock.calls.length).toBe(lists);
    changes.onEvent(event('file_changes_changed'));
    await changes.list.load();
    expect(changes.items).toHaveLength(3);
    expect(get.mock.calls.length).toBeGreaterThan(gets);
  });

  test('keeps what is chosen until it is undone, gone or filtered differently', async () => {
    const pages = { '': { changes: [change('b'), change('a')], next: null as string | null } };
    const { changes } = setup(pages);
    changes.show(filtersOf({}));
    await changes.list.load();
    changes.choose('a', true);
    changes.choose('b', true);
    expect(changes.chosen.map(({ id }) => id)).toEqual(['b', 'a']);
    pages[''] = { changes: [change('b'), change('a', { undoneBy: 'u' })], next: null };
    await changes.list.load();
    expect(changes.chosen.map(({ id }) => id)).toEqual(['b']);
    changes.show(filtersOf({ path: 'b' }));
    await changes.list.load();
    expect(changes.chosen).toEqual([]);
  });

  test('of another session is empty', async () => {
    const { changes } = setup(first);
    changes.show(filtersOf({ path: 'x' }));
    await changes.list.load();
    changes.choose('b', true);
    changes.clear();
    expect([changes.items, changes.chosen, changes.filtered, changes.current]).toEqual([[], [], false, null]);
  });
});

describe('grouped', () => {
  test('by day and then by directory, in the order they came', () => {
    const at = (id: string, day: string, root: string) => change(id, { createdAt: day, root });
    const days = grouped([at('4', 'tue', '/a'), at('3', 'tue', '/b'), at('2', 'tue', '/b'), at('1', 'mon', '/b')], String);
    expect(days.map(({ day, groups }) => [day, groups.map(({ root, changes }) => [root, changes.map(({ id }) => id)])])).toEqual([
      ['tue', [['/a', ['4']], ['/b', ['3', '2']]]],
      ['mon', [['/b', ['1']]]],
    ]);
  });
});

test('a path is its directories and its name', () => {
  expect(splitPath('a/b/c.txt')).toEqual({ directory: 'a/b/', name: 'c.txt' });
  expect(splitPath('c.txt')).toEqual({ directory: '', name: 'c.txt' });
  expect(splitPath('empty/')).toEqual({ directory: '', name: 'empty/' });
});

test('an undo is known by what it undid, and a redo by the undo it undid', async () => {
  const items = [change('4', { undoes: ['3'] }), change('3', { undoes: ['2'] }), change('2', { undoes: ['1'] }), change('1')];
  const { changes } = setup({ '': { changes: items, next: null } });
  await changes.list.load();
  expect(items.map((one) => changes.natureOf(one))).toEqual(['undo', 'redo', 'undo', 'tool']);
  expect(changes.natureOf(change('x', { undoes: ['on an older page'] }))).toBe('undo');
});

test('a warning begins with its word', () => {
  expect(readWarning('hard_links: 2 other names').code).toBe('hard_links');
  expect(readWarning('Something else: x').code).toBe('');
});

describe('an undo', () => {
  const refuse = (code: string, details: unknown) => new ApiError(409, code, 'no', 'do this', details);
  const answer = (...paths: string[]) => ({ steps: paths.map((path) => ({ root: '/work', path, action: 'restored', changes: [] })), changes: [], warnings: [] }) as unknown as UndoAnswer;

  function asked(decide: (order: UndoOrder, dryRun: boolean) => UndoAnswer | ApiError, order: UndoOrder, known: FileChange[] = [], pages: Record<string, { changes: FileChange[]; next: string | null }> = {}) {
    const orders: [UndoOrder, boolean][] = [];
    const lists: ChangeQuery[] = [];
    const api = {
      undo: (given: UndoOrder, dryRun: boolean) => {
        orders.push([given, dryRun]);
        const result = decide(given, dryRun);
        return result instanceof ApiError ? Promise.reject(result) : Promise.resolve(result);
      },
      list: (query: ChangeQuery) => {
        lists.push(query);
        return Promise.resolve(pages[query.before ?? ''] ?? { changes: [], next: null });
      },
    };
    return { orders, lists, undo: new Undo(api as unknown as ChangesApi, order, known) };
  }

  test('is looked at before it is done', async () => {
    const { orders, undo } = asked(() => answer('a.txt'), { ids: ['1'] });
    await undo.look();
    expect(undo.steps?.map(({ path }) => path)).toEqual(['a.txt']);
    expect(await undo.commit()).not.toBeNull();
    expect(orders).toEqual([
      [{ ids: ['1'] }, true],
      [{ ids: ['1'] }, false],
    ]);
  });

  test('that is refused says why, and nothing is shown as if it were to happen', async () => {
    const { undo } = asked((_, dryRun) => (dryRun ? answer('a.txt') : refuse('changed_on_disk', { later: [] })), { ids: ['1'] });
    await undo.look();
    expect(await undo.commit()).toBeNull();
    expect([undo.refusal?.code, undo.steps, undo.later, undo.busy]).toEqual(['changed_on_disk', null, [], null]);
  });

  test('takes later changes along when the person says so', async () => {
    const { orders, undo } = asked((order) => ('ids' in order && order.ids.includes('9') ? answer('a.txt') : refuse('changed_on_disk', { later: ['9', '1'] })), { ids: ['1'] });
    await undo.look();
    expect(undo.later).toEqual(['9', '1']);
    await undo.takeLater();
    expect(orders.at(-1)).toEqual([{ ids: ['1', '9'] }, true]);
    expect([undo.refusal, undo.steps?.length]).toEqual([null, 1]);
  });

  test('over several directories is made one of them', async () => {
    const known = [change('1', { root: '/a' }), change('2', { root: '/b' })];
    const { orders, undo } = asked((order) => ('ids' in order && order.ids.length === 1 ? answer('x') : refuse('several_roots', { roots: ['/a', '/b'] })), { ids: ['1', '2'] }, known);
    await undo.look();
    expect(undo.roots).toEqual(['/a', '/b']);
    await undo.onlyIn('/b');
    expect(orders.at(-1)).toEqual([{ ids: ['2'] }, true]);
  });

  test('of a run becomes that of its changes that are in force, all pages of them', async () => {
    const pages = { '': { changes: [change('3'), change('2', { undoneBy: 'u' })], next: '2' }, '2': { changes: [change('1')], next: null } };
    const { orders, lists, undo } = asked((order) => ('ids' in order ? answer('x') : refuse('several_roots', { roots: ['/work', '/b'] })), { runId: 'r' }, [], pages);
    await undo.look();
    await undo.onlyIn('/work');
    expect(orders.at(-1)).toEqual([{ ids: ['3', '1'] }, true]);
    expect(lists.map(({ root, runId, before }) => [root, runId, before])).toEqual([
      ['/work', 'r', undefined],
      ['/work', 'r', '2'],
    ]);
  });
});
