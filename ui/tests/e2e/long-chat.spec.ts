// A long chat: read page by page, with few rows drawn at a time, and nothing of it lost to scrolling, to a search of
// the browser, to the keyboard or to somebody who is in the middle of changing a message (issue 21).

import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { test } from './fixtures';
import type { Host } from './host';
import { CountingModel } from './model';

const TURNS = 100;
/** More than ever fit a window and what is drawn around it. */
const FEW = 70;

const chats = new Map<Host, Promise<string>>();

/** The chat both tests look at; neither changes it. */
function filled(host: Host): Promise<string> {
  const known = chats.get(host) ?? fill(host);
  chats.set(host, known);
  return known;
}

async function fill(host: Host): Promise<string> {
  const model = await CountingModel.start();
  try {
    model.text = `A sentence of ordinary length, as models write them.\n\n- with a list\n- of two\n\nand a last line.`;
    const id = await model.chatOn(host);
    for (let at = 0; at < TURNS; at += 1) {
      await host.api('POST', `sessions/${id}/send`, { text: `Message ${at}`, mode: 'queue' });
      while ((await host.api<{ running: boolean }>('GET', `sessions/${id}`)).running) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return id;
  } finally {
    await model.stop();
  }
}

test('on paper stands the whole chat, and nothing that is pressed', async ({ host, open }) => {
  const id = await filled(host);
  const page = await open({ host, theme: 'dark', at: `#/chat/${id}` });
  await message(page, TURNS - 1).waitFor();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  expect(await page.locator('[data-composer], nav, [data-row="user"]').evaluateAll((all) => all.filter((one) => one.checkVisibility() && !one.matches('[data-row]')).length)).toBe(0);
  // As high as all that was read, not as high as the window.
  expect(await box(page).evaluate((element) => element.scrollHeight - element.clientHeight)).toBeLessThan(2);
  expect(await page.evaluate(() => document.documentElement.scrollHeight > 2 * innerHeight)).toBe(true);
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('light');
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
});

const drawn = (page: Page) => page.locator('[data-row]').count();
const box = (page: Page) => page.locator('[data-transcript]');
const message = (page: Page, at: number) => page.locator('[data-row="user"]').filter({ has: page.getByText(`Message ${at}`, { exact: true }) });

test('few rows of a long chat are drawn, and none is lost', async ({ host, open }) => {
  const id = await filled(host);
  const page = await open({ host, at: `#/chat/${id}` });
  await message(page, TURNS - 1).waitFor();
  expect(await page.getByText('Message 0', { exact: true }).count()).toBe(0);
  expect(await drawn(page)).toBeLessThan(FEW);

  // Going up reads the rest. What is looked at stays where it is while older messages come and rows are drawn.
  const { x, y, width, height } = (await box(page).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(x + width / 2, y + height / 2);
  const jumps: number[] = [];
  for (let step = 0; step < 400 && (await page.getByText('Start of chat').count()) === 0; step += 1) {
    const before = await firstShown(page);
    await page.mouse.wheel(0, -600);
    jumps.push(await jumped(page, before));
  }
  await box(page).evaluate((element) => (element.scrollTop = 0));
  await message(page, 0).waitFor();
  expect(await drawn(page)).toBeLessThan(FEW);
  // A wheel never brings more than it was turned.
  expect(Math.max(...jumps)).toBeLessThan(40);

  // Everything that was read is there for a search of the browser, drawn or not.
  const known = await box(page).evaluate((element) => element.textContent);
  for (let at = 0; at < TURNS; at += 1) expect(known, `message ${at}`).toMatch(new RegExp(`Message ${at}(?!\\d)`));
  const far = page.locator('[data-chunk] > [hidden="until-found"]').filter({ hasText: /Message 45(?!\d)/ });
  expect(await far.count()).toBe(1);
  expect(await message(page, 45).count()).toBe(0);
  await far.evaluate((element) => element.dispatchEvent(new Event('beforematch', { bubbles: true })));
  await message(page, 45).waitFor();
  await expect.poll(() => message(page, 45).evaluate((row) => {
    const view = row.closest('[data-transcript]')?.getBoundingClientRect();
    const place = row.getBoundingClientRect();
    return view !== undefined && place.bottom > view.top && place.top < view.bottom;
  })).toBe(true);

  // Back at the end old messages are let go; the newest is in view.
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await message(page, TURNS - 1).waitFor();
  await expect.poll(() => box(page).evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)).toBeLessThan(2);
});

test('somebody at work in a message of a long chat keeps it, and keys and links lead to rows that are not drawn', async ({ host, open }) => {
  const id = await filled(host);
  const page = await open({ host, at: `#/chat/${id}` });
  const edited = message(page, TURNS - 6);
  await edited.scrollIntoViewIfNeeded();
  await edited.getByRole('button', { name: 'Edit' }).click();
  await page.locator('[data-row="user"] textarea').fill('half a thought');
  await box(page).evaluate((element) => (element.scrollTop = 0));
  await expect.poll(() => message(page, TURNS - 14).count()).toBe(0);
  expect(await page.locator('[data-row="user"] textarea').inputValue()).toBe('half a thought');
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();

  // The keyboard: up by pages from the transcript, rows are drawn as they come.
  await box(page).focus();
  for (let step = 0; step < 12; step += 1) await page.keyboard.press('PageUp');
  await expect.poll(() => page.evaluate(() => {
    const view = document.querySelector('[data-transcript]')?.getBoundingClientRect();
    return view === undefined ? null : (document.elementFromPoint(view.left + view.width / 2, view.top + view.height / 2)?.closest('[data-row], [data-chunk]')?.matches('[data-row]') ?? true);
  })).toBe(true);
  expect(await drawn(page)).toBeLessThan(FEW);

  // A link to a message, as a search gives it. Keys scroll smoothly; that is over first.
  let top = -1;
  await expect.poll(async () => {
    const before = top;
    top = await box(page).evaluate((element) => element.scrollTop);
    return top === before;
  }, { interval: 250 }).toBe(true);
  const { messages } = await host.api<{ messages: { id: string; content: string }[] }>('GET', `sessions/${id}/messages?limit=200`);
  const wanted = messages.find(({ content }) => content === 'Message 40');
  await page.evaluate((hash) => (location.hash = hash), `#/chat/${id}?m=${wanted?.id}`);
  await page.locator('.found').getByText('Message 40', { exact: true }).waitFor();
  await expect.poll(() => message(page, 40).evaluate((row) => {
    const view = row.closest('[data-transcript]')?.getBoundingClientRect();
    return view === undefined ? 1 : Math.abs(row.getBoundingClientRect().top - view.top - view.height / 2) / view.height;
  })).toBeLessThan(0.4);
});

/** How much further than the wheel a row went. Looked at a second time: between a row that comes and the frame it is
    drawn in, its place is one that nobody sees. */
async function jumped(page: Page, before: { key: string; top: number }): Promise<number> {
  let least = Infinity;
  for (let look = 0; look < 3 && least > 40; look += 1) {
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const after = await placeOf(page, before.key);
    if (after === null) return 0;
    least = Math.min(least, after - before.top - 600);
  }
  return least;
}

/** The first row in view and where it is. */
function firstShown(page: Page): Promise<{ key: string; top: number }> {
  return page.evaluate(() => {
    const view = document.querySelector('[data-transcript]')?.getBoundingClientRect();
    const row = [...document.querySelectorAll<HTMLElement>('[data-row]')].find((one) => one.getBoundingClientRect().top > (view?.top ?? 0));
    return { key: row?.dataset['key'] ?? '', top: row?.getBoundingClientRect().top ?? 0 };
  });
}

function placeOf(page: Page, key: string): Promise<number | null> {
  return page.evaluate((wanted) => document.querySelector(`[data-key="${CSS.escape(wanted)}"]`)?.getBoundingClientRect().top ?? null, key);
}
