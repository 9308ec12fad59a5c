// The Apps page against the real host: install, trust, problems, update, uninstall (issue 3, accepted
// when 5). Every plugin here is made by the test; nothing of an untrusted one may run.

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { plugin, writeFolder, zipped } from './packages';

const card = (page: Page, id: string) => page.locator(`[data-plugin="${id}"]`);
const pluginsRoot = (host: Host) => join(host.ready.stateDir, 'ui_apps', 'plugins');
const dataRoot = (host: Host) => join(host.ready.stateDir, 'ui_apps', 'data');

/** Imports a zip through the page's file chooser and waits for the outcome. */
async function importZip(page: Page, file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> {
  await page.getByRole('button', { name: 'Install plugin' }).first().click();
  await page.locator('input[type="file"][accept]').setInputFiles(file);
}

async function trust(page: Page, id: string): Promise<void> {
  const sheet = page.getByRole('dialog').filter({ hasText: id });
  await sheet.getByText('Files', { exact: true }).waitFor();
  await sheet.getByRole('button', { name: 'Trust and enable' }).click();
  await card(page, id).getByText('Trusted', { exact: true }).waitFor();
}

describe('install', () => {
  test('a zip: checked, installed, reviewed, trusted', async ({ host, open }) => {
    const id = 'com.sample.zip';
    const page = await open({ at: '#/apps' });
    await importZip(page, await zipped('sample.zip', plugin({ id })));
    await page.locator(`[data-installed="${id}"]`).getByText('Installed Sample tools v1.0.0.').waitFor();
    expect(existsSync(join(pluginsRoot(host), id, 'plugin.json'))).toBe(true);
    await page.getByRole('button', { name: 'Review and trust' }).first().click();

    const sheet = page.getByRole('dialog');
    const server = sheet.locator('[data-server]');
    await server.waitFor();
    // Exact commands, one token each; the empty argument is there, too.
    const tokens = await server.locator('code').allTextContents();
    expect(tokens.map((token) => token.trim())).toEqual(['node', join(pluginsRoot(host), id, 'tools/server.mjs'), '--mode', 'read only', 'empty']);
    await sheet.getByText('Sample Inc. (unverified').waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('Not now');
    await page.keyboard.press('Enter');
    await sheet.waitFor({ state: 'detached' });
    await card(page, id).getByText('Not trusted').waitFor();

    await card(page, id).getByRole('link', { name: 'Review and trust' }).click();
    await trust(page, id);
  });

  test('a folder, and a path on this computer', async ({ host, open }) => {
    const page = await open({ at: '#/apps' });
    const folder = writeFolder(join(host.home, 'my-folder'), plugin({ id: 'com.sample.folder' }));
    await page.getByRole('button', { name: 'Install plugin' }).first().click();
    await page.locator('input[type="file"][webkitdirectory]').setInputFiles(folder);
    await page.locator('[data-installed="com.sample.folder"]').waitFor();
    await page.getByRole('button', { name: 'Install another' }).click();

    const other = writeFolder(join(host.home, 'other'), plugin({ id: 'com.sample.path' }));
    await page.getByLabel('Or enter a path on this computer').fill(other);
    await page.keyboard.press('Enter');
    await page.locator('[data-installed="com.sample.path"]').waitFor();
    await page.keyboard.press('Escape');
    await card(page, 'com.sample.folder').waitFor();
    await card(page, 'com.sample.path').waitFor();
  });

  test('a zip dropped anywhere on the page', async ({ open }) => {
    const page = await open({ at: '#/apps' });
    await page.getByRole('heading', { level: 1, name: 'Apps' }).waitFor();
    const file = await zipped('dropped.zip', plugin({ id: 'com.sample.dropped' }));
    const transfer = await page.evaluateHandle((bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], 'dropped.zip', { type: 'application/zip' }));
      return data;
    }, [...file.buffer]);
    await page.dispatchEvent('main', 'dragenter', { dataTransfer: transfer });
    await page.getByText('Drop to install: it’s fully checked first').waitFor();
    await page.dispatchEvent('main', 'drop', { dataTransfer: transfer });
    await page.locator('[data-installed="com.sample.dropped"]').waitFor();
  });

  test('a package with a broken part is refused with its place; what works can be installed', async ({ host, open }) => {
    const id = 'com.sample.partly';
    const apps = [
      { id: 'good', name: 'Good', entry: { type: 'module', path: 'tools/index.mjs' } },
      { id: 'bad', name: 'Bad', entry: { type: 'module', path: '../outside.mjs' } },
    ];
    const page = await open({ at: '#/apps' });
    await importZip(page, await zipped('partly.zip', plugin({ id, manifest: { apps } })));
    const problem = page.getByRole('dialog').locator('[data-problem="path_outside"]');
    await problem.getByText('apps/1/entry/path').waitFor();
    expect(existsSync(join(pluginsRoot(host), id))).toBe(false);
    await page.getByRole('button', { name: 'Install the working parts' }).click();
    await page.locator(`[data-installed="${id}"]`).waitFor();
    await page.keyboard.press('Escape');
    await card(page, id).getByText('Good', { exact: true }).waitFor();
    expect(await card(page, id).getByText('Bad', { exact: true }).count()).toBe(0);
  });

  test('hostile packages are refused whole, and say why', async ({ host, open }) => {
    const page = await open({ at: '#/apps' });
    await importZip(page, await zipped('slip.zip', { ...plugin({ id: 'com.sample.slip' }), '../../evil.txt': 'x' }));
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'evil.txt' }).waitFor();
    await page.getByText('Nothing was installed').waitFor();
    expect(existsSync(join(host.ready.stateDir, 'evil.txt'))).toBe(false);
    await page.getByRole('button', { name: 'Choose another file' }).click();
    await page.locator('input[type="file"][accept]').setInputFiles({ name: 'x.zip', mimeType: 'application/zip', buffer: Buffer.from('not a zip') });
    await page.getByText('Nothing was installed').waitFor();
    await page.getByRole('button', { name: 'Choose another file' }).click();
    await page.locator('input[type="file"][accept]').setInputFiles({ name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await page.getByText('Not a folder or a .zip file.').waitFor();
  });
});

