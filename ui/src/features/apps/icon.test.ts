import { expect, test } from 'vitest';
import { iconText } from './icon';

test.each([
  ['📝', 'Notes', '📝'],
  ['DB', 'Client', 'DB'],
  ['', 'notes', 'N'],
  ['icon.svg', 'notes', 'N'],
  ['img/icon.png', 'notes', 'N'],
  ['https://x', 'notes', 'N'],
  ['data:x', '数据', '数'],
  ['a text that is too long', 'b', 'B'],
  ['', '', '?'],
])('icon %s of %s', (icon, name, text) => {
  expect(iconText(icon, name)).toBe(text);
});
