// Reject and stop, with the note: the run that asked ends, its model is not asked again, and the history says so. With
// CHATOS_PICTURES the open menu as a picture, in both languages and themes, wide and narrow.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';
import { keep } from './pictures';
import { openPrompt } from './questions';

/** An agent that wants to write a file, which it asks about; gives the run and the question. */
async function asked(host: Host): Promise<{ run: string; id: string }> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = (body) => (lastOf(body).role === 'tool' ? { text: 'Going on.' } : { call: { tool: 'write_file', args: { path: 'a.txt', contents: 'one\n' } } });
  await host.api('PUT', 'settings/confirmFileChanges', { value: true });
  const model = await host.api<{ id: string }>('POST', 'models', { name: 'Writer', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Writer', mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
  const { id: chat } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Writing', modelId: model.id, agentId: agent.id });
  const { runId: run } = await host.api<{ runId: string }>('POST', `sessions/${chat}/send`, { text: 'Write it' });
  const open = () => host.api<{ items: { requestId: string; runId: string | null }[] }>('GET', 'prompts?view=needs_you');
  await expect.poll(async () => (await open()).items.length, { timeout: 60_000 }).toBe(1);
  return { run, id: (await open()).items[0]?.requestId ?? '' };
}

describe.each([
  ['en', 'light', 1440, 'More ways to reject', 'Reject and stop', 'Rejected, run stopped'],
  ['zh', 'dark', 400, '其他拒绝方式', '拒绝并停止', '已拒绝，运行已停止'],
] as const)('%s, %s, %i px', (language, theme, width, more, stop, said) => {
  test('a no that ends the run', async ({ ownHost, open }) => {
    const host = await ownHost();
    const { run, id } = await asked(host);
    const page = await open({ host, language, theme, viewport: { width, height: 844 }, at: '#/queue' });
    await openPrompt(page, id);
    const article = page.locator(`article[data-open="${id}"]`);
    await article.locator('[data-note]').fill('not this file');
    await article.getByRole('button', { name: more }).click();
    const item = page.getByRole('menuitem', { name: stop });
    await item.waitFor();
    await keep(page, `reject-stop-${language}-${theme}-${width}`);
    await item.click();
    const state = async () => (await host.api<{ state: string }>('GET', `runs/${run}`)).state;
    await expect.poll(state, { timeout: 30_000 }).toBe('aborted');
    expect(existsSync(join(host.home, 'a.txt'))).toBe(false);
    const { answer } = await host.api<{ answer: { response: Record<string, unknown> } }>('GET', `prompts/${id}`);
    expect(answer.response).toMatchObject({ status: 'canceled', stop: true, remark: 'not this file' });
    await openPrompt(page, id);
    await page.getByText(said).first().waitFor();
  });
});

test('the key opens the same menu', async ({ ownHost, open }) => {
  const host = await ownHost();
  const { run, id } = await asked(host);
  const page = await open({ host, at: '#/queue' });
  await openPrompt(page, id);
  await page.locator(`article[data-open="${id}"] [data-act="stop"]:not(:disabled)`).waitFor();
  await page.locator(`article[data-open="${id}"] h2`).focus();
  await page.keyboard.press('Shift+R');
  await page.getByRole('menuitem', { name: 'Reject and stop' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await host.api<{ state: string }>('GET', `runs/${run}`)).state, { timeout: 30_000 }).toBe('aborted');
});
