import { describe, expect, test, vi } from 'vitest';
import { item } from '../../state/prompts/testing';
import { readAddress } from '../../components/address';
import { fileNameFor } from './file-name';
import { Follow, isNext } from './follow.svelte';
import { visibleMarkdown } from '../../components/visible-markdown';
import { afterSpot, idOf, indexOfSlot, nextPrompt, ROW_HEIGHT, type Row, type Rows, spotOf, windowOf } from './rows';

describe('addresses', () => {
  test('the host is set apart as it was written', () => {
    expect(readAddress('https://user:pw@Example.com:8443/a?b#c')).toMatchObject({
      before: 'https://user:pw@',
      host: 'Example.com:8443',
      after: '/a?b#c',
      ascii: 'example.com:8443',
      credentials: true,
      allowed: true,
    });
  });

  test.each([
    ['https://xn--80ak6aa92e.com/', true, true],
    ['https://аррӏе.com/', true, true],
    ['https://apple.com/', false, true],
    ['http://apple.com/', false, false],
    ['http://127.0.0.1:8080/cb', false, true],
    ['http://localhost/', false, true],
    ['http://[::1]/', false, true],
    ['http://127.0.0.1.evil.com/', false, false],
    ['http://localhost.evil.com/', false, false],
    ['javascript:alert(1)', false, false],
    ['file:///etc/passwd', false, false],
  ])('%s', (url, punycode, allowed) => {
    expect(readAddress(url)).toMatchObject({ punycode, allowed });
  });

  test('a user part that looks like a host is not taken for it', () => {
    expect(readAddress('https://bank.com@evil.com/x')).toMatchObject({ host: 'evil.com', ascii: 'evil.com', credentials: true });
    expect(readAddress('https://evil.com\\@bank.com/x')?.ascii).toBe('evil.com');
    expect(readAddress('not an address')).toBeNull();
  });
});

test.each([
  ['Build #1', 'markdown', null, 'Build #1.md'],
  ['../../etc/passwd', 'text', null, 'etc passwd.txt'],
  ['a\u202egnp.exe', 'json', null, 'a gnp.exe.json'],
  ['data', 'text', 'text/csv; charset=utf-8', 'data.csv'],
  [' .. ', 'markdown', null, 'result.md'],
  ['x'.repeat(300), 'text', 'weird/type', `${'x'.repeat(80)}.txt`],
] as const)('a result called %s is saved under a harmless name', (title, form, mime, name) => {
  expect(fileNameFor(title, form, mime, 'result')).toBe(name);
});

test('messages show what would hide or reorder text; emoji and line ends stay', () => {
  expect(visibleMarkdown('a\u202eb\u0007c\u200bd')).toBe('a⟦U+202E⟧b⟦U+0007⟧c⟦U+200B⟧d');
  const fine = '你好\n\t- 👨\u200d👩\u200d👧 ❤\ufe0f\r\n';
  expect(visibleMarkdown(fine)).toBe(fine);
});

