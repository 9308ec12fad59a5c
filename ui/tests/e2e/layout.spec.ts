// Layout in a real browser: the smile's corner is nobody else's, what is to be pressed can be pressed at every
// width, pages begin at one edge, and messages of the page never lie on an action (issue 21, faults 1, 5, 6, 12, 22,
// 23, 30).

import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { test } from './fixtures';
import { CountingModel } from './model';

const WIDTHS = [320, 360, 400, 480, 600, 719, 720, 768, 1024, 1280, 1440, 1920];
const PAGES = ['chat', 'queue', 'apps', 'agents', 'agents/models/new', 'tasks', 'runs', 'changes', 'settings', 'settings/servers/new', 'settings/secrets', 'settings/doctor'];

/** Buttons that something else lies on, and actions that reach into the place of the smile. */
async function covered(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const name = (element: Element) => (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40) || element.tagName;
    const hub = document.querySelector('.hub');
    if (!hub) return ['there is no smile'];
    const corner = hub.getBoundingClientRect();
    if (corner.right > innerWidth || corner.bottom > innerHeight) found.push('the smile is out of the window');
    for (const element of document.querySelectorAll('button, a[href], input, textarea, select')) {
      if (element === hub || element.closest('[aria-hidden="true"], .visually-hidden, .skip')) continue;
      const box = element.getBoundingClientRect();
      if (box.width < 2 || box.height < 2 || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const across = box.left < corner.right && box.right > corner.left;
      // What scrolls below the edge of its area is not drawn there.
      const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
      const area = element.closest('main, nav')?.getBoundingClientRect() ?? new DOMRect(0, 0, innerWidth, innerHeight);
      const seen = x > area.left && y > area.top && x < area.right && y < area.bottom ? document.elementFromPoint(x, y) : null;
      if (across && box.top < corner.bottom && box.bottom > corner.top && seen && element.contains(seen)) found.push(`${name(element)} is in the corner`);
      if (seen && hub.contains(seen)) found.push(`${name(element)} is under the smile`);
    }
    for (const button of document.querySelectorAll<HTMLElement>('main .primary, main [data-composer] button')) {
      if (!button.checkVisibility()) continue;
      button.scrollIntoView({ block: 'center' });
      const box = button.getBoundingClientRect();
      const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      if (!at || !button.contains(at)) found.push(`${name(button)} cannot be pressed`);
    }
    return found;
  });
}

test('at twelve widths nothing covers what is to be pressed, and nothing enters the corner of the smile', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('POST', 'sessions', { title: 'One chat' });
  const page = await open({ host, at: '#/chat' });
  const found: string[] = [];
  const titles = new Set<number>();
  for (const at of PAGES) {
    await page.setViewportSize({ width: 1440, height: 800 });
    await page.evaluate((hash) => (location.hash = `#/${hash}`), at);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    await page.waitForFunction(() => document.querySelector('main .skeleton') === null);
    if (at !== 'chat') titles.add(await page.locator('main h1').first().evaluate((title) => Math.round(title.getBoundingClientRect().left)));
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      if (at === 'chat') {
        await page.locator('[data-composer] textarea').fill('Something to send');
        await page.evaluate(() => new Promise(requestAnimationFrame));
      }
      found.push(...(await covered(page)).map((what) => `${at} at ${width}: ${what}`));
    }
  }
  expect(found).toEqual([]);
  // One grid: every title begins at the same edge.
  expect([...titles]).toHaveLength(1);
});

test('a phone has four tabs and the smile in the middle; the other pages are under More', async ({ ownHost, open }) => {
  const host = await ownHost();
  const page = await open({ host, at: '#/chat', viewport: { width: 400, height: 844 } });
  const bar = page.getByRole('navigation', { name: 'Main' });
  expect(await bar.locator('li').evaluateAll((items) => items.filter((item) => item.checkVisibility()).map((item) => item.textContent?.trim()))).toEqual(['Chat', 'Tasks', 'Apps', 'More']);
  const smile = await page.locator('.hub').boundingBox();
  expect(Math.round((smile?.x ?? 0) + (smile?.width ?? 0) / 2)).toBe(200);
  await bar.getByRole('button', { name: 'More' }).click();
  expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Inbox', 'Agents', 'Models', 'Servers', 'Runs', 'Changes', 'Settings']);
  await page.getByRole('menuitem', { name: 'Settings' }).click();
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();

  // An address that leads nowhere says so, and has a way back.
  await page.evaluate(() => (location.hash = '#/nowhere/at/all'));
  await page.getByText('Page not found').first().waitFor();
  await page.getByRole('link', { name: 'Go to Chat' }).click();
  await page.locator('[data-composer]').waitFor();
});