describe('live registry', () => {
  test('a plugin put there by hand appears by itself; a broken one says where, and hides no other', async ({ host, open }) => {
    const page = await open({ at: '#/apps' });
    await page.getByRole('heading', { level: 1, name: 'Apps' }).waitFor();
    writeFolder(join(pluginsRoot(host), 'com.sample.hand'), plugin({ id: 'com.sample.hand', name: 'By hand' }));
    await card(page, 'com.sample.hand').waitFor();
    writeFolder(join(pluginsRoot(host), 'broken'), { 'plugin.json': '{"id":"com.sample.broken",}' });
    await page.locator('[data-problem="manifest_syntax"]').waitFor();
    await card(page, 'com.sample.hand').waitFor();
    rmSync(join(pluginsRoot(host), 'broken'), { recursive: true });
    await page.locator('[data-problem="manifest_syntax"]').waitFor({ state: 'detached' });
  });

  test('names of strangers are text: no markup, nothing hidden, no request', async ({ host, open }) => {
    const id = 'com.sample.hostile';
    const page = await open({ at: '#/apps' });
    const asked: string[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      // The page asks the probe of its own host what this browser keeps off the network.
      const own = [new URL(host.url).hostname, 'p-probe.localhost'].includes(url.hostname) && url.port === new URL(host.url).port;
      if (url.protocol.startsWith('http') && !own) asked.push(request.url());
    });
    const name = '<img src=x onerror=alert(1)> \u202egnp.exe';
    const apps = [{ id: 'a', name, icon: 'https://tracker.example/x.png', entry: { type: 'module', path: 'tools/index.mjs' } }];
    writeFolder(join(pluginsRoot(host), id), plugin({ id, name, manifest: { apps, homepage: 'https://tracker.example/' } }));
    await card(page, id).waitFor();
    await card(page, id).getByText('<img src=x onerror=alert(1)>').first().waitFor();
    await card(page, id).getByText('U+202E').first().waitFor();
    await card(page, id).getByRole('link').first().click();
    await page.getByRole('dialog').getByText('U+202E').first().waitFor();
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    expect(asked).toEqual([]);
  });

  test('an update asks again, shows which files changed and how', async ({ host, open }) => {
    const id = 'com.sample.update';
    const page = await open({ at: '#/apps' });
    await importZip(page, await zipped('one.zip', plugin({ id, files: { 'notes.txt': 'one\ntwo\n', 'old.txt': 'gone soon\n' } })));
    await page.getByRole('button', { name: 'Review and trust' }).first().click();
    await trust(page, id);

    await importZip(page, await zipped('two.zip', plugin({ id, version: '2.0.0', files: { 'notes.txt': 'one\n2\n', 'new.txt': 'fresh\n' } })));
    await page.getByText('Updated Sample tools from v1.0.0 to v2.0.0.').waitFor();
    await page.getByRole('button', { name: 'Review and trust' }).first().click();
    const sheet = page.getByRole('dialog');
    await sheet.getByText('What changed since you trusted it').waitFor();
    await sheet.locator('[data-change="added"]').getByText('new.txt').waitFor();
    await sheet.locator('[data-change="removed"]').getByText('old.txt').waitFor();
    const changed = sheet.locator('[data-change="changed"]').filter({ hasText: 'notes.txt' });
    await changed.getByRole('button', { name: 'Show diff' }).click();
    await expect.poll(() => changed.locator('.cm-deletedLine').allTextContents()).toEqual(['two']);
    await expect.poll(() => changed.locator('.cm-changedLine').allTextContents()).toEqual(['2']);
    await trust(page, id);

    // One byte on disk is enough, and it is noticed without asking.
    writeFileSync(join(pluginsRoot(host), id, 'notes.txt'), 'one\n3\n');
    await card(page, id).getByText('Changed since you trusted it').waitFor();
  });

  test('files that change while the sheet is open are not trusted by it', async ({ host, open }) => {
    const id = 'com.sample.race';
    const page = await open({ at: '#/apps', expectConsole: /409/ });
    const folder = writeFolder(join(pluginsRoot(host), id), plugin({ id }));
    await card(page, id).getByRole('link', { name: 'Review and trust' }).click();
    const sheet = page.getByRole('dialog');
    await sheet.getByText('Files', { exact: true }).waitFor();
    writeFileSync(join(folder, 'tools/server.mjs'), 'process.exit(1);\n');
    await sheet.getByRole('button', { name: 'Trust and enable' }).click();
    await sheet.getByText('Its files changed while you were reading').waitFor();
    const { plugins } = await host.api<{ plugins: { id: string; trusted: boolean }[] }>('GET', 'plugins');
    expect(plugins.find((entry) => entry.id === id)?.trusted).toBe(false);
  });
});

