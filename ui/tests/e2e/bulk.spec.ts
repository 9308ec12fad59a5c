// One decision about what is not simply two hundred files: calls of a tool, questions that are asked together, and a list
// that is longer than the sheet (inbox §3.1, §3.3, §3.4).

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { change } from './cards';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';
import { parrot, say } from './parrot';
import { keep } from './pictures';
import { answerOf, append, lookUp, request } from './questions';

const sheetOf = (page: Page) => page.getByRole('dialog', { name: 'Answer several questions' });
const waiting = async (host: Host) => (await host.api<{ counts: { needsYou: number } }>('GET', 'prompts?view=needs_you&limit=1')).counts.needsYou;

test('calls of a tool are approved together, with all it would be called with; not together with something else', async ({ ownHost, open }) => {
  const host = await ownHost();
  const chat = await parrot(host);
  const texts = ['tell Ann', 'tell Bob', 'tell Eve that <b>it</b> is late\nand why'];
  const chats: string[] = [];
  for (const [index, text] of texts.entries()) {
    const id = await chat(`folder-${index}`);
    chats.push(id);
    await say(host, id, text);
    await expect.poll(() => waiting(host), { timeout: 20_000 }).toBe(index + 1);
  }
  await change(host, 'beside.txt', 'created', 'beside');
  const page = await open({ host, at: '#/queue' });
  await page.getByRole('button', { name: 'Inbox: 4 things need you' }).waitFor();
  await page.locator('[data-list]').focus();
  await page.keyboard.press('*');
  await page.keyboard.press('a');
  const sheet = sheetOf(page);
  // A change of a file is another kind: neither of them is approved with the other.
  await sheet.getByText('Only questions of one kind can be approved together.').waitFor();
  expect(await sheet.getByRole('button', { name: 'Approve 4' }).isDisabled()).toBe(true);
  await sheet.getByRole('checkbox', { name: 'Create beside.txt?' }).uncheck();
  const calls = sheet.locator('[data-bulk] li').filter({ hasText: 'Let Helper use echo of parrot?' });
  expect(await calls.locator('dd').allInnerTexts()).toEqual(texts);
  expect(await calls.locator('.where').allInnerTexts()).toEqual(texts.map((_, index) => `Helper ▸ echo · folder-${index} · folder-${index}`));
  expect(await violations(page)).toEqual([]);
  await keep(page, 'bulk-tools');
  const approve = sheet.getByRole('button', { name: 'Approve 3' });
  await expect.poll(() => approve.isDisabled()).toBe(false);
  await approve.click();
  await sheet.waitFor({ state: 'detached' });
  for (const [index, id] of chats.entries()) {
    await expect
      .poll(async () => (await host.api<{ messages: { content: string }[] }>('GET', `sessions/${id}/messages`)).messages.map(({ content }) => content).join('\n'))
      .toContain(`got ${texts[index] ?? ''}`);
  }
  expect((await lookUp(host, 'beside')).state).toBe('pending');
});

