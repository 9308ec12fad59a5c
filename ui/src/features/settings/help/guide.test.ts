// The guide as the page shows it: both languages have the same parts, and nothing in them leads nowhere.

import { expect, test } from 'vitest';
import english from '../../../../../docs/guide.md?raw';
import chinese from '../../../../../docs/guide.zh-CN.md?raw';
import { readGuide } from './guide';

test.each([english, chinese])('a guide is read into parts without pictures and links', (source) => {
  const { intro, parts } = readGuide(source);
  expect(parts.map(({ key }) => key)).toEqual(['first', 'chat', 'approve', 'inbox', 'rules', 'undo', 'apps', 'models', 'servers', 'agents', 'others', 'told', 'settings', 'help']);
  for (const text of [intro, ...parts.map((part) => part.text)]) {
    expect(text).not.toBe('');
    expect(text).not.toMatch(/\]\(|^#|\n{3}/m);
  }
});
