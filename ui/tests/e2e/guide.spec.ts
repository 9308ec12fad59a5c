// The user guide (docs/guide.md) as it can be followed: each of its parts is done on the page, in both languages, and
// its picture is what is seen there. CHATOS_RECORD=1 takes the pictures anew: look at them.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import { DOCS, homely, Pictures, SIZE } from './guide-pictures';
import type { Host } from './host';
import { endPrograms, hook } from './other-programs';
import { SHOP, teaShop } from './tea-shop';

const PARTS = ['first', 'chat', 'approve', 'inbox', 'rules', 'undo', 'apps', 'models', 'servers', 'agents', 'others', 'told', 'settings', 'help'];
const GUIDES = { en: 'guide.md', zh: 'guide.zh-CN.md' };
const MOST_BYTES = 1_500_000;

const WORDS = {
  en: {
    ...SHOP.en, headline: 'Run AI agents and apps on this computer', message: 'Message', always: 'Always…', save: 'Save rule and approve',
    undo: 'Undo…', undoOne: 'Undo 1 file', channel: 'My phone', guide: 'User guide', palette: 'Go to or run',
  },
  zh: {
    ...SHOP.zh, headline: '在这台电脑上运行 AI 智能体和应用', message: '消息', always: '始终…', save: '保存规则并同意',
    undo: '撤销…', undoOne: '撤销 1 个文件', channel: '我的手机', guide: '用户指南', palette: '查找与操作',
  },
};
type Words = (typeof WORDS)['en'];

const go = (page: Page, at: string) => page.evaluate((hash) => (location.hash = hash), `#/${at}`);

