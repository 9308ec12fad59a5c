import { describe, expect, test } from 'vitest';
import { ApiError } from '../../api/error';
import type { ChatEvent } from '../../protocol/chat';
import { delta, event, FakeHost, message, session, run } from './testing';
import { PAGE, Transcript } from './transcript.svelte';

async function opened(host: FakeHost): Promise<{ transcript: Transcript; wait: (() => void)[] }> {
  const wait: (() => void)[] = [];
  const transcript = new Transcript('s', { api: host.api, later: (run) => wait.push(run) });
  await transcript.open();
  return { transcript, wait };
}

/** What a person reads, one line per row. */
function shown(transcript: Transcript): string[] {
  return transcript.rows.map((row) => {
    if (row.kind === 'assistant') return `assistant: ${row.entry.content.text}${row.calls.map((call) => ` [${call.label}${call.done ? ' done' : ''}]`).join('')}`;
    if (row.kind === 'orphan') return `result of ${row.call.label}`;
    return row.kind === 'summary' ? `summary to ${row.summary.toSeq}` : `${row.kind}: ${row.entry.content.text}`;
  });
}

const started = (id = 'a', seq = 2): ChatEvent => event('assistant_start', { message: message(id, seq, 'assistant', '', { partial: true }) });

/** A whole turn: text, a tool, its result, more text. */
function turn(): ChatEvent[] {
  return [
    event('user_message', { message: message('u', 1, 'user', 'hello') }),
    event('run_state', { state: 'running' }),
    started(),
    event('assistant_reasoning_delta', { messageId: 'a', offset: 0, delta: 'hm' }),
    delta('a', 0, 'I look'),
    delta('a', 6, ' it up 🙂'),
    delta('a', 15, '.'),
    event('tool_call', { messageId: 'a', callId: 'c', server: 'project_files', tool: 'list_directory', args: { path: '.' } }),
    event('tool_progress', { callId: 'c', progress: 1, total: 2, message: 'half' }),
    event('tool_result', { message: message('t', 3, 'tool', '✓ two', { toolCallId: 'c', toolName: 'list_directory', status: 'ok', elapsedMs: 12 }) }),
    started('b', 4),
    delta('b', 0, 'Two files.'),
    event('usage', { messageId: 'b', input: 10, output: 5, cost: 0.5, currency: 'USD' }),
    event('assistant_done', { messageId: 'b', stopReason: 'stop' }),
  ];
}

const WHOLE = ['user: hello', 'assistant: I look it up 🙂. [list_directory done]', 'assistant: Two files.'];

function stored(host: FakeHost): void {
  host.messages = [
    message('u', 1, 'user', 'hello'),
    message('a', 2, 'assistant', 'I look it up 🙂.', { reasoning: 'hm', toolCalls: [{ callId: 'c', name: 'list_directory', server: 'project_files', tool: 'list_directory', args: '{}' }] }),
    message('t', 3, 'tool', '✓ two', { toolCallId: 'c', toolName: 'list_directory', status: 'ok' }),
    message('b', 4, 'assistant', 'Two files.', { usage: { input: 10, output: 5 } }),
  ];
  host.session = session({ usage: [{ key: 's', calls: 1, input: 10, output: 5, cacheRead: 0, cacheWrite: 0, estimated: false, cost: 0.5, currency: 'USD', unknownCost: 0 }] });
  host.runs = [run('done')];
}

test('calls of two runs stay apart, although the model gave them the same id', async () => {
  const host = new FakeHost();
  const turn = (run: string, seq: number): ReturnType<typeof message>[] => [
    message(`a${run}`, seq, 'assistant', '', { runId: run, toolCalls: [{ callId: 'call_0', name: 'read_file', server: 'project_files', tool: 'read_file', args: JSON.stringify({ path: `${run}.txt` }) }] }),
    message(`t${run}`, seq + 1, 'tool', `text of ${run}`, { runId: run, toolCallId: 'call_0', toolName: 'read_file', status: 'ok' }),
  ];
  host.messages = [...turn('one', 1), ...turn('two', 3)];
  const { transcript } = await opened(host);
  const seen = transcript.rows.flatMap((row) => (row.kind === 'assistant' ? row.calls.map((call) => [call.args, call.result?.content.text]) : []));
  expect(seen).toEqual([
    ['{"path":"one.txt"}', 'text of one'],
    ['{"path":"two.txt"}', 'text of two'],
  ]);
  // A third one that is still at work takes nothing from those that are done.
  const start = event('assistant_start', { runId: 'three', message: message('athree', 5, 'assistant', '', { runId: 'three', partial: true }) });
  transcript.apply([start, event('tool_call', { runId: 'three', messageId: 'athree', callId: 'call_0', server: 'project_files', tool: 'read_file', args: { path: 'three.txt' } })]);
  expect([transcript.call('call_0', 'three')?.done, transcript.call('call_0', 'one')?.args]).toEqual([false, '{"path":"one.txt"}']);
});

