// Apps in their frames, in a real Chromium against the real host: opening, living, failing, closing
// (issue 8, accepted when 1, 3, 4; host-api §3).

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { appFiles, frameOf, install, oneApp, openApp, pluginFolder, trust } from './app-plugins';
import { violations } from './axe';
import { test } from './fixtures';
import { writeFolder } from './packages';

const go = (page: Page, hash: string) => page.evaluate((to) => (location.hash = to), hash);
const failure = (page: Page) => page.locator('[data-failure]');

describe('plugins written from the documentation alone', () => {
  test('every synchronous member, at import time and detached', async ({ host, open }) => {
    await install(host, appFiles('sync'));
    const page = await open({ at: '#/apps', lasting: true });
    const frame = await openApp(page, 'com.test.sync');
    const shown = async () => JSON.parse((await frame.locator('pre').textContent()) ?? '') as Record<string, never>;
    const { atImport } = await shown();
    expect(atImport).toEqual({
      enabled: true,
      context: {
        pluginId: 'com.test.sync', appId: 'app', theme: 'light', surface: 'full', lang: 'en', storage: 'persistent',
        hostVersion: host.ready.version, apiVersion: 1, bridge: { enabled: true }, confinement: 'full',
      },
      theme: 'light',
      surface: 'full',
      open: { ok: true },
      close: { ok: true },
      toggle: [{ ok: true }, { ok: true }],
      noMenu: { name: 'HostError', code: 'invalid_argument', message: 'menu is required' },
      badMenu: { name: 'HostError', code: 'invalid_argument', message: 'Unknown menu "no/where"' },
      stopTheme: 'function',
      notAFunction: 'function',
      unsubscribe: { ok: true },
      frozen: true,
      sameHost: true,
    });
    expect(await frame.locator('#chatos-header').textContent()).toBe('Synchronous members');
  });

  test('theme, language and surface reach a mounted app without loading it again', async ({ host, open }) => {
    await install(host, appFiles('sync'));
    const page = await open({ at: '#/apps', theme: 'light' });
    const frame = await openApp(page, 'com.test.sync');
    const shown = async () => JSON.parse((await frame.locator('pre').textContent()) ?? '') as { started: number; themes: unknown[]; now: Record<string, unknown>; lang: string; surface: string };
    const { started } = await shown();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(async () => (await shown()).now['theme']).toBe('dark');
    expect((await shown()).themes).toEqual([['dark', 'dark']]);
    expect(await frame.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark');

    await page.getByRole('button', { name: 'Appearance and language' }).click();
    await page.getByRole('menuitemradio', { name: '中文' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await shown()).now['lang']).toBe('zh');
    expect((await shown()).lang).toBe('zh-CN');

    // One module for both surfaces: the same frame goes beside the page.
    await page.getByRole('button', { name: '在侧边栏打开' }).click();
    await expect.poll(async () => (await shown()).surface).toBe('compact');
    const after = await shown();
    expect([after.started, after.now['surface'], after.themes.length]).toEqual([started, 'compact', 1]);
    await page.getByRole('complementary', { name: '侧边栏中的应用' }).getByRole('heading', { name: 'Sync members' }).waitFor();
  });

  test('who reviews a plugin from its app is back in the app', async ({ host, open }) => {
    writeFolder(pluginFolder(host, 'com.test.back'), oneApp('com.test.back', 'export function mount({ container }) { container.textContent = "here"; }'));
    await host.api('POST', 'plugins/refresh', { deep: true });
    const page = await open({ at: '#/apps/plugin/com.test.back/app', lasting: true });
    await page.getByRole('link', { name: 'Review and trust' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Trust and enable' }).click();
    const frame = await frameOf(page, 'com.test.back');
    await frame.getByText('here').waitFor();
    expect(new URL(page.url()).hash).toBe('#/apps/plugin/com.test.back/app');
  });

  test('the path tree of the host, from every place apps import it', async ({ host, open }) => {
    await install(host, oneApp('com.test.tree', `
      import { createDsPathTreeView } from '../../common/ui/ds-tree-view.mjs';
      import { DS_TREE_STYLES } from '../common/ui/ds-tree-styles.mjs';
      import * as above from '../../../common/ui/ds-tree-view.mjs';
      export function mount({ container }) {
        const style = document.head.appendChild(document.createElement('style'));
        style.textContent = DS_TREE_STYLES;
        const [box, said] = ['div', 'output'].map((tag) => container.appendChild(document.createElement(tag)));
        const tree = createDsPathTreeView({
          container: box,
          onSelect: (key) => { said.textContent = 'chosen ' + key; },
          onContextMenu: (event, key) => { said.textContent = 'menu of ' + key + ' at ' + (event.clientX > 0); },
        });
        tree.render({ paths: ['work/june', 'home'] });
        said.textContent = typeof above.createDsPathTreeView;
      }`));
    const page = await open({ at: '#/apps', lasting: true });
    const frame = await openApp(page, 'com.test.tree');
    const said = frame.locator('output');
    expect(await said.textContent()).toBe('function');
    const item = (name: string) => frame.getByRole('treeitem', { name, exact: true });
    await item('work').locator('.ds-tree-toggle').click();
    await item('june').click();
    expect(await said.textContent()).toBe('chosen work/june');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Space');
    await expect.poll(() => item('june').count()).toBe(0);
    await item('home').click({ button: 'right' });
    expect(await said.textContent()).toBe('menu of home at true');
    expect(await item('home').evaluate((row) => getComputedStyle(row).display)).toBe('flex');
    expect(await violations(page)).toEqual([]);
  });

  test('styles, overlays, downloads, clipboard, dialogs and storage', async ({ host, open }) => {
    await install(host, appFiles('page'));
    const page = await open({ at: '#/apps', lasting: true, permissions: ['clipboard-read', 'clipboard-write'] });
    const frame = await openApp(page, 'com.test.page');
    expect(await frame.locator('h1').evaluate((element) => getComputedStyle(element).color)).toBe('rgb(1, 2, 3)');
    await frame.locator('body > .test-overlay').getByText('overlay').waitFor();
    expect(await page.locator('.test-overlay').count()).toBe(0);

    const download = page.waitForEvent('download');
    await frame.getByRole('button', { name: 'download' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('table.csv');
    expect(readFileSync(await file.path(), 'utf8')).toBe('a,b\n1,2\n');

    await page.bringToFront();
    await frame.getByRole('button', { name: 'copy' }).click();
    await expect.poll(() => frame.locator('output').textContent()).toBe('copied text');

    const answers: [string, (dialog: { accept: (text?: string) => Promise<void>; dismiss: () => Promise<void> }) => Promise<void>, string][] = [
      ['confirm', (dialog) => dialog.accept(), 'true'],
      ['confirm', (dialog) => dialog.dismiss(), 'false'],
      ['prompt', (dialog) => dialog.accept('Ada'), 'Ada'],
      ['alert', (dialog) => dialog.accept(), 'alerted'],
    ];
    for (const [name, answer, expected] of answers) {
      page.once('dialog', (dialog) => void answer(dialog));
      await frame.getByRole('button', { name }).click();
      await expect.poll(() => frame.locator('output').textContent()).toBe(expected);
    }

    // Storage lasts; the reload runs the disposer and every module again.
    expect(await frame.locator('h1').textContent()).toBe('visit 1');
    await page.getByRole('button', { name: 'Reload' }).click();
    await expect.poll(async () => (await frameOf(page, 'com.test.page')).locator('h1').textContent()).toBe('visit 2');
  });

  test('polls its backend, spawns a program, appends the result to the prompt log itself', async ({ host, open }) => {
    await install(host, appFiles('worker'));
    const page = await open({ at: '#/apps' });
    const frame = await openApp(page, 'com.test.worker');
    await frame.getByRole('button', { name: 'start' }).click();
    await expect.poll(() => frame.locator('p').textContent()).toMatch(/^job-\d+ done six times seven is 42$/);
    const id = (await frame.locator('p').textContent())?.split(' ')[0] ?? '';
    const log = readFileSync(join(host.ready.stateDir, 'ui-prompts.jsonl'), 'utf8');
    expect(log).toContain(`"requestId":"${id}"`);
    // It is in the queue of the person, and the app reads it in full: a foreign line belongs to nobody.
    await expect.poll(() => frame.evaluate(async (wanted) => {
      const { entries } = await chatos.host.uiPrompts.read();
      return entries.filter((entry) => entry.requestId === wanted).map((entry) => (entry.prompt as { markdown?: string } | undefined)?.markdown);
    }, id)).toEqual(['six times seven is 42']);
    await go(page, '#/queue');
    await page.getByText(`Job ${id}`).first().waitFor();
  });
});

describe('life cycle', () => {
  test.for([
    ['no mount', 'export const x = 1;', 'Module entry must export mount({ container, host, slots })'],
    ['mount throws', 'export function mount() { throw new Error("boom in mount"); }', 'boom in mount'],
    ['mount rejects', 'export const mount = () => Promise.reject(new Error("later"));', 'later'],
    ['missing import', 'import "./nowhere.mjs"; export const mount = () => {};', 'Failed to fetch dynamically imported module'],
    ['bare specifier', 'import "react"; export const mount = () => {};', 'Failed to resolve module specifier "react"'],
    ['syntax error', 'export function mount( {', 'Unexpected'],
    ['missing shared module', 'import "../common/ui/none.mjs"; export const mount = () => {};', 'Failed to fetch dynamically imported module'],
  ] as [string, string, string][])('%s: says why, and harms nothing else', async ([name, module, message], { host, open }) => {
    const id = await install(host, oneApp(`com.bad.${name.replaceAll(' ', '')}`, module));
    await install(host, oneApp('com.good.neighbour', 'export function mount({ container }) { container.textContent = "still here"; }'));
    const page = await open({ at: '#/apps', expectConsole: /404|Failed to load|MIME/ });
    const good = await openApp(page, 'com.good.neighbour');
    await go(page, `#/apps/plugin/${id}/app`);
    await failure(page).getByText(message).first().waitFor();
    expect(await page.locator(`iframe[data-app="${id}/app"]`).count()).toBe(0);
    expect(await good.locator('#chatos-body').textContent()).toBe('still here');

    // The person fixes it and loads it again.
    writeFileSync(join(pluginFolder(host, id), 'app/index.mjs'), 'export function mount({ container }) { container.textContent = "mended"; }');
    await trust(host, id);
    const reload = page.getByRole('button', { name: 'Reload' }).first();
    if (await reload.isVisible()) await reload.click();
    await expect.poll(async () => (await frameOf(page, id)).locator('#chatos-body').textContent()).toBe('mended');
  });

  test('disposers that throw or hang, nonsense instead of one: the frame goes in any case', async ({ host, open }) => {
    const kinds = {
      throws: '() => { throw new Error("dispose threw"); }',
      hangs: '() => new Promise(() => {})',
      junk: '({ dispose: 7 })',
      none: 'undefined',
    };
    for (const [kind, returned] of Object.entries(kinds)) await install(host, oneApp(`com.dispose.${kind}`, `export const mount = async () => ${returned};`));
    const page = await open({ at: '#/apps' });
    for (const kind of Object.keys(kinds)) {
      await openApp(page, `com.dispose.${kind}`);
      await page.getByRole('button', { name: 'Close' }).click();
      await expect.poll(() => page.locator(`iframe[data-app="com.dispose.${kind}/app"]`).count()).toBe(0);
    }
    await page.getByRole('heading', { level: 1, name: 'Apps' }).waitFor();
  });

  test('closed while it mounts: the disposer runs as soon as mount has settled', async ({ host, open }) => {
    const id = await install(host, {
      ...oneApp('com.slow.mount', `export async function mount({ host }) {
        while (localStorage.getItem('go') === null) await new Promise((resolve) => setTimeout(resolve, 20));
        return async () => { localStorage.setItem('disposed', String(1 + Number(localStorage.getItem('disposed') ?? 0))); };
      }`),
    });
    const page = await open({ at: '#/apps', lasting: true });
    await go(page, `#/apps/plugin/${id}/app`);
    await page.locator(`[data-place="${id}/app full"][data-phase="mounting"]`).waitFor();
    await page.getByText(`Loading App of ${id}`).waitFor();
    const mounting = await (await page.locator(`iframe[data-app="${id}/app"]`).elementHandle())?.contentFrame();
    await page.getByRole('button', { name: 'Close' }).click();
    await mounting?.evaluate(() => localStorage.setItem('go', 'now'));
    await expect.poll(() => page.locator(`iframe[data-app="${id}/app"]`).count()).toBe(0);
    const frame = await openApp(page, id);
    expect(await frame.evaluate(() => localStorage.getItem('disposed'))).toBe('1');
  });

  test('a mount that never ends is told after ten seconds, with a way out', async ({ host, open }) => {
    const id = await install(host, oneApp('com.never.mount', 'export const mount = () => new Promise(() => {});'));
    const page = await open({ at: '#/apps' });
    await go(page, `#/apps/plugin/${id}/app`);
    await page.getByText('Still loading.').waitFor();
    await page.locator(`[data-place="${id}/app full"]`).getByRole('button', { name: 'Close' }).click();
    await page.getByRole('heading', { level: 1, name: 'Apps' }).waitFor();
    await expect.poll(() => page.locator(`iframe[data-app="${id}/app"]`).count()).toBe(0);
  });

  test('hidden apps stay alive, several at a time; uncaught errors are listed and not fatal', async ({ host, open }) => {
    const ticking = (id: string) => oneApp(id, `export function mount({ container }) {
      let n = 0;
      const timer = setInterval(() => { n += 1; container.textContent = String(n); }, 100);
      setTimeout(() => { throw new Error('uncaught in ${id}'); }, 50);
      Promise.reject(new Error('nobody caught this'));
      console.error('said to the console');
      return () => clearInterval(timer);
    }`);
    await install(host, ticking('com.tick.one'));
    await install(host, ticking('com.tick.two'));
    const page = await open({ at: '#/apps', expectConsole: /uncaught in|nobody caught|said to the console/ });
    const one = await openApp(page, 'com.tick.one');
    const two = await openApp(page, 'com.tick.two');
    await go(page, '#/tasks');
    const before = Number(await one.locator('#chatos-body').textContent());
    await expect.poll(async () => Number(await one.locator('#chatos-body').textContent())).toBeGreaterThan(before + 3);
    expect(Number(await two.locator('#chatos-body').textContent())).toBeGreaterThan(0);
    expect(await page.locator('iframe[data-app]:visible').count()).toBe(0);
    await go(page, '#/apps');
    await page.locator('[data-running="com.tick.one/app"]').waitFor();
    await go(page, '#/apps/plugin/com.tick.one/app');
    await page.getByRole('button', { name: '3 problems' }).click();
    const drawer = page.getByRole('dialog');
    for (const text of ['uncaught in com.tick.one', 'nobody caught this', 'said to the console']) await drawer.getByText(text).first().waitFor();
  });

  test('a compact view beside the page; an app without one says so', async ({ host, open }) => {
    await install(host, oneApp('com.two.views', 'export function mount({ container }) { container.textContent = "the full view"; }', {
      compact: 'export function mount({ container, host }) { container.textContent = "the compact view: " + host.ui.surface; }',
    }));
    const page = await open({ at: '#/apps' });
    await openApp(page, 'com.two.views');
    await page.getByRole('button', { name: 'Open in side panel' }).click();
    const compact = await frameOf(page, 'com.two.views', 'app', 'compact');
    expect(await compact.locator('#chatos-body').textContent()).toBe('the compact view: compact');
    await page.getByRole('heading', { level: 1, name: 'Chat' }).waitFor();
    const panel = page.getByRole('complementary', { name: 'App in side panel' });
    await panel.getByRole('button', { name: 'Open full view' }).click();
    await frameOf(page, 'com.two.views');
    expect(await panel.count()).toBe(0);
  });

  test('a changed nested module: trusted again and reloaded, every depth is the new one', async ({ host, open }) => {
    const files = oneApp('com.nested.modules', 'import { text } from "./a/one.mjs"; export function mount({ container }) { container.textContent = text; }', {
      files: { 'app/a/one.mjs': 'export { text } from "./b/two.mjs";', 'app/a/b/two.mjs': 'export const text = "first";' },
    });
    const id = await install(host, files);
    const page = await open({ at: '#/apps', expectConsole: /410/ });
    const frame = await openApp(page, id);
    expect(await frame.locator('#chatos-body').textContent()).toBe('first');
    writeFileSync(join(pluginFolder(host, id), 'app/a/b/two.mjs'), 'export const text = "second";');
    // Its bytes are not the trusted ones any more: the frame goes, the place asks.
    await page.getByText('changed since you trusted it').first().waitFor();
    expect(await page.locator(`iframe[data-app="${id}/app"]`).count()).toBe(0);
    await trust(host, id);
    await expect.poll(async () => (await frameOf(page, id)).locator('#chatos-body').textContent()).toBe('second');
  });
});

describe('the page around apps', () => {
  test('open from the gallery, several in the menu, no violation of accessibility', async ({ open }) => {
    const page = await open({ at: '#/apps', bypassCSP: true });
    await page.getByRole('link', { name: 'Open Notes' }).click();
    await frameOf(page, 'com.chatos.notes', 'notes');
    await go(page, '#/apps');
    await page.getByRole('link', { name: 'Open Host API explorer' }).click();
    await frameOf(page, 'com.chatos.explorer', 'explorer');
    await page.getByRole('button', { name: 'Open apps' }).click();
    await page.getByRole('menuitem', { name: 'Notes' }).click();
    await frameOf(page, 'com.chatos.notes', 'notes');
    expect(await violations(page)).toEqual([]);
  });

  test('an unknown app and an untrusted one lead somewhere', async ({ host, open }) => {
    // A page that has not heard yet that the trust is gone asks for the app and is refused.
    const page = await open({ at: '#/apps/plugin/com.no.such/app', expectConsole: /com\.later\.trusted\/app\/open/ });
    await page.getByText('There is no app “com.no.such/app”.').waitFor();
    const id = await install(host, oneApp('com.later.trusted', 'export const mount = ({ container }) => { container.textContent = "hi"; };'));
    await host.api('POST', `plugins/${id}/untrust`, {});
    await go(page, `#/apps/plugin/${id}/app`);
    await page.getByText(`${id} is not trusted yet`).waitFor();
    expect(await page.locator('iframe[data-app]').count()).toBe(0);
  });
});

/** Not a limit, only numbers for docs/performance.md. */
test('how long things take', async ({ host, open }) => {
  await install(host, appFiles('worker'));
  const page = await open({ at: '#/apps' });
  const mounted: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    await go(page, '#/apps');
    const link = page.getByRole('link', { name: 'Open Notes' });
    await link.waitFor();
    mounted.push(await page.evaluate(async () => {
      const started = performance.now();
      document.querySelector<HTMLAnchorElement>('a[aria-label="Open Notes"]')?.click();
      while (!document.querySelector('[data-place="com.chatos.notes/notes full"][data-phase="mounted"]')) await new Promise((resolve) => setTimeout(resolve, 2));
      return performance.now() - started;
    }));
    await page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => page.locator('iframe[data-app="com.chatos.notes/notes"]').count()).toBe(0);
  }
  const frame = await openApp(page, 'com.test.worker');
  const times = (backend: boolean) => frame.evaluate(async (real) => {
    const { invoke } = chatos.host.backend;
    const taken: number[] = [];
    for (let n = 0; n < 150; n += 1) {
      const started = performance.now();
      // Without a method the page refuses by itself: there and back over the bridge, nothing else.
      await (real ? invoke('echo', { n }) : invoke('').catch(() => undefined));
      taken.push(performance.now() - started);
    }
    return taken.sort((a, b) => a - b);
  }, backend);
  await frame.evaluate(() => chatos.host.backend.invoke('echo', {}));
  const [bridge, backend] = [await times(false), await times(true)];
  const middle = (list: number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]?.toFixed(1);
  console.log(`click to mounted, warm: ${middle(mounted.slice(1))} ms; bridge there and back p50: ${middle(bridge)} ms; backend p50: ${middle(backend)} ms`);
});

test('a backend killed in the middle of a call: an error at once, and the next call works', async ({ host, open }) => {
  await install(host, appFiles('worker'));
  const page = await open({ at: '#/apps', expectConsole: /503/ });
  const frame = await openApp(page, 'com.test.worker');
  const pid = await frame.evaluate(() => chatos.host.backend.invoke<number>('pid'));
  const waiting = frame.evaluate(() => chatos.host.backend.invoke('hang').then(() => 'answered', (error: { code: string; message: string }) => `${error.code} ${error.message}`));
  await frame.evaluate(() => chatos.host.backend.invoke('echo', 1));
  process.kill(pid, 'SIGKILL');
  expect(await waiting).toMatch(/^unavailable Backend of com\.test\.worker exited/);
  expect(await frame.evaluate(() => chatos.host.backend.invoke('echo', { again: true }))).toEqual({ again: true });
  expect(await frame.evaluate(() => chatos.host.backend.invoke<number>('pid'))).not.toBe(pid);
});
