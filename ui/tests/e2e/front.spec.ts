// What the README promises, done on the page: a question that outlives a killed host, a change that is approved as it
// is shown and undone, one inbox for five programs. CHATOS_RECORD=1 makes the animated pictures of the README from it,
// and its front pictures, in both languages: look at them.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { Film, FRAME } from './film';
import { test } from './fixtures';
import { DOCS, homely, Pictures, RECORD, SIZE } from './guide-pictures';
import { client, endPrograms, hook } from './other-programs';
import { SHOP, teaShop } from './tea-shop';

/** What only a host that goes away provokes. */
const LOST = /ERR_CONNECTION|WebSocket|Failed to load resource|net::/;

const WORDS = {
  en: {
    ...SHOP.en, message: 'Message', wants: 'Wants to edit', approve: 'Approve', resume: 'Continue', undo: 'Undo…', undoOne: 'Undo 1 file',
    kill: ['An agent wants to change a file, so it asks.', 'The host is killed while the question is open.', 'Started again: the run is there, and you continue it.', 'The same question, about the same change.', 'Approved: written, once.'],
    exact: ['You see the whole change before it happens.', 'Approved: exactly that was written.', 'Every change is kept, before and after.', 'Undo says what it will do.', 'And the file is as it was.'],
    inbox: ['Nothing waits for you.', 'Claude Code asks before it runs a command.', 'codex, Gemini CLI, opencode and goose ask, too.', 'You approve: that program goes on, and the next question opens.'],
  },
  zh: {
    ...SHOP.zh, message: '消息', wants: '想要编辑', approve: '同意', resume: '继续', undo: '撤销…', undoOne: '撤销 1 个文件',
    kill: ['智能体要修改文件，先来问你。', '问题还没回答，主机被强行终止。', '重新启动：运行还在，点“继续”。', '同一个问题，同样的改动。', '同意之后才写入，而且只写一次。'],
    exact: ['改动发生之前，先完整地看一遍。', '同意：写入的正是你看到的内容。', '每次更改都留有前后内容。', '撤销之前，先说明会做什么。', '文件恢复原样。'],
    inbox: ['没有事情等你。', 'Claude Code 运行命令之前来问你。', 'codex、Gemini CLI、opencode 和 goose 也来了。', '你点同意：那个程序继续工作，下一个问题随即打开。'],
  },
};

