// Snooze in the Inbox, and Settings › Notifications against the real host and a receiver on loopback.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import { keep } from './pictures';
import { ask, lookUp } from './questions';

const colour = (title: string) => ({ kind: 'choice', source: 'test', title, options: [{ value: 'red' }, { value: 'blue' }] });

/** Takes what is posted. */
async function receiver(): Promise<{ url: string; got: { text: string; count: number }[]; status: (code: number) => void }> {
  const got: { text: string; count: number }[] = [];
  let code = 200;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      got.push(JSON.parse(body) as { text: string; count: number });
      response.writeHead(code).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got, status: (next) => (code = next) };
}

test('a question is put off by the clock or a key, counted apart, and brought back', async ({ ownHost, open }) => {
  const host = await ownHost();
  const first = await ask(host, colour('First colour?'));
  const second = await ask(host, colour('Second colour?'));
  const page = await open({ host, at: '#/queue', bypassCSP: true });
  await page.locator(`article[data-open="${first}"][data-ready="true"]`).waitFor();
  await page.getByRole('button', { name: 'Snooze' }).click();
  await page.getByRole('menuitem', { name: '1 hour' }).waitFor();
  await keep(page, 'snooze-menu');
  await page.getByRole('menuitem', { name: '1 hour' }).click();
  // The next one opens; the first waits elsewhere, still unanswered.
  await page.locator(`article[data-open="${second}"][data-ready="true"]`).waitFor();
  await page.getByRole('button', { name: '1 snoozed' }).waitFor();
  expect(await lookUp(host, first)).toMatchObject({ state: 'pending' });
  await expect.poll(async () => (await host.api<{ counts: object }>('GET', 'status')).counts).toMatchObject({ needsYou: 1, snoozed: 1 });

  await page.locator(`#${await page.locator('article h2').getAttribute('id')}`).focus();
  await page.keyboard.press('s');
  await page.getByRole('menuitem', { name: 'Other time…' }).click();
  await page.getByLabel('Until').waitFor();
  await keep(page, 'snooze-own');
  await page.getByRole('dialog').getByRole('button', { name: 'Snooze' }).click();
  await page.getByRole('button', { name: '2 snoozed' }).waitFor();
  expect(await violations(page)).toEqual([]);

  await page.getByRole('button', { name: '2 snoozed' }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText('First colour?').waitFor();
  await keep(page, 'snoozed');
  await sheet.getByRole('button', { name: 'Bring back' }).first().click();
  await expect.poll(() => sheet.getByRole('button', { name: 'Bring back' }).count()).toBe(1);
  await page.keyboard.press('Escape');
  await page.getByRole('option', { name: /First colour/ }).waitFor();
  await page.getByRole('button', { name: '1 snoozed' }).waitFor();
});

test('what returns is on every page again by itself', async ({ ownHost, open }) => {
  const host = await ownHost();
  const id = await ask(host, colour('Back soon?'));
  const page = await open({ host, at: '#/queue' });
  await page.locator(`article[data-open="${id}"]`).waitFor();
  await host.api('POST', `prompts/${id}/snooze`, { until: new Date(Date.now() + 3_000).toISOString() });
  await page.getByRole('option', { name: /Back soon/ }).waitFor({ state: 'detached' });
  await page.getByRole('option', { name: /Back soon/ }).waitFor();
});

test('a channel is added, tested, told, paused and removed', async ({ ownHost, open }) => {
  const host = await ownHost();
  const { url, got, status } = await receiver();
  const page = await open({ host, at: '#/settings/notifications', bypassCSP: true, expectConsole: /422|503/ });
  await page.locator('[data-channel="desktop"]').waitFor();
  await page.getByRole('button', { name: 'Add channel' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Kind').selectOption('webhook');
  await dialog.getByLabel('Name').fill('Team room');
  await dialog.getByLabel('Address', { exact: false }).first().fill(url);
  await dialog.getByLabel('What it says').selectOption('title');
  await dialog.getByLabel('When', { exact: true }).selectOption('0');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  // An address of this computer is not taken by accident.
  await dialog.getByText(/on my network/).first().waitFor();
  await dialog.getByRole('alert').first().waitFor();
  await keep(page, 'notifications-refused');
  await dialog.getByRole('checkbox').check();
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  const row = page.locator('[data-channel]').filter({ hasText: 'Team room' });
  await row.waitFor();

  await row.getByRole('button', { name: 'Send a test' }).click();
  await expect.poll(() => got.length).toBe(1);
  expect(got[0]).toMatchObject({ count: 0 });
  status(500);
  await row.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText(/did not get through/).first().waitFor();
  status(200);
  await keep(page, 'notifications');
  expect(await violations(page)).toEqual([]);

  await row.getByRole('button', { name: 'Pause' }).click();
  await row.getByText('Paused').waitFor();
  await row.getByRole('button', { name: 'Resume' }).click();
  await row.getByText('On', { exact: true }).waitFor();

  await page.getByRole('switch', { name: 'No notifications at certain hours' }).check();
  await page.getByLabel('On', { exact: true }).selectOption('mon-fri');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await host.api<{ value: string }>('GET', 'settings/reachQuiet')).value).toBe('22:00-07:00 mon-fri');
  await page.getByRole('switch', { name: 'No notifications at certain hours' }).uncheck();
  await expect.poll(async () => (await host.api<{ value: string }>('GET', 'settings/reachQuiet')).value).toBe('');

  await row.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
});

/** As much of a Bot API as connecting a chat needs; `start` is what somebody writes to the bot. */
async function bot(): Promise<{ url: string; start: (text: string) => void; sent: { text: string }[] }> {
  const sent: { text: string }[] = [];
  const updates: object[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const method = request.url?.split('/').at(-1);
      const given = JSON.parse(body) as { text: string; offset?: number };
      if (method === 'sendMessage') sent.push(given);
      const result = {
        getMe: { id: 1, is_bot: true, username: 'my_chatos_bot' },
        sendMessage: { message_id: sent.length },
        getUpdates: given.offset === undefined ? updates : [],
      }[method ?? ''];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ok: true, result: result ?? true }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const start = (text: string) => {
    const from = { id: 42, is_bot: false, first_name: 'Anna', username: 'anna' };
    updates.push({ update_id: 7, message: { message_id: 1, date: 0, text, from, chat: { id: 42, type: 'private' } } });
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, start, sent };
}

test('a Telegram chat is connected, allowed to answer after a plain warning, and changed', async ({ ownHost, open }) => {
  const host = await ownHost();
  const telegram = await bot();
  const page = await open({ host, at: '#/settings/notifications', bypassCSP: true, expectConsole: /422/ });
  await page.getByRole('button', { name: 'Add channel' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Kind').selectOption('telegram');
  await dialog.getByLabel('Name').fill('My phone');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByText('Required', { exact: true }).waitFor();
  await dialog.getByLabel('Bot token').fill('4711:token-of-a-bot-0123456789');
  await dialog.getByLabel('Own server').fill(telegram.url);
  await dialog.getByRole('checkbox').check();
  await dialog.getByLabel('Answers from there').selectOption('direct');
  await dialog.getByText(/Whoever holds your unlocked phone/).waitFor();
  expect(await dialog.getByLabel('What it says').inputValue()).toBe('full');
  expect(await violations(page)).toEqual([]);
  await keep(page, 'notifications-telegram-add');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();

  await page.getByRole('dialog', { name: 'Connect My phone' }).waitFor();
  const words = await page.locator('code', { hasText: '/start ' }).innerText();
  expect(await page.getByRole('link', { name: 'Open Telegram' }).getAttribute('href')).toBe(`https://t.me/my_chatos_bot?start=${words.slice('/start '.length)}`);
  await keep(page, 'notifications-telegram-connect');
  telegram.start(words);
  const row = page.locator('[data-channel]').filter({ hasText: 'My phone' });
  await row.getByText('Anna @anna').waitFor();
  await page.getByRole('dialog', { name: 'Connect My phone' }).waitFor({ state: 'detached' });
  await row.getByText('can reject, snooze and approve commands').waitFor();
  await expect.poll(() => telegram.sent.length).toBe(1);
  await keep(page, 'notifications-telegram');
  expect(await violations(page)).toEqual([]);

  await row.getByRole('button', { name: 'Change…' }).click();
  await page.getByRole('dialog').getByLabel('Answers from there').selectOption('none');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await row.getByText('can reject').waitFor({ state: 'detached' });
  await row.getByRole('button', { name: 'Send a test' }).click();
  await expect.poll(() => telegram.sent.length).toBe(2);
});

test('the page reads well in Chinese, in the dark and on a narrow window', async ({ ownHost, open }) => {
  const host = await ownHost();
  const { url } = await receiver();
  await host.api('POST', 'channels', { type: 'ntfy', name: '我的手机', url: url.replace('/hook', '/topic'), onMyNetwork: true });
  const page = await open({ host, at: '#/settings/notifications', language: 'zh', bypassCSP: true });
  await page.getByRole('button', { name: '发送测试' }).first().waitFor();
  await page.emulateMedia({ colorScheme: 'dark' });
  await keep(page, 'notifications-zh-dark');
  await page.setViewportSize({ width: 400, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await keep(page, 'notifications-zh-400');
  await page.getByRole('button', { name: '添加渠道' }).click();
  await page.getByRole('dialog').getByLabel('类型').waitFor();
  await keep(page, 'notifications-zh-400-add');
  await page.getByRole('dialog').getByLabel('类型').selectOption('telegram');
  await page.getByRole('dialog').getByLabel('可在那里回答').selectOption('direct');
  await page.getByText('持有你已解锁手机的人').waitFor();
  await keep(page, 'notifications-zh-400-telegram');
  expect(await violations(page)).toEqual([]);
});
