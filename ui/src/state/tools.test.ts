import { describe, expect, test, vi } from 'vitest';
import type { ToolsApi } from '../api/tools';
import type { ToolCallInput, ToolResult, ToolServer } from '../protocol/tools';
import { Tools } from './tools.svelte';
import { besideText, envelopeOf, ownEnvelope } from './tools/envelope';

const SERVER: ToolServer = {
  name: 'files',
  id: 'x',
  title: 'Files',
  instructions: '',
  needsRoot: true,
  tools: [
    {
      name: 'read',
      title: 'Read',
      description: '',
      annotations: { title: '', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      confirm: 'none',
      version: 1,
      inputSchema: { type: 'object', required: ['path'], properties: { path: { type: 'string', minLength: 1 }, lines: { type: 'integer' } } },
    },
  ],
};
const result = (status: string, more: object = {}): ToolResult => ({
  callId: 'c',
  content: [{ type: 'text', text: 'done' }],
  isError: false,
  structuredContent: { status, code: status, data: null, ...more },
  _meta: { chatos: { status, code: status, server: 'files', tool: 'read', elapsedMs: 1, size: 4, ts: '' } },
});

function setup() {
  const calls: { input: ToolCallInput; answer: (value: ToolResult) => void; fail: (error: unknown) => void }[] = [];
  const api = {
    call: vi.fn((_server: string, _tool: string, input: ToolCallInput) => new Promise<ToolResult>((answer, fail) => calls.push({ input, answer, fail }))),
    cancel: vi.fn(() => Promise.resolve({ canceled: true })),
  };
  const tools = new Tools(api as unknown as ToolsApi);
  const run = tools.run(SERVER, 'read') ?? expect.fail('no such tool');
  let seq = 0;
  const event = (type: string, data: unknown) => tools.onEvent({ seq: (seq += 1), topic: 'logs', type, data });
  return { tools, run, api, calls, event };
}

describe('a run', () => {
  test('is not started with arguments that are known to be wrong', async () => {
    const { run, api } = setup();
    run.draft['lines'] = 'x';
    await run.run();
    expect(run.issues.map((issue) => `${issue.path} ${issue.code}`)).toEqual(['/path required', '/lines integer']);
    run.showJson();
    run.json = '[1]';
    await run.run();
    expect([run.jsonProblem, api.call.mock.calls.length]).toEqual(['invalid', 0]);
  });

  test('sends what was put in, once, and can be canceled', async () => {
    const { run, api, calls, event } = setup();
    run.draft['path'] = 'a';
    run.root = ' /tmp ';
    const running = run.run();
    void run.run();
    expect(calls).toHaveLength(1);
    const { input } = calls[0] ?? expect.fail('no call');
    expect(input).toEqual({ arguments: { path: 'a' }, callId: run.callId, session: 'page', root: '/tmp' });
    event('tool_progress', { callId: 'another', progress: 9 });
    expect(run.progress).toBeNull();
    event('tool_progress', { callId: run.callId, progress: 1, total: 3, message: 'half' });
    expect(run.progress).toEqual({ done: 1, total: 3, message: 'half' });
    event('tool_waiting', { callId: 'another', requestId: 'q', trace: { toolName: 'read' } });
    expect(run.waiting).toBeNull();
    event('tool_waiting', { callId: run.callId, requestId: 'q', trace: { toolName: 'read' } });
    expect(run.waiting).toBe('q');
    await run.cancel();
    expect(api.cancel).toHaveBeenCalledWith(run.callId);
    calls[0]?.answer(result('canceled'));
    await running;
    expect([run.running, run.waiting, run.progress, run.result && envelopeOf(run.result).status]).toEqual([false, null, null, 'canceled']);
  });

  test('keeps what the tool found wrong, and forgets a result when the host does not answer', async () => {
    const { run, calls } = setup();
    run.draft['path'] = 'a';
    const first = run.run();
    calls[0]?.answer(result('invalid', { error: { type: 'x', message: 'm', retryable: false, details: { issues: [{ path: '/path', code: 'c', message: 'no' }, 'junk'] } } }));
    await first;
    expect(run.refused).toEqual([{ path: '/path', code: 'c', message: 'no' }]);
    const second = run.run();
    calls[1]?.fail(new Error('gone'));
    await second;
    expect([run.result, run.failure?.message, run.refused]).toEqual([null, 'gone', []]);
  });

  test('changes between form and JSON without losing anything', () => {
    const { run } = setup();
    run.draft['path'] = 'a';
    run.showJson();
    expect(JSON.parse(run.json)).toEqual({ path: 'a' });
    run.json = '{"path": "a", "more": 1}';
    run.showForm();
    expect([run.asJson, run.jsonProblem]).toEqual([true, 'unfit']);
    run.json = '{"path": "b", "lines": 2}';
    run.showForm();
    expect([run.asJson, run.draft]).toEqual([false, { path: 'b', lines: '2' }]);
    run.fill({ path: 'c', unknown: true });
    expect([run.asJson, JSON.parse(run.json)]).toEqual([true, { path: 'c', unknown: true }]);
    run.fill({ path: 'd' });
    expect([run.asJson, run.draft['path'], run.draft['lines']]).toEqual([false, 'd', '']);
  });
});

test('a tool keeps its run; what does not exist has none', () => {
  const { tools, run } = setup();
  expect(tools.run(SERVER, 'read')).toBe(run);
  expect(tools.run(SERVER, 'nothing')).toBeNull();
});

describe('how a call ended', () => {
  const said = { status: 'ok', code: 'ok', server: 's', tool: 't', elapsedMs: 1, size: 4, ts: '', truncated: [] };
  const of = (structuredContent: object, isError = false): ToolResult =>
    ({ callId: 'c', content: [{ type: 'text', text: 'words' }], isError, structuredContent, _meta: { chatos: said } }) as unknown as ToolResult;

  test('is what the host says beside the result, not what another maker writes into it', () => {
    const forged = envelopeOf(of({ status: 'denied', code: 'permission_denied', data: { n: 1 } }));
    expect([forged.status, forged.code, forged.data, forged.chatos.truncated]).toEqual(['ok', 'ok', { n: 1 }, []]);
    const other = envelopeOf(of({ status: 'sunny', degrees: 21 }));
    expect([other.status, other.data, other.error]).toEqual(['ok', { status: 'sunny', degrees: 21 }, null]);
    expect(envelopeOf(of({ degrees: 21 }, true)).error?.message).toBe('words');
  });

  test('is an envelope in results of this and of earlier versions, and in nothing else', () => {
    const envelope = { status: 'ok', code: 'ok', data: null };
    expect(ownEnvelope(envelope)).toEqual(envelope);
    expect(ownEnvelope({ ...envelope, error: { message: 'm' }, chatos: { server: 's' } })).not.toBeNull();
    for (const other of [null, undefined, 'ok', [], { status: 'ok' }, { status: 'ok', data: 1 }, { ...envelope, more: 1 }]) expect(ownEnvelope(other)).toBeNull();
  });

  test('shows no text twice', () => {
    expect(besideText({ path: 'a', text: 'one\n' }, '# a\n\none\n[sha256: 9f]')).toEqual({ path: 'a' });
    expect(besideText({ text: 'one' }, 'one')).toBeNull();
    expect(besideText({ path: 'a', text: 'other' }, 'one')).toEqual({ path: 'a', text: 'other' });
    expect(besideText(null, 'one')).toBeNull();
  });
});
