// The first day with ChatOS, in this order (issue "agents", acceptance 5): the demo, a model from an address,
// a flow and a custom agent, why a tool is denied, a chat with an approval, stopping it, and going on after
// the host was killed. One person, one state, one page after the other.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { test } from './fixtures';
import { Host } from './host';
import { lastOf, ModelServer } from './model-server';

/** What only a host that goes away provokes. */
const LOST = /ERR_CONNECTION|WebSocket|Failed to load resource|net::/;
const field = (name: string) => new RegExp(`^${name}( ?\\*)?$`);

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

async function idle(page: Page): Promise<void> {
  await page.locator('[data-row="assistant"]').first().waitFor();
  await expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);
}

async function go(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => (location.hash = to), hash);
}

/** Writes the file a message names, counts when asked to, and says what came of a tool. */
async function writer(): Promise<ModelServer> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = (body) => {
    const { role, text } = lastOf(body);
    if (role === 'tool') return { text: text.includes('Created') ? 'Written.' : `It said: ${text}` };
    if (text.startsWith('write ')) return { call: { tool: 'write_file', args: { path: text.slice(6), contents: 'one line\n' } } };
    if (text.startsWith('count')) return { countMs: 30 };
    return { text: 'Ready.' };
  };
  return models;
}

test('demo, model, agents, why not, approval, stop, kill and go on', async ({ ownHost, open }) => {
  const [host, models] = await Promise.all([ownHost(), writer()]);
  const page = await open({ host, at: '#/chat', expectConsole: LOST });

  // 1. The first minute needs no key.
  await page.locator('[data-demo]').getByRole('link', { name: 'Add a model' }).waitFor();
  await page.getByRole('button', { name: 'What can you do?' }).click();
  await idle(page);
  expect(await page.locator('[data-row="assistant"]').last().innerText()).toMatch(/demo/i);

  // 2. A model from an address.
  await go(page, '#/chat');
  await page.locator('[data-demo]').getByRole('link', { name: 'Add a model' }).click();
  await page.getByLabel('Paste a key or an address').fill(models.baseUrl);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel(field('Model')).fill('tiny');
  await page.getByLabel(field('Display name')).fill('My model');
  await page.getByRole('button', { name: 'Test and add' }).click();
  await page.locator('[data-model="My model"]').getByText('Default', { exact: true }).waitFor();

  // 3. A flow agent and a custom one.
  await go(page, '#/agents/agents/new');
  await page.getByLabel(field('Name')).fill('By the book');
  await page.getByRole('radio', { name: /Profile only/ }).check();
  await page.getByLabel(field('Permissions profile')).selectOption({ label: 'Safe default' });
  await page.locator('[data-explain="project_files"]').waitFor();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.locator('[data-agent="By the book"]').getByText('Profile only').waitFor();
  await go(page, '#/agents/agents/new');
  await page.getByLabel(field('Name')).fill('Writer');
  await page.getByLabel(field('Permissions profile')).selectOption({ label: 'Developer' });
  await page.locator('[data-explain="code_writer"][data-granted="true"]').waitFor();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.locator('[data-agent="Writer"]').waitFor();

  // 4. Why the flow agent may not write.
  await page.locator('[data-agent="By the book"]').getByRole('link').first().click();
  await page.getByLabel('Why can’t it…').fill('write_file');
  const refused = page.locator('[data-explain="code_writer"]');
  await refused.waitFor();
  expect(await refused.getAttribute('data-granted')).toBe('false');
  await refused.getByText('Safe default').first().waitFor();
  await refused.getByRole('link', { name: 'Change', exact: true }).waitFor();

  // 5. A chat whose tool wants a yes: the change is shown, and nothing is written before.
  const { items } = await host.api<{ items: { id: string; name: string }[] }>('GET', 'agents');
  const agentId = items.find(({ name }) => name === 'Writer')?.id;
  const { id: chat } = await host.api<{ id: string }>('POST', 'sessions', { agentId, title: 'Writing' });
  await go(page, `#/chat/${chat}`);
  await say(page, 'write notes.txt');
  const dock = page.locator('[data-dock]');
  await dock.locator('article[data-ready="true"]').waitFor();
  await dock.getByText('one line').first().waitFor();
  expect(existsSync(join(host.home, 'notes.txt'))).toBe(false);
  await dock.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.locator('[data-row="assistant"]').getByText('Written.').waitFor();
  await idle(page);
  expect(readFileSync(join(host.home, 'notes.txt'), 'utf8')).toBe('one line\n');
  expect(await page.locator('[data-tool="write_file"]').getAttribute('data-state')).toBe('ok');

  // 6. Stop.
  await say(page, 'count');
  await page.locator('[data-row="assistant"]').getByText('1 2 3').waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await idle(page);
  await page.getByText('Stopped', { exact: true }).waitFor();

  // 7. Killed while it asks; the run goes on with the same question, and writes once.
  await say(page, 'write later.txt');
  await dock.locator('article[data-ready="true"]').waitFor();
  const asked = async (from: Host) => (await from.api<{ items: { requestId: string }[] }>('GET', 'prompts?view=needs_you')).items.map(({ requestId }) => requestId);
  const before = await asked(host);
  expect(before).toHaveLength(1);
  await host.halt('SIGKILL');
  await page.locator('[data-banner="connection"]').waitFor();
  const again = await Host.start({ home: host.home, port: host.ready.port });
  try {
    const next = await open({ host: again, at: `#/chat/${chat}`, expectConsole: LOST });
    await next.locator('[data-interrupted]').getByRole('button', { name: 'Continue' }).click();
    const question = next.locator('[data-dock]');
    await question.locator('article[data-ready="true"]').waitFor();
    await next.locator('[data-interrupted]').waitFor({ state: 'detached' });
    expect(await asked(again)).toEqual(before);
    expect(existsSync(join(host.home, 'later.txt'))).toBe(false);
    await question.getByRole('button', { name: 'Approve', exact: true }).click();
    await expect.poll(() => next.locator('[data-row="assistant"]').last().innerText()).toContain('Written.');
    await idle(next);
    expect(readFileSync(join(host.home, 'later.txt'), 'utf8')).toBe('one line\n');
    expect(await next.locator('[data-tool="write_file"]').count()).toBe(2);
    expect(await asked(again)).toEqual([]);
  } finally {
    await again.halt();
  }
});

