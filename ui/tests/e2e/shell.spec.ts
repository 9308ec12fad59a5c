// The shell against the real host: signing in, every page in both languages and themes, widths,
// reconnecting.

import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import { Host } from './host';
import { RESULTS } from './programs';

const PAGES = ['chat', 'queue', 'apps', 'agents', 'tasks', 'runs', 'changes', 'settings', 'agents/models', 'settings/servers', 'settings/tools', 'settings/tool-log', 'settings/host', 'settings/doctor', 'settings/appearance', 'settings/help'];
const TITLES = {
  en: ['Chat', 'Inbox', 'Apps', 'Agents', 'Tasks', 'Runs', 'Changes', 'Settings', 'Models', 'Servers', 'Servers', 'Servers', 'Settings', 'Settings', 'Settings', 'Settings'],
  zh: ['对话', '待办', '应用', '智能体', '任务', '运行', '更改', '设置', '模型', '服务器', '服务器', '服务器', '设置', '设置', '设置', '设置'],
};

/** Waits until the page of the route is drawn and nothing on it is still loading. */
async function settled(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  await page.waitForFunction(() => document.querySelector('.skeleton') === null);
  await page.waitForFunction(() => document.querySelector('[data-connection="open"]') !== null);
}

async function overflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const main = document.querySelector('main');
    const wide: string[] = [];
    if (document.documentElement.scrollWidth > innerWidth) wide.push('the document');
    if (main && main.scrollWidth > main.clientWidth) wide.push('the content');
    return wide;
  });
}

describe('sign-in', () => {
  test('a one-time link signs in once and leaves no code in the address', async ({ host, open }) => {
    const link = await host.signInLink();
    const page = await open({ at: false });
    await page.goto(link);
    await page.getByRole('navigation').first().waitFor();
    expect(page.url()).not.toContain('code');
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Chat' }).waitFor();

    const second = await open({ at: false, expectConsole: /401/ });
    await second.goto(link);
    await second.getByRole('alert').filter({ hasText: 'already been used' }).waitFor();
    expect(second.url()).not.toContain('code');
    expect(await second.getByRole('navigation').count()).toBe(0);

    await second.getByLabel('Link or code').fill('not a link');
    await second.getByRole('button', { name: 'Sign in' }).click();
    await second.getByText('doesn’t look like').waitFor();
    await second.getByLabel('Link or code').fill(await host.signInLink());
    await second.getByRole('button', { name: 'Sign in' }).click();
    await second.getByRole('heading', { level: 1, name: 'Chat' }).waitFor();
  });

  test('a fresh link in a tab that is signed in already keeps its page', async ({ host, open }) => {
    const page = await open({ at: '#/settings/host' });
    await page.getByText('SQLite').waitFor();
    const link = await host.signInLink();
    await page.evaluate((hash) => (location.hash = hash), new URL(link).hash);
    await page.waitForFunction(() => location.hash === '#/settings/host');
    await page.getByText('SQLite').waitFor();
  });

  test('signing out ends the session here and on the host', async ({ host, open }) => {
    // What the page measured a second after it came may be told while it signs out; nobody needs it then.
    const page = await open({ at: '#/settings/appearance', expectConsole: /401/ });
    const asking = page.waitForRequest((request) => request.headers()['authorization'] !== undefined);
    await page.evaluate(() => (location.hash = '#/settings/host'));
    const token = (await asking).headers()['authorization']?.replace('Bearer ', '');
    await page.evaluate(() => (location.hash = '#/settings/appearance'));
    const status = async () =>
      (await fetch(new URL('/api/v1/status', host.url), { headers: { Authorization: `Bearer ${token}` } })).status;
    expect(await status()).toBe(200);
    await page.getByRole('button', { name: 'Sign out of this browser' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await status()).toBe(401);
  });
});

describe.each([
  ['zh', 'light'],
  ['zh', 'dark'],
  ['en', 'light'],
  ['en', 'dark'],
] as const)('%s, %s', (language, theme) => {
  test('every page is drawn, quiet, and accessible', async ({ open }) => {
    const page = await open({ language, theme, bypassCSP: true });
    const found: string[] = [];
    for (const [index, route] of PAGES.entries()) {
      await page.evaluate((hash) => (location.hash = hash), `#/${route}`);
      await settled(page, TITLES[language][index] ?? '');
      expect(await page.evaluate(() => document.documentElement.lang)).toBe(language === 'zh' ? 'zh-CN' : 'en');
      expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe(theme);
      found.push(...(await violations(page)).map((line) => `${route}: ${line}`));
      // Kept for people: whether a page looks finished is not for a test to say.
      await page.screenshot({ path: `${RESULTS}/pages/${language}-${theme}-${route.replace('/', '-')}.png` });
    }
    expect(found).toEqual([]);
  });
});

test('the page keeps its own policy: no inline style or script is needed', async ({ open }) => {
  // Opened with the real CSP: a refused style or script would be a console error, which fails the test.
  const page = await open();
  for (const [index, route] of PAGES.entries()) {
    await page.evaluate((hash) => (location.hash = hash), `#/${route}`);
    await settled(page, TITLES.en[index] ?? '');
  }
  await page.keyboard.press('Control+j');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Appearance and language' }).first().click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');
  await page.reload();
  await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');
});

