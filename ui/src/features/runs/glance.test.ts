import { expect, test } from 'vitest';
import type { RunView, StepView } from '../../protocol/wire';
import { glanceOf } from './glance';
import { taskOf } from './look';

const step = (more: object) => ({ seq: 1, kind: 'model', state: 'done', attempt: 1, ...more }) as StepView;

test('a step says what it was about: words, tools asked for, the file', () => {
  expect(glanceOf(step({ output: { text: 'Both were\n counted.', calls: [] } }))).toEqual({ code: '', said: 'Both were counted.' });
  expect(glanceOf(step({ output: { text: '', calls: [{ name: 'mcp_counter_count' }, { name: 'get_time' }] } }))).toEqual({ code: '→ counter_count, get_time', said: '' });
  expect(glanceOf(step({ kind: 'tool', tool: 'edit_file', input: { old_string: 'a', path: 'menu.md' } }))).toEqual({ code: 'edit_file menu.md', said: '' });
  expect(glanceOf(step({ kind: 'correction', input: { text: 'be brief' } }))).toEqual({ code: '', said: 'be brief' });
});

test('what cannot be read says nothing', () => {
  for (const bad of [null, 'text', [], { text: 5, calls: 'x' }, { calls: [null, {}, 3] }]) expect(glanceOf(step({ input: bad, output: bad }))).toEqual({ code: '', said: '' });
  expect(glanceOf(step({ output: { text: 'x'.repeat(1_000_000) } })).said).toHaveLength(200);
});

test('the work of another program has the name people know', () => {
  const task = (text: string, kind = 'client') => taskOf({ kind, task: text } as RunView);
  expect(task('codex-mcp-client 2 · billing')).toBe('codex 2 · billing');
  expect(task('goose')).toBe('goose');
  expect(task('codex-mcp-client', 'chat')).toBe('codex-mcp-client');
});
