import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from '../../api/error';
import type { PromptsApi } from '../../api/prompts';
import type { WireObject } from '../../protocol';
import type { PromptView } from '../../protocol/wire';
import { PromptForm } from './form.svelte';
import { item, wire } from './testing';

const KV = { kind: 'kv', fields: [{ key: 'name', required: true }, { key: 'pin', secret: true }] };

/** A host with one prompt, of which each call can be looked at. */
function hostOf(prompt: PromptView, saved: WireObject | null = null) {
  const host = {
    prompt,
    saved,
    get: vi.fn(() => Promise.resolve(host.prompt)),
    draft: vi.fn(() => Promise.resolve({ draft: host.saved })),
    putDraft: vi.fn((_id: string, draft: WireObject, _leaving: boolean) => {
      host.saved = draft;
      return Promise.resolve();
    }),
    deleteDraft: vi.fn(() => {
      host.saved = null;
      return Promise.resolve();
    }),
    respond: vi.fn((_id: string, _response: WireObject, _shown: string | null) => Promise.resolve({ ok: true, mirrored: true })),
  };
  return { host, api: host as unknown as PromptsApi };
}

const answered = (prompt: PromptView, by: string): PromptView => ({
  ...prompt,
  state: 'closed',
  answer: { status: 'ok', ts: '2026-01-11T00:00:02Z', by, verified: true, auto: false, response: { status: 'ok' } },
});

beforeEach(() => void vi.useRealTimers());

describe('answers that were asked for before an event came', () => {
  /** A host whose next answer is held back. */
  function slow() {
    const { host, api } = hostOf(wire(KV));
    let letGo = () => {};
    host.get.mockImplementationOnce(() => new Promise((resolve) => (letGo = () => resolve(wire(KV)))));
    return { form: new PromptForm('r1', api, null), letGo: () => letGo() };
  }

  test('do not open a prompt that was closed meanwhile', async () => {
    const { form, letGo } = slow();
    const loading = form.load();
    form.take(item(KV, answered(wire(KV), 'person:cli')));
    letGo();
    await loading;
    expect([form.ready, form.closed]).toEqual([true, true]);
  });

  test('do not open it again either', async () => {
    const { host, api } = hostOf(wire(KV));
    const form = new PromptForm('r1', api, null);
    await form.load();
    let letGo = () => {};
    host.get.mockImplementationOnce(() => new Promise((resolve) => (letGo = () => resolve(wire(KV)))));
    const refreshing = form.refresh();
    form.take(item(KV, answered(wire(KV), 'person:cli')));
    letGo();
    await refreshing;
    expect(form.closed).toBe(true);
    await form.refresh();
    expect(form.closed).toBe(false);
  });
});

describe('drafts', () => {
  test('come back, are saved after a pause, and never hold a secret', async () => {
    vi.useFakeTimers();
    const { host, api } = hostOf(wire(KV), { values: { name: 'from before', pin: 'x' } });
    const form = new PromptForm('r1', api, null);
    await form.load();
    expect([form.ready, form.draft.values['name'], form.secrets['pin']]).toEqual([true, 'from before', '']);
    form.draft.values['name'] = 'a';
    form.edited();
    form.draft.values['name'] = 'ab';
    form.secrets['pin'] = 'hunter2';
    form.edited();
    expect(host.putDraft).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(500);
    expect(host.putDraft).toHaveBeenCalledTimes(1);
    expect(host.saved).toEqual({ shown: 'sha256:1', values: { name: 'ab' } });
    expect(JSON.stringify(host.putDraft.mock.calls)).not.toContain('hunter2');
  });

  test('leaving the page saves at once; nothing new saves nothing', async () => {
    const { host, api } = hostOf(wire(KV));
    const form = new PromptForm('r1', api, null);
    await form.load();
    await form.flush(true);
    expect(host.putDraft).not.toHaveBeenCalled();
    form.draft.values['name'] = 'x';
    form.edited();
    await form.flush(true);
    expect(host.putDraft.mock.calls[0]?.[2]).toBe(true);
    form.draft.values['name'] = '';
    form.edited();
    await form.flush();
    expect(host.deleteDraft).toHaveBeenCalledTimes(1);
    expect(host.saved).toBeNull();
  });

  test('an older draft is never written after a newer one', async () => {
    const { host, api } = hostOf(wire(KV));
    const form = new PromptForm('r1', api, null);
    await form.load();
    let release: () => void = () => undefined;
    host.putDraft.mockImplementationOnce((_id, draft) => new Promise((resolve) => (release = () => ((host.saved = draft), resolve()))));
    form.draft.values['name'] = 'old';
    form.edited();
    const first = form.flush();
    form.draft.values['name'] = 'new';
    form.edited();
    const second = form.flush();
    await vi.waitFor(() => expect(host.putDraft).toHaveBeenCalledTimes(1));
    release();
    await Promise.all([first, second]);
    expect(host.saved).toMatchObject({ values: { name: 'new' } });
  });

  test('a draft that cannot be read or saved does not stop the answer', async () => {
    const { host, api } = hostOf(wire(KV));
    host.draft.mockRejectedValueOnce(new ApiError(503, 'unavailable', 'no'));
    host.putDraft.mockRejectedValue(new ApiError(507, 'resource_exhausted', 'full'));
    const form = new PromptForm('r1', api, null);
    await form.load();
    expect([form.ready, form.unsaved]).toEqual([true, true]);
    form.draft.values['name'] = 'x';
    form.edited();
    await form.flush();
    expect(form.unsaved).toBe(true);
    expect((await form.send('ok')).kind).toBe('answered');
  });
});