describe('details and removal', () => {
  test('the drawer shows contributions, files and log; trust can be withdrawn', async ({ host, open }) => {
    const id = 'com.sample.details';
    const page = await open({ at: '#/apps' });
    writeFolder(join(pluginsRoot(host), id), plugin({ id, name: 'Detailed' }));
    await card(page, id).getByRole('link', { name: 'Detailed' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText(`${id}.tools`).first().waitFor();
    await drawer.getByRole('tab', { name: /Files/ }).click();
    await drawer.getByText('tools/prompt.md').waitFor();
    await drawer.getByRole('tab', { name: 'Log' }).click();
    await drawer.getByText('No output yet').waitFor();
    await drawer.getByRole('button', { name: 'Review and trust' }).click();
    await trust(page, id);
    await card(page, id).getByRole('link', { name: 'Detailed' }).click();
    await page.getByRole('button', { name: 'Revoke trust' }).click();
    await card(page, id).getByText('Not trusted').waitFor();
  });

  test('folders that were put there by hand are named and kept, by an install and by a removal', async ({ host, open }) => {
    const id = 'com.sample.mine';
    const page = await open({ at: '#/apps' });
    const shadowed = join(pluginsRoot(host), 'zz-my-work');
    const kept = () => readdirSync(join(host.ready.stateDir, 'ui_apps', 'kept')).sort();
    writeFolder(shadowed, plugin({ id, files: { 'mine.txt': 'first' } }));
    await card(page, id).waitFor();
    await importZip(page, await zipped('mine.zip', plugin({ id })));
    await page.locator(`[data-installed="${id}"]`).waitFor();
    await page.getByRole('dialog').getByText(shadowed).first().waitFor();
    expect(kept().map((time) => readFileSync(join(host.ready.stateDir, 'ui_apps/kept', time, 'zz-my-work/mine.txt'), 'utf8'))).toEqual(['first']);
    await page.keyboard.press('Escape');

    writeFolder(shadowed, plugin({ id, files: { 'mine.txt': 'second' } }));
    await page.evaluate((hash) => (location.hash = hash), `#/apps/details/${id}`);
    await page.getByRole('button', { name: 'Uninstall…' }).click();
    await page.getByRole('button', { name: 'Uninstall', exact: true }).click();
    const told = page.locator('[data-kept]');
    await told.waitFor();
    expect(await told.textContent()).toContain(shadowed);
    const [, time] = kept();
    expect(readFileSync(join(host.ready.stateDir, 'ui_apps/kept', time ?? '', 'zz-my-work/mine.txt'), 'utf8')).toBe('second');
    await page.getByRole('button', { name: 'Close' }).last().click();
    await card(page, id).waitFor({ state: 'detached' });
  });

  test('uninstall keeps the data unless told otherwise', async ({ host, open }) => {
    const page = await open({ at: '#/apps' });
    for (const choice of ['keep', 'delete'] as const) {
      const id = `com.sample.remove-${choice}`;
      writeFolder(join(pluginsRoot(host), id), plugin({ id }));
      mkdirSync(join(dataRoot(host), id), { recursive: true });
      writeFileSync(join(dataRoot(host), id, 'kept.txt'), 'data');
      await card(page, id).getByRole('link').first().click();
      await page.getByRole('button', { name: 'Uninstall…' }).click();
      const ask = page.getByRole('dialog').filter({ hasText: 'Its data' });
      expect(await ask.getByRole('radio', { name: 'Keep its data' }).isChecked()).toBe(true);
      if (choice === 'delete') await ask.getByRole('radio', { name: 'Delete its data' }).check();
      await ask.getByRole('button', { name: 'Uninstall', exact: true }).click();
      // It was put there by hand: it is moved aside, and the page says where.
      await page.locator('[data-kept]').waitFor();
      await page.getByRole('button', { name: 'Close' }).last().click();
      await card(page, id).waitFor({ state: 'detached' });
      await expect.poll(() => existsSync(join(pluginsRoot(host), id))).toBe(false);
      await expect.poll(() => existsSync(join(dataRoot(host), id))).toBe(choice === 'keep');
      if (choice === 'keep') expect(readFileSync(join(dataRoot(host), id, 'kept.txt'), 'utf8')).toBe('data');
    }
  });

  test('sheet, drawer and import dialog are accessible in both themes', async ({ host, open }) => {
    const id = 'com.sample.a11y';
    writeFolder(join(pluginsRoot(host), id), plugin({ id }));
    for (const theme of ['light', 'dark'] as const) {
      const page = await open({ at: `#/apps/trust/${id}`, theme, bypassCSP: true, language: theme === 'dark' ? 'zh' : 'en' });
      const found: string[] = [];
      await page.locator('[data-server]').waitFor();
      found.push(...(await violations(page)));
      await page.evaluate((hash) => (location.hash = hash), `#/apps/details/${id}`);
      await page.getByRole('tab').first().waitFor();
      found.push(...(await violations(page)));
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.locator('header').getByRole('button').last().click();
      await page.getByRole('dialog').waitFor();
      found.push(...(await violations(page)));
      expect(found).toEqual([]);
    }
  });
});
