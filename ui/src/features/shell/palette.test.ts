// The palette finds by words in any order, and what was meant comes first.

import { expect, test } from 'vitest';
import { type Command, find, isTyping, JUMPS } from './palette';
import { PAGES } from '../../router';

const command = (group: Command['group'], label: string, words = ''): Command => ({ key: `${group} ${label}`, group, label, words, icon: 'chat', run: () => undefined });
const ALL = [
  command('pages', 'Tasks'),
  command('pages', 'Settings'),
  command('chats', 'Write the release notes'),
  command('chats', 'Notes about tasks'),
  command('agents', 'Reviewer', 'reads the diff'),
  command('settings', 'Confirm commands', 'terminal approval'),
  command('actions', 'New chat'),
];
const labels = (query: string) => find(ALL, query).flatMap(({ items }) => items.map((item) => item.label));

test('words in any order, closest first, over all groups', () => {
  expect(labels('tas')).toEqual(['Tasks', 'Notes about tasks']);
  expect(labels('notes release')).toEqual(['Write the release notes']);
  expect(labels('APPROVAL')).toEqual(['Confirm commands']);
  expect(labels('nothing of the kind')).toEqual([]);
});

test('before anything is typed it offers chats, pages and actions, not every setting', () => {
  expect(find(ALL, '  ').map(({ group }) => group)).toEqual(['chats', 'pages', 'actions']);
});

test('a group shows its first ten', () => {
  const many = Array.from({ length: 30 }, (_, n) => command('chats', `Chat ${n}`));
  expect(find(many, 'chat')[0]?.items.map((item) => item.label)).toEqual(many.slice(0, 10).map((item) => item.label));
});

test('every page has a letter, and letters are text where one writes', () => {
  expect(Object.values(JUMPS).toSorted()).toEqual([...PAGES].toSorted());
  const box = document.createElement('textarea');
  expect([isTyping(box), isTyping(document.createElement('button')), isTyping(null)]).toEqual([true, false, false]);
});
