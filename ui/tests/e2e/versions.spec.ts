// What a person does with messages (issue 21, faults 7 and 10): says one differently, has it answered again, goes back,
// forks, attaches files of all kinds, and takes the chat away as a file.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { test } from './fixtures';
import { lastOf, ModelServer } from './model-server';

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

const answers = (page: Page) => page.locator('[data-row="assistant"] .text').allInnerTexts().then((all) => all.map((text) => text.trim()));
const questions = (page: Page) => page.locator('[data-row="user"] .bubble').allInnerTexts();

/** A model that repeats everything it was told by the person. */
async function listening(): Promise<ModelServer> {
  const server = await ModelServer.start('');
  server.decide = (body) => ({ text: (body.messages ?? []).filter(({ role }) => role === 'user').map((message) => lastOf({ messages: [message] }).text).join(' | ') });
  return server;
}

/** What a page that is opened from a file asks the network for. */
async function requestsOf(page: Page, html: string): Promise<string[]> {
  const file = join(mkdtempSync(join(tmpdir(), 'export-')), 'chat.html');
  writeFileSync(file, html);
  const alone = await page.context().newPage();
  const asked: string[] = [];
  alone.on('request', (request) => asked.push(request.url()));
  await alone.goto(pathToFileURL(file).href, { waitUntil: 'networkidle' });
  await alone.getByText('Where does it run?').waitFor();
  await alone.close();
  return asked.filter((url) => !url.startsWith('file:') && !url.startsWith('data:'));
}

describe('versions', () => {
  test('an edit and a new answer stand in the place of the old ones, which are one step away', async ({ ownHost, open, onTestFinished }) => {
    const host = await ownHost();
    const server = await listening();
    onTestFinished(() => server.stop());
    const model = await host.api<{ id: string }>('POST', 'models', { name: 'Listens', provider: 'openai', model: 'tiny', baseUrl: server.baseUrl, apiKeyName: '' });
    const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Versions', modelId: model.id });
    const page = await open({ host, at: `#/chat/${id}` });
    await say(page, 'one');
    await expect.poll(() => answers(page)).toEqual(['one']);
    await say(page, 'two');
    await expect.poll(() => answers(page)).toEqual(['one', 'one | two']);

    const first = page.locator('[data-row="user"]').first();
    await page.getByLabel('Message', { exact: true }).fill('half a thought');
    await first.hover();
    await first.getByRole('button', { name: 'Edit' }).click();
    await page.locator('[data-edit] textarea').fill('uno');
    await page.keyboard.press('Enter');
    await expect.poll(() => answers(page)).toEqual(['uno']);
    expect(await questions(page)).toEqual(['uno']);
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('half a thought');
    await page.getByRole('group', { name: 'Version 2 of 2' }).waitFor();

    await page.getByRole('button', { name: 'Previous version' }).click();
    await expect.poll(() => questions(page)).toEqual(['one', 'two']);
    expect(await answers(page)).toEqual(['one', 'one | two']);
    expect(await page.getByRole('button', { name: 'Previous version' }).isDisabled()).toBe(true);

    // An answer in the middle, again: one question, and what followed it is left with the version.
    await page.getByRole('button', { name: 'Regenerate' }).first().click();
    await page.getByRole('group', { name: 'Version 3 of 3' }).waitFor();
    await expect.poll(() => answers(page)).toEqual(['one']);
    expect(await questions(page)).toEqual(['one']);
    await page.reload();
    await page.getByRole('group', { name: 'Version 3 of 3' }).waitFor();
    await page.getByRole('button', { name: 'Previous version' }).click();
    await expect.poll(() => questions(page)).toEqual(['uno']);

    // Forked: another chat that goes on by itself.
    await page.getByRole('button', { name: 'Fork into a new chat' }).last().click();
    await expect.poll(() => page.url()).not.toContain(id);
    await expect.poll(() => answers(page)).toEqual(['uno']);
    await say(page, 'due');
    await expect.poll(() => answers(page)).toEqual(['uno', 'uno | due']);
    await page.evaluate((chat) => (location.hash = `#/chat/${chat}`), id);
    await expect.poll(() => questions(page)).toEqual(['uno']);
  });
});

