import { expect, test } from 'vitest';
import { visiblePieces } from './visible';

const show = (text: string) => visiblePieces(text).map((piece) => (piece.special ? `<${piece.text}>` : piece.text)).join('');

test.each([
  ['plain text, 中文, émoji 👍🏽', 'plain text, 中文, émoji 👍🏽'],
  ['', ''],
  ['a\u202egnp.exe', 'a<U+202E>gnp.exe'],
  ['\u2066x\u2069', '<U+2066>x<U+2069>'],
  ['pay\u200bpal', 'pay<U+200B>pal'],
  ['a\u0000b\u001b[31m', 'a<U+0000>b<U+001B>[31m'],
  ['a\nb\tc\r', 'a<\\n>b<\\t>c<\\r>'],
  ['\ufeffbom', '<U+FEFF>bom'],
  ['x\u{e0041}y', 'x<U+E0041>y'],
  ['soft\u00adhyphen', 'soft<U+00AD>hyphen'],
  ['\u061c\u200e\u200f', '<U+061C><U+200E><U+200F>'],
  ['\u2028\u2029', '<U+2028><U+2029>'],
])('%j', (text, seen) => {
  expect(show(text)).toBe(seen);
});

test('line feeds may stay', () => {
  expect(visiblePieces('a\nb\u202e', true)).toEqual([
    { text: 'a\nb', special: false },
    { text: 'U+202E', special: true },
  ]);
});