test('main, subagent, tool: the page shows one chain with the fields that the tool’s server, the log and the events have', async ({ ownHost, open }) => {
  const host = await ownHost();
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = (body) => {
    const { role, text } = lastOf(body);
    if (role === 'tool') return { text: 'Done.' };
    const router = body.tools?.some(({ function: { name } }) => name.endsWith('run_sub_agent')) ?? false;
    return router ? { call: { tool: 'run_sub_agent', args: { task: text, agent_id: 'researcher' } } } : { call: { tool: 'list_directory', args: {} } };
  };
  const model = await host.api<{ id: string }>('POST', 'models', { name: 'Scripted', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Chain', modelId: model.id });
  const page = await open({ host, at: `#/chat/${id}` });
  await say(page, 'look around');
  await idle(page);
  await page.locator('[data-tool="run_sub_agent"][data-state="ok"]').waitFor();
  const runs = await host.api<{ items: { id: string; kind: string; traceId: string }[] }>('GET', `runs?sessionId=${id}`);
  const root = runs.items.find(({ kind }) => kind !== 'sub') ?? expect.fail('no run');
  await go(page, `#/runs/${root.id}/trace`);
  await page.locator('[data-span][data-kind="tool"][data-depth="3"]').waitFor();
  const shape = await page.locator('[data-span]').evaluateAll((rows) => rows.map((row) => `${row.getAttribute('data-depth')} ${row.getAttribute('data-kind')}`));
  expect(shape.filter((row) => !row.endsWith('model'))).toEqual(['0 run', '1 tool', '2 run', '3 tool']);

  const lines = (file: string) =>
    readFileSync(join(host.home, 'state', file), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as { type: string; trace?: Record<string, unknown>; payload?: { trace: Record<string, unknown> } });
  const tool = page.locator('[data-span][data-kind="tool"][data-depth="3"]');
  const span = await tool.getAttribute('data-span');
  await tool.locator('.label').click();
  const shown = await page.locator('[data-fields] [data-field]').evaluateAll((all) => Object.fromEntries(all.map((one) => [one.getAttribute('data-field'), one.textContent === 'null' ? null : one.textContent])));
  expect(Object.keys(shown)).toHaveLength(9);
  expect(shown).toMatchObject({ traceId: root.traceId, spanId: span, sessionId: id, subAgentId: 'chatos-general/researcher', toolName: 'list_directory' });
  const logged = lines('tool-log.jsonl').filter(({ trace }) => trace?.['spanId'] === span);
  expect(logged.map(({ type }) => type)).toEqual(['tool_call', 'tool_result']);
  for (const { trace } of logged) expect(trace).toEqual(shown);
  const told = lines('events.jsonl').filter(({ payload }) => payload?.trace['spanId'] === span);
  expect(told.map(({ type }) => type)).toEqual(expect.arrayContaining(['tool_started', 'tool_finished']));
  for (const { payload } of told) expect(payload?.trace).toEqual(shown);
});