describe('sending', () => {
  test('what is wrong stays on the page and is not sent', async () => {
    const { host, api } = hostOf(wire(KV));
    const form = new PromptForm('r1', api, null);
    await form.load();
    expect(await form.send('ok')).toEqual({ kind: 'refused' });
    expect(form.issues.map((issue) => issue.code)).toEqual(['required_missing']);
    expect(form.attempts).toBe(1);
    expect(host.respond).not.toHaveBeenCalled();
    expect((await form.send('canceled')).kind).toBe('answered');
    expect(host.respond).toHaveBeenCalledWith('r1', { status: 'canceled' }, 'sha256:1', null);
  });

  test('twice is impossible, at once and afterwards', async () => {
    const { host, api } = hostOf(wire({ kind: 'file_change_confirm', diff: '+a' }));
    const form = new PromptForm('r1', api, null);
    await form.load();
    const [first, second] = await Promise.all([form.send('ok'), form.send('ok')]);
    expect([first.kind, second.kind, (await form.send('canceled')).kind]).toEqual(['answered', 'refused', 'refused']);
    expect(host.respond).toHaveBeenCalledTimes(1);
    expect(host.respond).toHaveBeenCalledWith('r1', { status: 'ok' }, 'sha256:1', null);
  });

  test('somebody else was faster: the form turns into their answer', async () => {
    const { host, api } = hostOf(wire(KV));
    const form = new PromptForm('r1', api, null);
    await form.load();
    form.draft.values['name'] = 'x';
    form.secrets['pin'] = 'secret';
    host.respond.mockImplementationOnce(() => {
      host.prompt = answered(host.prompt, 'person:cli');
      return Promise.reject(new ApiError(409, 'already_answered', 'no', null, { by: 'person:cli' }));
    });
    expect(await form.send('ok')).toEqual({ kind: 'closed' });
    expect([form.beaten, form.closed, form.item?.answer?.by, form.secrets['pin']]).toEqual([true, true, 'person:cli', '']);
  });

  test('nobody waits any more: the form says so and sends nothing else', async () => {
    const { host, api } = hostOf(wire({ kind: 'file_change_confirm', diff: '+a' }));
    const form = new PromptForm('r1', api, null);
    await form.load();
    host.respond.mockRejectedValueOnce(new ApiError(409, 'asker_gone', 'nobody is waiting'));
    expect(await form.send('ok')).toEqual({ kind: 'closed' });
    expect([form.gone, form.closed, form.beaten, form.failure]).toEqual([true, true, false, null]);
    expect((await form.send('canceled')).kind).toBe('refused');
    expect(host.respond).toHaveBeenCalledTimes(1);
  });

  test('a question that changed is shown again, with what was put in', async () => {
    const { host, api } = hostOf(wire({ kind: 'task_confirm', tasks: [{ draftId: '1', title: 'A' }] }));
    const form = new PromptForm('r1', api, null);
    await form.load();
    if (form.draft.tasks[0]) form.draft.tasks[0].title = 'A edited';
    host.respond.mockImplementationOnce(() => {
      host.prompt = wire({ kind: 'task_confirm', tasks: [{ draftId: '1', title: 'A' }, { draftId: '2', title: 'B' }] }, { shown: 'sha256:2' });
      return Promise.reject(new ApiError(409, 'shown_mismatch', 'no'));
    });
    expect(await form.send('ok')).toEqual({ kind: 'refused' });
    expect([form.changed, form.item?.shown, form.draft.tasks.map((task) => task.title)]).toEqual([true, 'sha256:2', ['A edited', 'B']]);
    await form.send('ok');
    expect(host.respond.mock.lastCall?.[2]).toBe('sha256:2');
  });

  test("the host's refusals are shown at their fields, in its words", async () => {
    const { host, api } = hostOf(wire(KV));
    const form = new PromptForm('r1', api, null);
    await form.load();
    form.draft.values['name'] = 'x';
    const errors = [{ path: '/response/values/name', code: 'value_format', message: 'no good', hint: '' }];
    host.respond.mockRejectedValueOnce(new ApiError(422, 'invalid_argument', 'invalid', null, { errors }));
    expect(await form.send('ok')).toEqual({ kind: 'refused' });
    expect(form.issues).toEqual([{ path: '/response/values/name', code: 'value_format', args: [], message: 'no good' }]);
    expect(form.failure).toBeNull();
    host.respond.mockRejectedValueOnce(new ApiError(503, 'unavailable', 'read-only'));
    await form.send('ok');
    expect([form.failure?.message, form.sending]).toEqual(['read-only', null]);
  });
});

