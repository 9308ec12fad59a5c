import { describe, expect, test } from 'vitest';
import { countChanges, diffLines, hunksOf } from './diff';

const marks = { same: ' ', added: '+', removed: '-' } as const;
const show = (a: string, b: string) => diffLines(a, b).map((line) => marks[line.kind] + line.text);

describe('diffLines', () => {
  test.each([
    ['', '', []],
    ['a\n', 'a\n', [' a']],
    ['', 'a\nb\n', ['+a', '+b']],
    ['a\nb\n', '', ['-a', '-b']],
    ['a\nb\nc\n', 'a\nx\nc\n', [' a', '-b', '+x', ' c']],
    ['a\nb\nc\n', 'b\nc\nd\n', ['-a', ' b', ' c', '+d']],
    ['a\n', 'b\n', ['-a', '+b']],
    ['a', 'a\n', [' a']],
    ['a\n\n', 'a\n', [' a', '-']],
  ])('%j to %j', (a, b, lines) => {
    expect(show(a, b)).toEqual(lines);
  });

  test('numbers both sides', () => {
    expect(diffLines('a\nb\n', 'x\nb\n').map((line) => [line.kind, line.oldNumber, line.newNumber])).toEqual([
      ['removed', 1, null],
      ['added', null, 1],
      ['same', 2, 2],
    ]);
  });

  test('gives both texts back, and no longer a script than the naive one, for random texts', () => {
    let seed = 11;
    const random = (n: number) => (seed = (seed * 16_807) % 2_147_483_647) % n;
    for (let round = 0; round < 300; round += 1) {
      const text = () => Array.from({ length: random(14) }, () => 'abc'[random(3)]);
      const a = text();
      const b = text();
      const lines = diffLines(a.map((line) => `${line}\n`).join(''), b.map((line) => `${line}\n`).join(''));
      expect(lines.filter((line) => line.kind !== 'added').map((line) => line.text)).toEqual(a);
      expect(lines.filter((line) => line.kind !== 'removed').map((line) => line.text)).toEqual(b);
      expect(lines.filter((line) => line.kind === 'same')).toHaveLength(longestCommon(a, b));
    }
  });

  test('texts without any line in common end quickly', () => {
    const a = Array.from({ length: 5_000 }, (_, index) => `a${index}`).join('\n');
    const b = Array.from({ length: 5_000 }, (_, index) => `b${index}`).join('\n');
    expect(countChanges(diffLines(a, b))).toEqual({ added: 5_000, removed: 5_000 });
  });
});

function longestCommon(a: unknown[], b: unknown[]): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const row = table[i];
      if (!row) continue;
      row[j] = a[i - 1] === b[j - 1] ? (table[i - 1]?.[j - 1] ?? 0) + 1 : Math.max(table[i - 1]?.[j] ?? 0, row[j - 1] ?? 0);
    }
  }
  return table[a.length]?.[b.length] ?? 0;
}

describe('hunksOf', () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

  test('keeps context and counts what it leaves out', () => {
    const before = numbered(40);
    const after = before.map((line, index) => (index === 4 || index === 30 ? 'changed' : line));
    const hunks = hunksOf(diffLines(before.join('\n'), after.join('\n')), 2);
    expect(hunks.map((hunk) => [hunk.skipped, hunk.lines.length])).toEqual([
      [2, 6],
      [21, 6],
    ]);
  });

  test('near changes share a hunk; equal texts have none', () => {
    expect(hunksOf(diffLines('a\nb\nc\n', 'x\nb\ny\n'))).toHaveLength(1);
    expect(hunksOf(diffLines('a\n', 'a\n'))).toEqual([]);
  });
});
