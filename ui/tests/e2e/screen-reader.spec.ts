// What a screen reader is told of the chat and of the Inbox, in both languages, kept as text in `screen-reader/`
// (issue 21, acceptance 2). CHATOS_RECORD=1 records it anew; the difference is part of the review.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';
import { ask, openPrompt } from './questions';

const KEPT = fileURLToPath(new URL('screen-reader/', import.meta.url));

/** The tree of the page, without what is another one every time. */
async function tree(page: Page, home: string): Promise<string> {
  const text = await page.locator('body').ariaSnapshot();
  const told: [RegExp, string][] = [
    [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gu, 'ID'],
    // How long something took is shown from a second on.
    [/ \d+(\.\d+)? (ms|s|毫秒|秒)(?=["\n])/gu, ''],
    [/just now|\d+ (second|minute)s? ago|刚刚|\d+\s?(秒钟?|分钟)前/gu, 'AGO'],
    [/[\d.,]+k? (→ [\d.,]+k? )?tokens?/gu, 'TOKENS'],
    [/chatos-e2e-\w+/gu, 'HOME'],
  ];
  return told.reduce((all, [what, by]) => all.replaceAll(what, by), text.replaceAll(home, 'HOME'));
}

function compare(name: string, now: string): void {
  const path = join(KEPT, `${name}.yaml`);
  if (process.env['CHATOS_RECORD'] === '1' || !existsSync(path)) {
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(path, `${now}\n`);
    expect(process.env['CHATOS_RECORD'], `${path} was missing and is recorded now: look at it`).toBe('1');
    return;
  }
  expect(`${now}\n`, `${path} is what it was; CHATOS_RECORD=1 records it anew`).toBe(readFileSync(path, 'utf8'));
}

const SAYS = {
  en: { ask: 'Write the file, please.', answer: 'It is **written**. `notes.txt` has one line.', steps: 'Chat about a file', colour: 'Which colour?', name: 'Your name?', label: 'Name', red: 'Red', blue: 'Blue' },
  zh: { ask: '请写这个文件。', answer: '已经**写好**。`notes.txt` 有一行。', steps: '关于文件的对话', colour: '什么颜色？', name: '你叫什么？', label: '姓名', red: '红', blue: '蓝' },
};

async function chatOn(host: Host, language: 'en' | 'zh'): Promise<string> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  const w = SAYS[language];
  models.decide = (body) => (lastOf(body).role === 'tool' ? { text: w.answer } : { call: { tool: 'write_file', args: { path: 'notes.txt', contents: 'one line\n' } } });
  const model = await host.api<{ id: string }>('POST', 'models', { name: 'Tiny', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Writer', mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
  return (await host.api<{ id: string }>('POST', 'sessions', { title: w.steps, agentId: agent.id, workspaceRoot: host.home })).id;
}

describe.each(['en', 'zh'] as const)('a screen reader (%s)', (language) => {
  const w = SAYS[language];
  test('is told the chat with its question, its answer, and the Inbox', async ({ ownHost, open }) => {
    const host = await ownHost({ env: { LANG: language === 'zh' ? 'zh_CN.UTF-8' : 'en_US.UTF-8' } });
    const chat = await chatOn(host, language);
    const page = await open({ host, language, at: `#/chat/${chat}` });
    await page.locator('[data-composer] textarea').fill(w.ask);
    await page.keyboard.press('Enter');
    const approve = page.locator('[data-dock] [data-act="approve"]:not(:disabled)');
    await approve.waitFor();
    compare(`chat-question-${language}`, await tree(page, host.home));

    const choice = await ask(host, { kind: 'choice', source: 'test', title: w.colour, options: [{ value: 'red', label: w.red }, { value: 'blue', label: w.blue }] });
    // One after the other, so that each is told by itself.
    await page.locator('[data-live]', { hasText: w.colour }).waitFor({ state: 'attached' });
    const form = await ask(host, { kind: 'kv', source: 'test', title: w.name, fields: [{ key: 'name', label: w.label, required: true }] });
    await page.locator('[data-live]', { hasText: w.name }).waitFor({ state: 'attached' });
    const { items } = await host.api<{ items: { requestId: string }[] }>('GET', 'prompts?view=needs_you');
    const file = items.find(({ requestId }) => requestId !== choice && requestId !== form)?.requestId ?? '';
    for (const [name, id] of [['file', file], ['choice', choice], ['form', form]] as const) {
      await openPrompt(page, id);
      await page.locator(`article[data-open="${id}"] .actions button:not(:disabled)`).first().waitFor();
      await page.locator('[role="option"]').nth(2).waitFor();
      compare(`inbox-${name}-${language}`, await tree(page, host.home));
    }

    await openPrompt(page, file);
    await page.locator('[data-act="approve"]:not(:disabled)').click();
    await expect.poll(async () => (await host.api<{ running: boolean }>('GET', `sessions/${chat}`)).running).toBe(false);
    // Read anew: what was said on the way here depends on who was faster.
    await page.evaluate((id) => (location.hash = `#/chat/${id}`), chat);
    await page.reload();
    await page.locator('[data-row="assistant"] [data-usage]').waitFor();
    await expect.poll(() => page.locator('nav [data-session] a').count()).toBe(1);
    compare(`chat-answer-${language}`, await tree(page, host.home));
  });
});
