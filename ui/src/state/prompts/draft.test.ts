import { describe, expect, test } from 'vitest';
import {
  cancelResponse, checkDraft, hostIssues, initialDraft, isPristine, looseIssues, mergeDraft, okResponse, SELECTION, storedDraft, taskPath, valuePath,
} from './draft';
import { item } from './testing';

const KV = item({
  kind: 'kv',
  fields: [
    { key: 'name', required: true },
    { key: 'a/b~c', default: 'x', required: true },
    { key: 'pin', secret: true, required: true },
    { key: 'n' },
  ],
  requestedSchema: { properties: { n: { type: 'integer', maximum: 9 } } },
});
const MANY = item({ kind: 'choice', multiple: true, minSelections: 1, maxSelections: 2, default: ['b'], options: [{ value: 'a' }, { value: 'b' }, { value: 'c' }] });
const ONE = item({ kind: 'choice', options: [{ value: 'a' }, { value: 'b' }] });
const TASKS = item({ kind: 'task_confirm', defaultRemark: 'hm', tasks: [{ draftId: '1', title: 'A', due: 'x' }, { draftId: '2', title: 'B', tags: ['t'] }] });

describe('kv', () => {
  test('all that is wrong is found at once, each at its place', () => {
    const draft = initialDraft(KV);
    draft.values['n'] = '10';
    expect(checkDraft(KV, draft, { pin: ' ' })).toEqual([
      { path: '/response/values/name', code: 'required_missing', args: [] },
      { path: '/response/values/pin', code: 'required_missing', args: [] },
      { path: '/response/values/n', code: 'value_max', args: [9] },
    ]);
  });

  test('a blank required field with a default takes the default, on the host', () => {
    const draft = initialDraft(KV);
    draft.values['name'] = 'me';
    draft.values['a/b~c'] = '  ';
    expect(checkDraft(KV, draft, { pin: '1' })).toEqual([]);
  });

  test('every key is sent, secrets with the rest, never trimmed', () => {
    const draft = initialDraft(KV);
    draft.values['name'] = ' me ';
    expect(okResponse(KV, draft, { pin: '12' })).toEqual({ status: 'ok', values: { name: ' me ', 'a/b~c': 'x', pin: '12', n: '' } });
  });

  test('a draft is saved without secrets and without what is not asked', () => {
    const draft = initialDraft(KV);
    draft.values['name'] = 'me';
    draft.values['pin'] = 'must not be here';
    const stored = storedDraft(KV, draft);
    expect(JSON.stringify(stored)).not.toContain('must not be here');
    expect(stored['values']).toEqual({ name: 'me', 'a/b~c': 'x', n: '' });
    const back = mergeDraft(KV, { values: { name: 'me', pin: 'stolen', other: 'x', n: 4 } });
    expect(back.values).toEqual({ name: 'me', 'a/b~c': 'x', pin: '', n: '' });
  });

  test('an empty multi-select is an empty answer', () => {
    const multi = item({ kind: 'kv', fields: [{ key: 'm' }], requestedSchema: { properties: { m: { type: 'array', items: { enum: ['a'] } } } } });
    expect(okResponse(multi, initialDraft(multi), {})).toEqual({ status: 'ok', values: { m: '' } });
  });

  test('paths are JSON pointers', () => {
    expect(valuePath('a/b~c')).toBe('/response/values/a~1b~0c');
  });
});

describe('choice', () => {
  test('limits', () => {
    const draft = initialDraft(MANY);
    expect(checkDraft(MANY, draft, {})).toEqual([]);
    draft.selection = [];
    expect(checkDraft(MANY, draft, {})).toEqual([{ path: SELECTION, code: 'too_few', args: [1, 0] }]);
    draft.selection = ['a', 'b', 'c'];
    expect(checkDraft(MANY, draft, {})).toEqual([{ path: SELECTION, code: 'too_many', args: [2, 3] }]);
    expect(checkDraft(ONE, initialDraft(ONE), {})).toEqual([{ path: SELECTION, code: 'selection_required', args: [] }]);
  });

  test('is sent in the order of the options', () => {
    expect(okResponse(MANY, { ...initialDraft(MANY), selection: ['c', 'a'] }, {})).toEqual({ status: 'ok', selection: ['a', 'c'] });
    expect(okResponse(ONE, { ...initialDraft(ONE), selection: ['b'] }, {})).toEqual({ status: 'ok', selection: 'b' });
    // A no to a tool call says why.
    const approval = item({ kind: 'choice', options: [{ value: 'once' }, { value: 'no' }] }, { effect: 'tool_approval' });
    const no = { ...initialDraft(approval), selection: ['no'], remark: 'not there' };
    expect(okResponse(approval, no, {})).toEqual({ status: 'ok', selection: 'no', remark: 'not there' });
    expect(cancelResponse(approval, no, false)).toEqual({ status: 'canceled', remark: 'not there' });
    expect(okResponse(ONE, { ...no, selection: ['b'] }, {})).toEqual({ status: 'ok', selection: 'b' });
  });

  test('a saved choice loses what is no option any more', () => {
    expect(mergeDraft(MANY, { selection: ['x', 'c', 'b', 'a'] }).selection).toEqual(['a', 'b']);
    expect(mergeDraft(ONE, { selection: 'b' }).selection).toEqual([]);
  });
});