test('why an older turn failed stays known when the chat goes on, and is asked for once after a reload', async () => {
  const host = new FakeHost();
  const { transcript } = await opened(host);
  transcript.apply([event('assistant_error', { runId: 'r', code: 'model_auth', message: 'no such key', messageId: null })]);
  transcript.apply([event('run_state', { runId: 'r2', state: 'running' })]);
  expect([transcript.run?.id, transcript.failures.get('r')?.code]).toEqual(['r2', 'model_auth']);

  let asked = 0;
  const failed = run('failed', { error: { code: 'model_auth', message: 'no such key' } });
  const api = { ...host.api, run: () => ((asked += 1), Promise.resolve(failed)) } as unknown as typeof host.api;
  const reopened = new Transcript('s', { api });
  await Promise.all([reopened.lookUp('r'), reopened.lookUp('r')]);
  expect([asked, reopened.failures.get('r')?.message]).toEqual([1, 'no such key']);
});

describe('folding', () => {
  test('a whole turn, in order', async () => {
    const host = new FakeHost();
    const { transcript } = await opened(host);
    const events = turn();
    transcript.apply(events.slice(0, 9));
    expect(transcript.active).toBe(true);
    expect(transcript.call('c')?.progress).toEqual({ done: 1, total: 2, message: 'half' });
    stored(host);
    transcript.apply(events.slice(9));
    expect(shown(transcript)).toEqual(WHOLE);
    expect(transcript.active).toBe(false);
    expect(transcript.entry('a')?.reasoning.text).toBe('hm');
    await transcript.refresh();
    expect(shown(transcript)).toEqual(WHOLE);
    expect(transcript.usage).toMatchObject({ input: 10, output: 5, cost: 0.5, currency: 'USD' });
  });

  test('every event twice gives the same', async () => {
    const host = new FakeHost();
    const { transcript } = await opened(host);
    stored(host);
    for (const one of turn()) {
      transcript.apply([one]);
      transcript.apply([one]);
    }
    expect(shown(transcript)).toEqual(WHOLE);
  });

  test('any one event missing: the host has the rest', async () => {
    for (let missing = 0; missing < turn().length; missing += 1) {
      const host = new FakeHost();
      const { transcript, wait } = await opened(host);
      stored(host);
      transcript.apply(turn().filter((_, index) => index !== missing));
      wait.splice(0).forEach((run) => run());
      await transcript.refresh();
      expect(shown(transcript), `without event ${missing}`).toEqual(WHOLE);
      expect(transcript.active).toBe(false);
    }
  });

  test('any two neighbours swapped', async () => {
    for (let at = 0; at + 1 < turn().length; at += 1) {
      const host = new FakeHost();
      const { transcript, wait } = await opened(host);
      stored(host);
      const events = turn();
      const [first, second] = [events[at], events[at + 1]];
      if (!first || !second) continue;
      events.splice(at, 2, second, first);
      transcript.apply(events);
      wait.splice(0).forEach((run) => run());
      await transcript.refresh();
      expect(shown(transcript), `swapped at ${at}`).toEqual(WHOLE);
    }
  });

  test('text goes on after a gap once the host has filled it', async () => {
    const host = new FakeHost();
    const { transcript, wait } = await opened(host);
    transcript.apply([started(), delta('a', 0, 'one '), delta('a', 8, 'three'), delta('a', 13, ' four')]);
    expect(shown(transcript)).toEqual(['assistant: one ']);
    expect(wait).toHaveLength(1);
    host.messages = [message('a', 2, 'assistant', 'one two ', { partial: true })];
    host.session = session({ running: true, run: { id: 'r', state: 'running', traceId: 'trace' } });
    wait.splice(0).forEach((run) => run());
    await transcript.refresh();
    expect(shown(transcript)).toEqual(['assistant: one two three four']);
  });

  test('opened in the middle of a stream', async () => {
    const host = new FakeHost();
    host.messages = [message('u', 1, 'user', 'hi'), message('a', 2, 'assistant', 'The sto', { partial: true })];
    host.session = session({ running: true, run: { id: 'r', state: 'running', traceId: 'trace' } });
    const release = host.hold();
    const transcript = new Transcript('s', { api: host.api, later: () => undefined });
    const open = transcript.open();
    // These came while the page was on its way, before it knew of the message.
    transcript.apply([delta('a', 7, 'red'), delta('a', 10, ' text')]);
    release();
    await open;
    expect(shown(transcript)).toEqual(['user: hi', 'assistant: The stored text']);
    expect(transcript.active).toBe(true);
    transcript.apply([delta('a', 15, ' goes on')]);
    expect(shown(transcript)).toEqual(['user: hi', 'assistant: The stored text goes on']);
  });

  test('a page read before a message ended does not make it unfinished again', async () => {
    const host = new FakeHost();
    const { transcript } = await opened(host);
    transcript.apply([started(), delta('a', 0, 'abc')]);
    host.messages = [message('a', 2, 'assistant', 'ab', { partial: true })];
    host.session = session({ running: true, run: { id: 'r', state: 'running', traceId: 'trace' } });
    const release = host.hold();
    const read = transcript.refresh();
    transcript.apply([delta('a', 3, 'def'), event('assistant_done', { messageId: 'a' })]);
    host.messages = [message('a', 2, 'assistant', 'abcdef')];
    host.session = session();
    host.runs = [run('done')];
    release();
    await read;
    expect(shown(transcript)).toEqual(['assistant: abcdef']);
    expect(transcript.entry('a')?.partial).toBe(false);
    expect(transcript.active).toBe(false);
  });

  test('a message whose words are still on their way is not called empty', async () => {
    const host = new FakeHost();
    const { transcript } = await opened(host);
    const release = host.hold();
    transcript.apply([started(), event('assistant_done', { messageId: 'a' })]);
    expect(transcript.entry('a')).toMatchObject({ partial: false, unread: true });
    host.messages = [message('a', 2, 'assistant', 'abc')];
    release();
    await transcript.refresh();
    expect(transcript.entry('a')?.unread).toBe(false);
  });

  test('a failed attempt leaves nothing behind, not even from a page read before it failed', async () => {
    const host = new FakeHost();
    const { transcript } = await opened(host);
    transcript.apply([started(), event('assistant_reasoning_delta', { messageId: 'a', offset: 0, delta: 'thinking' }), delta('a', 0, 'wrong text')]);
    host.messages = [message('a', 2, 'assistant', 'wrong text', { partial: true })];
    host.session = session({ running: true, run: { id: 'r', state: 'running', traceId: 'trace' } });
    const release = host.hold();
    const read = transcript.refresh();
    transcript.apply([event('assistant_retry', { messageId: 'a', attempt: 2, class: 'rate_limited', delayMs: 2000, keep: 0 }), event('messages_refresh')]);
    expect(transcript.retry).toMatchObject({ attempt: 2, class: 'rate_limited' });
    host.messages = [message('a', 2, 'assistant', '', { partial: true })];
    release();
    await read;
    expect(shown(transcript)).toEqual(['assistant: ']);
    expect(transcript.entry('a')?.reasoning.text).toBe('');
    transcript.apply([delta('a', 0, 'right')]);
    expect(shown(transcript)).toEqual(['assistant: right']);
    expect(transcript.retry).toBeNull();
  });

  test('a retry that was missed while the connection was lost', async () => {
    const host = new FakeHost();
    const { transcript, wait } = await opened(host);
    transcript.apply([started(), delta('a', 0, 'wrong text')]);
    host.messages = [message('a', 2, 'assistant', 'ri', { partial: true })];
    host.session = session({ running: true, run: { id: 'r', state: 'running', traceId: 'trace' } });
    transcript.resync();
    await transcript.refresh();
    transcript.apply([delta('a', 5, '!')]);
    host.messages = [message('a', 2, 'assistant', 'right', { partial: true })];
    wait.splice(0).forEach((run) => run());
    await transcript.refresh();
    expect(shown(transcript)).toEqual(['assistant: right!']);
  });

  test('what takes the place of an older message leaves nothing of it on the page, and choosing that one brings it back', async () => {
    const host = new FakeHost();
    const all = [message('q1', 1, 'user', 'one'), message('a1', 2, 'assistant', 'first'), message('q2', 3, 'user', 'two'), message('a2', 4, 'assistant', 'second')];
    host.messages = all;
    const { transcript } = await opened(host);
    const uno = message('q1b', 5, 'user', 'uno', { versions: ['q1', 'q1b'] });
    const release = host.hold();
    host.messages = [uno];
    transcript.apply([event('user_message', { message: uno })]);
    // At once, not only when the host was asked.
    expect(shown(transcript)).toEqual(['user: uno']);
    release();
    await transcript.refresh();
    expect(shown(transcript)).toEqual(['user: uno']);
    host.messages = all;
    transcript.apply([event('messages_refresh')]);
    await transcript.refresh();
    expect(shown(transcript)).toEqual(['user: one', 'assistant: first', 'user: two', 'assistant: second']);
  });

  test('an older state of the run does not win over a newer one', async () => {
    const { transcript } = await opened(new FakeHost());
    const late = event('run_state', { state: 'running' });
    transcript.apply([event('run_state', { state: 'waiting_prompt' }), late, event('assistant_aborted', { messageId: 'a', message: 'x' })]);
    expect(transcript.run?.state).toBe('aborted');
    transcript.apply([late]);
    expect(transcript.run?.state).toBe('aborted');
  });

  test('a host that was started anew counts its events anew', async () => {
    const host = new FakeHost();
    const { transcript } = await opened(host);
    transcript.apply([event('run_state', { state: 'running', seq: 900 })]);
    host.session = session({ run: { id: 'r', state: 'interrupted', traceId: 'trace' } });
    transcript.resync();
    await transcript.refresh();
    expect(transcript.interrupted).toBe(true);
    transcript.apply([event('run_state', { state: 'running', seq: 3 })]);
    expect(transcript.active).toBe(true);
  });

  test('questions are known until they are answered or the run ends', async () => {
    const { transcript } = await opened(new FakeHost());
    transcript.apply([started(), event('tool_call', { messageId: 'a', callId: 'c', server: 'x', tool: 'y', args: {} })]);
    transcript.apply([event('prompt_waiting', { callId: 'c', requestId: 'q', kind: 'choice' }), event('prompt_waiting', { callId: 'c2', requestId: 'q2', kind: 'kv' })]);
    expect(transcript.asked).toEqual(['q', 'q2']);
    expect(transcript.call('c')?.requestId).toBe('q');
    transcript.apply([event('prompt_answered', { callId: 'c', requestId: 'q', kind: 'choice', status: 'ok' })]);
    expect(transcript.asked).toEqual(['q2']);
    transcript.apply([event('run_state', { state: 'aborted' })]);
    expect(transcript.asked).toEqual([]);
  });

  test('a question asked before the page looked belongs to the call that waits for it', async () => {
    const { transcript } = await opened(new FakeHost());
    const call = (callId: string, tool: string) => event('tool_call', { messageId: 'a', callId, server: 'x', tool, args: {} });
    transcript.apply([started(), call('c', 'y'), call('d', 'y'), call('e', 'z')]);
    const runId = transcript.call('c')?.runId ?? null;
    const asked = (id: string, tool: string, server: string | null = 'x') => ({ id, runId, server, tool });
    const waiting = () => ['c', 'd', 'e'].map((callId) => transcript.call(callId)?.requestId);
    transcript.waits([asked('q', 'y'), { ...asked('other run', 'z'), runId: 'r9' }, asked('other tool', 'w'), asked('other server', 'z', 'v')]);
    expect(waiting()).toEqual(['q', null, null]);
    // Said again it changes nothing, and the host's own word counts more.
    transcript.waits([asked('q', 'y')]);
    transcript.apply([event('prompt_waiting', { callId: 'd', requestId: 'q', kind: 'choice' })]);
    expect(waiting()).toEqual([null, 'q', null]);
    // The list of questions may be a moment behind the answer.
    transcript.apply([event('prompt_answered', { callId: 'd', requestId: 'q', kind: 'choice', status: 'ok' })]);
    transcript.waits([asked('q', 'y'), asked('p', 'z')]);
    expect(waiting()).toEqual([null, null, 'p']);
  });

  test('steps of a subagent: each once and in order', async () => {
    const { transcript } = await opened(new FakeHost());
    transcript.apply([started(), event('tool_call', { messageId: 'a', callId: 'c', server: 'subagent_router', tool: 'run_sub_agent', args: {} })]);
    const step = (index: number) => event('subagent_step', { jobId: 'j', callId: 'c', step: { index, type: 'assistant', text: `step ${index}` } });
    transcript.apply([event('subagent_state', { jobId: 'j', callId: 'c', childRunId: 'r2', state: 'running', agentName: 'Reader' }), step(2), step(0), step(1), step(2)]);
    const job = transcript.call('c')?.job;
    expect(job?.steps.map((one) => one.text)).toEqual(['step 0', 'step 1', 'step 2']);
    expect(job).toMatchObject({ runId: 'r2', agentName: 'Reader', state: 'running' });
    // The subagent's own state is not the chat's.
    transcript.apply([event('run_state', { runId: 'r2', state: 'done' })]);
    expect(transcript.run?.state).toBe('running');
  });

  test('why a run failed is known from its event and after a reload', async () => {
    const host = new FakeHost();
    const { transcript } = await opened(host);
    transcript.apply([started(), delta('a', 0, 'half'), event('run_state', { state: 'failed' }), event('assistant_error', { messageId: 'a', code: 'rate_limited', message: 'slow down' })]);
    expect(transcript.run).toMatchObject({ state: 'failed', error: { code: 'rate_limited', message: 'slow down' } });
    host.runs = [run('failed', { error: { code: 'rate_limited', message: 'slow down' } })];
    const { transcript: later } = await opened(host);
    expect(later.run).toMatchObject({ state: 'failed', error: { code: 'rate_limited', message: 'slow down' } });
    expect(later.active).toBe(false);
  });

  test('a correction of a subagent is not a message of the chat', async () => {
    const { transcript } = await opened(new FakeHost());
    transcript.apply([event('user_message', { runId: 'r2', message: { ...message('x', 1, 'user', 'no, the other one'), sessionId: 'r2' } })]);
    expect(shown(transcript)).toEqual([]);
  });

  test('events that make no sense change nothing', async () => {
    const { transcript } = await opened(new FakeHost());
    transcript.apply([
      event('assistant_delta', { messageId: 7, delta: 3 }),
      event('tool_progress', {}),
      event('subagent_step', { jobId: 'j' }),
      event('usage', { input: -4, output: 'many' }),
      event('who_knows', { message: 1 }),
      event('user_message', {}),
    ]);
    expect(shown(transcript)).toEqual([]);
  });
});