describe('rows', () => {
  const rowsOf = (list: (Row | null)[]): Rows => ({
    count: list.length,
    at: (index) => list[index] ?? null,
    indexOf: (id) => list.findIndex((row) => idOf(row) === id),
  });
  const prompt = (id: string): Row => ({ item: item({ kind: 'kv', fields: [{ key: 'a' }] }, { requestId: id }) });

  test('only what is in view exists, however long the list', () => {
    const long = (count: number): Rows => ({ count, at: () => null, indexOf: () => -1 });
    expect(windowOf(0, 600, long(0))).toEqual({ start: 0, count: 0 });
    expect(windowOf(0, ROW_HEIGHT * 10, long(5))).toEqual({ start: 0, count: 5 });
    expect(windowOf(ROW_HEIGHT * 9_000, ROW_HEIGHT * 10, long(10_000))).toEqual({ start: 8_996, count: 19 });
    expect(windowOf(ROW_HEIGHT * 99_999, ROW_HEIGHT * 10, long(10_000))).toEqual({ start: 9_981, count: 19 });
  });

  test('every row of the window has one element, and keeps it while it stays in view', () => {
    for (const start of [0, 1, 18, 19, 8_996]) {
      const shown = Array.from({ length: 19 }, (_, slot) => indexOfSlot(slot, start, 19));
      expect([...shown].sort((a, b) => a - b)).toEqual(Array.from({ length: 19 }, (_, at) => start + at));
      const later = Array.from({ length: 19 }, (_, slot) => indexOfSlot(slot, start + 3, 19));
      expect(shown.filter((index, slot) => index >= start + 3 && later[slot] !== index)).toEqual([]);
    }
  });

  test('headings are passed by the keys', () => {
    const rows = rowsOf([prompt('a'), { heading: 'h' }, prompt('b'), null]);
    expect(nextPrompt(rows, 0, 1)).toBe(2);
    expect(nextPrompt(rows, 2, -1)).toBe(0);
    expect(nextPrompt(rows, 2, 1)).toBe(3);
    expect(nextPrompt(rows, 0, -1)).toBe(-1);
    expect([idOf(rows.at(0)), idOf(rows.at(1)), idOf(null)]).toEqual(['a', null, null]);
  });

  describe('after an answer', () => {
    const list = (...ids: string[]) => rowsOf(ids.map(prompt));
    const after = (before: Rows, id: string, now: Rows) => {
      const spot = spotOf(before, id);
      return spot && afterSpot(now, spot);
    };

    test.each([
      ['the one below', ['a', 'b', 'c'], 'b', ['a', 'c'], 'c'],
      ['the one below, though the answered one is still listed', ['a', 'b', 'c'], 'b', ['a', 'b', 'c'], 'c'],
      ['the one below, though rows came above', ['a', 'b', 'c'], 'b', ['x', 'y', 'a', 'c'], 'c'],
      ['the one below, though rows left above', ['a', 'b', 'c', 'd'], 'c', ['d'], 'd'],
      ['who stands there now when the one below left, too', ['a', 'b', 'c', 'd'], 'b', ['a', 'd'], 'd'],
      ['at the end the one above', ['a', 'b', 'c'], 'c', ['a', 'b'], 'b'],
      ['at the end the one above, though it moved', ['a', 'b', 'c'], 'c', ['x', 'y', 'z', 'b'], 'b'],
      ['nothing when nothing is left', ['a'], 'a', [], null],
      ['nothing when only the answered one is left', ['a'], 'a', ['a'], null],
    ])('%s', (_, before, id, now, next) => {
      expect(after(list(...before), id, list(...now))).toBe(next);
    });

    test('not what nothing is asked of any more', () => {
      const quiet = (id: string): Row => ({ ...prompt(id), quiet: true }) as Row;
      expect(after(rowsOf([prompt('a'), { heading: 'h' }, quiet('q')]), 'a', rowsOf([{ heading: 'h' }, quiet('q')]))).toBeNull();
    });
  });
});

describe('chains', () => {
  const step = (id: string, n: number, of: number | null = null) =>
    item({ kind: 'kv', fields: [{ key: 'a' }], chain: { id: 'c', step: n, ...(of === null ? {} : { of }) } }, { requestId: id });
  const plain = (id: string, source: string, runId: string | null = null) => item({ kind: 'kv', fields: [{ key: 'a' }] }, { requestId: id, source, runId });

  test('the next step is gone to when it is there, awaited when it is not', () => {
    vi.useFakeTimers();
    const went: string[] = [];
    const follow = new Follow((next) => went.push(next.id));
    expect(follow.after(step('1', 1, 2), () => step('2', 2, 2))?.id).toBe('2');
    expect(follow.after(step('1', 1, 2), () => null)).toBeNull();
    expect(follow.waiting?.id).toBe('1');
    follow.arrived([plain('x', 'other'), step('2', 2, 2)], true);
    expect(went).toEqual(['2']);
    expect(follow.after(step('2', 2, 2), () => null)).toBeNull();
    expect(follow.waiting).toBeNull();
    follow.after(step('1', 1), () => null);
    vi.advanceTimersByTime(10_001);
    expect(follow.waiting).toBeNull();
    vi.useRealTimers();
  });

  test('an arrival never moves somebody who is looking at something else', () => {
    const went: string[] = [];
    const follow = new Follow((next) => went.push(next.id));
    follow.after(plain('1', 'app'), () => null);
    follow.arrived([plain('2', 'app')], false);
    follow.arrived([plain('3', 'another')], true);
    expect(went).toEqual([]);
    follow.arrived([plain('4', 'app')], true);
    expect(went).toEqual(['4']);
  });

  test('without a chain, source and run must be the same', () => {
    expect(isNext(plain('1', 'a', 'r'), plain('2', 'a', 'r'))).toBe(true);
    expect(isNext(plain('1', 'a', 'r'), plain('2', 'a', 's'))).toBe(false);
    expect(isNext(step('1', 1), plain('2', 'test'))).toBe(false);
  });
});
