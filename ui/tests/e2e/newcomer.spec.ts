// The first minute of somebody who has just opened the link, without a key, in both languages: what this is for, a
// file changed with approval, an app, a question answered, a model added and used. Sixty seconds are
// plenty (pages §3). With CHATOS_PICTURES=<folder> each stop is kept as a picture.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import { ModelServer } from './model-server';
import { keep } from './pictures';

const MINUTE_MS = 60_000;

const WORDS = {
  en: {
    headline: 'Run AI agents and apps on this computer', approve: 'Approve', steps: (n: number) => `${n} of 5 done`,
    choose: 'Just look around', send: 'Submit', told: 'The program got your answer: Just look around', message: 'Message',
    changed: 'Changed files', undo: 'Undo…', undoOne: 'Undo 1 file', found: 'opencode (found)', add: 'Add a model', paste: 'Paste a key or an address', go: 'Continue', model: /^Model/, test: 'Test and add', start: 'Start chatting',
  },
  zh: {
    headline: '在这台电脑上运行 AI 智能体和应用', approve: '同意', steps: (n: number) => `已完成 ${n}/5`,
    choose: '随便看看', send: '提交', told: '程序收到了你的回答：随便看看', message: '消息',
    changed: '更改的文件', undo: '撤销…', undoOne: '撤销 1 个文件', found: 'opencode（已找到）', add: '添加模型', paste: '粘贴密钥或地址', go: '继续', model: /^模型/, test: '测试并添加', start: '开始对话',
  },
};

describe.each(['en', 'zh'] as const)('a newcomer (%s)', (language) => {
  const w = WORDS[language];
  test('does everything of the first minute within it', async ({ ownHost, open }) => {
    const models = await ModelServer.start('');
    onTestFinished(() => models.stop());
    models.decide = () => ({ text: 'Hello from a real model.' });
    // A coding agent is on this computer; it is found by its name.
    const bin = mkdtempSync(join(tmpdir(), 'chatos-newcomer-'));
    onTestFinished(() => rmSync(bin, { recursive: true }));
    writeFileSync(join(bin, 'opencode'), '#!/bin/sh\n');
    chmodSync(join(bin, 'opencode'), 0o755);
    const host = await ownHost({ env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` } });
    const page = await open({ host, at: false, language });
    const link = await host.signInLink();
    const began = Date.now();
    await page.goto(link);
    const shot = (name: string) => keep(page, `newcomer-${language}-${name}`);

    // What it is for, and what can be done now.
    await page.getByRole('heading', { name: w.headline }).waitFor();
    expect(await page.locator('[data-try]').count()).toBe(3);
    await page.getByRole('button', { name: w.found }).waitFor();
    await shot('1-welcome');

    // An agent changes a file: shown first, written after the yes.
    await page.locator('[data-try="file"]').click();
    const dock = page.locator('[data-dock]');
    await dock.locator('article[data-ready="true"]').waitFor();
    const file = join(host.home, '.cache', 'chatos', 'scratch', 'chatos-demo.md');
    expect(existsSync(file)).toBe(false);
    await shot('2-approve');
    await dock.getByRole('button', { name: w.approve, exact: true }).click();
    await page.locator('[data-tool="write_file"][data-state="ok"]').waitFor();
    expect(readFileSync(file, 'utf8')).toContain('ChatOS');
    await shot('3-written');

    // And taken back.
    await page.getByRole('link', { name: w.changed }).click();
    await page.locator('li[data-kind="created"]').getByRole('link').first().click();
    await page.locator('[data-change-view]').getByRole('button', { name: w.undo }).click();
    await page.getByRole('dialog').getByRole('button', { name: w.undoOne }).click();
    await expect.poll(() => existsSync(file)).toBe(false);
    await shot('3b-undone');

    // An app.
    await page.goto(`${host.url}#/chat`);
    await page.locator('[data-step="file"][data-done="true"]').waitFor();
    await page.locator('[data-try="app"]').click();
    await page.locator('iframe').first().waitFor();
    await shot('4-app');

    // A program asks, the inbox counts, the program is told.
    await page.goto(`${host.url}#/chat`);
    await page.locator('[data-try="question"]').click();
    await page.getByText(w.choose, { exact: true }).first().click();
    await shot('5-question');
    await page.locator('article[data-ready="true"]').getByRole('button', { name: w.send }).first().click();
    await page.getByText(w.told).waitFor();

    // A model of one's own.
    await page.goto(`${host.url}#/chat`);
    await page.getByText(w.steps(3)).waitFor();
    await page.locator('[data-first-minute]').getByRole('link', { name: w.add }).click();
    await page.getByLabel(w.paste).fill(models.baseUrl);
    await page.getByRole('button', { name: w.go }).click();
    await page.getByRole('combobox', { name: w.model }).fill('tiny');
    await page.getByRole('button', { name: w.test }).click();
    await shot('6-model');
    await page.getByRole('link', { name: w.start }).click();
    await page.getByText(w.steps(4)).waitFor();
    expect(await page.locator('[data-demo]').count()).toBe(0);
    await page.getByLabel(w.message, { exact: true }).fill('Hi');
    await page.keyboard.press('Enter');
    await page.locator('[data-row="assistant"]').getByText('Hello from a real model.').waitFor();
    const took = Date.now() - began;
    await shot('7-chat');
    await page.goto(`${host.url}#/chat`);
    await expect.poll(() => page.locator('[data-first-minute]').count()).toBe(0);
    expect(took, `the walk took ${took} ms`).toBeLessThan(MINUTE_MS);
  });

  test('can put it away, and finds it away after a reload', async ({ host, open }) => {
    const page = await open({ language, at: '#/chat' });
    await page.getByRole('heading', { name: w.headline }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.locator('[data-first-minute] .steps').getByRole('button').click();
    await expect.poll(() => page.locator('[data-first-minute]').count()).toBe(0);
    await page.reload();
    await page.getByLabel(w.message, { exact: true }).waitFor();
    expect(await page.locator('[data-first-minute]').count()).toBe(0);
    expect(host.log).not.toContain('panicked');
  });
});
