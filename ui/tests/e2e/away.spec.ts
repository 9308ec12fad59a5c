// A host that goes and comes back in the middle of work: nobody is thrown out, nothing written is lost, everything
// said arrives once and in order; answers to questions are never sent by themselves.

import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import { Host } from './host';
import { answerOf, ask, lookUp, openPrompt } from './questions';

const composer = (page: Page) => page.getByLabel('Message', { exact: true });
const chips = (page: Page, kind: 'waiting' | 'queued') => page.locator(`[data-chip="${kind}"]`);
/** What the browser says of a host that is gone; the checker of accessibility reads the style sheets once more. */
const GONE = /ERR_CONNECTION_REFUSED|Couldn't load preload assets|WebSocket connection|status of 401|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_SOCKET_NOT_CONNECTED/;

async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await page.keyboard.press('Enter');
}

const said = async (host: Host, id: string): Promise<string[]> => {
  const { messages } = await host.api<{ messages: { role: string; content: string }[] }>('GET', `sessions/${id}/messages`);
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content);
};

describe('a host that restarts', () => {
  test('finds the page as it was: draft, unsent messages in order, once', async ({ ownHost, open }) => {
    const first = await ownHost();
    const { id } = await first.api<{ id: string }>('POST', 'sessions', { title: 'Through a restart' });
    const page = await open({ host: first, at: `#/chat/${id}`, expectConsole: GONE });
    await say(page, 'What can you do?');
    await page.locator('[data-row="assistant"]').first().waitFor();
    await expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);

    await first.halt('SIGKILL');
    await page.locator('[data-banner="connection"]').waitFor();
    await say(page, 'first, said to nobody');
    await say(page, 'second, said to nobody');
    await composer(page).fill('a thought that is not finished');
    await expect.poll(() => chips(page, 'waiting').allInnerTexts()).toEqual([
      expect.stringContaining('first, said to nobody'),
      expect.stringContaining('second, said to nobody'),
    ]);
    await say(page, 'regretted');
    await chips(page, 'waiting').nth(2).getByRole('button', { name: 'Remove “regretted”' }).click();
    await composer(page).fill('a thought that is not finished');
    expect(await violations(page)).toEqual([]);

    const second = await Host.start({ home: first.home, port: first.ready.port });
    onTestFinished(() => second.halt());
    // The browser is signed in: the page goes on by itself.
    await expect.poll(() => said(second, id)).toEqual(['What can you do?', 'first, said to nobody', 'second, said to nobody']);
    await expect.poll(() => page.locator('[data-chip], [data-outgoing]').count()).toBe(0);
    await expect.poll(() => page.locator('[data-row="user"]').count()).toBe(3);
    expect(await composer(page).inputValue()).toBe('a thought that is not finished');
  });

  test('gets what a page had to say that was closed meanwhile', async ({ ownHost, open }) => {
    const first = await ownHost();
    const { id } = await first.api<{ id: string }>('POST', 'sessions', { title: 'Closed meanwhile' });
    const page = await open({ host: first, at: `#/chat/${id}`, expectConsole: GONE });
    await composer(page).waitFor();
    await expect.poll(() => page.locator('[data-connection="open"]').count()).toBeGreaterThan(0);
    await first.halt('SIGKILL');
    await say(page, 'hello from before');
    await chips(page, 'waiting').waitFor();
    await page.goto('about:blank');

    const second = await Host.start({ home: first.home, port: first.ready.port });
    onTestFinished(() => second.halt());
    await page.goto(second.url);
    await expect.poll(() => said(second, id)).toEqual(['hello from before']);
    // Loaded again, it sends nothing twice.
    await page.reload();
    await page.getByRole('navigation').first().waitFor();
    expect(await said(second, id)).toEqual(['hello from before']);
  });
});

