// Both ends of the bridge over a real MessageChannel: the frame's `host` on one side, the page's method table on
// the other, a stand-in for the server behind it.

import { MessageChannel } from 'node:worker_threads';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ApiError } from '../../src/api/error';
import { buildHost } from '../../src/frame/api';
import { Link } from '../../src/frame/link';
import { CAPABILITIES } from '../../src/frame/members';
import { type Snapshot, TokenBucket } from '../../src/frame/wire';
import type { EventFrame } from '../../src/protocol';
import { Bridge, type BridgeEvents } from '../../src/host/bridge';
import type { Asker } from '../../src/host/methods';
import type { Services } from '../../src/host/services';

const DEFAULTS = CAPABILITIES.filter((name) => !['prompts.readAll', 'network', 'unsafe-eval'].includes(name));
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const undo of cleanups.splice(0)) undo();
  vi.useRealTimers();
});

type Answer = (call: { method: string; path: string; body?: unknown; query?: unknown; signal?: AbortSignal }) => unknown;

interface SetUp {
  capabilities?: readonly string[];
  answer?: Answer;
  frameBucket?: TokenBucket;
  pageBucket?: TokenBucket;
}

/** A plain bucket that never runs dry. */
const endless = () => new TokenBucket(1e9, 1e9);

function setUp({ capabilities = DEFAULTS, answer = () => ({}), frameBucket, pageBucket }: SetUp = {}) {
  const channel = new MessageChannel();
  const listeners = new Set<(frame: EventFrame) => void>();
  const requests: { app: unknown; method: string; path: string; body?: unknown }[] = [];
  const services = {
    request: async (app: unknown, method: string, path: string, options: { body?: unknown; query?: unknown; signal?: AbortSignal } = {}) => {
      requests.push({ app, method, path, ...(options.body === undefined ? {} : { body: options.body }) });
      return answer({ method, path, ...options });
    },
    own: async (method: string, path: string, options: { body?: unknown; query?: unknown; signal?: AbortSignal } = {}) => answer({ method, path, ...options }),
    onEvent: (listener: (frame: EventFrame) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onResync: () => () => undefined,
    navigate: vi.fn(),
    openLink: vi.fn(async () => true),
    confinement: async () => 'full',
    hub: vi.fn(),
    look: () => ({ theme: 'light', lang: 'en', hostVersion: '1' }),
  } as unknown as Services & { navigate: ReturnType<typeof vi.fn>; openLink: ReturnType<typeof vi.fn>; hub: ReturnType<typeof vi.fn> };
  const gesture = vi.fn(() => true);
  const work = { promptAsked: vi.fn(), promptOpen: vi.fn(() => 'ask-1'), runStarted: vi.fn() };
  const app = { pluginId: 'com.example.a', appId: 'x' };
  const asker: Asker = { app, appName: 'X', surface: () => 'full', gesture, services, work, may: (name) => capabilities.includes(name) };
  const events: { [K in keyof BridgeEvents]: ReturnType<typeof vi.fn> } = {
    onMounted: vi.fn(), onMountError: vi.fn(), onDisposed: vi.fn(), onLog: vi.fn(), onStore: vi.fn(), onSilent: vi.fn(), onFlood: vi.fn(),
  };
  const bridge = new Bridge(channel.port1 as unknown as MessagePort, asker, capabilities, events as unknown as BridgeEvents, pageBucket);
  const listenerErrors: unknown[] = [];
  const snapshot: Snapshot = { ...app, theme: 'light', surface: 'full', lang: 'en', storage: 'persistent', confinement: 'full', hostVersion: '1', capabilities: [...capabilities] };
  const link: Link = new Link(channel.port2 as unknown as MessagePort, {
    onSnap: (changed) => api.apply(changed),
    onDispose: () => undefined,
    onListenerError: (error) => listenerErrors.push(error),
  }, frameBucket);
  const api = buildHost(link, snapshot, (error) => listenerErrors.push(error));
  cleanups.push(() => {
    bridge.close();
    channel.port2.close();
  });
  const emit = (frame: Partial<EventFrame>) => listeners.forEach((listener) => listener({ seq: 1, topic: 'chat:s1', type: 'x', data: {}, ...frame }));
  return { host: api.host, bridge, link, raw: channel.port2, requests, services, gesture, work, events, emit, listeners, listenerErrors };
}

describe('links', () => {
  test('are asked about after a gesture only, and whole web addresses only', async () => {
    vi.stubGlobal('location', { hostname: '127.0.0.1', port: '7878' });
    cleanups.push(() => vi.unstubAllGlobals());
    const { host, services, gesture } = setUp();
    expect(await host.ui.openExternal('https://example.com/a')).toEqual({ opened: true });
    expect(services.openLink).toHaveBeenCalledWith(new URL('https://example.com/a'), 'X');
    await expect(host.ui.openExternal('javascript:alert(1)')).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(host.ui.openExternal('http://127.0.0.1:7878/')).rejects.toMatchObject({ code: 'invalid_argument' });
    gesture.mockReturnValue(false);
    await expect(host.ui.openExternal('https://example.com/a')).rejects.toMatchObject({ code: 'permission_denied' });
    expect(services.openLink).toHaveBeenCalledTimes(1);
  });
});

describe('synchronous members', () => {
  test('work detached and at once, and follow the pushed snapshot', async () => {
    const { host, bridge, services } = setUp();
    const { get } = host.context;
    const { get: theme, onChange } = host.theme;
    const { navigate } = host.ui;
    const { open, close, toggle } = host.uiPrompts;
    expect(get()).toEqual({
      pluginId: 'com.example.a', appId: 'x', theme: 'light', surface: 'full', lang: 'en', storage: 'persistent', confinement: 'full', hostVersion: '1', apiVersion: 1,
      bridge: { enabled: true },
    });
    expect([host.bridge.enabled, theme(), host.ui.surface]).toEqual([true, 'light', 'full']);
    const heard = vi.fn();
    const bad = vi.fn(() => { throw new Error('listener'); });
    onChange(bad);
    const stop = onChange(heard);
    onChange(7 as never)();
    expect(navigate('chat')).toEqual({ ok: true });
    expect([open(), close(), toggle()]).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    bridge.push({ lang: 'zh' });
    bridge.push({ theme: 'dark', surface: 'compact' });
    await vi.waitFor(() => expect(theme()).toBe('dark'));
    expect(heard.mock.calls).toEqual([['dark']]);
    expect(bad).toHaveBeenCalledOnce();
    expect([host.ui.surface, get().lang]).toEqual(['compact', 'zh']);
    stop();
    bridge.push({ theme: 'light' });
    await vi.waitFor(() => expect(theme()).toBe('light'));
    expect(heard).toHaveBeenCalledOnce();
    expect(services.navigate).toHaveBeenCalledWith({ page: 'chat' }, expect.anything());
    expect(services.hub.mock.calls).toEqual([['open', 'ask-1'], ['close'], ['toggle']]);
  });

  test('refuse at once what is no menu, and freeze everything', () => {
    const { host } = setUp();
    expect(() => host.ui.navigate('nowhere')).toThrow(expect.objectContaining({ code: 'invalid_argument', message: 'Unknown menu "nowhere"' }));
    expect(() => host.ui.navigate('')).toThrow('menu is required');
    for (const group of [host, host.chat, host.chat.agents, host.uiPrompts]) expect(Object.isFrozen(group)).toBe(true);
    expect(() => { (host.backend as { invoke: unknown }).invoke = 1; }).toThrow(TypeError);
  });

  test('objects given are copies', () => {
    const { host } = setUp();
    host.context.get().theme = 'dark';
    expect(host.context.get().theme).toBe('light');
  });
});

describe('calls', () => {
  test('carry the identity of the port, never one of the message', async () => {
    const { host, requests } = setUp({ answer: ({ path }) => (path === 'prompts' ? { requestId: 'r1' } : { result: { pong: 1 } }) });
    const { invoke } = host.backend;
    await expect(invoke('ping', { pluginId: 'com.other' })).resolves.toEqual({ pong: 1 });
    const forged = { prompt: { kind: 'result', markdown: 'x' }, owner: 'host:shell', app: 'com.other/y', source: 'z' };
    await expect(host.uiPrompts.request(forged as never)).resolves.toEqual({ ok: true, requestId: 'r1' });
    expect(requests.map(({ app }) => app)).toEqual([{ pluginId: 'com.example.a', appId: 'x' }, { pluginId: 'com.example.a', appId: 'x' }]);
    expect(requests[0]).toMatchObject({ path: 'apps/com.example.a/x/backend', body: { method: 'ping', params: { pluginId: 'com.other' } } });
    expect(requests[1]?.body).toEqual({ prompt: { kind: 'result', markdown: 'x', source: 'com.example.a:x' }, owner: 'app:com.example.a/x' });
  });

  test('reject with a HostError: code, message, reason', async () => {
    const { host } = setUp({ answer: () => { throw new ApiError(403, 'not_owner', 'the prompt is not yours', 'ask', { errors: [{ path: '/x' }] }); } });
    await expect(host.uiPrompts.respond({ requestId: 'r', response: { status: 'ok' } })).rejects.toMatchObject({
      name: 'HostError', code: 'permission_denied', message: 'the prompt is not yours', data: { reason: 'not_owner', hint: 'ask', errors: [{ path: '/x' }] },
    });
  });

  test.each([
    ['method is required', (host) => host.backend.invoke('')],
    ['payload must be an object', (host) => host.uiPrompts.request(null as never)],
    ['prompt must be an object', (host) => host.uiPrompts.request({} as never)],
    ['requestId is required', (host) => host.uiPrompts.respond({} as never)],
    ['requestId is required', (host) => host.uiPrompts.wait('')],
    ['text is required', (host) => host.chat.send({ sessionId: 's', text: '  ' })],
    ['sessionId is required', (host) => host.chat.abort({} as never)],
    ['at most 4 images can be sent', (host) => host.chat.send({ sessionId: 's', text: 'x', images: ['', '', '', '', ''] })],
    ['attachments[0] must be a data:image/… address', (host) => host.chat.send({ sessionId: 's', text: 'x', attachments: ['https://x/y.png'] })],
    ['limit must be an integer from 1 to 1000', (host) => host.chat.messages.list({ sessionId: 's', limit: 1001 })],
    ['timeoutMs must be an integer from 1000 to 7200000', (host) => host.backend.invoke('x', null, { timeoutMs: 5 })],
  ] as [string, (host: ReturnType<typeof setUp>['host']) => Promise<unknown>][])('%s', async (message, run) => {
    const { host, requests } = setUp();
    await expect(run(host)).rejects.toMatchObject({ code: 'invalid_argument', message });
    expect(requests).toEqual([]);
  });

  test('canceled by a signal: the caller is answered at once and the host is told', async () => {
    let given: AbortSignal | undefined;
    const { host, requests } = setUp({
      answer: ({ path, signal }) => {
        if (!path.endsWith('/backend')) return {};
        given = signal;
        return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(ApiError.page('page_canceled', 'x'))));
      },
    });
    const abort = new AbortController();
    const call = host.backend.invoke('slow', null, { signal: abort.signal });
    await vi.waitFor(() => expect(given).toBeDefined());
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: 'canceled' });
    await vi.waitFor(() => expect(given?.aborted).toBe(true));
    await vi.waitFor(() => expect(requests.some(({ path }) => /^apps\/calls\/.+\/cancel$/.test(path))).toBe(true));
    await expect(host.backend.invoke('slow', null, { signal: abort.signal })).rejects.toMatchObject({ code: 'canceled' });
  });

  test('values that are no JSON are refused in the frame', async () => {
    const { host, requests } = setUp();
    const cycle: unknown[] = [];
    cycle.push(cycle);
    await expect(host.backend.invoke('x', cycle)).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(host.backend.invoke('x', 1n)).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(host.backend.invoke('x', 'a'.repeat(33 * 1024 * 1024))).rejects.toMatchObject({ code: 'resource_exhausted' });
    expect(requests).toEqual([]);
  });

  test('an answer that is too large is an error, not silence', async () => {
    const { host } = setUp({ answer: () => ({ result: 'a'.repeat(33 * 1024 * 1024) }) });
    await expect(host.backend.invoke('x')).rejects.toMatchObject({ code: 'resource_exhausted' });
  });

  test('capabilities: refused in the page, told to the host once, withdrawn in the middle', async () => {
    const { host, bridge, raw, requests, events } = setUp({ capabilities: ['backend', 'navigate'] });
    const denied = { code: 'permission_denied', message: 'Capability "chat.own" is not granted to com.example.a' };
    await expect(host.chat.send({ sessionId: 's', text: 'x' })).rejects.toMatchObject(denied);
    expect(() => host.uiPrompts.open()).toThrow(expect.objectContaining({ code: 'permission_denied' }));
    // To follow what it may not see ends no app: it hears nothing, and the page says why.
    host.admin.onUpdate(() => undefined)();
    await vi.waitFor(() => expect(events.onLog).toHaveBeenCalledWith('error', 'admin.onUpdate: Capability "admin.read" is not granted to com.example.a', undefined));
    const answers: string[] = [];
    raw.on('message', (text: string) => answers.push(text));
    raw.postMessage(JSON.stringify({ type: 'call', id: 99, path: 'chat.send', args: [{ sessionId: 's', text: 'x' }] }));
    await vi.waitFor(() => expect(answers.some((text) => text.includes('"id":99') && text.includes('permission_denied'))).toBe(true));
    bridge.push({ capabilities: [] });
    await vi.waitFor(() => expect(() => host.ui.navigate('chat')).toThrow('Capability "navigate"'));
    await expect(host.admin.state()).rejects.toMatchObject({ code: 'permission_denied' });
    expect(new Set(requests.map(({ path }) => path))).toEqual(new Set(['apps/com.example.a/x/wanted']));
    expect(requests.map(({ body }) => (body as { capability: string }).capability)).toEqual(['chat.own', 'admin.read', 'navigate']);
  });

  test('without further rights an app has its own agent and session, made on first use and named after it', async () => {
    const made: { agents: Record<string, unknown>[]; sessions: Record<string, unknown>[] } = { agents: [], sessions: [] };
    const theirs = { id: 'theirs', name: 'Theirs', updatedAt: '2999', modelId: 'm1' };
    const { host, requests } = setUp({
      capabilities: ['chat.own'],
      answer: ({ method, path, body }) => {
        if (path === 'models') return { items: [{ id: 'm1' }] };
        if (path.endsWith('/explain')) return { servers: [] };
        const list = path === 'agents' ? made.agents : made.sessions;
        if (method === 'GET') return { items: [...list, theirs] };
        const record = { id: `${path}-${list.length + 1}`, madeBy: 'com.example.a', updatedAt: '2000', ...(body as object), ...(path === 'sessions' ? { workspaceRoot: '/data', pendingRoot: 'q1' } : {}) };
        list.push(record);
        return record;
      },
    });
    const { agent } = await host.chat.agents.ensureDefault();
    expect(agent).toMatchObject({ id: 'agents-1', name: 'X', modelId: 'm1', uiApps: [{ pluginId: 'com.example.a', appId: 'x', mcp: true, prompt: true }] });
    expect((await host.chat.agents.ensureDefault()).agent.id).toBe('agents-1');
    const first = await host.chat.sessions.ensureDefault({ workspaceRoot: '/home/me/.ssh' });
    expect(first).toEqual({ ok: true, pendingRoot: 'q1', session: { id: 'sessions-1', title: 'X', agentId: 'agents-1', workspaceRoot: '/data', updatedAt: '2000' } });
    expect((await host.chat.sessions.ensureDefault()).session.id).toBe('sessions-1');
    expect(requests.filter(({ method }) => method === 'POST').map(({ path }) => path)).toEqual(['agents', 'sessions']);
  });
});

