// What an app reaches: its own things, and more where the person said so. The one-file "clock" that asks for a key
// folder, the trust sheet in its three weights, and the plugin's page with what was wanted (host-api §5).

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { describe, expect } from 'vitest';
import { frameOf, install, oneApp, openApp, pluginFolder } from './app-plugins';
import { violations } from './axe';
import { CallingModel } from './calling-model';
import { test } from './fixtures';
import type { Host } from './host';
import { writeFolder } from './packages';
import { answerOf, openPrompt } from './questions';

const REFUSALS = /Failed to load resource/;
const KEY = 'CANARY-PRIVATE-KEY-4711';
const MODULE = 'export function mount({ container }) { container.textContent = new Date().toLocaleTimeString(); }';

function clock(id: string, manifest: Record<string, unknown> = {}) {
  return oneApp(id, MODULE, { manifest: { name: 'Clock', apps: [{ id: 'app', name: 'Clock', entry: { type: 'module', path: 'app/index.mjs' } }], ...manifest } });
}

interface Question {
  requestId: string;
  title: string;
  owner: string;
}

async function questions(host: Host): Promise<Question[]> {
  const { items } = await host.api<{ items: Question[] }>('GET', 'prompts?view=needs_you');
  return items.filter(({ owner }) => owner === 'host:app_roots');
}

/** What a clock would do to have the default agent read a file of the person; everything it got to know. */
function attack(frame: Frame, folder: string): Promise<string> {
  return frame.evaluate(async (wish) => {
    const { chat } = chatos.host;
    const { agents } = await chat.agents.list();
    const known: unknown[] = [agents];
    for (const agent of agents) {
      const made = await chat.sessions.create({ agentId: agent.id, workspaceRoot: wish });
      known.push(made);
      const { id } = made.session;
      const done = new Promise<void>((resolve) => {
        chat.events.subscribe({ sessionId: id }, (event) => {
          known.push(event);
          if (event.type === 'assistant_done' || event.type === 'assistant_error') resolve();
        });
      });
      await chat.send({ sessionId: id, text: 'Read id_rsa' });
      await done;
      known.push(await chat.messages.list({ sessionId: id }));
    }
    return JSON.stringify(known);
  }, folder);
}

test('a clock that asks for a key folder gets nothing of it and raises one question', async ({ ownHost, open }) => {
  const host = await ownHost();
  const keys = join(host.home, '.ssh');
  mkdirSync(keys);
  writeFileSync(join(keys, 'id_rsa'), KEY);
  const model = await CallingModel.start('read_file', { path: 'id_rsa' });
  try {
    await model.addTo(host, true);
    const id = await install(host, clock('com.lab.clock'));
    const page = await open({ host, at: '#/apps', expectConsole: REFUSALS });
    const frame = await openApp(page, id);
    const known = await attack(frame, keys);
    expect(model.offered.some((name) => name.endsWith('read_file'))).toBe(true);
    expect(known).not.toContain(KEY);
    expect(JSON.stringify(model.asked)).not.toContain(KEY);
    expect(known).toContain(join(host.ready.stateDir, 'ui_apps', 'data', id));
    expect(await attack(frame, keys)).not.toContain(KEY);
    const asked = await questions(host);
    expect(asked.map(({ title }) => title)).toEqual([`Let Clock work in ${keys}?`]);
    expect(known).toContain(`"pendingRoot":"${asked[0]?.requestId}"`);
    // The person says no; nobody is asked again.
    const other = await open({ host });
    const requestId = asked[0]?.requestId ?? '';
    await openPrompt(other, requestId);
    await other.getByText('Such a folder holds keys or passwords.', { exact: false }).first().waitFor();
    await other.getByRole('radio', { name: 'No', exact: true }).check();
    await other.getByRole('button', { name: 'Submit' }).click();
    expect(await answerOf(host, requestId)).toMatchObject({ status: 'ok', response: { selection: 'no' } });
    await expect.poll(async () => (await host.api<{ roots: { mode: string }[] }>('GET', `apps/${id}/capabilities`)).roots.map(({ mode }) => mode)).toEqual(['no']);
    expect(await attack(frame, keys)).not.toContain(KEY);
    expect(await questions(host)).toEqual([]);
  } finally {
    await model.stop();
  }
});