describe('files', () => {
  test('texts of any kind go with the message, long pastes too; what cannot be read is refused by name', async ({ ownHost, open, onTestFinished }) => {
    const host = await ownHost();
    const server = await listening();
    onTestFinished(() => server.stop());
    const model = await host.api<{ id: string }>('POST', 'models', { name: 'Listens', provider: 'openai', model: 'tiny', baseUrl: server.baseUrl, apiKeyName: '' });
    const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Files / of: all kinds', modelId: model.id });
    const page = await open({ host, at: `#/chat/${id}` });
    const picker = page.locator('[data-composer] input[type="file"]');
    await picker.setInputFiles([
      { name: 'lib.rs', mimeType: '', buffer: Buffer.from('fn answer() -> u8 { 42 }') },
      { name: 'program.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2]) },
    ]);
    await page.getByText('program.bin: can’t be attached').waitFor();
    await page.getByRole('list', { name: 'Attached files' }).getByText('lib.rs').waitFor();
    await page.getByLabel('Message', { exact: true }).focus();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData('text/plain', `${'long '.repeat(2_000)}end of it`);
      document.querySelector('[data-composer] textarea')?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.getByRole('list', { name: 'Attached files' }).getByText('Pasted text.txt').waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('');
    await say(page, 'What is in them?');
    await page.locator('[data-row="user"]').getByRole('link', { name: 'lib.rs' }).waitFor();
    await expect.poll(() => server.requests.some(({ body }) => /fn answer\(\)[^]*end of it/u.test(JSON.stringify(body.messages)))).toBe(true);
    await expect.poll(async () => (await answers(page)).length).toBe(1);

    // The chat as a file, in each form.
    for (const [format, ending] of [['Markdown', 'md'], ['HTML', 'html'], ['JSON', 'json']] as const) {
      await page.getByRole('button', { name: /^Actions for/ }).last().click();
      await page.getByRole('menuitem', { name: 'Export…' }).click();
      await page.getByRole('radio', { name: new RegExp(`^${format}`) }).check();
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export', exact: true }).click()]);
      expect(download.suggestedFilename()).toBe(`Files of all kinds.${ending}`);
      expect(readFileSync(await download.path(), 'utf8')).toContain('What is in them?');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  test('no file of a chat holds what a tool read that looks like a secret', async ({ ownHost, open, onTestFinished }) => {
    const host = await ownHost();
    const secret = `ghp_${'a1B2c3D4'.repeat(4)}e5F6`;
    writeFileSync(join(host.home, 'deploy.env'), `REGION=north\nGITHUB_TOKEN=${secret}\n`);
    const server = await ModelServer.start('');
    onTestFinished(() => server.stop());
    server.decide = (body) => (lastOf(body).role === 'tool' ? { text: `It is in the north, and the token is ${secret}. ![map](http://127.0.0.1:9/map.png) <img src="http://127.0.0.1:9/pixel.png"> [more](http://127.0.0.1:9/more)` } : { call: { tool: 'read_file', args: { path: 'deploy.env' } } });
    const model = await host.api<{ id: string }>('POST', 'models', { name: 'Reads', provider: 'openai', model: 'tiny', baseUrl: server.baseUrl, apiKeyName: '', supportsVision: true });
    const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Deploy', modelId: model.id, workspaceRoot: host.home });
    const page = await open({ host, at: `#/chat/${id}` });
    const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    await page.locator('[data-composer] input[type="file"]').setInputFiles([{ name: 'map.png', mimeType: 'image/png', buffer: picture }]);
    await page.locator('[data-composer] img').waitFor();
    await say(page, 'Where does it run?');
    await page.locator('[data-row="assistant"]').getByText('It is in the north').waitFor();
    for (const format of ['Markdown', 'HTML', 'JSON']) {
      await page.getByRole('button', { name: /^Actions for/ }).last().click();
      await page.getByRole('menuitem', { name: 'Export…' }).click();
      await page.getByRole('radio', { name: new RegExp(`^${format}`) }).check();
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export', exact: true }).click()]);
      const text = readFileSync(await download.path(), 'utf8');
      expect(text).toContain('REGION=north');
      expect(text).toContain('It is in the north');
      expect(text, format).not.toContain(secret);
      if (format === 'HTML') {
        expect(text).toContain('<img src="data:image/png;base64,');
        expect(await requestsOf(page, text)).toEqual([]);
      }
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });
});