test('the first view is at most 250 kB in 20 requests, and files are compressed', async ({ host, open }) => {
  const page = await open({ at: '#/chat' });
  await settled(page, 'Chat');
  // What this page still brings is not counted.
  const here = page.url();
  await page.goto('about:blank');
  const wire = await page.context().newCDPSession(page);
  await wire.send('Network.enable');
  await wire.send('Network.clearBrowserCache');
  const seen = new Map<string, { path: string; at: number; bytes: number; packed: boolean }>();
  const asked = new Map<string, number>();
  wire.on('Network.requestWillBeSent', ({ requestId, wallTime }) => asked.set(requestId, wallTime * 1000));
  wire.on('Network.responseReceived', ({ requestId, response }) => {
    const { host: from, pathname } = new URL(response.url);
    const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]));
    if (from === new URL(host.url).host) seen.set(requestId, { path: pathname, at: asked.get(requestId) ?? 0, bytes: 0, packed: headers['content-encoding'] === 'gzip' });
  });
  wire.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const one = seen.get(requestId);
    if (one) one.bytes = encodedDataLength;
  });
  await page.goto(here);
  await page.locator('[data-composer]').waitFor();
  await settled(page, 'Chat');
  // The page says when its first view stands; the code of the rail's pages comes after it, when there is nothing to do.
  const until = await (await page.waitForFunction(() => {
    const mark = performance.getEntriesByName('chatos-first-view')[0];
    return mark && document.querySelector('[data-composer]') ? performance.timeOrigin + mark.startTime : null;
  })).jsonValue();
  // Before anybody has gone anywhere all of it is here, so that a page is drawn at once.
  const PLACES = ['QueuePage', 'TasksPage', 'AppsPage', 'AgentsPage', 'AgentsTab', 'ModelsTab', 'SettingsPage', 'ServersTab', 'RunsPage', 'ChangesPage'];
  await expect.poll(() => PLACES.filter((name) => ![...seen.values()].some(({ path, bytes }) => bytes > 0 && path.startsWith(`/assets/${name}-`)))).toEqual([]);
  await page.waitForLoadState('networkidle');
  const all = [...seen.values()];
  const first = all.filter(({ at }) => at <= (until ?? 0));
  const bytesOf = (list: typeof all) => list.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(first.some(({ path }) => /first-.*\.js$/.test(path))).toBe(true);
  expect(first.length, first.map(({ path }) => path).join('\n')).toBeLessThanOrEqual(20);
  expect(bytesOf(first)).toBeLessThanOrEqual(250_000);
  expect(bytesOf(all.filter(({ path, at }) => at > (until ?? 0) && path.startsWith('/assets/')))).toBeLessThanOrEqual(300_000);
  expect(all.filter(({ path, bytes, packed }) => /\.(js|css)$/.test(path) && bytes > 2_000 && !packed)).toEqual([]);

  // Who cannot read gzip gets the same, unpacked.
  const script = all.find(({ path }) => /first-.*\.js$/.test(path))?.path ?? '';
  const plain = await fetch(new URL(script, host.url), { headers: { 'Accept-Encoding': 'identity' } });
  const packed = await fetch(new URL(script, host.url), { headers: { 'Accept-Encoding': 'gzip' } });
  expect([plain.headers.get('content-encoding'), packed.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([null, 'gzip', 'accept-encoding']);
  expect(await plain.text()).toBe(await packed.text());
});

test.for([1440, 1024, 390])('%i px: everything has room', async (width, { open }) => {
  for (const language of ['zh', 'en'] as const) {
    const page = await open({ language, viewport: { width, height: 844 } });
    for (const [index, route] of PAGES.entries()) {
      await page.evaluate((hash) => (location.hash = hash), `#/${route}`);
      await settled(page, TITLES[language][index] ?? '');
      expect(await overflow(page), `${route} ${language}`).toEqual([]);
    }
    const box = await page.getByRole('navigation').first().boundingBox();
    expect(box && box.width > box.height).toBe(width === 390);
  }
});

test('the keyboard reaches everything that matters', async ({ open }) => {
  const page = await open({ at: '#/settings/host' });
  await settled(page, 'Settings');
  // From a fresh start: the chat that was there first had put the focus into its composer.
  await page.reload();
  await settled(page, 'Settings');
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
  await page.keyboard.press('Tab');
  await expect.poll(focused).toBe('Skip to content');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content');
  expect(page.url()).toContain('#/settings/host');

  // Tabs by arrow keys, as the pattern asks; beside their panel they go up and down.
  await page.getByRole('tab', { name: 'Host' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('tab', { name: 'Doctor', selected: true }).waitFor();
  await page.waitForFunction(() => location.hash === '#/settings/doctor');

  // The hub opens by its shortcut and gives the focus back.
  // Not while it checks: a button that is busy takes no focus.
  await page.getByRole('button', { name: 'Check again', disabled: false }).focus();
  await page.keyboard.press('Control+j');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(focused).toBe('Check again');
});

test('the language can be changed on the page and is kept', async ({ open }) => {
  const page = await open({ at: '#/settings/appearance' });
  await page.getByRole('radio', { name: '中文' }).check();
  await page.getByRole('heading', { level: 1, name: '设置' }).waitFor();
  await page.evaluate(() => (location.hash = '#/settings/doctor'));
  await page.getByText('上次检查').waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: '设置' }).waitFor();
});

test('a lost host is announced, and the next one brings the page back where it was', async ({ open }) => {
  const first = await Host.start();
  const page = await open({ host: first, at: '#/settings/host', expectConsole: /401|ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_SOCKET_NOT_CONNECTED|WebSocket/ });
  await settled(page, 'Settings');
  const { port } = first.ready;
  await first.halt();
  await page.locator('[data-banner="connection"]').waitFor();

  const again = await Host.start({ home: first.home, port });
  try {
    // The tokens of the first process are worth nothing to the second (security T1); the browser gets one itself.
    await page.locator('[data-banner="connection"]').waitFor({ state: 'detached' });
    await page.getByText('SQLite').waitFor();
    expect(page.url()).toContain('#/settings/host');
    await page.waitForFunction(() => document.querySelector('[data-connection="open"]') !== null);
  } finally {
    await again.stop();
    await first.stop();
  }
});
