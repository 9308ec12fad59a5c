import { expect, test } from 'vitest';
import { item } from '../../state/prompts/testing';
import { approvable, refusable, together } from './bulk';

const card = { verb: 'run_command', object: '', to: null, count: 1, risk: 'medium', reasons: [] } as never;
const command = (more: object = {}) => item({ kind: 'file_change_confirm', command: 'ls' }, { effect: 'command', card, ...more } as never);

test('what is risky, cut, hidden, foreign or a form is not approved together', () => {
  expect(approvable(command())).toBe(true);
  for (const bad of [{ card: { ...(card as object), risk: 'high' } }, { card: null }, { class: 'foreign' }, { partial: true }]) expect(approvable(command(bad))).toBe(false);
  expect(approvable(item({ kind: 'file_change_confirm', diffRef: { lines: 10, shownLines: 5 } }, { card }))).toBe(false);
  expect(approvable(item({ kind: 'file_change_confirm', diffRef: { hidden: [{ path: 'a' }] } }, { card }))).toBe(false);
  expect(approvable(item({ kind: 'kv', fields: [] }, { card }))).toBe(false);
});

test('calls of tools are approved together where they can be allowed once', () => {
  const options = [{ value: 'once' }, { value: 'no' }];
  const tool = (prompt: object = {}, more: object = {}) => item({ kind: 'choice', options, arguments: { to: 'ann' }, ...prompt } as never, { effect: 'tool_approval', card, ...more } as never);
  expect(approvable(tool())).toBe(true);
  expect(together([tool(), tool({ arguments: { to: 'bob' } })])).toBeNull();
  expect(together([tool(), command()])).toBe('mixed');
  // Options of another program, several at once, something else that is chosen from, too long, or risky.
  for (const bad of [tool({ options: [{ value: 'allow' }] }), tool({ multiple: true }), tool({}, { effect: 'sampling' }), tool({ diffRef: { lines: 9, shownLines: 2 } }), tool({}, { card: { ...(card as object), risk: 'high' } })]) {
    expect(approvable(bad)).toBe(false);
  }
});

test('one kind at a time, and refusing needs no more than a button', () => {
  expect(together([])).toBe('none');
  expect(together([command(), command()])).toBeNull();
  expect(together([command(), command({ effect: 'file_change' })])).toBe('mixed');
  expect(together([command(), command({ card: null })])).toBe('alone');
  expect(refusable(item({ kind: 'kv', fields: [] }))).toBe(true);
  expect(refusable(item({ kind: 'choice', allowCancel: false, options: [] }))).toBe(false);
});
