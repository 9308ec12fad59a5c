// Every kind in both languages and themes and at three widths: accessible, and nothing overflows.

import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { ask, openPrompt } from './questions';

const ADDRESS = 'https://login.example.com/authorize?client_id=abc&state=xyz';
const KINDS: Record<string, Record<string, unknown>> = {
  kv: { kind: 'kv', title: '需要你补充信息', message: '**说明** `code` [link](https://example.com)', fields: [{ key: 'a', label: '姓名', description: '用于署名', required: true }, { key: 'b', label: 'Notes', multiline: true }, { key: 'c', label: 'PIN', secret: true }] },
  choice: { kind: 'choice', title: 'Which one?', options: [{ value: 'a', label: 'Alpha', description: 'first' }, { value: 'b' }], chain: { id: 'c', step: 2, of: 4 }, timeoutMs: 600_000 },
  multiple: { kind: 'choice', multiple: true, maxSelections: 2, options: Array.from({ length: 12 }, (_, index) => ({ value: `o${index}`, label: `Option ${index}` })) },
  tasks: { kind: 'task_confirm', tasks: [{ draftId: '1', title: '写文档', details: '补齐协议', tags: ['docs'] }, { draftId: '2', title: 'x'.repeat(300) }] },
  file: { kind: 'file_change_confirm', path: `src/${'very-long-name-'.repeat(20)}.ts`, command: 'make', cwd: '/tmp', diff: '--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new' },
  url: { kind: 'choice', url: ADDRESS, message: `Sign in on this page.\n\nHost: **login.example.com**\n\n\`${ADDRESS}\``, options: [{ value: 'open' }, { value: 'decline' }] },
  elicitation: { kind: 'kv', fields: [{ key: 'n' }, { key: 'd' }, { key: 's' }, { key: 'e' }], requestedSchema: { type: 'object', properties: { n: { type: 'integer' }, d: { type: 'string', format: 'date' }, s: { type: 'boolean' }, e: { type: 'array', items: { enum: ['a', 'b'] } } } } },
};

async function askAll(host: Host): Promise<string[]> {
  const ids = [];
  for (const [name, prompt] of Object.entries(KINDS)) ids.push(await ask(host, { source: 'test', ...prompt }, `looks-${name}-${Math.random()}`));
  return ids;
}

async function overflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wide = (element: Element | null, name: string) => (element && element.scrollWidth > element.clientWidth + 1 ? [name] : []);
    const meets = (one: Element, other: Element | null) => {
      const [a, b] = [one.getBoundingClientRect(), other?.getBoundingClientRect()];
      return b !== undefined && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    };
    return [
      ...wide(document.documentElement, 'the document'),
      ...wide(document.querySelector('main'), 'the page'),
      ...wide(document.querySelector('article .content'), 'the prompt'),
      ...wide(document.querySelector('article header'), 'the header'),
      ...[...document.querySelectorAll('article .actions button')].filter((button) => meets(button, document.querySelector('.hub'))).map((button) => `under the smile: ${button.textContent.trim()}`),
    ];
  });
}

describe.each([
  ['zh', 'light'],
  ['zh', 'dark'],
  ['en', 'light'],
  ['en', 'dark'],
] as const)('%s, %s', (language, theme) => {
  test('every kind is accessible, on the page and in the hub', async ({ host, open }) => {
    const ids = await askAll(host);
    const page = await open({ language, theme, bypassCSP: true });
    const found: string[] = [];
    for (const id of ids) {
      await openPrompt(page, id);
      found.push(...(await violations(page)).map((line) => `${id}: ${line}`));
    }
    for (const list of ['results', 'history']) {
      await page.evaluate((hash) => (location.hash = hash), `#/queue/${list}`);
      await page.waitForFunction(() => document.querySelector('.skeleton') === null);
      found.push(...(await violations(page)).map((line) => `${list}: ${line}`));
    }
    await page.evaluate(() => (location.hash = '#/settings'));
    await page.keyboard.press('Control+j');
    await page.locator('[data-hub] article[data-ready="true"]').waitFor();
    found.push(...(await violations(page)).map((line) => `hub: ${line}`));
    expect(found).toEqual([]);
  });
});

test.for([1440, 1024, 390])('%i px: every kind has room', async (width, { host, open }) => {
  const ids = await askAll(host);
  const page = await open({ viewport: { width, height: 844 } });
  for (const id of ids) {
    await openPrompt(page, id);
    expect(await overflow(page), id).toEqual([]);
    // The text of the question has the address too; it is drawn once.
    if (id.startsWith('looks-url')) expect((await page.locator('article .content').innerText()).split('authorize?client_id').length).toBe(2);
  }
  await page.evaluate(() => (location.hash = '#/settings'));
  await page.keyboard.press('Control+j');
  const hub = page.getByRole('dialog');
  await hub.locator('[data-prompt]').first().waitFor();
  // The width by layout: while the drawer slides in, its box on screen is a fraction off.
  const drawn = await hub.evaluate((panel) => (panel as HTMLElement).offsetWidth);
  // Full screen on a phone, never wider than 1100 px (ui-prompts §13).
  expect(drawn === 390).toBe(width === 390);
  expect(drawn).toBeLessThanOrEqual(1_100);
});
