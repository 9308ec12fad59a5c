import { expect, test } from 'vitest';
import { readCard, ruleScopes } from '../../state/prompts/card';
import { readRule } from './rule';

test('a rule says what it is about, and a broken one is none', () => {
  const record = { name: 'x', effect: 'allow', scope: { kind: 'project', id: '/p' }, until: 5, shell: { commands: [{ program: 'ls', argv: ['-l'], more: 'paths' }] }, paths: { globs: ['a.txt'] } };
  expect(readRule(record)).toEqual({ name: 'x', effect: 'allow', scope: 'project', place: '/p', about: ['ls -l …', 'a.txt'], files: false, until: 5, paused: false });
  expect(readRule({ ...record, shell: undefined })).toMatchObject({ about: ['a.txt'], files: true });
  for (const bad of [null, 'x', {}, { ...record, effect: 'always' }, { ...record, scope: 'project' }]) expect(readRule(bad)).toBeNull();
});

test('a rule is offered for what rules can be about, never at high risk or for an app', () => {
  const card = { verb: 'run_command', object: '', to: null, count: 1, risk: 'medium', reasons: [], project: { name: 'p', root: '/p' }, session: { id: 's', title: 'Chat' } };
  expect(ruleScopes(readCard(card), 'run')).toEqual({ near: 'chat', project: true });
  expect(ruleScopes(readCard({ ...card, session: null }), 'run')).toEqual({ near: 'run', project: true });
  for (const bad of [{ risk: 'high' }, { app: 'com.x/notes' }, { verb: 'uncertain' }, { verb: 'change_files' }, { project: null }]) {
    expect(ruleScopes(readCard({ ...card, ...bad }), 'run')).toEqual({ near: null, project: false });
  }
  expect(readCard({ ...card, risk: 'none' })).toBeNull();
});

test('a question that stands for several says how many', () => {
  const card = { verb: 'create_file', object: 'a.txt', count: 1, risk: 'medium', reasons: [], group: { id: 'g', at: 0, of: 5 } };
  expect(readCard(card)?.group).toEqual({ of: 5 });
  for (const group of [undefined, null, 5, { id: 'g', at: 0, of: 1 }, { id: 'g', at: 0, of: 'many' }]) expect(readCard({ ...card, group })?.group).toBeNull();
});
