// Apps nobody looks at: mounted unseen while a tool call waits for work of their page, kept while they work, and
// let go when more than twenty are hidden (host-api §3, issue 8 "Background life").

import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { appFiles, frameOf, install, oneApp, openApp } from './app-plugins';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import type { Files } from './packages';

const frames = (page: Page, key: string) => page.locator(`iframe[data-app="${key}"]`).count();

interface Called {
  content: { text: string }[];
  isError: boolean;
}

/** Calls the painter's tool by hand; it answers when the page has painted. */
async function paint(host: Host, colour: string): Promise<Called> {
  return host.api<Called>('POST', 'tools/call', { server: 'app:com.test.painter/app', tool: 'paint', arguments: { colour } });
}

test('a call that needs the page of an app: mounted unseen, also for a page that comes later, gone when it is done', async ({ host, open }) => {
  await install(host, appFiles('painter'));
  const page = await open({ at: '#/tasks' });
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
  expect(await frames(page, 'com.test.painter/app')).toBe(0);
  const { content } = await paint(host, 'rgb(200, 100, 50)');
  expect(content.map(({ text }) => text).join()).toContain('a square of 200,100,50');
  await expect.poll(() => frames(page, 'com.test.painter/app')).toBe(0);
  expect(page.url()).toContain('#/tasks');
  await page.context().close();

  // Nobody is there: the call waits. A page that comes finds out and mounts the app.
  const waiting = paint(host, 'rgb(1, 2, 3)');
  await expect.poll(async () => (await host.api<{ items: unknown[] }>('GET', 'apps/needed')).items).toMatchObject([{ pluginId: 'com.test.painter', appId: 'app' }]);
  const later = await open({ at: '#/tasks' });
  expect((await waiting).content.map(({ text }) => text).join()).toContain('a square of 1,2,3');
  await expect.poll(() => frames(later, 'com.test.painter/app')).toBe(0);
  expect((await host.api<{ items: unknown[] }>('GET', 'apps/needed')).items).toEqual([]);
});

test('an app that still asks its backend when the call is over goes as soon as it has its answer', async ({ host, open }) => {
  const files = appFiles('painter');
  const slow = (files['backend/index.mjs'] ?? '').replace('return { ok: true };', 'return new Promise((done) => setTimeout(() => done({ ok: true }), 3_000));');
  await install(host, { ...files, 'backend/index.mjs': slow });
  const page = await open({ at: '#/tasks' });
  await paint(host, 'rgb(4, 5, 6)');
  await expect.poll(() => frames(page, 'com.test.painter/app')).toBe(0);
});

test('an app that was opened by a person stays when the call that needed it is over', async ({ host, open }) => {
  await install(host, appFiles('painter'));
  const page = await open({ at: '#/apps' });
  await openApp(page, 'com.test.painter');
  await page.evaluate(() => (location.hash = '#/tasks'));
  await paint(host, 'rgb(9, 9, 9)');
  await page.waitForTimeout(500);
  expect(await frames(page, 'com.test.painter/app')).toBe(1);
});

/** The painter, whose work is done when a person presses a button in its page. */
function patient(module = `export function mount({ container, host }) {
  const button = container.appendChild(document.createElement('button'));
  button.textContent = 'Finish';
  button.onclick = async () => {
    for (const { taskId } of await host.backend.invoke('open')) await host.backend.invoke('finish', { taskId, markdown: 'painted by hand' });
  };
}`): Files {
  return { ...appFiles('painter'), 'app/index.mjs': module };
}

/** A chat with an agent that may use the painter and nothing else. */
async function chatWithPainter(host: Host): Promise<string> {
  const flow = { apps: [{ pluginId: 'com.test.painter', appId: 'app' }], prompts: [] };
  const land = await host.api<{ id: string }>('POST', 'land-configs', { name: `Only the painter ${Date.now()}`, main: flow, sub: flow });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: `Paints ${Date.now()}`, mode: 'flow', landConfigId: land.id });
  return (await host.api<{ id: string }>('POST', 'sessions', { agentId: agent.id })).id;
}

