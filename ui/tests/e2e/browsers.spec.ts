// A browser is signed in once (inbox §7): over tabs, closed windows and restarts of the host; it is listed and signed
// out, one by one and all at once; what is forged, planted or collected elsewhere opens nothing.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { signIn, test } from './fixtures';
import { Host } from './host';
import { keep } from './pictures';

const GONE = /ERR_CONNECTION_REFUSED|WebSocket connection|status of 401|status of 403|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_SOCKET_NOT_CONNECTED/;
const REFUSED = /status of 401|status of 403|WebSocket connection/;
const wall = (page: Page) => page.getByRole('heading', { name: 'Sign in · ChatOS' });
const shell = (page: Page) => page.getByRole('navigation').first();
const connected = (page: Page) => expect.poll(() => page.locator('[data-connection="open"]').count()).toBeGreaterThan(0);
const composer = (page: Page) => page.getByLabel('Message', { exact: true });
const rows = (page: Page) => page.locator('[data-browser]');
const cookies = async (context: BrowserContext, host: Host) => context.cookies(`${host.url}api/v1/auth/renew`);
const listed = async (host: Host) => (await host.api<{ items: { id: string; current: boolean; name: string }[] }>('GET', 'browsers')).items;

describe('signed in once', () => {
  test('a new tab, a bookmark and a reload need no link, and nothing a script can read signs in', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host });
    await connected(page);
    // Nothing to take: no token and no cookie in reach of scripts.
    expect(await page.evaluate(() => [document.cookie, sessionStorage.length, Object.values({ ...localStorage }).join().includes('token')])).toEqual(['', 0, false]);
    const [cookie, ...more] = await cookies(page.context(), host);
    expect(more).toEqual([]);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/api/v1/auth', domain: '127.0.0.1' });
    expect(await page.context().cookies(`${host.url}api/v1/status`)).toEqual([]);

    await page.reload();
    await shell(page).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`${host.url}#/tasks`);
    await tab.getByRole('heading', { name: 'Tasks' }).first().waitFor();
    // With no page open at all, as after the browser was closed.
    await page.close();
    await tab.close();
    const later = await tab.context().newPage();
    await later.goto(host.url);
    await shell(later).waitFor();
    expect((await listed(host)).length).toBe(1);
    // Seven at once, and again each of them.
    const tabs = await Promise.all(Array.from({ length: 7 }, () => later.context().newPage()));
    await Promise.all(tabs.map((one) => one.goto(host.url)));
    await Promise.all(tabs.map((one) => shell(one).waitFor()));
    await Promise.all(tabs.map((one) => one.reload()));
    await Promise.all(tabs.map((one) => shell(one).waitFor()));
    // Another profile knows nothing of it.
    const stranger = await open({ host, at: false, expectConsole: REFUSED });
    await stranger.goto(host.url);
    await wall(stranger).waitFor();
  });

  test('the host is killed and starts again: every tab goes on, and a new one is signed in', async ({ ownHost, open }) => {
    const first = await ownHost();
    const page = await open({ host: first, at: '#/chat', expectConsole: GONE });
    await connected(page);
    const others = await Promise.all([1, 2].map(() => page.context().newPage()));
    await Promise.all(others.map((tab) => tab.goto(`${first.url}#/tasks`)));
    await Promise.all(others.map(connected));
    await composer(page).fill('half a thought');

    let last = first;
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await last.halt(signal);
      await page.locator('[data-banner="connection"]').waitFor();
      last = await Host.start({ home: first.home, port: first.ready.port });
      const started = last;
      onTestFinished(() => started.halt());
      await connected(page);
      await Promise.all(others.map(connected));
    }
    expect(await page.locator('[data-sign-in-again]').count()).toBe(0);
    expect(await composer(page).inputValue()).toBe('half a thought');
    const tab = await page.context().newPage();
    await tab.goto(last.url);
    await shell(tab).waitFor();
    expect((await listed(last)).length).toBe(1);
  });

  test('a link opened again is the same browser, and a used one ends nothing', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, expectConsole: REFUSED });
    const link = await host.signInLink();
    const tab = await page.context().newPage();
    await tab.goto(link);
    await shell(tab).waitFor();
    expect((await listed(host)).length).toBe(1);
    const again = await page.context().newPage();
    await again.goto(link);
    await shell(again).waitFor();
    await again.getByText('This link has already been used or has expired.').waitFor();
  });
});

