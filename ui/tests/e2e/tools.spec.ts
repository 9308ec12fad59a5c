// Tools by hand and their log, against the real host and the real built-in servers (issue 5).

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';

interface Called {
  callId: string;
  isError: boolean;
  structuredContent: { status: string; code: string };
}

const call = (host: Host, server: string, tool: string, args: object) => host.api<Called>('POST', `tools/${server}/${tool}/call`, { arguments: args });
const outcome = (page: Page, status: string) => page.locator(`section[data-status="${status}"]`);

describe('a tool', () => {
  test('is found, filled in and run; its text, its data and its place in the log are shown', async ({ host, open }) => {
    writeFileSync(join(host.home, 'hello.txt'), 'first line\nsecond <b>line</b>\n');
    const page = await open({ at: '#/settings/tools' });
    await page.getByLabel('Search tools').fill('read_file');
    await page.locator('[data-tool="project_files/read_file"]').click();
    const form = page.locator('article[data-tool-open="project_files/read_file"] form');
    await form.waitFor();
    await page.getByText('Read-only', { exact: true }).waitFor();

    await form.getByRole('button', { name: 'Run' }).click();
    await form.getByText('Required', { exact: true }).waitFor();
    await expect.poll(() => form.getByLabel('path').evaluate((element) => element === document.activeElement)).toBe(true);

    await form.getByLabel('path').fill('hello.txt');
    await form.getByLabel('start_line').fill('zero');
    await form.getByLabel('path').press('Control+Enter');
    await form.getByText('Enter a whole number.').waitFor();
    await form.getByLabel('start_line').fill('2');
    await form.getByLabel('path').press('Control+Enter');
    await outcome(page, 'ok').getByText('second <b>line</b>').first().waitFor();
    expect(await page.locator('article b').count()).toBe(0);
    await outcome(page, 'ok').getByText('"start_line": 2').waitFor();
    await page.getByText('The same from a terminal').click();
    await page.getByText(`chatos tools call project_files read_file --args '{"path":"hello.txt","start_line":2}'`).waitFor();

    await outcome(page, 'ok').getByRole('link', { name: 'Tool log' }).click();
    const entry = page.locator('[data-call][data-outcome="ok"]').filter({ hasText: 'read_file' });
    await entry.waitFor();
    await expect.poll(() => page.locator('[data-call]').count()).toBe(1);
  });

  test('says what is wrong with an argument at its field, and what cannot be', async ({ host, open }) => {
    const page = await open({ at: '#/settings/tools/project_files/read_file' });
    const path = page.locator('form').getByLabel('path');
    await path.fill('../outside');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('section[data-status]').waitFor();
    expect(await page.locator('section[data-status]').getAttribute('data-status')).not.toBe('ok');
    await path.fill('not-there.txt');
    await page.getByRole('button', { name: 'Run again' }).click();
    await outcome(page, 'not_found').getByRole('alert').waitFor();

    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const json = page.getByLabel('Arguments as a JSON object');
    expect(JSON.parse(await json.inputValue())).toEqual({ path: 'not-there.txt' });
    await json.fill('{"path": ');
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByText('Not a JSON object.').waitFor();
    await json.fill('{"path": "hello.txt", "strat_line": 1}');
    await page.getByRole('button', { name: 'Run again' }).click();
    await outcome(page, 'invalid').waitFor();
    await page.getByText('strat_line').first().waitFor();
    await page.getByRole('button', { name: 'Form', exact: true }).click();
    await page.getByText('These arguments don’t fit the form').waitFor();
    await json.fill('{"path": "hello.txt"}');
    await page.getByRole('button', { name: 'Form', exact: true }).click();
    await expect.poll(() => path.inputValue()).toBe('hello.txt');
    expect(host.log).not.toContain('panicked');
  });

  test('a cut result says so, and the rest is one button away', async ({ host, open }) => {
    writeFileSync(join(host.home, 'long.txt'), Array.from({ length: 30 }, (_, index) => `row number ${index + 1}`).join('\n'));
    const page = await open({ at: '#/settings/tools/project_files/read_file' });
    await page.locator('form').getByLabel('path').fill('long.txt');
    await page.locator('form').getByLabel('max_lines').fill('10');
    await page.getByRole('button', { name: 'Run' }).click();
    await outcome(page, 'ok').getByText('row number 10').first().waitFor();
    await page.getByRole('button', { name: 'Load the rest' }).click();
    await outcome(page, 'ok').getByText('row number 11').first().waitFor();
    await expect.poll(() => page.locator('form').getByLabel('start_line').inputValue()).toBe('11');
  });

  test('that asks first waits for the answer, and can be canceled', async ({ host, open }) => {
    const page = await open({ at: '#/settings/tools/code_writer/write_file' });
    const form = page.locator('form');
    await form.getByLabel('path').fill('made.txt');
    await form.getByLabel('contents', { exact: true }).fill('by hand\n');
    await form.getByRole('button', { name: 'Run' }).click();
    await page.getByText('waiting for your answer in the inbox').waitFor();
    expect(existsSync(join(host.home, 'made.txt'))).toBe(false);
    await form.getByRole('button', { name: 'Cancel call' }).click();
    await outcome(page, 'canceled').waitFor();
    expect(existsSync(join(host.home, 'made.txt'))).toBe(false);

    await form.getByRole('button', { name: 'Run again' }).click();
    await page.getByRole('link', { name: 'View question' }).click();
    await page.locator('article').getByText('made.txt').first().waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await expect.poll(() => existsSync(join(host.home, 'made.txt'))).toBe(true);
    await page.evaluate(() => (location.hash = '#/settings/tools/code_writer/write_file'));
    await outcome(page, 'ok').waitFor();
    expect(readFileSync(join(host.home, 'made.txt'), 'utf8')).toBe('by hand\n');
  });

  test('is unknown, or its server is: that is said', async ({ open }) => {
    const page = await open({ at: '#/settings/tools/project_files/no_such_tool', expectConsole: /404/ });
    await page.getByText('no_such_tool').first().waitFor();
    await page.evaluate(() => (location.hash = '#/settings/tools/nobody/read_file'));
    await page.getByRole('alert').filter({ hasText: 'nobody' }).waitFor();
  });
});