async function say(page: Page, w: Words, text: string): Promise<void> {
  await page.getByLabel(w.message, { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

/** Programs of other makers ask, each about something else. */
async function othersAsk(host: Host, w: Words, language: string): Promise<void> {
  const waiting = async () => (await host.api<{ items: unknown[] }>('GET', 'prompts?view=needs_you')).items.length;
  const shell = (command: string) => ({ tool_input: { command } });
  // One after the other, so that they stand in this order.
  const asks = [
    () => hook(host, 'gemini', 'papers', { hook_event_name: 'BeforeTool', session_id: 'g-4', tool_name: 'write_file', tool_input: { file_path: join(host.home, 'papers/tea.md'), content: w.draft } }, language),
    () => hook(host, 'claude', 'shop', { hook_event_name: 'PreToolUse', session_id: 'morning', tool_name: 'Bash', ...shell('npm test') }, language),
    () => hook(host, 'codex', 'website', { hook_event_name: 'PermissionRequest', session_id: 'c-17', tool_name: 'Bash', ...shell('make deploy') }, language),
    () => hook(host, 'opencode', 'tools', { sessionID: 'o-2', tool: 'bash', args: { command: 'rm -r build' } }, language),
  ];
  for (const [index, ask] of asks.entries()) {
    ask();
    await expect.poll(waiting).toBe(index + 1);
  }
}

describe.each(['en', 'zh'] as const)('the user guide (%s)', (language) => {
  const w = WORDS[language];

  test('can be followed part by part, and its pictures are what is seen', async ({ ownHost, open }) => {
    const host = await ownHost({ env: { LANG: language === 'zh' ? 'zh_CN.UTF-8' : 'en_US.UTF-8' }, ...homely('ada') });
    const page = await open({ host, language, at: '#/chat', viewport: SIZE, reducedMotion: 'reduce', bypassCSP: true });
    const pictures = await Pictures.of(page);
    const take = (name: string) => pictures.take(`guide-${name}.${language}`);

    await page.getByRole('heading', { name: w.headline }).waitFor();
    await take('first');

    // A chat; then a change that is looked at, made a rule of, and approved.
    const { agent, chat, menu } = await teaShop(host, w);
    await go(page, `chat/${chat}`);
    await say(page, w, w.ask);
    await page.locator('[data-row="assistant"] table').waitFor();
    await expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);
    await take('chat');
    await say(page, w, w.task);
    const dock = page.locator('[data-dock]');
    await dock.locator('article[data-ready="true"]').waitFor();
    expect(readFileSync(menu, 'utf8')).toBe(w.menu);
    await expect.poll(() => dock.getByRole('button', { name: w.always }).isEnabled()).toBe(true);
    await take('approve');
    await dock.getByRole('button', { name: w.always }).click();
    const save = page.getByRole('dialog').getByRole('button', { name: w.save });
    await expect.poll(() => save.isEnabled()).toBe(true);
    await take('rules');
    await page.getByRole('dialog').getByRole('button', { name: w.save }).click();
    await page.locator('[data-row="assistant"]').getByText(w.done.replaceAll('*', '')).waitFor();
    expect(readFileSync(menu, 'utf8')).toContain(w.to);

    // It is undone.
    await go(page, 'changes');
    await page.locator('li[data-kind="modified"]').getByRole('link').first().click();
    await page.locator('[data-change-view]').getByRole('button', { name: w.undo }).click();
    await page.getByRole('dialog').locator('[data-action="restored"]').waitFor();
    await take('undo');
    await page.getByRole('dialog').getByRole('button', { name: w.undoOne }).click();
    await expect.poll(() => readFileSync(menu, 'utf8')).toBe(w.menu);

    // Other programs ask in the same place.
    try {
      await othersAsk(host, w, language);
      await go(page, 'queue');
      await page.locator('article[data-ready="true"]').waitFor();
      await take('inbox');
      await go(page, 'agents/programs');
      await expect.poll(() => page.locator('[data-program]').count()).toBe(4);
      await take('others');
    } finally {
      await endPrograms();
    }

    // What agents are made of.
    await go(page, 'apps');
    await page.locator('main').getByText('com.chatos.', { exact: false }).or(page.locator('main article, main li')).first().waitFor();
    await take('apps');
    await go(page, 'agents/models');
    await page.getByText(w.model).first().waitFor();
    await take('models');
    await go(page, 'settings/servers');
    await page.getByText('project_files').first().waitFor();
    await take('servers');
    await go(page, `agents/agents/${agent}`);
    await page.locator('[data-explain]').first().waitFor();
    await take('agents');

    // Being told, settings and help.
    await host.api('POST', 'channels', { type: 'ntfy', name: w.channel, url: 'http://127.0.0.1:9/tea', onMyNetwork: true });
    await go(page, 'settings/notifications');
    await page.locator('[data-channel]').filter({ hasText: w.channel }).waitFor();
    await take('told');
    await go(page, 'settings');
    await page.locator('main [role="tabpanel"] input').first().waitFor();
    await take('settings');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: w.palette }).getByRole('combobox').waitFor();
    await take('help');
    await page.keyboard.press('Escape');

    // The guide is on the page itself, from every page and from the list of keys.
    await page.locator('[data-help]:visible').click();
    await page.locator('[data-guide] section').nth(PARTS.length - 1).waitFor();
    expect(await page.locator('[data-guide] section').evaluateAll((all) => all.map(({ id }) => id))).toEqual(PARTS.map((part) => `help-${part}`));
    expect(await violations(page)).toEqual([]);
    await page.locator('[data-guide] nav a').nth(PARTS.indexOf('undo')).click();
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/settings/help/undo');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByRole('link', { name: w.guide }).click();
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/settings/help');
    expect(pictures.wrong, 'the page looks otherwise than in the guide; if that is meant, CHATOS_RECORD=1 takes the pictures anew').toEqual([]);
  });

  test('names each picture once, and all of them are there and small', () => {
    const named = [...readFileSync(join(DOCS, GUIDES[language]), 'utf8').matchAll(/\]\((pictures\/[^)]+)\)/g)].map((found) => found[1] ?? '');
    expect(named).toEqual(PARTS.map((part) => `pictures/guide-${part}.${language}.webp`));
    expect(named.filter((path) => !existsSync(join(DOCS, path)))).toEqual([]);
    expect(named.reduce((sum, path) => sum + statSync(join(DOCS, path)).size, 0)).toBeLessThan(MOST_BYTES / 2);
  });
});
