// Code and differences as people read them: colours of code blocks, two texts compared, a patch to approve. All with
// the page's own policy, which refuses inline styles; a refused one is a console error and fails the test.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';
import { RESULTS } from './programs';
import { openPrompt } from './questions';

const SAID = `Two ways to say it:

\`\`\`rust
/// Says hello to \`name\`.
fn greet(name: &str) -> String {
    let times = 0x1F; // a number
    format!("hello, {name} {times}")
}
\`\`\`

\`\`\`python
def greet(name: str) -> str:
    """Say hello."""
    return f"hello, {name}"  # <b>not bold</b>
\`\`\`

\`\`\`json
{"name": "greet", "times": 31, "loud": true}
\`\`\`

\`\`\`nobody-knows
<img src=x onerror=alert(1)>
\`\`\`
`;

const lines = (count: number, of: (at: number) => string) => Array.from({ length: count }, (_, at) => `${of(at + 1)}\n`).join('');

/** A chat in which the model has said code and changed a file. */
async function workedOn(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: /^(Message|消息)$/ }).fill('Show me');
  await page.keyboard.press('Enter');
  await page.locator('.code-block').nth(3).waitFor();
  await expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);
  await page.getByRole('textbox', { name: /^(Message|消息)$/ }).fill('Edit it');
  await page.keyboard.press('Enter');
  await page.locator('[data-tool="edit_file"][data-state="ok"]').waitFor();
  await expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);
}