test('the card of a call that waits for an app says so, leads to the app, and says when the app cannot be opened', async ({ ownHost, open }) => {
  const host = await ownHost();
  await install(host, patient());
  const session = await chatWithPainter(host);
  const send = () => host.api('POST', `sessions/${session}/send`, { text: '/call paint {"colour":"red"}' });
  const page = await open({ host, at: `#/chat/${session}`, lasting: true, expectConsole: /no paint left/ });
  await send();
  const card = page.locator('[data-tool="paint"]').last();
  await card.getByText('Waiting for Painter, which is open in the background.').waitFor();
  expect(await violations(page)).toEqual([]);
  // A page that is loaded anew knows it as well.
  await page.reload();
  await card.getByText('Waiting for Painter, which is open in the background.').waitFor();
  await card.getByRole('link', { name: 'Open Painter' }).click();
  const frame = await frameOf(page, 'com.test.painter');
  await frame.getByRole('button', { name: 'Finish' }).click();
  await page.goBack();
  await page.locator('[data-tool="paint"][data-state="ok"]').waitFor();
  expect(await page.locator('[data-needed-app]').count()).toBe(0);

  // An app that fails says why on the card.
  await install(host, patient("export function mount() { throw new Error('no paint left'); }"));
  await expect.poll(() => page.locator('iframe[data-app]').count()).toBe(0);
  await send();
  await page.locator('[data-tool="paint"]').last().getByText('Painter couldn’t be opened: no paint left').waitFor();
});

test('beyond twenty hidden apps the one unused for longest goes, never one that works; the page stays quick', async ({ host, open }) => {
  const many = Array.from({ length: 24 }, (_, index) => `com.many.app${String(index).padStart(2, '0')}`);
  const idle = 'export function mount({ container }) { let n = 0; const t = setInterval(() => { container.textContent = String(++n); }, 200); return () => clearInterval(t); }';
  // The first asks the person something and waits: that is work.
  const asks = 'export async function mount({ host }) { await host.uiPrompts.request({ requestId: "keeps-me", prompt: { kind: "choice", title: "Still there?", options: [{ value: "yes" }] } }); }';
  for (const [index, id] of many.entries()) await install(host, oneApp(id, index === 0 ? asks : idle));
  const page = await open({ at: '#/apps' });
  for (const id of many) await openApp(page, id);
  await page.evaluate(() => (location.hash = '#/tasks'));
  await expect.poll(() => page.locator('iframe[data-app]').count()).toBe(20);
  expect(await frames(page, `${many[0]}/app`)).toBe(1);
  for (const gone of many.slice(1, 5)) expect([gone, await frames(page, `${gone}/app`)]).toEqual([gone, 0]);
  expect(await frames(page, `${many[23]}/app`)).toBe(1);

  // Twenty apps that draw are open: the page still answers at once, and draws.
  const pace = await page.evaluate(async () => {
    let drawn = 0;
    const until = performance.now() + 1_000;
    while (performance.now() < until) {
      await new Promise(requestAnimationFrame);
      drawn += 1;
    }
    return drawn;
  });
  console.log(`frames the page drew in a second beside 20 open apps: ${pace}`);
  expect(pace).toBeGreaterThan(5);
  await page.evaluate(() => (location.hash = '#/apps'));
  await page.getByRole('heading', { level: 1, name: 'Apps' }).waitFor();

  // Answered: the first is idle now and may go like the others.
  await host.api('POST', 'prompts/keeps-me/response', { response: { status: 'ok', selection: 'yes' } });
  await install(host, oneApp('com.many.last', idle));
  await openApp(page, 'com.many.last');
  await page.evaluate(() => (location.hash = '#/tasks'));
  await expect.poll(() => frames(page, `${many[0]}/app`)).toBe(0);
  // One that went is simply opened again.
  await openApp(page, many[1] as string);
  await frameOf(page, many[1] as string);
});