describe('limits', () => {
  test('256 calls outstanding, in the frame and in the page', async () => {
    const { host, raw } = setUp({ answer: () => new Promise(() => undefined), frameBucket: endless(), pageBucket: endless() });
    const calls = Array.from({ length: 256 }, () => host.backend.invoke('never'));
    for (const call of calls) call.catch(() => undefined);
    await expect(host.backend.invoke('one more')).rejects.toMatchObject({ code: 'resource_exhausted' });
    const answers: string[] = [];
    raw.on('message', (text: string) => answers.push(text));
    raw.postMessage(JSON.stringify({ type: 'call', id: 5_000, path: 'backend.invoke', args: ['x'] }));
    await vi.waitFor(() => expect(answers.some((text) => text.includes('"id":5000') && text.includes('resource_exhausted'))).toBe(true));
  });

  test('a flood is refused in the frame; one that goes around it is refused in the page', async () => {
    const clock = () => 0;
    const { host, raw, requests, events } = setUp({ frameBucket: new TokenBucket(200, 400, clock), pageBucket: new TokenBucket(200, 400, clock), answer: () => ({ result: 1 }) });
    const outcomes: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      const calls = Array.from({ length: 100 }, () => host.backend.invoke('x').then(() => 'ok', (error: { code: string }) => error.code));
      outcomes.push(...(await Promise.all(calls)));
    }
    expect(outcomes.filter((code) => code === 'ok')).toHaveLength(400);
    expect(outcomes.filter((code) => code === 'rate_limited')).toHaveLength(600);
    expect(requests).toHaveLength(400);
    for (let id = 10_000; id < 40_000; id += 1) raw.postMessage(`{"type":"call","id":${id},"path":"backend.invoke","args":["x"]}`);
    await vi.waitFor(() => expect(events.onFlood).toHaveBeenCalledOnce(), 10_000);
    expect(requests).toHaveLength(400);
  });

  test('what is no message is counted and ignored', async () => {
    const { host, raw, bridge, requests } = setUp({ answer: () => ({ result: 'fine' }) });
    const junk = [
      7, null, {}, { type: 'call', id: 1, path: 'backend.invoke', args: [] }, new Uint8Array(8), 'x', '[]', '{}', '{"type":"x"}',
      '{"type":"call","id":"1","path":"backend.invoke","args":[]}', '{"type":"call","id":-1,"path":"backend.invoke","args":[]}',
      '{"type":"call","id":1.5,"path":"backend.invoke","args":[]}', '{"type":"call","id":1,"path":7,"args":[]}',
      '{"type":"call","id":1,"path":"backend.invoke","args":{}}', '{"type":"fire","path":"constructor","args":[]}',
      '{"type":"sub","sid":1,"topic":"__proto__"}', '{"type":"sub","sid":0,"topic":"admin.onUpdate"}', '{"type":"log","level":"x","message":"y"}',
      '{"type":"cancel","id":"x"}', '{"type":"unsub"}', `{"type":"call","args":${'['.repeat(100_000)}`,
    ];
    for (const message of junk) raw.postMessage(message);
    await vi.waitFor(() => expect(bridge.malformed).toBe(junk.length));
    await expect(host.backend.invoke('x')).resolves.toBe('fine');
    expect(requests).toHaveLength(1);
  });

  test.each(['constructor', '__proto__', 'toString', 'ui.navigate', 'chat.events.unsubscribe', 'admin', 'fetch'])('no such call: %s', async (path) => {
    const { link, requests } = setUp();
    await expect(link.call(path, [])).rejects.toMatchObject({ code: 'not_supported', message: `Unknown member "${path}"` });
    expect(requests).toEqual([]);
  });
});

