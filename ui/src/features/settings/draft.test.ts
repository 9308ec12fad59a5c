import { describe, expect, test } from 'vitest';
import { fromText, sameValue, toText } from './draft';

const int = { kind: 'int', min: 0, max: 10, zeroMeansOff: false } as const;
const list = { kind: 'list', maxItems: 3 } as const;
const map = { kind: 'map', min: 1, max: 64 } as const;

describe('fromText', () => {
  test.each([
    ['12', { value: 12 }],
    [' 1 000_000,0 ', { value: 10_000_000 }],
    ['-3', { value: -3 }],
    ['', { error: 'int' }],
    ['1.5', { error: 'int' }],
    ['1e3', { error: 'int' }],
    ['0x10', { error: 'int' }],
    ['9'.repeat(16), { error: 'int' }],
  ])('int %s', (text, parsed) => {
    expect(fromText(int, text)).toEqual(parsed);
  });

  test.each([
    ['', { value: {} }],
    ['{"a": 1}', { value: { a: 1 } }],
    ['[1]', { error: 'map' }],
    ['null', { error: 'map' }],
    ['{a:1}', { error: 'map' }],
  ])('map %s', (text, parsed) => {
    expect(fromText(map, text)).toEqual(parsed);
  });

  test('list lines are trimmed and blank ones dropped', () => {
    expect(fromText(list, ' /a \n\n/b c\n')).toEqual({ value: ['/a', '/b c'] });
  });
});

test('values survive the way to text and back', () => {
  expect(fromText(list, toText(list, ['/a', '/b']))).toEqual({ value: ['/a', '/b'] });
  expect(fromText(map, toText(map, { a: 1 }))).toEqual({ value: { a: 1 } });
  expect(fromText(int, toText(int, 7))).toEqual({ value: 7 });
  expect(sameValue(['a'], ['a'])).toBe(true);
  expect(sameValue(['a'], ['b'])).toBe(false);
});
