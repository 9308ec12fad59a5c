// `/` and `@` in the composer: one list by keyboard, own commands, prompts of a server with a form, files of the
// workspace, and what is not sent.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';
import { keep } from './pictures';

const GUIDE = join(import.meta.dirname, '../../../crates/chatos-cli/tests/runs/prompts.cjs');

/** A chat of an agent that works in a folder and may use a server with prompts. */
async function chatWithPrompts(host: Host): Promise<{ id: string; asked: () => string }> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  let asked = '';
  models.decide = (body) => {
    asked = lastOf(body).text;
    return { text: 'Understood.' };
  };
  const work = join(host.home, 'work');
  mkdirSync(join(work, 'src'), { recursive: true });
  writeFileSync(join(work, 'src/main.rs'), 'fn main() {}\n');
  writeFileSync(join(work, 'src/menu.rs'), 'menu\n');
  writeFileSync(join(work, 'README.md'), '# Read me\n');
  const commands = join(host.home, 'state/commands');
  mkdirSync(join(commands, 'git'), { recursive: true });
  writeFileSync(join(commands, 'look.md'), '---\ndescription: Look at a file and say what is wrong\nargument-hint: [file]\n---\nLook at $1 closely.\n');
  writeFileSync(join(commands, 'git/message.md'), '---\ndescription: Write the message of a commit\n---\nFor !`git diff`: write a message.');
  const model = await host.api<{ id: string }>('POST', 'models', { name: `Scripted ${models.baseUrl}`, provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const server = await host.api<{ id: string }>('POST', 'mcp-servers', { name: `guide`, argv: [process.execPath, GUIDE] });
  const land = await host.api<{ id: string }>('POST', 'land-configs', { name: 'guided', main: { mcpServers: [{ id: server.id }] }, sub: {} });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Guided', mode: 'flow', landConfigId: land.id, workspaceRoot: work });
  const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Commands', agentId: agent.id, modelId: model.id });
  return { id, asked: () => asked };
}

const box = (page: Page) => page.locator('[data-composer] textarea');
const options = (page: Page) => page.getByRole('option');
const chosen = (page: Page) => page.getByRole('option', { selected: true });

/** The entry that somebody who listens is told of. */
const told = (page: Page) => box(page).evaluate((area) => document.getElementById(area.getAttribute('aria-activedescendant') ?? '')?.textContent ?? '');

describe('/ and @', () => {
  test('one list by keyboard: commands of the chat, own ones, prompts with a form; files behind @', async ({ ownHost, open }) => {
    const host = await ownHost();
    const { id, asked } = await chatWithPrompts(host);
    const page = await open({ host, at: `#/chat/${id}`, bypassCSP: true, expectConsole: /status of (404|422)/ });
    const replies = page.locator('[data-row="assistant"]');
    await box(page).focus();
    await page.keyboard.type('/');
    await page.getByRole('listbox', { name: 'Commands' }).waitFor();
    await options(page).filter({ hasText: '/compact' }).waitFor();
    await options(page).filter({ hasText: '/review language=… [depth=…]' }).waitFor();
    expect(await options(page).filter({ hasText: '/quit' }).count()).toBe(0);
    expect(await options(page).first().innerText()).toContain('/git:message');
    await keep(page, 'commands-list');
    expect(await violations(page)).toEqual([]);

    // Typing filters, arrows move, Escape closes, and what was typed stays.
    await page.keyboard.type('look');
    await expect.poll(() => options(page).count()).toBe(1);
    await expect.poll(() => told(page)).toContain('/look');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('listbox').count()).toBe(0);
    expect(await box(page).inputValue()).toBe('/look');
    await page.keyboard.press('Backspace');
    await chosen(page).filter({ hasText: '/look' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await box(page).inputValue()).toBe('/look ');
    await page.locator('[data-command-hint]').getByText('[file]').waitFor();

    // A file behind @: found by letters, chosen with Enter, read when it is sent.
    await page.keyboard.type('@smain');
    await page.getByRole('listbox', { name: 'Files and resources' }).waitFor();
    await chosen(page).filter({ hasText: '@src/main.rs' }).waitFor();
    await keep(page, 'commands-files');
    await page.keyboard.press('Enter');
    expect(await box(page).inputValue()).toBe('/look @src/main.rs ');
    await page.keyboard.press('Enter');
    await replies.getByText('Understood.').first().waitFor();
    expect(asked()).toContain('Look at @src/main.rs closely.');
    expect(asked()).toContain('fn main() {}');
    await page.locator('[data-row="user"]').getByText('src/main.rs').last().waitFor();

    // A prompt with arguments asks for them; the server suggests, and nothing goes out without what it needs.
    await page.keyboard.type('/rev');
    await chosen(page).filter({ hasText: '/review' }).waitFor();
    await page.keyboard.press('Enter');
    const form = page.getByRole('form', { name: 'Arguments of /review' });
    const language = form.getByLabel('language');
    await language.waitFor();
    expect(await form.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await language.fill('p');
    await expect.poll(() => form.locator('datalist option').evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value))).toEqual(['python', 'perl']);
    await keep(page, 'commands-form');
    expect(await violations(page)).toEqual([]);
    await language.fill('rust');
    await page.keyboard.press('Enter');
    await expect.poll(() => replies.getByText('Understood.').count()).toBe(2);
    expect(asked()).toContain('Review rust at depth any:');
    expect(asked()).toContain('[file:///style.md, from guide]');
    await page.getByText('one part of this prompt is not text').waitFor();
    await expect.poll(() => form.count()).toBe(0);

    // What nobody knows is not sent; // sends it as text.
    await box(page).fill('/lok at it');
    await page.keyboard.press('Enter');
    const problem = page.locator('[data-problem]');
    await problem.getByText('there is no command /lok').waitFor();
    expect(await problem.innerText()).toContain('/look');
    expect(await box(page).inputValue()).toBe('/lok at it');
    await keep(page, 'commands-unknown');
    expect(await replies.getByText('Understood.').count()).toBe(2);
    await box(page).fill('//lok at it');
    await expect.poll(() => problem.count()).toBe(0);
    await page.keyboard.press('Enter');
    await expect.poll(() => asked()).toBe('/lok at it');

    // Commands of the chat are done, not sent.
    await box(page).fill('/export');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await box(page).inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await box(page).fill('/quit');
    await page.keyboard.press('Enter');
    await problem.getByText('works in the terminal').waitFor();
    await box(page).fill('/git:message');
    await page.keyboard.press('Enter');
    await page.getByText('were not run').waitFor();
    await expect.poll(() => asked()).toContain('!`git diff`');
  });

  test('a resource of a server behind @: chosen, or filled in, and sent as it is then with its origin', async ({ ownHost, open }) => {
    const host = await ownHost();
    const { id, asked } = await chatWithPrompts(host);
    const page = await open({ host, at: `#/chat/${id}`, bypassCSP: true, expectConsole: /status of 422/ });
    await box(page).focus();
    await page.keyboard.type('see @week');
    await chosen(page).filter({ hasText: '@guide:memo://plan' }).filter({ hasText: 'Weekly plan' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await box(page).inputValue()).toBe('see @guide:memo://plan ');
    // A template asks for its places; the server suggests.
    await page.keyboard.type('and @days');
    await chosen(page).filter({ hasText: '@guide:memo://days/{day}' }).waitFor();
    await keep(page, 'resources-list');
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    const form = page.getByRole('form', { name: 'Variables of @guide:memo://days/{day}' });
    await form.getByLabel('day').fill('m');
    await expect.poll(() => form.locator('datalist option').evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value))).toEqual(['monday']);
    await keep(page, 'resources-form');
    expect(await violations(page)).toEqual([]);
    await form.getByLabel('day').fill('my day');
    await page.keyboard.press('Enter');
    await expect.poll(() => box(page).inputValue()).toBe('see @guide:memo://plan and @guide:memo://days/my%20day ');
    await page.keyboard.press('Enter');
    await page.locator('[data-row="assistant"]').getByText('Understood.').first().waitFor();
    expect(asked()).toContain('[memo://plan, attached by the person from guide]');
    expect(asked()).toContain('the day my day');
    const row = page.locator('[data-row="user"]').last();
    await row.getByText('memo://plan', { exact: true }).waitFor();
    await row.getByText('from guide').first().waitFor();
    await keep(page, 'resources-sent');
    // What no model reads is refused at the composer, and nothing is sent.
    await page.keyboard.type('@sheet');
    await chosen(page).filter({ hasText: '@guide:memo://sheet' }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.locator('[data-problem]').getByText('is neither text nor a picture: application/zip').waitFor();
    expect(await box(page).inputValue()).toBe('@guide:memo://sheet ');
    await keep(page, 'resources-refused');
  });

  test('in both languages, themes and widths the list fits above the composer', async ({ ownHost, open }) => {
    const host = await ownHost();
    const { id } = await chatWithPrompts(host);
    const looks = [
      { language: 'zh', theme: 'dark', width: 1440 },
      { language: 'zh', theme: 'light', width: 400 },
      { language: 'en', theme: 'dark', width: 400 },
    ] as const;
    for (const { language, theme, width } of looks) {
      const page = await open({ host, at: `#/chat/${id}`, bypassCSP: true, language, theme, viewport: { width, height: 844 } });
      const list = page.getByRole('listbox', { name: language === 'zh' ? '命令' : 'Commands' });
      await box(page).focus();
      await page.keyboard.type('/');
      await options(page).filter({ hasText: '/review' }).waitFor();
      const place = await list.boundingBox();
      const composer = await page.locator('[data-composer]').boundingBox();
      expect(place && composer && place.y >= 0 && place.x >= 0 && place.y + place.height <= composer.y && place.x + place.width <= width).toBe(true);
      expect(await violations(page)).toEqual([]);
      await keep(page, `commands-${language}-${theme}-${width}`);
      // By pointer, too; the cursor stays where one types.
      await options(page).filter({ hasText: '/look' }).click();
      expect(await box(page).inputValue()).toBe('/look ');
      expect(await box(page).evaluate((area) => area === document.activeElement)).toBe(true);
      await keep(page, `commands-chosen-${language}-${theme}-${width}`);
      await box(page).fill('');
      await page.keyboard.type('@');
      await options(page).filter({ hasText: '@guide:memo://days/{day}' }).waitFor();
      await keep(page, `resources-${language}-${theme}-${width}`);
    }
  });
});
