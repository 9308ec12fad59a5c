// A host that goes and comes back in the middle of work: nobody is thrown out, nothing written is lost, everything
// said arrives once and in order; and a second tab needs no link of its own.

import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { signIn, test } from './fixtures';
import { Host } from './host';

const composer = (page: Page) => page.getByLabel('Message', { exact: true });
const chips = (page: Page, kind: 'waiting' | 'queued') => page.locator(`[data-chip="${kind}"]`);
const GONE = /ERR_CONNECTION_REFUSED|WebSocket connection|status of 401|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_SOCKET_NOT_CONNECTED/;

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
    // It does not know this browser: it says so over the page, which stays as it is.
    await page.locator('[data-sign-in-again]').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await composer(page).inputValue()).toBe('a thought that is not finished');
    expect(await chips(page, 'waiting').count()).toBe(2);

    // `chatos open` opens its link in a tab of its own; this one goes on by itself.
    const tab = await page.context().newPage();
    await signIn(tab, second);
    await expect.poll(() => page.locator('[data-sign-in-again]').count()).toBe(0);
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
    await signIn(page, second);
    await expect.poll(() => said(second, id)).toEqual(['hello from before']);
    // Loaded again, it sends nothing twice.
    await page.reload();
    await page.getByRole('navigation').first().waitFor();
    expect(await said(second, id)).toEqual(['hello from before']);
  });
});

test('a second tab of the browser needs no link, and follows a new sign-in', async ({ host, open }) => {
  const page = await open();
  const tab = await page.context().newPage();
  await tab.goto(`${host.url}#/tasks`);
  await tab.getByRole('heading', { name: 'Tasks' }).first().waitFor();
  // Another profile knows nothing of it.
  const stranger = await open({ at: false });
  await stranger.goto(host.url);
  await stranger.getByRole('heading', { name: 'Sign in · ChatOS' }).waitFor();
});