describe('events', () => {
  test('an answer from elsewhere closes the form and forgets its secrets', async () => {
    const { api } = hostOf(wire(KV));
    const form = new PromptForm('r1', api, null);
    await form.load();
    form.secrets['pin'] = 'secret';
    form.take(item(KV, { state: 'closed', answer: { status: 'canceled', ts: '2026-01-11T00:00:02Z', by: 'host:abort', verified: true, auto: false, response: { status: 'canceled' } } }));
    expect([form.closed, form.secrets['pin']]).toEqual([true, '']);
  });

  test('a cut item does not take away what is shown, and keeps the lines that were read', async () => {
    const line = { offset: 7, line: '{}' };
    const { api } = hostOf(wire(KV, { foreignResponses: 1, foreignLines: [line] }));
    const form = new PromptForm('r1', api, null);
    await form.load();
    form.draft.values['name'] = 'typed';
    form.take(item({ kind: 'kv' }, { partial: true, foreignResponses: 2 }));
    expect(form.item?.body.kind).toBe('kv');
    expect([form.item?.forged, form.item?.forgedLines, form.draft.values['name']]).toEqual([2, [line], 'typed']);
  });
});

describe('what the question holds only in part', () => {
  const LONG = { kind: 'file_change_confirm', diff: '+1\n', diffRef: { sha256: 'x', bytes: 9, lines: 3, shownLines: 1 } };

  test('is seen once every part was loaded', async () => {
    const { host, api } = hostOf(wire(LONG));
    const parts = ['+1\n+2\n', '+3\n'];
    const text = vi.fn((_id: string, from: number) => Promise.resolve({ lines: from === 0 ? 2 : 1, total: 3, text: parts[from === 0 ? 0 : 1] ?? '' }));
    Object.assign(host, { text });
    const form = new PromptForm('r1', api, null);
    await form.load();
    expect(form.seen).toBe(false);
    await form.loadWhole();
    expect([form.whole, form.seen, text.mock.calls.length]).toEqual(['+1\n+2\n+3\n', true, 2]);
    // The host was started anew and does not know what this page was given.
    host.respond.mockImplementationOnce(() => Promise.reject(new ApiError(409, 'not_shown', 'no')));
    expect(await form.send('ok')).toEqual({ kind: 'refused' });
    expect([form.seen, form.failure?.code]).toEqual([false, 'not_shown']);
  });

  test('content that nobody can show needs the tick, which goes with the answer', async () => {
    const hidden = [{ path: 'a.bin', type: 'binary', bytes: 4, before: null, after: '00' }];
    const { host, api } = hostOf(wire({ ...LONG, diffRef: { ...LONG.diffRef, shownLines: 3, hidden } }));
    const form = new PromptForm('r1', api, null);
    await form.load();
    expect(form.seen).toBe(false);
    form.withoutSeeing = true;
    expect(form.seen).toBe(true);
    await form.send('ok');
    expect(host.respond.mock.calls[0]?.[1]).toEqual({ status: 'ok', withoutSeeing: true });
  });
});