test('older messages keep their buttons, editing leaves the draft alone, and the composer stands on the column of the text', async ({ ownHost, open }) => {
  const host = await ownHost();
  const model = await CountingModel.start();
  try {
    model.upTo = 1;
    model.stepMs = 0;
    const id = await model.chatOn(host);
    for (let at = 0; at < 12; at += 1) await host.api('POST', `sessions/${id}/send`, { text: `Message ${at}`, mode: 'queue' });
    await expect.poll(async () => (await host.api<{ running: boolean }>('GET', `sessions/${id}`)).running, { timeout: 90_000 }).toBe(false);
    const page = await open({ host, at: `#/chat/${id}` });
    await page.getByText('Message 11', { exact: true }).waitFor();
    const composer = page.locator('[data-composer] textarea');
    await composer.fill('half a thought');

    const row = page.locator('[data-row="user"]').filter({ hasText: 'Message 2' });
    await row.scrollIntoViewIfNeeded();
    await row.hover();
    for (const name of ['Copy message', 'Edit']) {
      const button = row.getByRole('button', { name });
      expect(await button.evaluate((one) => {
        const box = one.getBoundingClientRect();
        return one.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2));
      })).toBe(true);
    }
    await row.getByRole('button', { name: 'Edit' }).click();
    const editor = page.locator('[data-edit] textarea');
    expect(await editor.inputValue()).toBe('Message 2');
    await editor.fill('Message 2, better');
    expect(await composer.inputValue()).toBe('half a thought');
    await page.keyboard.press('Escape');
    await editor.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Edit');
    await page.keyboard.press('Enter');
    await editor.fill('Message 2, better');
    await editor.press('Enter');
    await page.locator('[data-row="user"]').getByText('Message 2, better').waitFor();
    expect(await composer.inputValue()).toBe('half a thought');

    await page.locator('[data-row="assistant"]').first().waitFor();
    const edges = await page.evaluate(() => {
      const across = (selector: string) => {
        const box = document.querySelector(selector)?.getBoundingClientRect();
        return [Math.round(box?.left ?? -1), Math.round(box?.right ?? -1)];
      };
      return { text: across('[data-row="assistant"]'), composer: across('[data-composer]') };
    });
    expect(edges.composer).toEqual(edges.text);
    expect((edges.text[1] ?? 0) - (edges.text[0] ?? 0)).toBe(720);
  } finally {
    await model.stop();
  }
});

test('messages of the page come at the top right, beside what can be pressed', async ({ ownHost, open }) => {
  const host = await ownHost();
  const page = await open({ host, at: '#/chat', expectConsole: /400|422/ });
  for (const width of [400, 1024, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await page.locator('[data-composer] input[type="file"]').setInputFiles({ name: `notes-${width}.bin`, mimeType: 'application/octet-stream', buffer: Buffer.from([0]) });
    const toast = page.locator('.toasts .toast').filter({ hasText: `notes-${width}` });
    await toast.waitFor();
    const lies = () =>
      page.evaluate(() => {
        const own = document.querySelector('.toasts');
        const box = own?.getBoundingClientRect();
        if (!own || !box) return ['no message'];
        const crossed = [...document.querySelectorAll('button, a[href], input, textarea')].filter((one) => {
          const other = one.getBoundingClientRect();
          return !own.contains(one) && other.width > 0 && other.left < box.right && other.right > box.left && other.top < box.bottom && other.bottom > box.top;
        });
        return crossed.map((one) => one.getAttribute('aria-label') ?? one.textContent ?? '');
      });
    await expect.poll(lies).toEqual([]);
    const box = await page.locator('.toasts').boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeGreaterThan(width - 90);
    expect(box?.y ?? 999).toBeLessThan(400);
    await toast.getByRole('button').last().click();
    await toast.waitFor({ state: 'detached' });
  }
});
