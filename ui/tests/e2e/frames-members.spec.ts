// Every member of the Host API, called in a real frame against the real host (host-api §6, issue 8).

import type { Frame, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { allow, appFiles, install, openApp } from './app-plugins';
import { CallingModel } from './calling-model';
import { type OpenOptions, test } from './fixtures';
import type { Host } from './host';
import { CountingModel } from './model';

const ID = 'com.test.worker';
/** Refusals the tests provoke; the browser mentions the status of each. */
const REFUSALS = /Failed to load resource/;

async function start(host: Host, open: (options?: OpenOptions) => Promise<Page>, ...allowed: string[]): Promise<{ page: Page; frame: Frame }> {
  await install(host, appFiles('worker'));
  await allow(host, ID, ...allowed);
  const page = await open({ at: '#/apps', expectConsole: REFUSALS });
  return { page, frame: await openApp(page, ID) };
}

/** A rejection as `code message`, or the value. */
function outcome<T>(frame: Frame, work: string): Promise<T | string> {
  return frame.evaluate(async (code) => {
    const run = code as unknown as string;
    const [path, args] = JSON.parse(run) as [string, unknown[]];
    const member = path.split('.').reduce<unknown>((object, name) => (object as Record<string, unknown>)[name], chatos.host) as (...given: unknown[]) => Promise<T>;
    try {
      return await member(...args);
    } catch (error) {
      const { code: reason, message } = error as { code: string; message: string };
      return `${reason} ${message}`;
    }
  }, work);
}

const ask = <T = Record<string, never>>(frame: Frame, path: string, ...args: unknown[]) => outcome<T>(frame, JSON.stringify([path, args]));

describe('backend', () => {
  test('values, errors, unknown methods, cancelling', async ({ host, open }) => {
    const { frame } = await start(host, open);
    expect(await ask(frame, 'backend.invoke', 'echo', { deep: [1, { two: '三' }] })).toEqual({ deep: [1, { two: '三' }] });
    expect(await ask(frame, 'backend.invoke', 'nothing')).toBeNull();
    expect(await ask(frame, 'backend.invoke', 'refuse')).toEqual({ ok: false, reason: 'a value' });
    expect(await ask(frame, 'backend.invoke', 'fail', { code: 'conflict', message: 'taken' })).toBe('conflict taken');
    expect(await ask(frame, 'backend.invoke', 'fail', { code: 'EOTHER', message: 'odd' })).toBe('internal odd');
    expect(await ask(frame, 'backend.invoke', 'notJson')).toBe('internal Result of "notJson" is not JSON');
    for (const name of ['constructor', 'toString', '__proto__', 'none']) expect(await ask(frame, 'backend.invoke', name)).toBe(`not_found Method not found: ${name}`);
    expect(await ask(frame, 'backend.invoke', '')).toBe('invalid_argument method is required');
    expect(await ask(frame, 'backend.invoke', 'slow', null, { timeoutMs: 1_000 })).toMatch(/^timeout /);
    const canceled = await frame.evaluate(async () => {
      const abort = new AbortController();
      const call = chatos.host.backend.invoke('slow', null, { signal: abort.signal }).catch((error: { code: string }) => error.code);
      setTimeout(() => abort.abort(), 200);
      return call;
    });
    expect(canceled).toBe('canceled');
    await expect.poll(async () => JSON.stringify(await host.api('GET', `plugins/${ID}/log?limit=200`))).toContain('slow was aborted');
  });

  test('ten megabytes there and back', async ({ host, open }) => {
    const { frame } = await start(host, open);
    const length = await frame.evaluate(async () => {
      const text = 'é'.repeat(5 * 1024 * 1024);
      return (await chatos.host.backend.invoke<string>('echo', text)) === text;
    });
    expect(length).toBe(true);
  });
});

test('registry and administration: lists without folders and without secrets', async ({ host, open }) => {
  const { frame } = await start(host, open, 'admin.read');
  const registry = (await ask<{ ok: boolean; apps: { id: string }[]; plugins: { id: string }[] }>(frame, 'registry.list')) as { ok: boolean; plugins: { id: string }[] };
  expect(registry.ok).toBe(true);
  expect(registry.plugins.map(({ id }) => id)).toContain(ID);
  expect(JSON.stringify(registry)).not.toContain(host.ready.stateDir);
  const state = (await ask(frame, 'admin.state')) as unknown as { data: Record<string, unknown[]>; dbPath: string; uiFlags: object };
  expect(Object.keys(state.data).sort()).toEqual(['events', 'landConfigs', 'mcpServers', 'models', 'prompts', 'secrets', 'settings', 'subagents', 'tasks']);
  expect(state.dbPath).toBe('');
  expect(Object.keys(state.uiFlags).sort()).toEqual(['developerMode', 'exposeSubagents']);
  expect(JSON.stringify(state)).not.toContain(host.ready.token);
  expect(Array.isArray(await ask(frame, 'admin.models.list'))).toBe(true);
  expect(Array.isArray(await ask(frame, 'admin.secrets.list'))).toBe(true);

  await frame.evaluate(() => {
    (globalThis as { states?: unknown[] }).states = [];
    chatos.host.admin.onUpdate((now) => (globalThis as unknown as { states: unknown[] }).states.push(now.data.tasks.length));
  });
  await host.api('POST', 'tasks', { title: 'seen by an app' });
  await expect.poll(() => frame.evaluate(() => (globalThis as unknown as { states: number[] }).states.length)).toBeGreaterThan(0);
});

describe('prompts', () => {
  test('ask, read, be answered by the person, private values, consume', async ({ host, open }) => {
    const { page, frame } = await start(host, open);
    const prompt = { kind: 'kv', title: 'Credentials', fields: [{ key: 'name', label: 'Name', required: true }, { key: 'token', label: 'Token', secret: true }] };
    const asked = (await ask(frame, 'uiPrompts.request', { prompt, requestId: 'req-1' })) as unknown as { ok: boolean; requestId: string };
    expect(asked).toEqual({ ok: true, requestId: 'req-1' });
    expect(await ask(frame, 'uiPrompts.request', { prompt, requestId: 'req-1' })).toEqual({ ok: true, requestId: 'req-1' });
    expect(await ask(frame, 'uiPrompts.request', { prompt: { ...prompt, title: 'Other' }, requestId: 'req-1' })).toMatch(/^conflict /);
    expect(await ask(frame, 'uiPrompts.request', { prompt: { kind: 'kv', fields: [] } })).toMatch(/^invalid_argument /);
    const item = await host.api<{ owner: string; source: string }>('GET', 'prompts/req-1');
    expect([item.owner, item.source]).toEqual([`app:${ID}/app`, `${ID}:app`]);

    const answer = ask(frame, 'uiPrompts.wait', 'req-1', { timeoutMs: 60_000 });
    await host.api('POST', 'prompts/req-1/response', { response: { status: 'ok', values: { name: 'Ada', token: 's3cret' } } });
    expect(await answer).toMatchObject({ status: 'ok', values: { name: 'Ada', token: 's3cret' } });
    expect(await ask(frame, 'uiPrompts.respond', { requestId: 'req-1', response: { status: 'ok' } })).toMatch(/^conflict /);
    expect(await ask(frame, 'uiPrompts.consume', 'req-1')).toEqual({ ok: true });
    expect(JSON.stringify(await ask(frame, 'uiPrompts.read'))).not.toContain('s3cret');

    await ask(frame, 'uiPrompts.open');
    await page.getByRole('dialog').or(page.getByRole('complementary')).first().waitFor();
    await ask(frame, 'uiPrompts.close');
  });

  test('answers its own, never another’s; updates say what changed', async ({ host, open }) => {
    const { frame } = await start(host, open);
    await frame.evaluate(() => {
      const told: string[] = [];
      (globalThis as { told?: string[] }).told = told;
      chatos.host.uiPrompts.onUpdate(({ changed, path }) => told.push(...changed, path));
    });
    await host.api('POST', 'prompts', { prompt: { kind: 'choice', title: 'Of the person', options: [{ value: 'a' }] }, requestId: 'foreign-1' });
    await expect.poll(() => frame.evaluate(() => (globalThis as unknown as { told: string[] }).told)).toContain('foreign-1');
    expect(await frame.evaluate(() => (globalThis as unknown as { told: string[] }).told)).toContain('ui-prompts.jsonl');
    expect(await ask(frame, 'uiPrompts.respond', { requestId: 'foreign-1', response: { status: 'ok', selection: 'a' } })).toMatch(/^permission_denied /);
    expect(await ask(frame, 'uiPrompts.wait', 'foreign-1')).toMatch(/^permission_denied /);
    expect(await ask(frame, 'uiPrompts.wait', 'no-such')).toMatch(/^not_found /);
    const seen = (await ask(frame, 'uiPrompts.read')) as unknown as { entries: { requestId: string; prompt?: { options?: unknown; optionCount?: number } }[] };
    const foreign = seen.entries.find((entry) => entry.requestId === 'foreign-1');
    expect(foreign?.prompt?.options).toBeUndefined();
    expect(foreign?.prompt?.optionCount).toBe(1);

    await ask(frame, 'uiPrompts.request', { prompt: { kind: 'choice', title: 'Mine', options: [{ value: 'a' }] }, requestId: 'mine-1' });
    expect(await ask(frame, 'uiPrompts.respond', { requestId: 'mine-1', response: { status: 'ok', selection: 'zzz' } })).toMatch(/^invalid_argument /);
    expect(await ask(frame, 'uiPrompts.respond', { requestId: 'mine-1', response: { status: 'ok', selection: 'a' } })).toEqual({ ok: true });
    expect(await ask(frame, 'uiPrompts.wait', 'mine-1')).toMatchObject({ status: 'ok', selection: 'a' });
    expect(await ask(frame, 'uiPrompts.wait', 'foreign-1', { timeoutMs: 1 })).toMatch(/^permission_denied /);
  });
});

test('navigate: pages of the host, and nothing else', async ({ host, open }) => {
  const { page, frame } = await start(host, open);
  expect(await frame.evaluate(() => chatos.host.ui.navigate('apps/home'))).toEqual({ ok: true });
  await page.getByRole('heading', { level: 1, name: 'Apps' }).waitFor();
  await frame.evaluate((id) => chatos.host.ui.navigate(`apps/plugin/${id}/app`), ID);
  await expect.poll(() => page.url()).toContain(`#/apps/plugin/${ID}/app`);
  await frame.evaluate(() => chatos.host.ui.navigate('chat/agents'));
  await expect.poll(() => page.url()).toContain('#/agents');
  const thrown = await frame.evaluate(() => {
    try {
      return chatos.host.ui.navigate('https://example.com/');
    } catch (error) {
      return (error as Error).message;
    }
  });
  expect(thrown).toBe('Unknown menu "https://example.com/"');
});

test('chat: an agent for the app, a session, a message, its events, a list, an abort', async ({ host, open }) => {
  const { frame } = await start(host, open);
  const made = (await ask(frame, 'chat.agents.createForApp', { prompt: 'Be brief.' })) as unknown as { ok: boolean; agent: { id: string; name: string; uiApps: object[] } };
  expect(made.agent.name).toBe('Background work Agent');
  expect(made.agent.uiApps).toMatchObject([{ pluginId: ID, appId: 'app', mcp: true, prompt: true }]);
  const { agents } = (await ask(frame, 'chat.agents.list')) as unknown as { agents: { id: string }[] };
  expect(agents.map(({ id }) => id)).toContain(made.agent.id);
  const updated = (await ask(frame, 'chat.agents.update', made.agent.id, { description: 'changed' })) as unknown as { agent: { description: string; name: string } };
  expect([updated.agent.description, updated.agent.name]).toEqual(['changed', 'Background work Agent']);
  expect(await ask(frame, 'chat.agents.update', 'no-such-agent', {})).toMatch(/^not_found /);
  const standard = (await ask(frame, 'chat.agents.ensureDefault')) as unknown as { ok: boolean; agent: { id: string } };
  expect(standard.ok).toBe(true);

  const { session } = (await ask(frame, 'chat.sessions.create', { title: 'From an app', agentId: made.agent.id })) as unknown as { session: { id: string; title: string } };
  expect(session.title).toBe('From an app');
  expect(await ask(frame, 'chat.sessions.create', { workspaceRoot: '/no/such/folder' })).toMatch(/^invalid_argument /);
  const { sessions } = (await ask(frame, 'chat.sessions.list')) as unknown as { sessions: { id: string; running: boolean }[] };
  expect(sessions.find(({ id }) => id === session.id)?.running).toBe(false);

  await frame.evaluate((id) => {
    const types: string[] = [];
    (globalThis as { types?: string[] }).types = types;
    chatos.host.chat.events.subscribe({ sessionId: id }, (event) => types.push(event.type));
  }, session.id);
  expect(await ask(frame, 'chat.send', { sessionId: session.id, text: '' })).toBe('invalid_argument text is required');
  expect(await ask(frame, 'chat.send', { sessionId: 'no-such-session', text: 'x' })).toMatch(/^not_found /);
  const sent = (await ask(frame, 'chat.send', { sessionId: session.id, text: 'Hello' })) as unknown as { ok: boolean; userMessageId: string; assistantMessageId: string };
  expect(sent).toMatchObject({ ok: true, userMessageId: expect.any(String), assistantMessageId: expect.any(String) });
  await expect.poll(() => frame.evaluate(() => (globalThis as unknown as { types: string[] }).types)).toContain('assistant_done');
  const types = await frame.evaluate(() => (globalThis as unknown as { types: string[] }).types);
  expect(types.indexOf('user_message')).toBeLessThan(types.indexOf('assistant_done'));
  const { messages } = (await ask(frame, 'chat.messages.list', { sessionId: session.id })) as unknown as { messages: { role: string; content: string }[] };
  expect(messages[0]).toMatchObject({ role: 'user', content: 'Hello' });
  expect(messages.at(-1)?.role).toBe('assistant');
  expect(await ask(frame, 'chat.abort', { sessionId: session.id })).toBe('not_found no active run');
  expect(await ask(frame, 'chat.agents.delete', made.agent.id)).toMatch(/^conflict /);
  expect(await frame.evaluate(() => chatos.host.chat.events.unsubscribe())).toEqual({ ok: true });
  const before = types.length;
  await ask(frame, 'chat.send', { sessionId: session.id, text: 'Again' });
  await expect.poll(async () => ((await ask(frame, 'chat.messages.list', { sessionId: session.id })) as unknown as { messages: unknown[] }).messages.length).toBeGreaterThan(messages.length);
  expect((await frame.evaluate(() => (globalThis as unknown as { types: string[] }).types)).length).toBe(before);
});

test('the explorer tries everything that changes little, and nothing is refused', async ({ open }) => {
  const page = await open({ at: '#/apps' });
  const frame = await openApp(page, 'com.chatos.explorer', 'explorer');
  await frame.getByRole('button', { name: 'Try everything that changes little' }).click();
  await expect.poll(() => frame.locator('.state').textContent()).toMatch(/answered/);
  expect(await frame.locator('.state').textContent()).toMatch(/^\d+ answered, 0 refused$/);
});

test('agents: an app changes and removes those it made, and never picks the frame they work in', async ({ host, open }) => {
  const { frame } = await start(host, open);
  const made = (await ask(frame, 'chat.agents.create', { name: 'Mine', landConfigId: 'lc_developer', mode: 'flow' })) as unknown as { ok: boolean; agent: { id: string; landConfigId: string; mode: string; madeBy: string } };
  expect(made).toMatchObject({ ok: true, agent: { landConfigId: 'lc_safe_default', mode: 'custom', madeBy: ID } });
  const changed = (await ask(frame, 'chat.agents.update', made.agent.id, { name: 'Still mine', landConfigId: 'lc_developer' })) as unknown as { agent: { name: string; landConfigId: string } };
  expect(changed.agent).toMatchObject({ name: 'Still mine', landConfigId: 'lc_safe_default' });
  const theirs = await host.api<{ id: string }>('POST', 'agents', { name: 'The person’s', mode: 'custom' });
  expect(await ask(frame, 'chat.agents.update', theirs.id, { name: 'Taken' })).toMatch(/^permission_denied /);
  expect(await ask(frame, 'chat.agents.delete', theirs.id)).toMatch(/^permission_denied /);
  expect(await ask(frame, 'chat.agents.delete', 'no-such-agent')).toMatch(/^not_found /);
  expect((await host.api<{ name: string }>('GET', `agents/${theirs.id}`)).name).toBe('The person’s');
  expect(await ask(frame, 'chat.agents.delete', made.agent.id)).toEqual({ ok: true, removed: true });
});

test('runs: own ones are stopped, others are not; a running chat takes no second message', async ({ host, open }) => {
  const model = await CountingModel.start();
  try {
    const person = await model.chatOn(host);
    const { frame } = await start(host, open);
    // The app's own chat, made on the first call; the person's is not in its reach.
    const { session } = (await ask(frame, 'chat.sessions.ensureDefault')) as unknown as { session: { id: string } };
    const own = session.id;
    expect(own).not.toBe(person);
    expect((await ask(frame, 'chat.sessions.ensureDefault', { agentId: undefined })) as unknown).toEqual({ ok: true, session: expect.objectContaining({ id: own }) });
    const { sessions } = (await ask(frame, 'chat.sessions.list')) as unknown as { sessions: { id: string }[] };
    expect(sessions.map(({ id }) => id)).toContain(own);
    expect(sessions.map(({ id }) => id)).not.toContain(person);
    const { modelId } = await host.api<{ modelId: string }>('GET', `sessions/${person}`);
    await host.api('PATCH', `sessions/${own}`, { modelId });
    for (const [member, payload] of [['chat.send', { sessionId: person, text: 'me too' }], ['chat.abort', { sessionId: person }], ['chat.messages.list', { sessionId: person }]] as const) {
      expect(await ask(frame, member, payload)).toMatch(/^permission_denied Capability "chat\.(read|write)"/);
    }
    // In its own chat a run the person started is the person's.
    await host.api('POST', `sessions/${own}/send`, { text: 'count' });
    const running = async () => ((await ask(frame, 'chat.sessions.list')) as unknown as { sessions: { id: string; running: boolean }[] }).sessions.find(({ id }) => id === own)?.running;
    await expect.poll(running).toBe(true);
    expect(await ask(frame, 'chat.abort', { sessionId: own })).toMatch(/^permission_denied /);
    expect(await ask(frame, 'chat.send', { sessionId: own, text: 'me too' })).toMatch(/^conflict /);
    await host.api('POST', `sessions/${own}/abort`, {});
    await expect.poll(running).toBe(false);

    // Each listener has its own filter.
    await frame.evaluate((id) => {
      const heard: Record<string, string[]> = { all: [], ends: [], other: [] };
      (globalThis as { heard?: typeof heard }).heard = heard;
      const { subscribe } = chatos.host.chat.events;
      subscribe({ sessionId: id }, (event) => heard['all']?.push(event.type));
      subscribe({ types: ['assistant_aborted'] }, (event) => heard['ends']?.push(event.type));
      subscribe({ sessionId: 'another' }, (event) => heard['other']?.push(event.type));
    }, own);
    expect(await ask(frame, 'chat.send', { sessionId: own, content: 'count for me' })).toMatchObject({ ok: true });
    const heard = () => frame.evaluate(() => (globalThis as unknown as { heard: Record<string, string[]> }).heard);
    await expect.poll(async () => (await heard())['all']).toContain('assistant_delta');
    expect(await ask(frame, 'chat.abort', { sessionId: own })).toEqual({ ok: true });
    await expect.poll(async () => (await heard())['ends']).toEqual(['assistant_aborted']);
    expect((await heard())['other']).toEqual([]);

    const picture = 'data:image/png;base64,iVBORw0KGgo=';
    expect(await ask(frame, 'chat.send', { sessionId: own, text: 'see', images: Array.from({ length: 5 }, () => picture) })).toMatch(/^invalid_argument /);
    expect(await ask(frame, 'chat.send', { sessionId: own, text: 'see', attachments: ['https://example.com/x.png'] })).toMatch(/^invalid_argument /);
    expect(await ask(frame, 'chat.send', { sessionId: own, text: 'see', attachments: [{ dataUrl: picture }] })).toMatch(/^not_supported /);
    expect(await ask(frame, 'chat.messages.list', { sessionId: own, limit: 0 })).toMatch(/^invalid_argument /);
    const page = (await ask(frame, 'chat.messages.list', { sessionId: own, limit: 1 })) as unknown as { messages: unknown[]; hasMore: boolean };
    expect([page.messages.length, page.hasMore]).toEqual([1, true]);
  } finally {
    await model.stop();
  }
});

test('the hub is opened, closed and toggled without taking the focus; events are told without what was said', async ({ host, open }) => {
  const { page, frame } = await start(host, open, 'admin.read');
  const hub = page.locator('[data-hub="open"]').or(page.getByRole('dialog')).or(page.getByRole('complementary'));
  const focused = () => page.evaluate(() => document.activeElement?.tagName);
  const before = await focused();
  expect(await frame.evaluate(() => chatos.host.uiPrompts.toggle())).toEqual({ ok: true });
  await hub.first().waitFor();
  expect(await focused()).toBe(before);
  expect(await frame.evaluate(() => chatos.host.uiPrompts.toggle())).toEqual({ ok: true });
  await hub.first().waitFor({ state: 'detached' });
  const { data } = (await ask(frame, 'admin.state')) as unknown as { data: { events: { seq: number; type: string; payload: object }[] } };
  expect(data.events.length).toBeGreaterThan(0);
  expect(data.events.length).toBeLessThanOrEqual(200);
  expect(data.events[0]?.seq).toBeGreaterThan(data.events.at(-1)?.seq ?? 0);
  expect(JSON.stringify(data.events)).not.toContain('count for me');
});

test('secrets have a name and no digits', async ({ host, open }) => {
  await host.api('PUT', 'secrets/LAB_KEY', { value: 'canary-4711', description: 'of the lab' });
  const { frame } = await start(host, open, 'admin.read');
  const secrets = (await ask(frame, 'admin.secrets.list')) as unknown as { name: string; value: string; hasValue: boolean }[];
  expect(secrets.find(({ name }) => name === 'LAB_KEY')).toMatchObject({ value: '********', hasValue: true });
  expect(JSON.stringify([secrets, await ask(frame, 'admin.state')])).not.toContain('canary');
  const models = (await ask(frame, 'admin.models.list')) as unknown as Record<string, unknown>[];
  for (const key of ['id', 'name', 'provider', 'model', 'description', 'isDefault', 'supportsVision', 'supportsReasoning']) expect(models[0]).toHaveProperty(key);
});

test('a page that leaves an unsaved form asks the person first', async ({ host, open }) => {
  const { page, frame } = await start(host, open);
  await page.evaluate(() => (location.hash = '#/agents/agents/new'));
  await page.getByLabel(/^Name/).first().fill('Half an agent');
  await frame.evaluate(() => chatos.host.ui.navigate('apps/home'));
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'));
  await dialog.getByText('wants to leave this page').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(page.url()).toContain('#/agents');
  expect(await page.getByLabel(/^Name/).first().inputValue()).toBe('Half an agent');
  await frame.evaluate(() => chatos.host.ui.navigate('apps/home'));
  await dialog.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Apps' }).waitFor();
});

test('a backend asks a model, with the tools of its own server and no others', async ({ host, open }) => {
  const model = await CallingModel.start('double', { number: 21 });
  try {
    const modelId = await model.addTo(host);
    await install(host, appFiles('thinker'));
    const page = await open({ at: '#/apps', expectConsole: REFUSALS });
    const frame = await openApp(page, 'com.test.thinker');
    const plain = (await ask(frame, 'backend.invoke', 'think', { input: 'double 21', modelId })) as unknown as { ok: boolean; model: string; content: string };
    expect(plain).toEqual({ ok: true, model: 'Caller', content: 'There is nothing to call.' });
    expect(model.offered).toEqual([]);
    const tooled = (await ask(frame, 'backend.invoke', 'think', { prompt: 'double 21', modelName: 'Caller', disableTools: false })) as unknown as { content: string; toolTrace: { tool: string; args: object; result: string }[] };
    expect(tooled.content).toBe('The tool said: 42');
    expect(tooled.toolTrace).toMatchObject([{ args: { number: 21 }, result: '42' }]);
    expect(new Set(model.offered.map((name) => name.slice(-6)))).toEqual(new Set(['double']));
    expect(await ask(frame, 'backend.invoke', 'think', {})).toBe('invalid_argument input is required');
    expect(await ask(frame, 'backend.invoke', 'think', { input: 'x', modelId: 'none' })).toBe('not_found modelId not found: none');
  } finally {
    await model.stop();
  }
});