describe('subscriptions', () => {
  const delta = (text: string, offset: number, sessionId = 's1') => ({ topic: `chat:${sessionId}`, type: 'assistant_delta', data: { sessionId, messageId: 'm', delta: text, offset } });

  test('each chat listener has its own filter; host-wide events pass; unsubscribe is final', async () => {
    const { host, emit, bridge, listeners } = setUp();
    const [all, mine, typed] = [vi.fn(), vi.fn(), vi.fn()];
    host.chat.events.subscribe({}, all);
    const stop = host.chat.events.subscribe({ sessionId: 's2' }, mine);
    host.chat.events.subscribe({ types: ['notice'] }, typed);
    expect(host.chat.events.subscribe(null, 7 as never)()).toBeUndefined();
    await vi.waitFor(() => expect(bridge.subscriptions).toBe(3));
    emit(delta('a', 0));
    emit({ topic: 'chat:host', type: 'notice', data: { sessionId: null, code: 'x' } });
    emit({ topic: 'prompts', type: 'prompt_requested', data: {} });
    await vi.waitFor(() => expect(all).toHaveBeenCalledTimes(2));
    expect(mine.mock.calls.map(([event]) => (event as { type: string }).type)).toEqual(['notice']);
    expect(typed).toHaveBeenCalledOnce();
    stop();
    stop();
    await vi.waitFor(() => expect(bridge.subscriptions).toBe(2));
    expect(host.chat.events.unsubscribe()).toEqual({ ok: true });
    await vi.waitFor(() => expect(bridge.subscriptions).toBe(0));
    expect(listeners.size).toBe(0);
  });

  test('an app without the right to read all chats hears of its own, in order, whatever it filters by', async () => {
    const { host, emit, requests } = setUp({
      capabilities: ['chat.own'],
      answer: ({ path }) => {
        if (path === 'sessions/own') return { madeBy: 'com.example.a' };
        if (path === 'sessions/other') return { madeBy: 'com.example.other' };
        return {};
      },
    });
    const [all, theirs] = [vi.fn(), vi.fn()];
    host.chat.events.subscribe({}, all);
    host.chat.events.subscribe({ sessionId: 'theirs' }, theirs);
    // The person's chat is asked for in the name of the app, so that the server remembers the wish.
    await vi.waitFor(() => expect(requests.map(({ path }) => path)).toEqual(['sessions/theirs']));
    for (const id of ['theirs', 'other', 'own']) for (const n of [0, 1, 2]) emit({ topic: `chat:${id}`, type: 'user_message', data: { sessionId: id, n } });
    emit({ topic: 'chat:host', type: 'notice', data: { sessionId: null, code: 'x' } });
    await vi.waitFor(() => expect(all).toHaveBeenCalledTimes(4));
    const heard = all.mock.calls.map(([event]) => event as { sessionId: string | null; n?: number });
    expect(heard.map(({ sessionId }) => sessionId).sort()).toEqual([null, 'own', 'own', 'own'].sort());
    expect(heard.flatMap(({ n }) => n ?? [])).toEqual([0, 1, 2]);
    expect(theirs.mock.calls.map(([event]) => (event as { type: string }).type)).toEqual(['notice']);
  });

  test('a slow frame gets streamed text merged, never lost, order kept', async () => {
    const { raw, emit, bridge } = setUp();
    const received: { type: string; delta?: string }[] = [];
    raw.removeAllListeners('message');
    const pings: number[] = [];
    raw.on('message', (text: string) => {
      const message = JSON.parse(text) as { type: string; n?: number; payload?: { type: string; delta?: string } };
      if (message.type === 'ping') pings.push(message.n ?? 0);
      if (message.payload) received.push(message.payload);
    });
    raw.postMessage(JSON.stringify({ type: 'sub', sid: 1, topic: 'chat.events.subscribe', filter: {} }));
    await vi.waitFor(() => expect(bridge.subscriptions).toBe(1));
    for (let index = 0; index < 200; index += 1) {
      emit(delta(`${index},`, index));
      if (index % 10 === 0) await Promise.resolve();
      if (index === 100) emit({ type: 'tool_call', data: { sessionId: 's1' } });
    }
    // It never answered, so little went out; once it does, the rest follows.
    await vi.waitFor(() => expect(pings.length).toBeGreaterThan(0));
    expect(received.length).toBeLessThan(100);
    const answered = new Set<number>();
    await vi.waitFor(() => {
      for (const n of pings) {
        if (answered.has(n)) continue;
        answered.add(n);
        raw.postMessage(JSON.stringify({ type: 'pong', n }));
      }
      const text = received.map((event) => event.delta ?? '|').join('');
      expect(text).toBe(`${Array.from({ length: 101 }, (_, index) => `${index},`).join('')}|${Array.from({ length: 99 }, (_, index) => `${index + 101},`).join('')}`);
    });
    expect(received.length).toBeLessThan(100);
  });

  test('prompt updates come coalesced with what changed; dispose releases everything', async () => {
    const { host, emit, bridge, listeners, requests } = setUp({ answer: () => ({ path: '/secret/place/ui-prompts.jsonl', entries: [] }) });
    const heard = vi.fn();
    host.uiPrompts.onUpdate(heard);
    await vi.waitFor(() => expect(bridge.subscriptions).toBe(1));
    for (const id of ['a', 'b', 'a']) emit({ topic: 'prompts', type: 'prompt_requested', data: { requestId: id } });
    emit({ topic: 'prompts', type: 'prompt_counts', data: {} });
    await vi.waitFor(() => expect(heard).toHaveBeenCalledOnce());
    expect(heard).toHaveBeenCalledWith({ path: 'ui-prompts.jsonl', entries: [], changed: ['a', 'b'] });
    expect(requests.filter(({ path }) => path === 'prompts/log')).toHaveLength(1);
    bridge.dispose();
    expect([bridge.subscriptions, listeners.size]).toEqual([0, 0]);
  });

  test('after the app was closed calls are refused and waiting ones canceled', async () => {
    const { host, link } = setUp({ answer: () => new Promise(() => undefined) });
    const waiting = host.backend.invoke('never');
    const heard = vi.fn();
    link.close();
    await expect(waiting).rejects.toMatchObject({ code: 'canceled' });
    await expect(host.backend.invoke('x')).rejects.toMatchObject({ code: 'unavailable' });
    expect(() => host.ui.navigate('chat')).toThrow(expect.objectContaining({ code: 'unavailable' }));
    expect(host.chat.events.subscribe({}, heard)()).toBeUndefined();
    expect(host.context.get().appId).toBe('x');
  });
});

test('a frame that does not answer is called silent, and heard again when it speaks', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const { raw, events } = setUp();
  raw.removeAllListeners('message');
  vi.advanceTimersByTime(3_900);
  expect(events.onSilent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2_200);
  expect(events.onSilent).toHaveBeenCalledWith(true);
  raw.postMessage(JSON.stringify({ type: 'pong', n: 0 }));
  await vi.waitFor(() => expect(events.onSilent).toHaveBeenLastCalledWith(false));
});
