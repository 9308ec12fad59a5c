import { describe, expect, test } from 'vitest';
import type { PromptAnswered, PromptView } from '../../protocol/wire';
import { readItem, readStatus } from './item';
import { item, wire } from './testing';

describe('readItem', () => {
  test('what is not an item is none', () => {
    for (const bad of [null, undefined, {}, { requestId: 3 }, { requestId: '' }]) {
      expect(readItem(bad as unknown as PromptView)).toBeNull();
    }
  });

  test('parts of the wrong type count as absent, whatever anybody wrote', () => {
    const hostile = {
      kind: 'kv',
      message: 5,
      allowCancel: 'no',
      chain: { id: 3, step: 'x' },
      fields: [null, 'x', { key: '  ' }, { key: ' a ', label: {}, default: 1, required: 'yes' }, { key: 'a', label: 'second' }, { key: 'b', secret: true, default: 'leak' }],
    };
    const read = item(hostile);
    expect(read).toMatchObject({ message: '', allowCancel: true, chain: null, kind: 'kv' });
    expect(read.body).toEqual({
      kind: 'kv',
      schema: null,
      fields: [
        { key: 'a', label: 'a', description: '', placeholder: '', default: '', required: false, multiline: false, secret: false },
        { key: 'b', label: 'b', description: '', placeholder: '', default: '', required: false, multiline: false, secret: true },
      ],
    });
  });

  test('a choice: bounds are clamped, unknown and repeated defaults go', () => {
    const options = [{ value: 'a' }, { value: ' b ', label: 'B' }, { value: 'a' }, { value: '' }, 7];
    expect(item({ kind: 'choice', options, default: 'b', minSelections: 9 }).body).toMatchObject({ multiple: false, min: 1, max: 1, default: ['b'] });
    const many = item({ kind: 'choice', multiple: true, options, default: ['b', 'x', 'a', 'b'], minSelections: -1, maxSelections: 9 }).body;
    expect(many).toMatchObject({ multiple: true, min: 0, max: 2, default: ['a', 'b'] });
    const crossed = item({ kind: 'choice', multiple: true, options, minSelections: 2, maxSelections: 1 }).body;
    expect(crossed).toMatchObject({ min: 1, max: 1 });
  });

  test('tasks get an id each, also when two share one', () => {
    const { body } = item({ kind: 'task_confirm', tasks: [{ draftId: 'x', title: 'A', priority: 'urgent', tags: [' t ', '', 4] }, { draftId: 'x', due: 'now' }, 'no'] });
    if (body.kind !== 'task_confirm') throw new Error('kind');
    expect(new Set(body.tasks.map((task) => task.draftId)).size).toBe(3);
    expect(body.tasks[0]).toMatchObject({ draftId: 'x', priority: 'medium', status: 'todo', tags: ['t'] });
    expect(body.tasks[1]?.extra).toEqual({ due: 'now' });
  });

  test.each([
    [{ markdown: ' ', result: 'text' }, 'markdown', 'text'],
    [{ markdown: {}, result: ['a'], content: 'c' }, 'markdown', 'c'],
    [{ markdown: '  ', result: { a: 1 } }, 'json', '{\n  "a": 1\n}'],
    [{ content: '<b>', mimeType: 'text/html; charset=utf-8' }, 'text', '<b>'],
    [{ content: '# a', mimeType: 'text/markdown' }, 'markdown', '# a'],
    [{}, 'empty', ''],
  ])('result %j', (prompt, form, text) => {
    expect(item({ kind: 'result', ...prompt }).body).toMatchObject({ kind: 'result', form, text });
  });

  test('an unknown kind, a problem, metadata and a cut prompt have no body', () => {
    expect(item({ kind: 'rating' })).toMatchObject({ kind: null, kindText: 'rating', needsYou: true, body: { kind: 'none' } });
    const problem = { path: '/prompt/kind', code: 'x', message: 'm' };
    expect(item({ kind: 'kv', fields: [] }, { problem }).body.kind).toBe('none');
    expect(item({ kind: 'kv', fieldCount: 2 }, { metadataOnly: true }).body.kind).toBe('none');
    expect(item({ kind: 'file_change_confirm' }, { partial: true })).toMatchObject({ partial: true, body: { kind: 'none' }, effect: true });
  });

  test('answers are read as they may be written', () => {
    const answer = (response: Record<string, unknown>) =>
      readItem(wire({ kind: 'kv', fields: [{ key: 'a' }] }, { state: 'closed', answer: { status: 'ok', ts: '2026-01-11T00:00:01Z', by: null, verified: false, auto: false, response: response as PromptAnswered['response'] } }))?.answer;
    expect(answer({ values: { a: 1, b: 'x' } })).toMatchObject({ values: { a: '1', b: 'x' }, by: null });
    expect(answer({ selection: 'a' })).toMatchObject({ selection: ['a'] });
    expect(answer({ selection: ['a', 'b'], remark: 'r' })).toMatchObject({ selection: ['a', 'b'], remark: 'r', hasRemark: true });
    expect(answer({ valueCount: 3, hasRemark: true })).toMatchObject({ values: null, count: 3, hasRemark: true, remark: null });
    expect(answer({ auto: true, declined: true, code: 'aborted' })).toMatchObject({ auto: true, declined: true, code: 'aborted' });
  });
});

test.each([
  ['ok', 'ok'],
  ['cancel', 'canceled'],
  ['cancelled', 'canceled'],
  ['rejected', 'canceled'],
  ['timeout', 'timeout'],
  ['OK', 'error'],
  ['', 'error'],
  [null, 'error'],
])('status %s reads as %s', (written, read) => {
  expect(readStatus(written)).toBe(read);
});
