// Signing in to a server that wants it, in the browser a person uses: from the server's page to the website
// where one signs in and back (issue 6). The website is a real authorization server in Node.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test as base } from './fixtures';

const SCRIPT = fileURLToPath(new URL('../../../crates/chatos-cli/tests/servers/sign-in.mjs', import.meta.url));
const field = (name: string) => new RegExp(`^${name}( ?\\*)?$`);
const opened = (page: Page, phase: string) => page.locator(`[data-server-open][data-phase="${phase}"]`);

interface Website {
  url: string;
  log: () => Promise<{ refreshes: number; revoked: string[]; given: string[] }>;
  control: (wanted: Record<string, unknown>) => Promise<unknown>;
}

const test = base.extend<{ website: Website }>({
  // eslint-disable-next-line no-empty-pattern -- vitest reads the fixture's needs from this pattern
  website: async ({}, use) => {
    const child: ChildProcess = spawn(process.execPath, [SCRIPT], { stdio: ['ignore', 'pipe', 'inherit'] });
    const { stdout } = child;
    if (!stdout) throw new Error('no output');
    const line = await new Promise<string>((resolve) => createInterface({ input: stdout }).once('line', resolve));
    const url = `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`;
    await use({
      url,
      log: async () => (await fetch(`${url}/log`)).json() as ReturnType<Website['log']>,
      control: async (wanted) => (await fetch(`${url}/control`, { method: 'POST', body: JSON.stringify(wanted) })).json(),
    });
    child.kill();
  },
});

/** Goes through the dialog to the website and says yes or no there; gives the tab it ends in. */
async function visit(page: Page, decision: 'Allow' | 'Deny', begin: RegExp = /^Sign in…$/): Promise<Page> {
  await page.getByRole('button', { name: begin }).first().click();
  await page.locator('[data-sign-in="begun"]').waitFor();
  const tab = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'Open website' }).click();
  const website = await tab;
  await website.getByRole('heading', { name: 'Example login' }).waitFor();
  await website.getByRole('link', { name: decision }).click();
  return website;
}

describe('a server that wants a sign-in', () => {
  test('is signed in to on its website, renewed unseen, given more rights, and signed out of', async ({ open, website }) => {
    const page = await open({ at: '#/settings/servers/new', expectConsole: /status of 403/, bypassCSP: true });
    await page.getByLabel(field('Name')).fill('notes');
    await page.getByRole('radio', { name: /^An address/ }).click();
    await page.getByLabel(field('Address')).fill(`${website.url}/mcp`);
    await page.getByText('Allow local network').click();
    await page.getByRole('button', { name: 'Add and connect' }).click();
    await opened(page, 'sign_in').waitFor();
    await page.getByText('Sign in to use this server.').waitFor();

    // A no is said with what to do, and changes nothing.
    const refused = await visit(page, 'Deny');
    await refused.getByRole('heading', { name: 'The sign-in was refused' }).waitFor();
    await refused.close();
    await page.locator('[data-sign-in-state="needed"]').getByText('access_denied').waitFor();

    await page.getByRole('button', { name: /^Sign in…$/ }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('notes.read', { exact: true }).waitFor();
    await dialog.getByText(website.url.replace('http://', '')).first().waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const done = await visit(page, 'Allow', /^Sign in (again)?…?/);
    await done.getByRole('heading', { name: 'You are signed in' }).waitFor();
    expect(await violations(done)).toEqual([]);
    await done.close();
    await opened(page, 'ready').waitFor();
    await page.locator('[data-sign-in-state="signed_in"]').getByText('renews automatically').waitFor();
    expect(await violations(page)).toEqual([]);

    // What was given ends; the next call renews it and nobody notices.
    await website.control({ expire: true });
    await page.getByRole('tab', { name: /Tools/ }).last().click();
    await page.locator('[data-tool="notes/read"]').click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('section[data-status="ok"]').getByText('read done').first().waitFor();
    expect((await website.log()).refreshes).toBe(1);

    // A tool that needs more says so where one looks.
    await page.getByRole('link', { name: 'All tools of this server' }).click();
    await page.locator('[data-tool="notes/write"]').click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('section[data-status]').getByRole('alert').first().waitFor();
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByText('it needs more permissions: notes.write').waitFor();
    const more = await visit(page, 'Allow', /^Sign in again…$/);
    await more.getByRole('heading', { name: 'You are signed in' }).waitFor();
    await more.close();
    await page.locator('[data-sign-in-state="signed_in"]').getByText('notes.read notes.write').waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: 'Sign out' }).click();
    await opened(page, 'sign_in').waitFor();
    // The other side is told beside that, and may hear it later.
    await expect.poll(async () => (await website.log()).revoked.length).toBeGreaterThan(0);
    const log = await website.log();
    const seen = await page.content();
    for (const secret of log.given) expect(seen).not.toContain(secret);
  });
});
