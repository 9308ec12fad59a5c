// Apps nobody looks at: mounted unseen while a tool call waits for work of their page, kept while they work, and
// let go when more than twenty are hidden (host-api §3, issue 8 "Background life").

import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { appFiles, frameOf, install, oneApp, openApp } from './app-plugins';
import { test } from './fixtures';
import type { Host } from './host';

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
  await expect.poll(async () => (await host.api<{ items: unknown[] }>('GET', 'apps/needed')).items).toEqual([{ pluginId: 'com.test.painter', appId: 'app' }]);
  const later = await open({ at: '#/tasks' });
  expect((await waiting).content.map(({ text }) => text).join()).toContain('a square of 1,2,3');
  await expect.poll(() => frames(later, 'com.test.painter/app')).toBe(0);
  expect((await host.api<{ items: unknown[] }>('GET', 'apps/needed')).items).toEqual([]);
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