describe('pages', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => message(`m${index}`, index, index % 2 === 0 ? 'user' : 'assistant', `text ${index}`));

  test('the newest page first, older ones in front of it, each message once', async () => {
    const host = new FakeHost();
    host.messages = many(PAGE * 2 + 10);
    const { transcript } = await opened(host);
    expect(transcript.rows).toHaveLength(PAGE);
    expect(transcript.hasMore).toBe(true);
    await Promise.all([transcript.loadOlder(), transcript.loadOlder()]);
    expect(transcript.rows).toHaveLength(PAGE * 2);
    await transcript.loadOlder();
    expect(transcript.rows).toHaveLength(PAGE * 2 + 10);
    expect(transcript.hasMore).toBe(false);
    expect(shown(transcript)[0]).toBe('user: text 0');
    await transcript.refresh();
    expect(transcript.rows).toHaveLength(PAGE * 2 + 10);
    expect(transcript.hasMore).toBe(false);
  });

  test('after a long absence old messages that no longer join are let go', async () => {
    const host = new FakeHost();
    host.messages = many(20);
    const { transcript } = await opened(host);
    host.messages = many(20 + PAGE * 3);
    await transcript.refresh();
    expect(transcript.rows).toHaveLength(PAGE);
    expect(transcript.hasMore).toBe(true);
    await transcript.loadOlder();
    expect(shown(transcript)[0]).toBe(`user: text ${20 + PAGE}`);
  });

  test('a message that was taken back on the host disappears', async () => {
    const host = new FakeHost();
    host.messages = many(4);
    const { transcript } = await opened(host);
    host.messages = many(3);
    await transcript.refresh();
    expect(shown(transcript)).toEqual(['user: text 0', 'assistant: text 1', 'user: text 2']);
  });

  test('a result whose call is on an older page finds it when that page comes', async () => {
    const host = new FakeHost();
    host.messages = [message('a', 0, 'assistant', 'look', { toolCalls: [{ callId: 'c', name: 'read', server: 'x', tool: 'read', args: '{}' }] }), message('t', 1, 'tool', 'ok', { toolCallId: 'c', toolName: 'read' }), ...many(PAGE - 1).map((one) => ({ ...one, seq: one.seq + 2 }))];
    const { transcript } = await opened(host);
    expect(shown(transcript)[0]).toBe('result of read');
    await transcript.loadOlder();
    expect(shown(transcript).slice(0, 2)).toEqual(['assistant: look [read done]', 'user: text 0']);
  });

  test('a very long chat is kept short while nobody looks back', async () => {
    const host = new FakeHost();
    host.messages = many(PAGE * 8);
    const { transcript } = await opened(host);
    for (let page = 0; page < 7; page += 1) await transcript.loadOlder();
    expect(transcript.rows).toHaveLength(PAGE * 8);
    transcript.trim();
    expect(transcript.rows.length).toBeLessThanOrEqual(200);
    expect(transcript.hasMore).toBe(true);
    expect(shown(transcript).at(-1)).toBe(`assistant: text ${PAGE * 8 - 1}`);
  });
});

