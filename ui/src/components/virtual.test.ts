import { describe, expect, test } from 'vitest';
import { RowHeights } from './virtual';

/** The same answer by adding up every time. */
function naive(heights: number[], scrollTop: number, viewport: number): { first: number; last: number } {
  let top = 0;
  let first = -1;
  let last = 0;
  heights.forEach((height, index) => {
    const bottom = top + height;
    if (first < 0 && bottom > scrollTop) first = index;
    if (top <= scrollTop + viewport) last = index;
    top = bottom;
  });
  return { first: Math.max(0, first), last };
}

describe('RowHeights', () => {
  test('no rows', () => {
    expect(new RowHeights(0, 40).range(0, 500, 5)).toEqual({ start: 0, end: 0, offset: 0, total: 0 });
  });

  test('estimates until measured', () => {
    const rows = new RowHeights(1_000, 40);
    expect(rows.total).toBe(40_000);
    expect(rows.range(4_000, 400, 0)).toEqual({ start: 100, end: 111, offset: 4_000, total: 40_000 });
    expect(rows.set(0, 140)).toBe(true);
    expect(rows.set(0, 140)).toBe(false);
    expect(rows.total).toBe(40_100);
    expect(rows.top(1)).toBe(140);
  });

  test('clamps at both ends and adds overscan', () => {
    const rows = new RowHeights(10, 50);
    expect(rows.range(-100, 100, 3).start).toBe(0);
    expect(rows.range(10_000, 100, 3)).toMatchObject({ start: 6, end: 10 });
  });

  test('ignores rows that do not exist', () => {
    const rows = new RowHeights(3, 50);
    expect(rows.set(-1, 10)).toBe(false);
    expect(rows.set(3, 10)).toBe(false);
    expect(rows.total).toBe(150);
  });

  test('keeps measured heights when the list grows or shrinks', () => {
    const rows = new RowHeights(3, 50);
    rows.set(1, 200);
    expect(rows.resized(5).total).toBe(50 + 200 + 50 * 3);
    expect(rows.resized(1).total).toBe(50);
  });

  test('agrees with adding up, for any heights and order of measuring', () => {
    let seed = 7;
    const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    for (let round = 0; round < 60; round += 1) {
      const count = 1 + Math.floor(random() * 80);
      const heights = Array.from({ length: count }, () => 30);
      const rows = new RowHeights(count, 30);
      for (let step = 0; step < 40; step += 1) {
        const index = Math.floor(random() * count);
        const height = 10 + Math.floor(random() * 100);
        heights[index] = height;
        rows.set(index, height);
        const scrollTop = Math.floor(random() * 3_000);
        const range = rows.range(scrollTop, 300, 0);
        const total = heights.reduce((sum, value) => sum + value, 0);
        expect(range.total).toBe(total);
        if (scrollTop < total) {
          const { first, last } = naive(heights, scrollTop, 300);
          expect([range.start, range.end - 1]).toEqual([first, last]);
        }
      }
    }
  });
});
