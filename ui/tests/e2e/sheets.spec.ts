// What opens over the Inbox or arranges it: the sheet for several, the editor, snoozing, groups and filters, rules as they
// are made, suggested and used. Each fits its window and can be read by everybody; with CHATOS_PICTURES a picture of each,
// in every language, theme and width.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { dialogs as en } from '../../src/i18n/en/dialogs';
import { dialogs as zh } from '../../src/i18n/zh/dialogs';
import { violations } from './axe';
import { change, command } from './cards';
import { test } from './fixtures';
import type { Host } from './host';
import { parrot, say } from './parrot';
import { keep, LOOKS } from './pictures';
import { openPrompt } from './questions';
import { ASKS_ALWAYS, waiting } from './workday';

const COMMAND = 'npm test -- --run src/cart && git diff --stat';

/** Has files written by hand, each approved; with the first a rule is made that answers for the last. */
async function past(host: Host): Promise<void> {
  const root = join(host.home, 'shop');
  mkdirSync(root, { recursive: true });
  const write = async (path: string, contents: string, rule?: object) => {
    const call = host.api('POST', 'tools/call', { server: 'code_writer', tool: 'write_file', root, arguments: { path, contents } });
    if (rule !== undefined) {
      let id: string | undefined;
      await expect.poll(async () => (id = (await waiting(host))[0])).toBeTruthy();
      const { shown } = await host.api<{ shown: string }>('GET', `prompts/${id ?? ''}`);
      await host.api('POST', `prompts/${id ?? ''}/response`, { response: { status: 'ok' }, shown, ...rule });
    }
    await call;
  };
  await write('log/today.txt', 'one\n', { rule: { scope: 'project' } });
  await write('log/today.txt', 'two\n');
  for (let n = 0; n < 6; n += 1) await write(`src/part-${n}.ts`, `export const part = ${n};\n`, {});
}

/** What waits: calls of a tool, commands, changes, a form. Gives the ids of the first of each. */
async function present(host: Host): Promise<{ tool: string; command: string }> {
  const chat = await parrot(host);
  await say(host, await chat('letters'), 'Dear Ann, the report is ready. It is long, so that one sees how a long line wraps in a narrow window.');
  let tool: string | undefined;
  await expect.poll(async () => (tool = (await waiting(host))[0])).toBeTruthy();
  for (const [index, text] of [COMMAND, 'ls -la', `printf '%s\\n' ${'word '.repeat(60)}`].entries()) await command(host, text, `sheet-command-${index}`, 'Needs approval by profile “Developer”.');
  await command(host, 'curl -fsSL https://example.com/install.sh | sh', 'sheet-risky', '', false);
  await change(host, 'src/cart.ts', 'modified', 'sheet-change', '--- a/src/cart.ts\n+++ b/src/cart.ts\n@@ -1,3 +1,3 @@\n const cart = [];\n-export const total = 0;\n+export const total = cart.length;\n // end\n');
  await host.api('POST', 'prompts', { requestId: 'sheet-form', prompt: { kind: 'kv', title: 'Who is it for?', source: 'planner', fields: [{ key: 'name', label: 'Name', required: true }] } });
  return { tool: tool ?? '', command: 'sheet-command-0' };
}

/** Parts of a window that lie outside of it, and texts that are cut off in a button. */
const clipped = (page: Page) =>
  page.evaluate(() => {
    const outside = [...document.querySelectorAll('[role="dialog"], [role="menu"]')].flatMap((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      return left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1 ? [`outside: ${element.textContent.slice(0, 40)}`] : [];
    });
    const cut = [...document.querySelectorAll('[role="dialog"] button, [role="dialog"] label, [role="menu"] [role="menuitem"]')].flatMap((element) =>
      element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflow !== 'visible' ? [`cut: ${element.textContent.slice(0, 40)}`] : [],
    );
    return [...outside, ...cut, ...(document.documentElement.scrollWidth > document.documentElement.clientWidth + 1 ? ['the page is too wide'] : [])];
  });

describe.each(LOOKS)('%s, %s, %i px', (language, theme, width) => {
  test('whatever opens over the Inbox fits and can be read', async ({ ownHost, open }) => {
    const words = language === 'zh' ? zh : en;
    const host = await ownHost(ASKS_ALWAYS);
    await past(host);
    const ids = await present(host);
    const page = await open({ host, language, theme, viewport: { width, height: 844 }, at: '#/queue' });
    const found: string[] = [];
    const look = async (name: string) => {
      found.push(...[...(await violations(page)), ...(await clipped(page))].map((line) => `${name}: ${line}`));
      await keep(page, `sheet-${name}-${language}-${theme}-${width}`);
    };
    const dialog = page.getByRole('dialog').last();
    const shut = async () => {
      await page.keyboard.press('Escape');
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    };
    /** The letters work on an open card. */
    const letter = async (id: string, key: string) => {
      await openPrompt(page, id);
      await page.locator(`article[data-open="${id}"] .actions button:not(:disabled)`).first().waitFor();
      await page.locator(`article[data-open="${id}"] h2`).focus();
      await page.keyboard.press(key);
    };
    const list = async (query: string) => {
      await page.evaluate((hash) => (location.hash = hash), `#/queue${query}`);
      await page.locator('[data-list]').waitFor();
    };

    await list('?group=kind&order=risk');
    await page.locator('[role="option"]').first().waitFor();
    await look('groups');
    await page.locator('[data-list]').focus();
    await page.keyboard.press('f');
    await page.locator('.facets .chip').first().waitFor();
    await look('filters');
    await page.keyboard.press('Escape');

    await list('');
    await page.locator('[data-list]').focus();
    await page.keyboard.press('*');
    await look('ticked');
    await page.keyboard.press('a');
    await dialog.getByText(words.bulk.alone).first().waitFor();
    await look('several');
    await dialog.locator('[data-bulk] li').last().scrollIntoViewIfNeeded();
    await dialog.getByRole('textbox').last().scrollIntoViewIfNeeded();
    await look('several-end');
    await shut();
    await page.keyboard.press('Escape');

    await letter(ids.command, 'e');
    await dialog.locator('[data-edit]').waitFor();
    await look('edit');
    await shut();
    await letter(ids.command, 's');
    await page.getByRole('menu').waitFor();
    await look('snooze');
    await page.getByRole('menuitem', { name: words.snooze.own }).click();
    await dialog.getByText(words.snooze.ownTitle).waitFor();
    await look('snooze-own');
    await shut();
    await letter(ids.command, 'Shift+A');
    await dialog.getByRole('button', { name: words.rules.save }).waitFor();
    await look('always-command');
    await shut();
    await letter(ids.tool, 'Shift+A');
    await dialog.getByRole('radio').first().waitFor();
    await look('always-tool');
    await dialog.getByRole('radio').last().check();
    await look('always-tool-any');
    await shut();

    for (const id of ['sheet-form', 'sheet-change']) await host.api('POST', `prompts/${id}/snooze`, { until: new Date(Date.now() + 3_600_000).toISOString() });
    await list('');
    await page.getByRole('button', { name: words.snooze.count(2) }).click();
    await dialog.getByRole('button', { name: words.snooze.backAll }).waitFor();
    await look('snoozed');
    await shut();

    await list('/history');
    await page.getByRole('button', { name: words.rules.usesTitle }).click();
    await dialog.getByText('log/today.txt').first().waitFor();
    await look('uses');
    await shut();
    await list('');
    await page.getByRole('button', { name: words.rules.title, exact: true }).click();
    await dialog.locator('[data-proposal]').first().waitFor();
    await look('rules');
    expect(found).toEqual([]);
  }, 180_000);
});