describe('sending', () => {
  test('a message is shown at once and once', async () => {
    const host = new FakeHost();
    const { transcript } = await opened(host);
    const release = host.hold();
    const sent = transcript.send('hello', [], 'queue');
    expect(transcript.outgoing.map((one) => one.text)).toEqual(['hello']);
    await expect.poll(() => host.sent.length).toBe(1);
    // The event is faster than the answer.
    const id = transcript.outgoing[0]?.id ?? '';
    transcript.apply([event('user_message', { message: message(id, 1, 'user', 'hello') })]);
    expect(transcript.outgoing).toEqual([]);
    release();
    expect(await sent).toBe(true);
    expect(shown(transcript)).toEqual(['user: hello']);
    expect(transcript.active).toBe(true);
  });

  test('a message taken back while the host is being told of it is taken back there', async () => {
    const host = new FakeHost();
    host.onSend = () => ({ runId: 'r2', userMessageId: 'a', queued: true });
    const { transcript } = await opened(host);
    const release = host.hold();
    const sent = transcript.send('regretted', [], 'queue');
    await expect.poll(() => host.sent.length).toBe(1);
    transcript.withdraw(transcript.outgoing[0]?.id ?? '');
    expect(transcript.outgoing).toEqual([]);
    release();
    await sent;
    expect(host.takenBack).toEqual(['r2']);
    expect(transcript.active).toBe(false);
  });

  test('an answer that is over before its sending was confirmed is over', async () => {
    const host = new FakeHost();
    const { transcript } = await opened(host);
    const release = host.hold();
    const sent = transcript.send('hello', [], 'queue');
    stored(host);
    transcript.apply(turn());
    expect(transcript.active).toBe(false);
    release();
    expect(await sent).toBe(true);
    expect(transcript.active).toBe(false);
    expect(shown(transcript)).toEqual(WHOLE);
    // The next one begins as always.
    host.onSend = () => ({ runId: 'r2', userMessageId: 'a', queued: false });
    await transcript.send('more', [], 'queue');
    expect(transcript.active).toBe(true);
  });

  test('a refused message stays with its reason and can be sent again or taken back', async () => {
    const host = new FakeHost();
    host.onSend = () => {
      throw new ApiError(409, 'conflict', 'busy');
    };
    const { transcript } = await opened(host);
    expect(await transcript.send('hello', [], 'queue')).toBe(false);
    const id = transcript.outgoing[0]?.id ?? '';
    expect(transcript.outgoing[0]?.error?.code).toBe('conflict');
    host.onSend = () => {
      host.messages = [message(id, 1, 'user', 'hello')];
      return { runId: 'r', userMessageId: id, queued: false };
    };
    expect(await transcript.resend(id)).toBe(true);
    expect(transcript.outgoing).toEqual([]);
    expect(shown(transcript)).toEqual(['user: hello']);
    expect(host.sent.map((one) => one.clientMessageId)).toEqual([id, id]);
  });
});
