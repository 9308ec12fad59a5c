import { expect, test } from 'vitest';
import type { PromptItem } from './item';
import { item } from './testing';
import { arrange, facetsOf, type FactWords, factsOf, isArranged, isNarrowed, queryOf, sortOf, viewOf, WHOLE } from './view';

const words: FactWords = {
  nobody: 'unnamed',
  assistant: 'Assistant',
  chat: 'Chat',
  kinds: { command: 'Command', file: 'File change', tool: 'Tool', form: 'Form', choice: 'Choice', tasks: 'Tasks', page: 'Web page', problem: 'Unreadable' },
  agentOf: (session) => (session === 's9' ? 'Planner' : null),
  titleOf: (session) => (session === 's9' ? 'Trip' : null),
};

const project = (name: string) => ({ name, root: `/home/me/${name}` });
let count = 0;
function question(card: object, prompt: object = { kind: 'file_change_confirm' }, more: object = {}): PromptItem {
  count += 1;
  const full = { object: '', to: null, count: 1, risk: 'medium', reasons: [], verb: 'edit_file', ...card };
  return item(prompt as never, { requestId: `q${count}`, ts: new Date(Date.UTC(2026, 0, 1, 0, count)).toISOString(), card: full, ...more } as never);
}

const ids = (items: readonly PromptItem[]) => items.map(({ id }) => id);

test('what is in the address comes back, and what it does not know is nothing', () => {
  const view = { ...WHOLE, q: 'a & b', kind: 'command', from: 'agent:Ann ▸ 2', project: '/a b/ü', risk: 'high', group: 'chat' as const, order: 'risk' as const };
  expect(viewOf(queryOf(view))).toEqual(view);
  expect(queryOf(WHOLE)).toEqual({});
  expect(viewOf({ kind: 'constructor', risk: 'x', group: 'toString', order: '', other: '1' })).toEqual(WHOLE);
  expect([isNarrowed(WHOLE), isArranged(WHOLE), isNarrowed({ ...WHOLE, q: ' ' })]).toEqual([false, false, false]);
  expect([isNarrowed({ ...WHOLE, group: 'from' }), isArranged({ ...WHOLE, group: 'from' }), isArranged({ ...WHOLE, q: 'x' })]).toEqual([false, true, false]);
});

test('kinds are what people call them', () => {
  expect(sortOf(question({ verb: 'run_command' }))).toBe('command');
  expect(sortOf(question({ verb: 'use_tool' }, { kind: 'choice', options: [] }))).toBe('tool');
  expect(sortOf(question({ verb: 'answer' }, { kind: 'kv', fields: [] }))).toBe('form');
  // Without a card, what the question itself says.
  expect(sortOf(item({ kind: 'file_change_confirm', command: 'ls' }))).toBe('command');
  expect(sortOf(item({ kind: 'file_change_confirm', path: 'a' }))).toBe('file');
  expect(sortOf(item({ kind: 'choice', options: [], url: 'https://example.com/' }))).toBe('page');
  expect(sortOf(item({ kind: 'task_confirm', tasks: [] }))).toBe('tasks');
  expect(sortOf(item({ kind: 'who knows' }))).toBe('problem');
});

test('who asks: agents, programs and apps of one name stay apart; a claim of another program is only that', () => {
  const from = (one: PromptItem) => factsOf(one, words).from.key;
  expect(from(question({ agent: 'Ann', subAgent: 'Bob', tool: 'write_file' }))).toBe('agent:Ann');
  expect(from(question({ agent: 'Ann', app: 'clock' }))).toBe('app:clock');
  expect(from(item({ kind: 'kv' }, { client: { id: '1', kind: 'hook', name: 'Ann', root: '/p/x', project: 'x' } }))).toBe('program:Ann');
  expect(from(item({ kind: 'kv' }, { source: 'ui_prompter/ask', sessionId: 's9' }))).toBe('agent:Planner');
  expect(from(item({ kind: 'kv' }, { source: 'ui_prompter/ask', class: 'foreign' }))).toBe('program:ui_prompter/ask');
  expect(from(item({ kind: 'kv' }, { source: null }))).toBe('program:unnamed');
  const { project: folder, chat, risk } = factsOf(item({ kind: 'kv' }, { sessionId: 's9', client: { id: '1', kind: 'hook', name: 'Ann', root: '/p/x', project: 'x' } }), words);
  expect([folder?.key, folder?.label, chat?.label, risk]).toEqual(['/p/x', 'x', 'Trip', null]);
});

test('counts say what a choice would leave, with the other choices kept', () => {
  const items = [
    question({ verb: 'run_command', risk: 'high', agent: 'Ann', project: project('shop') }),
    question({ verb: 'run_command', agent: 'Ben', project: project('shop') }),
    question({ agent: 'Ann', project: project('site') }),
    question({ verb: 'answer', risk: 'low', agent: 'Ann' }, { kind: 'kv', fields: [] }),
  ];
  const numbers = (view: object) => Object.fromEntries(Object.entries(facetsOf(items, { ...WHOLE, ...view }, words)).map(([facet, values]) => [facet, values.map((one) => `${one.label} ${one.count}`)]));
  expect(numbers({})).toEqual({ kind: ['command 2', 'file 1', 'form 1'], from: ['Ann 3', 'Ben 1'], project: ['shop 2', 'site 1'], risk: ['high 1', 'medium 2', 'low 1'] });
  expect(numbers({ from: 'agent:Ann' })).toEqual({ kind: ['command 1', 'file 1', 'form 1'], from: ['Ann 3', 'Ben 1'], project: ['shop 1', 'site 1'], risk: ['high 1', 'medium 1', 'low 1'] });
  expect(numbers({ from: 'agent:Ann', kind: 'command' })['project']).toEqual(['shop 1']);
  // What is chosen stays to be seen, and to be taken back, when nothing is left of it.
  expect(numbers({ project: '/gone/old' })).toMatchObject({ project: ['shop 2', 'site 1', 'old 0'], kind: [] });
});

test('sifted, ordered and grouped; what belongs nowhere comes last', () => {
  const none = question({ verb: 'answer', risk: 'low' }, { kind: 'kv', fields: [] });
  const shop = question({ verb: 'run_command', project: project('shop') });
  const site = question({ risk: 'high', project: project('site') });
  const more = question({ project: project('shop') });
  const items = [none, shop, site, more];
  expect(ids(arrange(items, { ...WHOLE, risk: 'medium' }, words).fitting)).toEqual(ids([shop, more]));
  expect(ids(arrange(items, { ...WHOLE, order: 'newest' }, words).fitting)).toEqual(ids([more, site, shop, none]));
  expect(ids(arrange(items, { ...WHOLE, order: 'risk' }, words).fitting)).toEqual(ids([site, shop, more, none]));
  const { groups, fitting } = arrange(items, { ...WHOLE, group: 'project' }, words);
  expect(groups.map(({ label, items: inside }) => [label, ids(inside)])).toEqual([['shop', ids([shop, more])], ['site', ids([site])], ['', ids([none])]]);
  expect(ids(fitting)).toEqual(ids([shop, more, site, none]));
  expect(arrange(items, { ...WHOLE, group: 'kind' }, words).groups.map(({ label }) => label)).toEqual(['Form', 'Command', 'File change']);
});