async function chatOn(host: Host): Promise<string> {
  await host.api('PUT', 'settings/confirmFileChanges', { value: false });
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  const edit = { path: 'poem.txt', old_string: 'roses are red\nviolets are blue\nand so on', new_string: 'roses are red\nviolets are violet\nand so on\nto the end' };
  models.decide = (body) => {
    const { role, text } = lastOf(body);
    if (role === 'tool') return { text: 'It is done.' };
    return text.includes('Edit it') ? { call: { tool: 'edit_file', args: edit } } : { text: SAID };
  };
  writeFileSync(join(host.home, 'poem.txt'), 'roses are red\nviolets are blue\nand so on\n');
  const model = await host.api<{ id: string }>('POST', 'models', { name: `Coder ${models.baseUrl}`, provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: `Coder ${models.baseUrl}`, mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
  const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Code', modelId: model.id, agentId: agent.id });
  return id;
}

/** A file of two hundred lines of which the 100th was changed, with something hidden in it; the change's id. */
async function changed(host: Host): Promise<string> {
  await host.api('PUT', 'settings/confirmFileChanges', { value: false });
  mkdirSync(join(host.home, 'src'), { recursive: true });
  writeFileSync(join(host.home, 'src/long.txt'), lines(200, (at) => `line ${at} of the file`));
  await host.api('POST', 'tools/code_maintainer/edit_file/call', { arguments: { path: 'src/long.txt', old_string: 'line 100 of the file', new_string: 'line 100 of the\u202e file, changed' } });
  const { changes } = await host.api<{ changes: { id: string }[] }>('GET', 'changes?limit=1');
  return changes[0]?.id ?? '';
}

const styleOf = (locator: Locator, name: string) => locator.evaluate((element, key) => getComputedStyle(element).getPropertyValue(key), name);
const token = (page: Page, name: string) =>
  page.evaluate((key) => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = `var(${key})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }, name);

describe('code in a chat', () => {
  test('has the colours of its language, follows the theme, and stays text', async ({ host, open }) => {
    const page = await open({ at: `#/chat/${await chatOn(host)}` });
    await workedOn(page);
    const blocks = page.locator('.code-block');
    await blocks.nth(0).locator('.c-keyword', { hasText: /^fn/ }).waitFor();
    await blocks.nth(0).locator('.c-title', { hasText: /^greet/ }).first().waitFor();
    await blocks.nth(0).locator('.c-comment', { hasText: '// a number' }).waitFor();
    await blocks.nth(1).locator('.c-comment', { hasText: '# <b>not bold</b>' }).waitFor();
    await blocks.nth(2).locator('.c-attr', { hasText: '"name"' }).first().waitFor();
    // A word of one language is none of another, and what has no grammar has no colours.
    expect(await blocks.nth(3).locator('span[class^="c-"]').count()).toBe(0);
    expect(await page.locator('.code-block img, .code-block b').count()).toBe(0);
    expect(await blocks.nth(1).locator('code').textContent()).toContain('return f"hello, {name}"  # <b>not bold</b>\n');

    const word = blocks.nth(0).locator('.c-keyword').first();
    const light = await styleOf(word, 'color');
    expect(light).toBe(await token(page, '--ds-code-keyword'));
    await page.evaluate(() => (document.documentElement.dataset['theme'] = 'dark'));
    await expect.poll(() => styleOf(word, 'color')).toBe(await token(page, '--ds-code-keyword'));
    expect(await styleOf(word, 'color')).not.toBe(light);
  });

  test('has colours while it is written, and loses nothing when it grows', async ({ host, open }) => {
    const code = lines(40, (at) => `fn number_${at}() -> u32 { ${at} } // <${at}>`);
    const models = await ModelServer.start('');
    onTestFinished(() => models.stop());
    let goOn = () => {};
    const more = new Promise<void>((resolve) => (goOn = resolve));
    models.decide = () => ({ pieces: ['Here it is:\n\n```rust\n', ...(code.match(/[^]{1,37}/g) ?? [])], more, text: 'fn last() {}\n```\n\nThat is all.' });
    const model = await host.api<{ id: string }>('POST', 'models', { name: `Writer ${models.baseUrl}`, provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
    const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Growing', modelId: model.id });
    const page = await open({ at: `#/chat/${id}` });
    await page.getByRole('textbox', { name: 'Message' }).fill('Write');
    await page.keyboard.press('Enter');
    const block = page.locator('.code-block code');
    await expect.poll(() => block.locator('.c-keyword', { hasText: /^fn/ }).count()).toBe(40);
    await block.locator('.c-comment', { hasText: '// <40>' }).waitFor();
    expect(await page.locator('[data-run-state]').count()).toBeGreaterThan(0);
    expect(await block.textContent()).toBe(code);
    goOn();
    await page.getByText('That is all.').waitFor();
    await expect.poll(() => block.locator('.c-keyword', { hasText: /^fn/ }).count()).toBe(41);
    expect(await block.textContent()).toBe(`${code}fn last() {}\n`);
  });
});

describe('two texts compared', () => {
  test('in a tool card: what went and what came, in one column and side by side', async ({ host, open }) => {
    const page = await open({ at: `#/chat/${await chatOn(host)}` });
    await workedOn(page);
    const card = page.locator('[data-tool="edit_file"]');
    await card.getByRole('button').first().click();
    const box = card.locator('[data-merge="unified"]');
    await box.waitFor();
    await expect.poll(() => box.locator('.cm-deletedLine').allTextContents()).toEqual(['violets are blue']);
    await expect.poll(() => box.locator('.cm-changedLine').allTextContents()).toEqual(['violets are violet', 'to the end']);
    expect(await card.locator('.counts').innerText()).toMatch(/\+2\s+−1/);
    // Its styles are there: they came without a style element, which the page would refuse.
    expect(await styleOf(box.locator('.cm-changedLine').first(), 'background-color')).not.toBe('rgba(0, 0, 0, 0)');
    expect(await page.locator('style').count()).toBe(0);

    await card.getByRole('button', { name: 'Side by side' }).click();
    const split = card.locator('[data-merge="split"]');
    await expect.poll(() => split.locator('.cm-merge-a .cm-changedLine').allTextContents()).toEqual(['violets are blue']);
    await expect.poll(() => split.locator('.cm-merge-b .cm-changedLine').allTextContents()).toEqual(['violets are violet', 'to the end']);
    await card.getByRole('button', { name: 'Unified' }).click();
    await box.waitFor();
  });

  test('on the Changes page: the complete contents, with what is hidden in them', async ({ host, open }) => {
    const page = await open({ at: `#/changes/${await changed(host)}` });
    await page.locator('[data-change-view] .added').first().waitFor();
    await page.getByRole('button', { name: 'Compare full contents' }).click();
    const complete = page.locator('[data-complete="text"]');
    const box = complete.getByRole('region', { name: 'Full contents' });
    await box.getByText('line 1 of the file', { exact: true }).waitFor();
    await complete.getByRole('button', { name: 'Changes only' }).click();
    await box.getByText('96 unchanged lines').waitFor();
    await box.locator('.stand-in', { hasText: '⟨U+202E⟩' }).waitFor();
    await expect.poll(() => box.locator('.cm-deletedLine').allTextContents()).toEqual(['line 100 of the file']);
    // To read, not to write; and reached by the keyboard.
    const content = box.locator('.cm-content');
    expect(await content.getAttribute('contenteditable')).toBe('false');
    await content.focus();
    await page.keyboard.type('x');
    expect(await box.locator('.cm-changedLine').textContent()).toBe('line 100 of the⟨U+202E⟩ file, changed');
  });
});

/** Kept for people: whether it looks finished is not for a test to say. */
const shot = async (page: Page, name: string) => {
  mkdirSync(`${RESULTS}/code`, { recursive: true });
  await page.screenshot({ path: `${RESULTS}/code/${name}.png` });
};

describe.each([
  ['en', 'light', 1440],
  ['zh', 'dark', 1440],
  ['zh', 'light', 1024],
  ['en', 'dark', 1024],
  ['en', 'light', 400],
  ['zh', 'dark', 400],
] as const)('%s, %s, %i px', (language, theme, width) => {
  test('code, differences and approvals are accessible and have room', async ({ ownHost, open }) => {
    const host = await ownHost();
    const name = (what: string) => `${what}-${language}-${theme}-${width}`;
    const page = await open({ host, at: `#/chat/${await chatOn(host)}`, language, theme, viewport: { width, height: 900 }, bypassCSP: true });
    const found: string[] = [];
    const look = async (what: string) => {
      found.push(...(await violations(page)).map((line) => `${what}: ${line}`));
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), what).toBe(true);
      await shot(page, name(what));
    };
    await workedOn(page);
    await page.locator('.code-block .c-keyword').first().waitFor();
    await page.locator('.code-block').first().scrollIntoViewIfNeeded();
    await look('code');
    await page.locator('[data-tool="edit_file"]').getByRole('button').first().click();
    await page.locator('[data-tool="edit_file"] [data-merge="unified"] .cm-changedLine').first().waitFor();
    await page.locator('[data-tool="edit_file"]').scrollIntoViewIfNeeded();
    await look('card');

    const id = await changed(host);
    await page.evaluate((to) => (location.hash = `#/changes/${to}`), id);
    await page.locator('[data-complete] button').click();
    const box = page.locator('[data-complete="text"]');
    await box.locator('.cm-line').first().waitFor();
    await box.getByRole('button', { name: /^(Changes only|仅看改动)$/ }).click();
    await box.locator('.cm-changedLine').waitFor();
    await box.scrollIntoViewIfNeeded();
    await look('changes');
    const split = box.getByRole('button', { name: /^(Side by side|左右对照)$/ });
    if ((await split.count()) > 0) {
      await split.click();
      await box.locator('.cm-merge-a .cm-changedLine').waitFor();
      await look('changes-split');
    }

    await host.api('PUT', 'settings/confirmFileChanges', { value: true });
    const done = host.api('POST', 'tools/code_maintainer/edit_file/call', { arguments: { path: 'poem.txt', old_string: 'roses', new_string: 'tulips' } });
    const waiting = async () => (await host.api<{ items: { requestId: string }[] }>('GET', 'prompts?view=needs_you')).items[0]?.requestId ?? '';
    await expect.poll(waiting).not.toBe('');
    const requestId = await waiting();
    await openPrompt(page, requestId);
    await page.locator('.patch .added').first().waitFor();
    await look('approval');
    await host.api('POST', `prompts/${requestId}/response`, { response: { status: 'canceled' } });
    await done;
    expect(found).toEqual([]);
  });
});
