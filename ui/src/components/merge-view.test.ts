import { describe, expect, test } from 'vitest';
import { comparable, countDifference } from './merge-view';

const lines = (count: number, of: (at: number) => string) => Array.from({ length: count }, (_, at) => `${of(at)}\n`).join('');

describe('two texts compared', () => {
  const table: [string, string, string, { added: number; removed: number }][] = [
    ['nothing to nothing', '', '', { added: 0, removed: 0 }],
    ['a new file', '', 'a\nb\n', { added: 2, removed: 0 }],
    ['a new file without its last line end', '', 'a\nb', { added: 2, removed: 0 }],
    ['a removed file', 'a\nb\n', '', { added: 0, removed: 2 }],
    ['a changed line', 'a\nb\nc\n', 'a\nB\nc\n', { added: 1, removed: 1 }],
    ['a line behind the last', 'a\nb\n', 'a\nb\nc\n', { added: 1, removed: 0 }],
    ['a line before the first', 'a\nb', 'x\na\nb', { added: 1, removed: 0 }],
    ['an empty line', 'a\nb\n', 'a\n\nb\n', { added: 1, removed: 0 }],
    ['a line end of another system', 'a\nb\n', 'a\r\nb\n', { added: 1, removed: 1 }],
    ['a missing last line end', 'a\nb\n', 'a\nb', { added: 1, removed: 1 }],
    ['a hidden character', 'a\n', 'a\u200b\n', { added: 1, removed: 1 }],
  ];

  test.each(table)('%s', (_name, before, after, counts) => {
    expect(countDifference(before, after)).toEqual(counts);
  });

  test('hidden characters are there by their numbers, on both sides', () => {
    const [before, after] = comparable('a\u202eb\r\n\tc', 'x\ufeff', '!');
    expect(before.toString()).toBe('a⟨U+202E⟩b⟨\\r⟩\n\tc\n');
    expect(after.toString()).toBe('x⟨U+FEFF⟩\n');
  });

  test('large and entirely different texts are compared in bounded time', () => {
    const before = lines(20_000, (at) => `left ${(at * 7) % 977}`);
    const after = lines(20_000, (at) => `right ${(at * 13) % 991}`);
    const { added, removed } = countDifference(before, after);
    expect(added).toBeGreaterThan(0);
    expect(added - removed).toBe(0);
  });
});