// The flows are the same in both; the pictures are not.
describe.each(RECORD ? (['en', 'zh'] as const) : (['en'] as const))('the front page (%s)', (language) => {
  const w = WORDS[language];
  const env = { LANG: language === 'zh' ? 'zh_CN.UTF-8' : 'en_US.UTF-8' };
  const looks = { language, viewport: FRAME, reducedMotion: 'reduce' } as const;

  test('a question outlives a killed host', async ({ ownHost, open }) => {
    const first = await ownHost({ env, ...homely('sam') });
    const { chat, menu } = await teaShop(first, w);
    const page = await open({ ...looks, host: first, at: `#/chat/${chat}`, expectConsole: LOST });
    const film = await Film.of(page);
    const dock = page.locator('[data-dock]');
    await page.getByLabel(w.message, { exact: true }).fill(w.task);
    await page.keyboard.press('Enter');
    await dock.locator('article[data-ready="true"]').waitFor();
    await film.show(w.kill[0] ?? '');
    await first.halt('SIGKILL');
    await film.show(w.kill[1] ?? '', page.locator('[data-banner="connection"]'));
    await ownHost({ env, home: first.home, port: first.ready.port });
    await page.locator('[data-banner="connection"]').waitFor({ state: 'detached' });
    const resume = page.locator('[data-interrupted]').getByRole('button', { name: w.resume });
    await film.show(w.kill[2] ?? '', resume);
    await resume.click();
    await dock.locator('article[data-ready="true"]').waitFor();
    expect(readFileSync(menu, 'utf8')).toBe(w.menu);
    const approve = dock.getByRole('button', { name: w.approve, exact: true });
    await film.show(w.kill[3] ?? '', approve);
    await approve.click();
    await page.locator('[data-row="assistant"]').getByText(w.done.replaceAll('*', '')).waitFor();
    expect(readFileSync(menu, 'utf8')).toBe(w.menu.replace(w.from, w.to));
    await film.show(w.kill[4] ?? '');
    await film.end(`front-kill.${language}`);
  });

  test('what is approved is what happens, and it is undone', async ({ ownHost, open }) => {
    const host = await ownHost({ env, ...homely('sam') });
    const { chat, menu } = await teaShop(host, w);
    const page = await open({ ...looks, host, at: `#/chat/${chat}` });
    const film = await Film.of(page);
    const dock = page.locator('[data-dock]');
    await page.getByLabel(w.message, { exact: true }).fill(w.task);
    await page.keyboard.press('Enter');
    await dock.locator('article[data-ready="true"]').waitFor();
    const approve = dock.getByRole('button', { name: w.approve, exact: true });
    await film.show(w.exact[0] ?? '', approve);
    await approve.click();
    await page.locator('[data-row="assistant"]').getByText(w.done.replaceAll('*', '')).waitFor();
    await page.locator('[data-tool="edit_file"] button').first().click();
    await page.locator('[data-tool="edit_file"]').getByText('3.20').first().waitFor();
    await film.show(w.exact[1] ?? '');
    expect(readFileSync(menu, 'utf8')).toBe(w.menu.replace(w.from, w.to));
    await page.evaluate(() => (location.hash = '#/changes'));
    await page.locator('li[data-kind="modified"]').getByRole('link').first().click();
    const undo = page.locator('[data-change-view]').getByRole('button', { name: w.undo });
    await film.show(w.exact[2] ?? '', undo);
    await undo.click();
    await page.getByRole('dialog').locator('[data-action="restored"]').waitFor();
    const sure = page.getByRole('dialog').getByRole('button', { name: w.undoOne });
    await film.show(w.exact[3] ?? '', sure);
    await sure.click();
    await expect.poll(() => readFileSync(menu, 'utf8')).toBe(w.menu);
    // On this width the list stands behind what is open.
    await page.locator('li[data-undone]').waitFor({ state: 'attached' });
    await film.show(w.exact[4] ?? '');
    await film.end(`front-undo.${language}`);
  });

  test('five programs ask in one inbox, and each gets its answer', async ({ ownHost, open }) => {
    const host = await ownHost({ env, ...homely('sam') });
    await host.api('PUT', 'settings/confirmFileChanges', { value: true });
    const agents = await host.api<{ items: { id: string }[] }>('GET', 'agents');
    await host.api('PUT', `agents/${agents.items[0]?.id ?? ''}`, { name: 'Desk', mode: 'flow', landConfigId: 'lc_developer' });
    const page = await open({ ...looks, host, at: '#/queue' });
    const film = await Film.of(page);
    const waiting = async () => (await host.api<{ items: unknown[] }>('GET', 'prompts?view=needs_you')).items.length;
    const shell = (command: string) => ({ tool_input: { command } });
    try {
      await page.getByRole('heading', { level: 1 }).waitFor();
      await film.show(w.inbox[0] ?? '');
      const asking = hook(host, 'claude', 'shop', { hook_event_name: 'PreToolUse', session_id: 'morning', tool_name: 'Bash', ...shell('npm test') }, language);
      let told = '';
      asking.stdout?.on('data', (bytes: Buffer) => (told += String(bytes)));
      await page.locator('article[data-ready="true"]').getByText('npm test').first().waitFor();
      await film.show(w.inbox[1] ?? '');
      hook(host, 'codex', 'website', { hook_event_name: 'PermissionRequest', session_id: 'c-17', tool_name: 'Bash', ...shell('make deploy') }, language);
      hook(host, 'gemini', 'papers', { hook_event_name: 'BeforeTool', session_id: 'g-4', tool_name: 'write_file', tool_input: { file_path: join(host.home, 'papers/tea.md'), content: w.draft } }, language);
      hook(host, 'opencode', 'tools', { sessionID: 'o-2', tool: 'bash', args: { command: 'rm -r build' } }, language);
      await client(host, 'goose', 'garden', language);
      await expect.poll(waiting).toBe(5);
      await page.getByText('goose').first().waitFor();
      const approve = page.locator('article').getByRole('button', { name: w.approve, exact: true });
      await film.show(w.inbox[2] ?? '', approve);
      await approve.click();
      await expect.poll(waiting).toBe(4);
      await page.locator('article[data-ready="true"]').waitFor();
      await film.show(w.inbox[3] ?? '');
      await expect.poll(() => told).toContain('"allow"');
    } finally {
      await endPrograms();
    }
    await film.end(`front-inbox.${language}`);
  });

  test('the first picture shows a chat with a question, in light and dark', async ({ ownHost, open }) => {
    const host = await ownHost({ env, ...homely('sam') });
    const { chat } = await teaShop(host, w);
    await host.api('POST', `sessions/${chat}/send`, { text: w.ask });
    await expect.poll(async () => JSON.stringify(await host.api('GET', `sessions/${chat}/messages`)), { timeout: 60_000 }).toContain('3.50');
    const wrong: string[] = [];
    for (const theme of ['light', 'dark'] as const) {
      const page = await open({ ...looks, viewport: SIZE, host, theme, at: `#/chat/${chat}` });
      if (theme === 'light') {
        await page.locator('[data-row="assistant"] table').waitFor();
        await page.getByLabel(w.message, { exact: true }).fill(w.task);
        await page.keyboard.press('Enter');
      }
      await page.locator('[data-dock] article[data-ready="true"]').waitFor();
      await expect.poll(() => page.locator('[data-dock]').getByRole('button', { name: w.approve, exact: true }).isEnabled()).toBe(true);
      // Also in a page that was opened while it asks: the call waits, and the end of the chat is in view.
      await page.locator('[data-tool="edit_file"]').getByText(w.wants).waitFor();
      await expect.poll(() => page.locator('[data-transcript]').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)).toBeLessThan(2);
      const pictures = await Pictures.of(page);
      await pictures.take(`front-${theme}.${language}`);
      wrong.push(...pictures.wrong);
    }
    expect(wrong).toEqual([]);
  });
});

/** Of one picture of a README. */
const MOST_BYTES = 400_000;

test('every picture the two READMEs name is there, and small', () => {
  for (const readme of ['README.md', 'README.zh-CN.md']) {
    const named = [...readFileSync(join(DOCS, '..', readme), 'utf8').matchAll(/docs\/pictures\/[\w.-]+/g)].map(([path]) => path);
    expect(named.length).toBe(5);
    expect(named.filter((path) => !existsSync(join(DOCS, '..', path)))).toEqual([]);
    expect(named.filter((path) => statSync(join(DOCS, '..', path)).size > MOST_BYTES)).toEqual([]);
  }
});