test('a row that stands for several files of one answer has all of them on the sheet', async ({ ownHost, open }) => {
  const host = await ownHost({ env: { CHATOS_SET_CONFIRM_FILE_CHANGES: 'true' } });
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  const names = ['one.txt', 'two.txt', 'three.txt'];
  models.decide = (body) =>
    lastOf(body).role === 'tool' ? { text: 'Done.' } : { calls: names.map((path) => ({ tool: 'write_file', args: { path, contents: `what is in ${path}\n` } })) };
  const model = await host.api<{ id: string }>('POST', 'models', { name: 'Writes', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Writer', mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
  const projects = ['left', 'right'].map((name) => join(host.home, name));
  for (const workspaceRoot of projects) {
    mkdirSync(workspaceRoot);
    const chat = await host.api<{ id: string }>('POST', 'sessions', { title: 'Writes', agentId: agent.id, workspaceRoot });
    await host.api('POST', `sessions/${chat.id}/send`, { text: 'write' });
  }
  const page = await open({ host, at: '#/queue' });
  const rows = page.locator('[role="option"]', { hasText: 'Change 3 files?' });
  await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(2);
  await page.getByRole('button', { name: 'Inbox: 2 things need you' }).waitFor();
  await page.locator('[data-list]').focus();
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('a');
  const sheet = sheetOf(page);
  const approve = sheet.getByRole('button', { name: 'Approve 6' });
  await approve.waitFor();
  for (const name of names) await expect.poll(() => sheet.getByText(`+what is in ${name}`).count()).toBe(2);
  await keep(page, 'bulk-together');
  // Without the mouse: to the end of the sheet, and what is there is approved.
  await page.keyboard.press('End');
  await expect.poll(() => approve.isDisabled()).toBe(false);
  await page.keyboard.press('Control+Enter');
  await sheet.waitFor({ state: 'detached' });
  await expect.poll(() => projects.every((folder) => names.every((name) => existsSync(join(folder, name))))).toBe(true);
});

const COUNT = 3_000;

/** A form in ten cannot be refused; every third question is of another program. */
function fill(host: Host): void {
  const start = Date.now() - COUNT * 1_000;
  const prompts = Array.from({ length: COUNT }, (_, index) => {
    const prompt = { kind: 'choice', title: `Question ${index}`, source: ['builder', 'mailer', 'planner'][index % 3], options: [{ value: 'y', label: 'Yes' }], ...(index % 30 === 1 ? { allowCancel: false } : {}) };
    return request(`q-${index}`, prompt, new Date(start + index * 1_000).toISOString());
  });
  append(host, ...prompts);
}

test('everything in a list of 3,000 is snoozed, brought back and rejected, by the host’s count; nothing of it is approved', async ({ ownHost, open }) => {
  const host = await ownHost();
  const page = await open({ host, at: '#/queue', expectConsole: /status of 409/ });
  fill(host);
  await page.getByRole('button', { name: `Inbox: ${COUNT} things need you` }).waitFor({ timeout: 20_000 });
  await page.locator('[data-list]').focus();
  await page.keyboard.press('*');
  await page.keyboard.press('s');
  const sheet = sheetOf(page);
  await sheet.getByRole('button', { name: /^Snooze 1\d\d…$/ }).waitFor();
  await sheet.getByRole('checkbox', { name: 'Everything in the list' }).check();
  const every = sheet.getByRole('button', { name: `Snooze ${COUNT}…` });
  await every.waitFor({ timeout: 20_000 });
  await sheet.getByText(`${COUNT} questions. You can reject or snooze them all at once; to approve, you need to see each of them. 100 of them can’t be rejected and stay open.`).waitFor();
  expect(await sheet.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
  await sheet.getByRole('button', { name: `Reject ${COUNT - 100}` }).waitFor();
  // Badges say 99+ where their name says the number.
  expect((await violations(page)).filter((text) => !text.startsWith('label-content-name-mismatch'))).toEqual([]);
  await keep(page, 'bulk-everything');
  await every.click();
  await page.getByRole('menuitem', { name: '1 hour' }).click();
  await sheet.waitFor({ state: 'detached', timeout: 120_000 });
  await expect.poll(() => waiting(host)).toBe(0);
  await page.getByRole('button', { name: `${COUNT} snoozed` }).click();
  const snoozed = page.getByRole('dialog', { name: 'Snoozed questions' });
  await snoozed.getByText(`And ${COUNT - 200} more`).waitFor();
  await keep(page, 'snoozed-many');
  await snoozed.getByRole('button', { name: 'Bring all back' }).click();
  await snoozed.waitFor({ state: 'detached', timeout: 120_000 });
  await page.getByRole('button', { name: `Inbox: ${COUNT} things need you` }).waitFor({ timeout: 20_000 });

  // What the page has sifted: one program's, and one of them is answered while the sheet is open.
  await page.evaluate(() => (location.hash = '#/queue?from=program%3Amailer'));
  await page.getByText(`1000 of ${COUNT}`).waitFor({ timeout: 20_000 });
  await page.getByRole('button', { name: 'Answer several…' }).click();
  await sheet.getByRole('checkbox', { name: 'Everything in the list' }).check();
  const reject = (n: number) => sheet.getByRole('button', { name: `Reject ${n}` });
  await reject(900).waitFor({ timeout: 20_000 });
  await host.api('POST', 'prompts/q-4/response', { response: { status: 'canceled' } });
  await sheet.getByLabel('Note', { exact: false }).first().fill('not today');
  await reject(900).click();
  await sheet.getByText('Some of these questions have changed.').waitFor();
  expect((await lookUp(host, 'q-7')).state).toBe('pending');
  await reject(899).click();
  await sheet.waitFor({ state: 'detached', timeout: 120_000 });
  expect((await answerOf(host, 'q-7')).response).toMatchObject({ status: 'canceled', remark: 'not today' });
  expect(await waiting(host)).toBe(COUNT - 900);
  expect((await lookUp(host, 'q-1')).state).toBe('pending');

  // All that is left, whoever asks.
  await page.evaluate(() => (location.hash = '#/queue'));
  await page.getByRole('button', { name: `Inbox: ${COUNT - 900} things need you` }).waitFor();
  await page.getByRole('button', { name: 'Answer several…' }).click();
  await sheet.getByRole('checkbox', { name: 'Everything in the list' }).check();
  await reject(2_000).click({ timeout: 20_000 });
  await sheet.waitFor({ state: 'detached', timeout: 120_000 });
  await expect.poll(() => waiting(host)).toBe(100);
}, 400_000);
