// A message never lies on what can be pressed, as long as there is room for it elsewhere.

import { describe, expect, test } from 'vitest';
import { freeTop } from './free-place';

const across = { left: 1000, right: 1384 };
const box = (top: number, bottom: number, left = 1100, right = 1200) => ({ left, right, top, bottom });

describe('freeTop', () => {
  test('stays at the top where nothing is in the way', () => {
    expect(freeTop(across, 60, [], 16, 900)).toBe(16);
    expect(freeTop(across, 60, [box(20, 60, 0, 900)], 16, 900)).toBe(16);
  });

  test('goes below what can be pressed, also when that takes several steps', () => {
    expect(freeTop(across, 60, [box(20, 52)], 16, 900)).toBe(56);
    expect(freeTop(across, 60, [box(20, 52), box(100, 132)], 16, 900)).toBe(136);
  });

  test('fits between two actions when it is low enough', () => {
    expect(freeTop(across, 40, [box(20, 52), box(100, 132)], 16, 900)).toBe(56);
  });

  test('a window full of actions has no better place than the top', () => {
    expect(freeTop(across, 60, [box(0, 900)], 16, 900)).toBe(16);
  });
});