describe('the trust sheet', () => {
  const HEAVY = {
    'server/index.mjs': '',
    'back/index.mjs': 'export const createUiAppsBackend = () => ({ methods: {} });',
  };

  test('says what is heavy, what reaches beyond the plugin and what does not; ticks are off until set', async ({ host, open }) => {
    const id = 'com.lab.levels';
    const files = clock(id, { backend: { entry: 'back/index.mjs' }, capabilities: ['backend', 'chat.read', 'chat.write', 'network', 'network:api.example.com', 'navigate'] });
    writeFolder(pluginFolder(host, id), { ...files, ...HEAVY });
    await host.api('POST', 'plugins/refresh', { deep: true });
    const page = await open({ at: `#/apps/trust/${id}` });
    const sheet = page.getByRole('dialog');
    const level = (name: string) => sheet.locator(`[data-level="${name}"]`);
    await level('red').getByRole('heading', { name: 'Runs programs as you' }).waitFor();
    expect(await level('red').textContent()).toContain('back/index.mjs');
    const ticks = level('amber').getByRole('checkbox');
    expect(await ticks.evaluateAll((all) => all.map((tick) => [(tick as HTMLInputElement).dataset['tick'], (tick as HTMLInputElement).checked]))).toEqual([
      ['chat.read', false],
      ['chat.write', false],
      ['network:api.example.com', false],
    ]);
    await level('grey').getByText('have chats and agents of its own').waitFor();
    await level('amber').getByText('read all your chats').click();
    // The answer takes its time, and the person goes on meanwhile: it must not lead them back.
    let release = () => {};
    const left = new Promise<void>((resolve) => (release = resolve));
    const answered = page.waitForResponse((response) => response.url().endsWith(`/plugins/${id}/trust`));
    await page.route(`**/plugins/${id}/trust`, async (route) => {
      const response = await route.fetch();
      await left;
      await route.fulfill({ response });
    });
    await sheet.getByRole('button', { name: 'Trust and enable' }).click();
    await expect.poll(async () => {
      const { items } = await host.api<{ items: { capability: string; level: string; state: string }[] }>('GET', `apps/${id}/capabilities`);
      return items.filter((right) => right.level === 'amber' && right.state === 'on').map((right) => right.capability);
    }).toEqual(['chat.read']);
    // The plugin's page says what it may, and takes it back.
    await page.goto(page.url().replace(/#.*/, `#/apps/details/${id}`));
    const drawer = page.getByRole('dialog');
    await drawer.getByText('Allowed').waitFor();
    release();
    await answered;
    await page.getByText('You now trust Clock.').waitFor();
    await drawer.getByText('read all your chats').waitFor();
    expect(await drawer.getByRole('button', { name: 'Revoke', exact: true }).count()).toBe(1);
  });

  test('a plugin that asks for nothing says so', async ({ host, open }) => {
    const id = 'com.lab.plain';
    writeFolder(pluginFolder(host, id), clock(id));
    await host.api('POST', 'plugins/refresh', { deep: true });
    const page = await open({ at: `#/apps/trust/${id}`, language: 'zh', bypassCSP: true });
    const sheet = page.getByRole('dialog');
    await sheet.getByRole('heading', { name: '不运行程序' }).waitFor();
    await sheet.getByRole('heading', { name: '不能接触自身以外的内容' }).waitFor();
    expect(await sheet.getByRole('checkbox').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });
});

test('the plugin’s page says what an app wanted and was refused; allowing it counts at once', async ({ host, open }) => {
  const id = await install(host, clock('com.lab.wanting'));
  await host.api('POST', 'sessions', { title: 'The person’s diary' });
  const page = await open({ at: '#/apps', expectConsole: REFUSALS });
  const frame = await openApp(page, id);
  const titles = () => frame.evaluate(async () => (await chatos.host.chat.sessions.list()).sessions.map(({ title }) => title));
  expect(await titles()).toEqual([]);
  const theirs = await host.api<{ items: { id: string }[] }>('GET', 'sessions');
  const refused = await frame.evaluate((sessionId) => chatos.host.chat.messages.list({ sessionId }).then(() => 'read', (error: { code: string }) => error.code), theirs.items[0]?.id ?? '');
  expect(refused).toBe('permission_denied');
  expect(await frame.evaluate(() => chatos.host.admin.state().then(() => 'read', (error: { code: string }) => error.code))).toBe('permission_denied');
  await page.evaluate((hash) => (location.hash = hash), `#/apps/details/${id}`);
  const rights = page.locator('[data-rights]');
  const wish = rights.getByRole('note').filter({ hasText: 'Clock wants to read all your chats' });
  await wish.waitFor();
  await rights.getByText('Clock wants to see your models', { exact: false }).waitFor();
  await wish.getByRole('button', { name: 'Allow' }).click();
  await wish.waitFor({ state: 'detached' });
  await page.evaluate((hash) => (location.hash = hash), `#/apps/plugin/${id}/app`);
  await frameOf(page, id);
  await expect.poll(titles).toContain('The person’s diary');
});
