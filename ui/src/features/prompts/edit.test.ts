import { expect, test } from 'vitest';
import { item } from '../../state/prompts/testing';
import { editedOf, textOf } from './edit';

test('a command is its text; arguments are a JSON object and nothing else', () => {
  const command = item({ kind: 'file_change_confirm', command: 'npm test' });
  expect(textOf(command)).toBe('npm test');
  expect(editedOf(command, 'npm run lint')).toEqual({ command: 'npm run lint' });
  expect(editedOf(command, ' \n')).toBeNull();
  const tool = item({ kind: 'choice', options: [{ value: 'once' }, { value: 'no' }], arguments: { to: 'ann' } }, { effect: 'tool_approval' });
  expect(JSON.parse(textOf(tool))).toEqual({ to: 'ann' });
  expect(editedOf(tool, '{"to": "bob"}')).toEqual({ arguments: { to: 'bob' } });
  for (const wrong of ['', '[]', '"x"', 'null', '{to: 1}']) expect(editedOf(tool, wrong), wrong).toBeNull();
});

test('arguments count only where the host vouches for the question', () => {
  const foreign = item({ kind: 'choice', options: [], arguments: { to: 'ann' } }, { effect: 'tool_approval', class: 'foreign' });
  expect(foreign.arguments).toBeNull();
});