describe('signed out', () => {
  test('Settings lists the browsers; one that is signed out keeps its page and goes on after a new link', async ({ ownHost, open }) => {
    const host = await ownHost();
    const other = await open({ host, at: '#/chat', expectConsole: REFUSED });
    await connected(other);
    await composer(other).fill('not sent yet');
    const page = await open({ host, at: '#/settings/browsers' });
    await expect.poll(() => rows(page).count()).toBe(2);
    expect(await page.locator('[data-current="true"]').getByText('This browser').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await keep(page, 'browsers');

    await page.locator('[data-current="false"]').getByRole('button', { name: 'Sign out Chrome · Linux' }).click();
    await page.getByRole('dialog').getByText('Nothing you wrote there is lost').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Chrome · Linux is signed out').waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    await other.locator('[data-sign-in-again]').waitFor();
    expect(await violations(other)).toEqual([]);
    await keep(other, 'signed-out');
    expect(await composer(other).inputValue()).toBe('not sent yet');
    // A new tab of that browser is at the wall, and a new link serves them both.
    const tab = await other.context().newPage();
    await tab.goto(host.url);
    await wall(tab).waitFor();
    await signIn(tab, host);
    await expect.poll(() => other.locator('[data-sign-in-again]').count()).toBe(0);
    await connected(other);
    expect(await composer(other).inputValue()).toBe('not sent yet');
    // Seen on the other page without asking again.
    await expect.poll(() => rows(page).count()).toBe(2);
  });

  test('signing out everywhere ends this one, too; signing out ends all tabs of a browser', async ({ ownHost, open }) => {
    const host = await ownHost();
    const other = await open({ host, at: '#/tasks', expectConsole: REFUSED });
    await connected(other);
    const page = await open({ host, at: '#/settings/browsers', expectConsole: REFUSED });
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await wall(page).waitFor();
    await other.locator('[data-sign-in-again]').waitFor();
    expect(await listed(host)).toEqual([]);
    await page.reload();
    await wall(page).waitFor();

    await signIn(page, host);
    await page.goto(`${host.url}#/settings/appearance`);
    const tab = await page.context().newPage();
    await tab.goto(`${host.url}#/tasks`);
    await connected(tab);
    await page.getByRole('button', { name: 'Sign out of this browser' }).click();
    await wall(page).waitFor();
    await tab.locator('[data-sign-in-again]').waitFor();
    expect(await cookies(page.context(), host)).toEqual([]);
  });

  test('in Chinese, dark and on a phone the list reads and fits', async ({ ownHost, open }) => {
    const host = await ownHost();
    await open({ host });
    const page = await open({ host, at: '#/settings/browsers', language: 'zh', theme: 'dark', viewport: { width: 400, height: 860 } });
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.getByText('当前浏览器').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(await violations(page)).toEqual([]);
    await keep(page, 'browsers-zh-dark-400');
    await page.locator('[data-current="false"]').getByRole('button').click();
    await page.getByRole('dialog').getByText('已写的内容不会丢失').waitFor();
    await keep(page, 'browsers-ask-zh-dark-400');
  });
});

describe('one half alone', () => {
  test('a browser without its cookie, without its key or with a made-up cookie is at the wall', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, expectConsole: REFUSED });
    await page.context().clearCookies();
    await page.reload();
    await wall(page).waitFor();
    expect((await listed(host)).length).toBe(1);
    await signIn(page, host);
    expect((await listed(host)).length).toBe(1);

    // Without its key.
    await page.evaluate(() => new Promise((resolve) => (indexedDB.deleteDatabase('chatos-sign-in').onsuccess = resolve)));
    await page.reload();
    await wall(page).waitFor();
    await signIn(page, host);
    expect((await listed(host)).length).toBe(2);

    // A cookie of its name that is none of its: that is what a copy of a profile looks like.
    const [cookie] = await cookies(page.context(), host);
    if (!cookie) throw new Error('no cookie');
    await page.context().addCookies([{ ...cookie, value: 'made-up' }]);
    await page.reload();
    await wall(page).waitFor();
    expect((await listed(host)).length).toBe(1);
  });

  test('a server on another port that gets the cookie can do nothing with it, and an app cannot plant one', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, expectConsole: /status of 40\d|CORS|ERR_FAILED|ERR_BLOCKED/ });
    const collected: string[] = [];
    const server = createServer((request, answer) => {
      collected.push(request.headers.cookie ?? '');
      answer.setHeader('Content-Type', 'text/html');
      answer.end('<!doctype html><title>elsewhere</title>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const elsewhere = await page.context().newPage();
    await elsewhere.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/auth/collect`);
    // Cookies ignore the port; that is why it is half of nothing.
    expect(collected.join()).toContain('chatos_');
    const cookie = collected.find((text) => text.includes('chatos_')) ?? '';
    const tries = await elsewhere.evaluate(async (url) => {
      const ask = (path: string, init: RequestInit) => fetch(`${url}${path}`, { credentials: 'include', ...init }).then((answer) => String(answer.status), () => 'refused');
      const json = { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } };
      return [await ask('api/v1/auth/challenge', {}), await ask('api/v1/status', {}), await ask('api/v1/auth/renew', json), await ask('api/v1/auth/renew', { method: 'POST', body: '{}' })];
    }, host.url);
    expect(tries).toEqual(['refused', 'refused', 'refused', 'refused']);
    // As a program, without a browser's honesty: the cookie and anything it may sign with.
    const challenge = (await (await fetch(`${host.url}api/v1/auth/challenge`)).json()) as { challenge: string };
    const [browser] = await listed(host);
    const stolen = await fetch(`${host.url}api/v1/auth/renew`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie: cookie },
      body: JSON.stringify({ browserId: browser?.id, challenge: challenge.challenge, sig: 'A'.repeat(86) }),
    });
    expect([stolen.status, (await fetch(`${host.url}api/v1/status`, { headers: { Cookie: cookie } })).status]).toEqual([401, 401]);
    // The page of an app, on the apps' own name.
    const [name] = cookie.split('=');
    await elsewhere.goto(`http://p-0123456789abcdef0123.localhost:${host.ready.port}/`);
    await elsewhere.evaluate((name) => {
      for (const domain of ['', '; Domain=localhost', '; Domain=127.0.0.1']) document.cookie = `${name}=planted; Path=/api/v1/auth${domain}`;
    }, name);
    expect((await cookies(page.context(), host)).map(({ value }) => value)).not.toContain('planted');
    await page.reload();
    await shell(page).waitFor();
    expect((await listed(host)).length).toBe(1);
  });

  test('a page that can keep no key signs in for its tab, and says so', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: false, expectConsole: REFUSED });
    await page.addInitScript(() => Object.defineProperty(Crypto.prototype, 'subtle', { get: () => undefined }));
    await page.addInitScript(() => Object.defineProperty(globalThis, 'indexedDB', { get: () => undefined }));
    await signIn(page, host);
    await page.evaluate(() => (location.hash = '#/settings/browsers'));
    await page.getByText('This window signs in for this tab only').waitFor();
    expect(await listed(host)).toEqual([]);
    await page.reload();
    await shell(page).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(host.url);
    await wall(tab).waitFor();
  });
});
