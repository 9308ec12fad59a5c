// What every browser test gets: a Chromium, a host, and pages that are watched for console errors.
// When a test fails, a screenshot of each of its pages stays in test-results/; with CHATOS_TRACE=1 also a trace of
// every step.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { test as base } from 'vitest';
import { Host, type HostOptions } from './host';
import { chromiumBinary, RESULTS } from './programs';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Parts of the browser that are off. Chromium reads the last list only, so the first lines are those the tool itself
    turns off; the last line saves two hidden pages of the address bar per window. */
const FEATURES_OFF = [
  'AvoidCorsURLLoaderRestartOnRedirect', 'AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades', 'MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding', 'PreconnectToSearch', 'ThirdPartyStoragePartitioning',
  'AimEnabled', 'LensOverlay', 'WebUIOmniboxAimPopup', 'WebUIOmniboxPopup',
];

const flagsOf = (flags: string[] = [], featuresOff: string[] = []): string[] => [...FLAGS, ...flags, `--disable-features=${[...FEATURES_OFF, ...featuresOff].join()}`];

/** The tool would let every page open windows by itself; a person's browser does not. */
const OMITTED = ['--disable-popup-blocking'];

/** What Chromium says of pages that are as they should be: of two features it has not on every system, once per frame
    (inbox §8.2, L5), and of the one request that is tried to see whether it is refused (L1). */
const USUAL = /Unrecognized feature: '(bluetooth|attribution-reporting)'|ERR_NETWORK_ACCESS_REVOKED.*\/plugin-frame\/probe\/__chatos\/seen/;

/** Refused before anything is sent: by a policy, or because the page went away. */
const REFUSED = /^csp$|ERR_BLOCKED_BY|ERR_ABORTED|ERR_NETWORK_ACCESS_REVOKED|ERR_ACCESS_DENIED|ERR_UNKNOWN_URL_SCHEME/;

/** An address of this computer, or one that is no address of a computer. */
function atHome(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return !/^(https?|wss?):$/.test(protocol) || /^(127\.|\[::1\]$|localhost$)|\.localhost$/.test(hostname);
}

const TRACED = process.env.CHATOS_TRACE === '1';

export interface OpenOptions extends BrowserContextOptions {
  language?: 'zh' | 'en';
  theme?: 'light' | 'dark';
  /** Console messages that the test provokes on purpose. */
  expectConsole?: RegExp;
  /** Addresses elsewhere that the test lets its page try on purpose. */
  expectOutside?: RegExp;
  /** Where to go after signing in; false to stay signed out. */
  at?: string | false;
  /** Another host than the file's own. */
  host?: Host;
  /** An ordinary profile instead of a private one: Chromium lets frames of other origins store things only there. */
  lasting?: boolean;
  /** More flags of the browser, with `lasting` only: it is started for this page. */
  flags?: string[];
  /** More parts of the browser to turn off, with `lasting` only. */
  featuresOff?: string[];
}

interface Fixtures {
  browser: Browser;
  /** The host of the file. */
  shared: Host;
  /** The host of the file; at a second try one of its own, because the first one left things behind. */
  host: Host;
  /** Starts a host for this test alone. It outlives the test's pages, which would complain of its end. */
  ownHost: (options?: HostOptions) => Promise<Host>;
  /** Opens a page in a browser profile of its own, signed in unless `at` is false. */
  open: (options?: OpenOptions) => Promise<Page>;
}