describe('task_confirm', () => {
  test('deleted ones are not sent, unknown keys come back', () => {
    const draft = initialDraft(TASKS);
    if (draft.tasks[1]) draft.tasks[1].deleted = true;
    expect(okResponse(TASKS, draft, {})).toEqual({
      status: 'ok',
      tasks: [{ due: 'x', draftId: '1', title: 'A', details: '', priority: 'medium', status: 'todo', tags: [] }],
      remark: 'hm',
    });
    expect(cancelResponse(TASKS, draft, false)).toEqual({ status: 'canceled', remark: 'hm' });
    expect(cancelResponse(ONE, draft, true)).toEqual({ status: 'canceled', declined: true });
  });

  test('every kept task needs a title; the issue follows the task, not its place', () => {
    const draft = initialDraft(TASKS);
    if (draft.tasks[1]) draft.tasks[1].title = ' ';
    expect(checkDraft(TASKS, draft, {})).toEqual([{ path: taskPath('2'), code: 'task_title_required', args: [] }]);
    const sent = draft.tasks;
    const host = hostIssues([{ path: '/response/tasks/1/title', code: 'task_title_required', message: 'no' }], sent);
    expect(host).toEqual([{ path: taskPath('2'), code: 'task_title_required', args: [], message: 'no' }]);
  });

  test('edits of the same proposal come back as they were', () => {
    const draft = initialDraft(TASKS);
    draft.tasks.reverse();
    if (draft.tasks[0]) draft.tasks[0].title = 'B2';
    if (draft.tasks[1]) draft.tasks[1].deleted = true;
    const back = mergeDraft(TASKS, JSON.parse(JSON.stringify(storedDraft(TASKS, draft))));
    expect(back.tasks).toEqual(draft.tasks);
    expect(isPristine(TASKS, back)).toBe(false);
    expect(isPristine(TASKS, initialDraft(TASKS))).toBe(true);
  });

  test('another proposal keeps edits of the tasks it still has, and added ones', () => {
    const draft = initialDraft(TASKS);
    if (draft.tasks[0]) draft.tasks[0].title = 'A edited';
    draft.tasks.push({ draftId: 'mine', title: 'Mine', details: '', priority: 'low', status: 'todo', tags: [], extra: {}, added: true, deleted: false });
    const stored = JSON.parse(JSON.stringify(storedDraft(TASKS, draft)));
    const changed = item({ kind: 'task_confirm', tasks: [{ draftId: '3', title: 'C' }, { draftId: '1', title: 'A' }] }, { shown: 'sha256:2' });
    expect(mergeDraft(changed, stored).tasks.map((task) => task.title)).toEqual(['C', 'A edited', 'Mine']);
  });

  test('a task the saved draft does not know is not lost', () => {
    const saved = { shown: 'sha256:1', tasks: [{ draftId: '2', title: 'B' }] };
    expect(mergeDraft(TASKS, saved).tasks.map((task) => task.draftId)).toEqual(['2', '1']);
  });

  test('a long remark is refused by bytes, not by letters', () => {
    const draft = initialDraft(TASKS);
    draft.remark = '你'.repeat(5461);
    expect(checkDraft(TASKS, draft, {})).toEqual([]);
    draft.remark += '你';
    expect(checkDraft(TASKS, draft, {})).toEqual([{ path: '/response/remark', code: 'remark_type', args: [] }]);
  });
});

test('refusals without a place in the form are shown apart', () => {
  const issues = hostIssues(
    [
      { path: '/response/values/name', code: 'x', message: 'at the field' },
      { path: '/response/status', code: 'cancel_not_allowed', message: 'nowhere' },
      { path: '/response/selection/2', code: 'selection_unknown', message: 'sel' },
    ],
    [],
  );
  expect(looseIssues(KV, initialDraft(KV), issues).map((issue) => issue.message)).toEqual(['nowhere', 'sel']);
  expect(looseIssues(ONE, initialDraft(ONE), issues).map((issue) => issue.path)).toEqual(['/response/values/name', '/response/status']);
});

test('a draft that is no draft is ignored', () => {
  for (const saved of [null, {}, { values: 'x' }, { tasks: 'x', selection: 4, remark: {} }]) {
    expect(mergeDraft(KV, saved as never)).toEqual(initialDraft(KV));
    expect(mergeDraft(TASKS, saved as never)).toEqual(initialDraft(TASKS));
  }
});
