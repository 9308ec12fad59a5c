// The Changes page against the real host: what real tools changed in real files, seen, undone and redone.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';
import { chatosBinary } from './programs';

interface Called {
  structuredContent: { status: string };
}

/** Runs a tool that changes files and needs nobody's yes. */
async function change(host: Host, tool: string, args: object): Promise<void> {
  await host.api('PUT', 'settings/confirmFileChanges', { value: false });
  const { structuredContent } = await host.api<Called>('POST', `tools/code_maintainer/${tool}/call`, { arguments: args });
  expect(structuredContent.status).toBe('ok');
}

const row = (page: Page, path: string, kind: string) => page.locator(`li[data-kind="${kind}"]`).filter({ hasText: path });
const view = (page: Page) => page.locator('[data-change-view]');
const read = (host: Host, path: string) => readFileSync(join(host.home, path), 'utf8');
const toast = (page: Page) => page.getByRole('region', { name: 'Notifications', exact: true });

/** One tool call of a server in a process of its own, as any MCP client makes it. */
async function callOverStdio(host: Host, root: string, tool: string, args: object): Promise<void> {
  const child = spawn(chatosBinary(), ['mcp', 'code_writer', '--root', root, '--write', '--confirm-file-changes=false', '--state-dir', join(host.home, 'state')], {
    cwd: host.home,
    env: { PATH: process.env['PATH'] ?? '', HOME: host.home },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const waiting = new Map<number, (message: { result?: Called }) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as { id?: number; result?: Called };
    if (message.id !== undefined) waiting.get(message.id)?.(message);
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (id: number, method: string, params: object) =>
    new Promise<{ result?: Called }>((resolve) => {
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
  send({ method: 'notifications/initialized' });
  const { result } = await ask(2, 'tools/call', { name: tool, arguments: args });
  expect(result?.structuredContent.status).toBe('ok');
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end();
  await gone;
}

describe('changes', () => {
  test('of tools appear by themselves, are looked at, undone and redone', async ({ host, open }) => {
    const page = await open({ at: '#/changes' });
    await page.getByText('No changes yet').waitFor();
    mkdirSync(join(host.home, 'src'), { recursive: true });
    writeFileSync(join(host.home, 'src/poem.txt'), 'roses are red\nviolets are blue\n');
    await change(host, 'edit_file', { path: 'src/poem.txt', old_string: 'blue', new_string: 'violet' });
    const edited = row(page, 'poem.txt', 'modified');
    await edited.getByText('code_maintainer · edit_file').waitFor();
    expect(await edited.locator('.counts').textContent()).toBe('+1 −1');
    expect(await page.getByRole('heading', { level: 3, name: host.home }).count()).toBe(1);

    await edited.getByRole('link').click();
    await view(page).getByRole('heading', { level: 2, name: 'src/poem.txt' }).waitFor();
    await view(page).locator('.removed', { hasText: 'violets are blue' }).first().waitFor();
    await view(page).locator('.added', { hasText: 'violets are violet' }).first().waitFor();
    const download = page.waitForEvent('download');
    await view(page).getByRole('button', { name: 'Download: Before' }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toBe('roses are red\nviolets are blue\n');
    expect((await download).suggestedFilename()).toBe('poem.txt');

    await view(page).getByRole('button', { name: 'Undo…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('[data-action="restored"]').getByText('src/poem.txt').waitFor();
    expect(read(host, 'src/poem.txt')).toContain('violets are violet');
    await dialog.getByRole('button', { name: 'Undo 1 file' }).click();
    await toast(page).getByText('Undone: poem.txt restored').waitFor();
    expect(read(host, 'src/poem.txt')).toBe('roses are red\nviolets are blue\n');
    await page.locator('li[data-undone]').filter({ hasText: 'edit_file' }).waitFor();
    await row(page, 'poem.txt', 'modified').getByText('You (undo)').waitFor();
    await view(page).getByText('undone', { exact: true }).waitFor();

    await toast(page).getByRole('button', { name: 'Redo' }).click();
    await toast(page).getByText('1 file changed again').waitFor();
    expect(read(host, 'src/poem.txt')).toContain('violets are violet');
    await expect.poll(() => page.locator('li[data-undone]').filter({ hasText: 'edit_file' }).count()).toBe(0);
    await toast(page).getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => read(host, 'src/poem.txt')).toBe('roses are red\nviolets are blue\n');

    // The way back of an undone change is also on the change itself.
    await view(page).getByRole('button', { name: 'Redo…' }).click();
    await dialog.getByRole('button', { name: 'Redo 1 file' }).click();
    await expect.poll(() => read(host, 'src/poem.txt')).toContain('violets are violet');
  });

  test('that cannot be undone say why, and what would help', async ({ host, open }) => {
    await change(host, 'write_file', { path: 'notes.txt', contents: 'first\n' });
    await change(host, 'write_file', { path: 'notes.txt', contents: 'second\n' });
    const page = await open({ at: '#/changes', expectConsole: /409/ });
    await row(page, 'notes.txt', 'created').getByRole('link').click();
    const dialog = page.getByRole('dialog');
    await view(page).locator('[data-not-possible="changed_on_disk"]').getByText('undo the later changes too').waitFor();
    await view(page).getByRole('button', { name: 'Undo…' }).click();
    await dialog.locator('[data-refused="changed_on_disk"]').getByText('is not as this change left it').waitFor();
    await dialog.getByRole('button', { name: 'Undo the later change too' }).click();
    await dialog.locator('[data-action="removed"]').getByText('notes.txt').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(read(host, 'notes.txt')).toBe('second\n');

    // Somebody else's edit is nobody's to take away.
    writeFileSync(join(host.home, 'notes.txt'), 'by hand\n');
    await row(page, 'notes.txt', 'modified').getByRole('link').click();
    await view(page).locator('[data-not-possible="changed_on_disk"]').getByText('somebody else changed it').waitFor();
    await view(page).getByRole('button', { name: 'Undo…' }).click();
    await dialog.locator('[data-refused="changed_on_disk"]').getByText('somebody else changed it').waitFor();
    expect(await dialog.getByRole('button', { name: /^Undo/ }).count()).toBe(0);
    writeFileSync(join(host.home, 'notes.txt'), 'second\n');
    await dialog.getByRole('button', { name: 'Check again' }).click();
    await dialog.getByRole('button', { name: 'Undo 1 file' }).click();
    await expect.poll(() => read(host, 'notes.txt')).toBe('first\n');
  });

  test('are filtered, chosen and undone together; older ones are a press away', async ({ ownHost, open }) => {
    const host = await ownHost();
    for (let number = 1; number <= 52; number += 1) await change(host, 'write_file', { path: `many/file-${String(number).padStart(2, '0')}.txt`, contents: `${number}\n` });
    await change(host, 'move_path', { from: 'many/file-52.txt', to: 'many/moved.txt' });
    await change(host, 'delete_path', { path: 'many/file-51.txt' });
    const page = await open({ host, at: '#/changes', expectConsole: /409/ });
    const links = page.locator('a[data-change]');
    await expect.poll(() => links.count()).toBe(50);
    await page.getByRole('button', { name: 'Show older changes' }).click();
    await expect.poll(() => links.count()).toBe(54);
    await row(page, 'many/file-52.txt → many/moved.txt', 'moved').waitFor();

    await page.getByLabel('Search paths').fill('file-51');
    await expect.poll(() => links.count()).toBe(2);
    await page.getByLabel('Kind').selectOption('deleted');
    await expect.poll(() => links.count()).toBe(1);
    expect(page.url()).toContain('path=file-51');
    await page.reload();
    await expect.poll(() => links.count()).toBe(1);
    await page.getByLabel('Kind').selectOption('moved');
    await page.getByText('No matching changes').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => links.count()).toBe(50);

    // Keys: down and up go through the rows, the space bar chooses.
    await links.first().focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.getByText('2 selected').waitFor();
    await page.getByLabel('Select many/file-50.txt').check();
    await page.getByRole('button', { name: 'Undo selected…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('[data-action="recreated"]').getByText('many/file-51.txt').waitFor();
    await dialog.locator('[data-action="moved_back"]').getByText('many/file-52.txt').waitFor();
    await dialog.locator('[data-action="removed"]').getByText('many/file-50.txt').waitFor();
    await dialog.getByRole('button', { name: 'Undo 3 files' }).click();
    await toast(page).getByText('Undone: 1 file recreated · 1 file removed · 1 file moved back').waitFor();
    expect([51, 52, 50].map((number) => existsSync(join(host.home, `many/file-${number}.txt`)))).toEqual([true, true, false]);
    expect(existsSync(join(host.home, 'many/moved.txt'))).toBe(false);
    expect(await page.getByText('2 selected').count()).toBe(0);
  });

  test('of another process are there too; two directories are undone one by one', async ({ host, open }) => {
    const other = join(host.home, 'elsewhere');
    mkdirSync(other);
    await change(host, 'write_file', { path: 'near.txt', contents: 'near\n' });
    const page = await open({ at: '#/changes', expectConsole: /4\d\d/ });
    await row(page, 'near.txt', 'created').waitFor();
    await callOverStdio(host, other, 'write_file', { path: 'far.txt', contents: 'far\n' });
    await row(page, 'far.txt', 'created').getByText('code_writer · write_file').waitFor();
    await page.getByRole('heading', { level: 3, name: other }).waitFor();

    await page.getByLabel('Select far.txt').check();
    await page.getByLabel('Select near.txt').check();
    await page.getByRole('button', { name: 'Undo selected…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('[data-refused="several_roots"]').waitFor();
    await dialog.getByRole('button', { name: `Only in ${other}` }).click();
    await dialog.getByRole('button', { name: 'Undo 1 file' }).click();
    await expect.poll(() => existsSync(join(other, 'far.txt'))).toBe(false);
    expect(read(host, 'near.txt')).toBe('near\n');
  });

  test('of a run are reached from its chat and undone as one', async ({ host, open }) => {
    await host.api('PUT', 'settings/confirmFileChanges', { value: false });
    const models = await ModelServer.start('');
    onTestFinished(() => models.stop());
    const parts = ['one', 'two'];
    models.decide = (body) => {
      const done = body.messages?.filter(({ role }) => role === 'tool').length ?? 0;
      const part = parts[done];
      return part === undefined || lastOf(body).role === 'assistant' ? { text: 'Both are written.' } : { call: { tool: 'write_file', args: { path: `run/${part}.txt`, contents: `${part}\n` } } };
    };
    const model = await host.api<{ id: string }>('POST', 'models', { name: 'Writer', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
    const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Writer', mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
    const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Writing', modelId: model.id, agentId: agent.id });
    const page = await open({ at: `#/chat/${id}`, expectConsole: /409/ });
    await page.getByLabel('Message', { exact: true }).fill('Write two files');
    await page.keyboard.press('Enter');
    await page.getByText('Both are written.', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Changed files' }).click();
    await page.locator('[data-filter="runId"]').waitFor();
    await expect.poll(() => page.locator('a[data-change]').count()).toBe(2);
    await row(page, 'one.txt', 'created').getByRole('link').click();
    await view(page).getByRole('link', { name: 'View steps' }).click();
    await page.getByRole('link', { name: 'Changed files' }).click();

    await page.getByRole('button', { name: 'Undo this run…' }).click();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.locator('[data-action="removed"]').count()).toBe(2);
    await dialog.getByRole('button', { name: 'Undo 2 files' }).click();
    await expect.poll(() => parts.map((part) => existsSync(join(host.home, `run/${part}.txt`)))).toEqual([false, false]);
    await expect.poll(() => page.locator('li[data-undone]').count()).toBe(2);
    expect(await page.getByRole('button', { name: 'Undo this run…' }).count()).toBe(0);
    await page.locator('[data-filter="runId"]').getByRole('button').click();
    await row(page, 'one.txt', 'deleted').getByText('You (undo)').waitFor();
  });

  test('that are not there are said to be missing', async ({ open }) => {
    const page = await open({ at: '#/changes/no-such-change', expectConsole: /404/ });
    await page.getByRole('alert').getByText('no-such-change').waitFor();
    await page.evaluate(() => (location.hash = '#/changes?runId=no-such-run'));
    await page.getByText('This run changed no files').waitFor();
  });
});

test.for([
  ['en', 'light', 1440],
  ['zh', 'dark', 1440],
  ['zh', 'light', 400],
  ['en', 'dark', 400],
] as const)('%s, %s, %i px: list, change and dialog are accessible and have room', async ([language, theme, width], { host, open }) => {
  await change(host, 'write_file', { path: `a/very/long/way/down/to/a/file/with-a-name-that-is-long-as-well-${language}-${theme}.ts`, contents: 'export const hostile = "\u202e<img src=x onerror=alert(1)>";\n'.repeat(3) });
  const page = await open({ language, theme, bypassCSP: true, viewport: { width, height: 900 }, at: '#/changes' });
  const title = language === 'zh' ? '更改' : 'Changes';
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  const first = page.locator('a[data-change]').first();
  await first.waitFor();
  const found = await violations(page);
  const room = () => page.evaluate(() => [document.documentElement.scrollWidth <= innerWidth, ...[...document.querySelectorAll('.list, .detail')].map((pane) => pane.scrollWidth <= pane.clientWidth)]);
  expect(await room()).not.toContain(false);
  await first.click();
  await view(page).waitFor();
  found.push(...(await violations(page)));
  expect(await room()).not.toContain(false);
  expect(await page.locator('main img').count()).toBe(0);
  await view(page).getByRole('button', { name: language === 'zh' ? '撤销…' : 'Undo…' }).click();
  await page.getByRole('dialog').locator('[data-action="removed"]').waitFor();
  found.push(...(await violations(page)));
  expect(found).toEqual([]);
});