describe('what two tabs had to say', () => {
  test('arrives once each, also what one tab had written and another one sends', async ({ ownHost, open }) => {
    const first = await ownHost();
    const { id } = await first.api<{ id: string }>('POST', 'sessions', { title: 'Two tabs' });
    const page = await open({ host: first, at: `#/chat/${id}`, expectConsole: GONE });
    const tab = await page.context().newPage();
    await tab.goto(`${first.url}#/chat/${id}`);
    for (const one of [page, tab]) {
      await composer(one).waitFor();
      await expect.poll(() => one.locator('[data-connection="open"]').count()).toBeGreaterThan(0);
    }
    await first.halt('SIGKILL');
    await say(page, 'of the first tab');
    await chips(page, 'waiting').waitFor();
    await say(tab, 'of the second tab');
    await chips(tab, 'waiting').waitFor();
    const second = await Host.start({ home: first.home, port: first.ready.port });
    onTestFinished(() => second.halt());
    // A third one takes up everything that waits, beside the two that send it themselves.
    const third = await page.context().newPage();
    await third.goto(`${second.url}#/chat/${id}`);
    await expect.poll(async () => (await said(second, id)).sort()).toEqual(['of the first tab', 'of the second tab']);
    for (const one of [page, tab, third]) await expect.poll(() => one.locator('[data-chip="waiting"]').count()).toBe(0);
    await third.reload();
    await third.getByRole('navigation').first().waitFor();
    expect((await said(second, id)).sort()).toEqual(['of the first tab', 'of the second tab']);
  });

  test('is sent from memory where the browser has no room, and the page says that it is kept nowhere', async ({ ownHost, open }) => {
    const first = await ownHost();
    const { id } = await first.api<{ id: string }>('POST', 'sessions', { title: 'No room' });
    const page = await open({ host: first, at: `#/chat/${id}`, expectConsole: GONE });
    await composer(page).waitFor();
    await expect.poll(() => page.locator('[data-connection="open"]').count()).toBeGreaterThan(0);
    await page.evaluate(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('no room', 'QuotaExceededError');
      };
    });
    await first.halt('SIGKILL');
    await say(page, 'kept nowhere');
    await chips(page, 'waiting').getByText('Only kept while this page is open').waitFor();
    const second = await Host.start({ home: first.home, port: first.ready.port });
    onTestFinished(() => second.halt());
    await expect.poll(() => said(second, id)).toEqual(['kept nowhere']);
    await expect.poll(() => chips(page, 'waiting').count()).toBe(0);
  });
});

describe('an answer given while the host is away', () => {
  const FORM = { kind: 'kv', source: 'test', title: 'A word', fields: [{ key: 'word', label: 'Word' }] };

  test('is not sent behind the person, stays in the form, and is sent once when they press again', async ({ ownHost, open }) => {
    const first = await ownHost();
    const id = await ask(first, FORM);
    const page = await open({ host: first, expectConsole: GONE });
    await openPrompt(page, id);
    await first.halt('SIGKILL');
    await page.locator('[data-banner="connection"]').waitFor();
    await page.getByLabel('Word', { exact: true }).fill('written to nobody');
    const send = page.locator('article .actions button').first();
    await send.click();
    await page.locator('article').getByRole('alert').first().waitFor();
    const saved = page.waitForResponse((answer) => answer.url().includes('/draft') && answer.request().method() === 'PUT' && answer.ok());
    const second = await Host.start({ home: first.home, port: first.ready.port });
    onTestFinished(() => second.halt());
    // Saved as a draft by itself, answered by nobody.
    await saved;
    expect((await lookUp(second, id)).answer).toBeNull();
    await page.reload();
    await openPrompt(page, id);
    expect(await page.getByLabel('Word', { exact: true }).inputValue()).toBe('written to nobody');
    await send.click();
    expect(await answerOf(second, id)).toMatchObject({ status: 'ok', response: { values: { word: 'written to nobody' } } });
  });

  test('finds that somebody else has answered meanwhile, and changes nothing', async ({ ownHost, open }) => {
    const first = await ownHost();
    const id = await ask(first, FORM);
    const page = await open({ host: first, expectConsole: GONE });
    await openPrompt(page, id);
    await first.halt('SIGKILL');
    await page.locator('[data-banner="connection"]').waitFor();
    await page.getByLabel('Word', { exact: true }).fill('too late');
    const second = await Host.start({ home: first.home, port: first.ready.port });
    onTestFinished(() => second.halt());
    await second.api('POST', `prompts/${id}/response`, { response: { status: 'ok', values: { word: 'first' } } });
    await page.locator('article').getByText('Answered').first().waitFor();
    expect(await answerOf(second, id)).toMatchObject({ response: { values: { word: 'first' } } });
  });
});