describe('the tool log', () => {
  test('grows while it is looked at, is filtered, stops when told to, and opens a call again', async ({ host, open }) => {
    mkdirSync(join(host.home, 'folder'), { recursive: true });
    const page = await open({ at: '#/settings/tool-log' });
    await page.getByLabel('Follow').waitFor();
    const ok = await call(host, 'project_files', 'list_directory', { path: 'folder' });
    expect(ok.structuredContent.status).toBe('ok');
    const row = page.locator(`[data-call="${ok.callId}"][data-outcome="ok"]`);
    await row.waitFor();
    await row.getByRole('button').first().click();
    await row.getByText('"path": "folder"').first().waitFor();

    const bad = await call(host, 'project_files', 'read_file', { path: 'not-there.txt' });
    expect(bad.structuredContent.status).toBe('not_found');
    await page.locator(`[data-call="${bad.callId}"][data-outcome="not_found"]`).waitFor();
    await page.getByLabel('Outcome').selectOption('not_found');
    await row.waitFor({ state: 'detached' });
    const one = page.locator(`[data-call="${bad.callId}"]`);
    await one.getByRole('button').first().click();
    // The filter hides the line with the arguments; the opened call has it all the same.
    await one.getByText('"path": "not-there.txt"').first().waitFor();
    await one.getByRole('button', { name: 'Open this tool with these arguments' }).click();
    await expect.poll(() => page.locator('form').getByLabel('path').inputValue()).toBe('not-there.txt');

    await page.getByRole('tab', { name: 'Tool log' }).click();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await row.waitFor();
    await page.getByLabel('Follow').uncheck();
    const quiet = await call(host, 'project_files', 'list_directory', { path: '.' });
    await page.getByRole('button', { name: /new$/ }).waitFor();
    expect(await page.locator(`[data-call="${quiet.callId}"]`).count()).toBe(0);
    await page.getByRole('button', { name: /new$/ }).click();
    await page.locator(`[data-call="${quiet.callId}"]`).waitFor();
    await page.getByLabel('Search log').fill(quiet.callId);
    await expect.poll(() => page.locator('[data-call]').count()).toBe(1);
  });
});

test.for(['light', 'dark'] as const)('%s: tools and their log are accessible', async (theme, { host, open }) => {
  await call(host, 'project_files', 'list_directory', { path: '.' });
  const page = await open({ theme, language: theme === 'dark' ? 'zh' : 'en', bypassCSP: true, at: '#/settings/tools/project_files/read_file' });
  await page.locator('article form').waitFor();
  const found = await violations(page);
  await page.evaluate(() => (location.hash = '#/settings/tool-log'));
  await page.locator('[data-call]').first().getByRole('button').click();
  found.push(...(await violations(page)));
  expect(found).toEqual([]);
});