export const test = base.extend<Fixtures>({
  browser: [
    // eslint-disable-next-line no-empty-pattern -- vitest reads the fixture's needs from this pattern
    async ({}, use) => {
      const browser = await chromium.launch({ executablePath: chromiumBinary(), args: flagsOf(), ignoreDefaultArgs: OMITTED });
      await use(browser);
      await browser.close();
    },
    { scope: 'file' },
  ],

  shared: [
    // eslint-disable-next-line no-empty-pattern -- as above
    async ({}, use) => {
      const host = await Host.start();
      await use(host);
      await host.stop();
    },
    { scope: 'file' },
  ],

  host: async ({ shared, task }, use) => {
    if ((task.result?.retryCount ?? 0) === 0) return use(shared);
    const host = await Host.start();
    await use(host);
    await host.stop();
  },

  // eslint-disable-next-line no-empty-pattern -- as above
  ownHost: async ({}, use) => {
    const hosts: Host[] = [];
    await use(async (options = {}) => {
      const host = await Host.start(options);
      hosts.push(host);
      return host;
    });
    // The last first: it may live in the home of another.
    for (const host of hosts.reverse()) await host.stop();
  },

  // `ownHost` is named only to be taken down after the pages.
  open: async ({ browser, host, ownHost: _, task, onTestFinished }, use) => {
    const contexts: BrowserContext[] = [];
    const problems: string[] = [];
    // Said after everything was taken down: who throws on the way keeps the rest from it, and a second try from
    // beginning anew.
    onTestFinished(() => {
      if (task.result?.state !== 'fail' && problems.length > 0) throw new Error(`the browser console was not quiet:\n${problems.join('\n')}`);
    });
    await use(async (options = {}) => {
      const { language = 'en', theme = 'light', expectConsole, expectOutside, at = '#/', host: other, lasting = false, flags, featuresOff, ...rest } = options;
      const settings: BrowserContextOptions = {
        viewport: { width: 1440, height: 900 },
        locale: language === 'zh' ? 'zh-CN' : 'en-US',
        colorScheme: theme,
        ...rest,
      };
      const context = lasting
        ? await chromium.launchPersistentContext(join((other ?? host).home, `profile-${task.id}-${contexts.length}`), { executablePath: chromiumBinary(), args: flagsOf(flags, featuresOff), ignoreDefaultArgs: OMITTED, ...settings })
        : await browser.newContext(settings);
      contexts.push(context);
      // A copy of the page before and after every step costs as much as the steps themselves.
      if (TRACED) await context.tracing.start({ screenshots: true, snapshots: true });
      const page = await context.newPage();
      const note = (text: string) => {
        if (!USUAL.test(text) && !expectConsole?.test(text)) problems.push(text);
      };
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') note(`${message.text()} (${message.location().url})`);
      });
      page.on('pageerror', (error) => note(error.message));
      // Nothing leaves this computer, whatever a test does. What the browser itself refuses did not leave.
      const left = (url: string) => {
        if (!atHome(url) && !expectOutside?.test(url)) problems.push(`a request left this computer: ${url}`);
      };
      context.on('response', (response) => left(response.url()));
      context.on('requestfailed', (request) => {
        if (!REFUSED.test(request.failure()?.errorText ?? '')) left(request.url());
      });
      page.on('websocket', (socket) => left(socket.url()));
      if (at === false) return page;
      await signIn(page, other ?? host);
      await page.evaluate((hash) => (location.hash = hash), at);
      return page;
    });
    const failed = task.result?.state === 'fail';
    const name = (task.result?.retryCount ?? 0) > 0 ? `${task.name}-second-try` : task.name;
    for (const [index, context] of contexts.entries()) await close(context, failed ? `${name}-${index + 1}` : null);
  },
});

/** Opens a fresh one-time link and waits for the shell. */
export async function signIn(page: Page, host: Host): Promise<void> {
  await page.goto(await host.signInLink());
  await page.getByRole('navigation').first().waitFor();
}

async function close(context: BrowserContext, keepAs: string | null): Promise<void> {
  if (keepAs !== null) {
    const name = keepAs.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 100);
    mkdirSync(RESULTS, { recursive: true });
    for (const [index, page] of context.pages().entries()) {
      const shot = page.screenshot({ path: `${RESULTS}/${name}-page${index + 1}.png`, fullPage: true, timeout: 10_000 });
      // A page that cannot be drawn any more must not keep the others, and the host, from being taken down.
      await shot.catch((error: unknown) => console.log(`no screenshot of ${name}: ${String(error)}`));
    }
    if (TRACED) await context.tracing.stop({ path: `${RESULTS}/${name}.zip` });
  }
  await context.close();
}
