// What the sandbox refuses a command, on its card: said with the one answer that lifts it, opened with one click, told to
// the agent; and a command that is let out once, in the chat (working-day §1.5, §1.6, §13 point 2).

import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';
import { keep } from './pictures';

/** A model that runs what it is told and says what came of it; told to go on, it runs the same again. */
async function shellModel(): Promise<ModelServer> {
  const model = await ModelServer.start('');
  let again = '';
  model.decide = (body) => {
    const { role, text } = lastOf(body);
    if (role === 'tool') return { text: `It said: ${/^(cocoa|region) .*$/m.exec(text)?.[0] ?? 'nothing'}` };
    if (text.startsWith('{')) again = text;
    return { call: { tool: 'run_shell_command', args: JSON.parse(again) as unknown } };
  };
  return model;
}

/** An agent that works in a folder of the home. */
async function worker(host: Host, model: ModelServer): Promise<{ agentId: string; root: string }> {
  const root = join(realpathSync(host.home), 'shop');
  mkdirSync(root, { recursive: true });
  const { id } = await host.api<{ id: string }>('POST', 'models', { name: 'Shell', provider: 'openai', model: 'shell', baseUrl: model.baseUrl, apiKeyName: '' });
  await host.api('POST', `models/${id}/default`, {});
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Worker', mode: 'flow', landConfigId: 'lc_developer', workspaceRoot: root });
  return { agentId: agent.id, root };
}

async function say(page: Page, label: string, text: string): Promise<void> {
  const box = page.getByRole('textbox', { name: label, exact: true });
  await box.fill(text);
  await box.press('Enter');
}

describe('what the sandbox refuses', () => {
  test('is opened to the project on the card, and the agent is told', async ({ ownHost, open }) => {
    const model = await shellModel();
    onTestFinished(() => model.stop());
    const host = await ownHost();
    const { agentId, root } = await worker(host, model);
    const notes = join(realpathSync(host.home), 'notes');
    mkdirSync(notes);
    writeFileSync(join(notes, 'prices.txt'), 'cocoa costs 3.20\n');
    const { id } = await host.api<{ id: string }>('POST', 'sessions', { agentId });
    const page = await open({ host, at: `#/chat/${id}` });
    await say(page, 'Message', JSON.stringify({ command: `cat ${join(notes, 'prices.txt')}` }));
    const card = page.locator('[data-tool="run_shell_command"]').first();
    await card.getByText('The sandbox didn’t let the command read').waitFor();
    expect(await violations(page)).toEqual([]);
    await keep(page, 'refused');
    await card.getByRole('button', { name: 'Allow reading' }).click();
    await card.getByText('may now read').waitFor();
    await keep(page, 'refused-opened');
    const { items } = await host.api<{ items: { root: string; kind: string; value: string }[] }>('GET', 'access');
    expect(items.map(({ root, kind, value }) => ({ root, kind, value }))).toEqual([{ root, kind: 'read', value: join(notes, 'prices.txt') }]);
    expect(await page.locator('[data-tool="run_shell_command"]').count()).toBe(1);
    await card.getByRole('button', { name: 'Tell the agent' }).click();
    await page.getByText('It said: cocoa costs 3.20', { exact: true }).waitFor();
    await card.getByText('Sent to the agent.').waitFor();

    const small = await open({ host, at: `#/chat/${id}`, language: 'zh', theme: 'dark', viewport: { width: 400, height: 800 } });
    await small.getByRole('button', { name: '允许读取' }).waitFor();
    expect(await violations(small)).toEqual([]);
    await keep(small, 'refused-zh-dark-400');
  });

  test('is let out once by a person in the chat, and asked again the next time', async ({ ownHost, open }) => {
    const model = await shellModel();
    onTestFinished(() => model.stop());
    const host = await ownHost();
    const { agentId } = await worker(host, model);
    mkdirSync(join(host.home, '.aws'));
    writeFileSync(join(host.home, '.aws/config'), 'region = home\n');
    const { id } = await host.api<{ id: string }>('POST', 'sessions', { agentId });
    const page = await open({ host, at: `#/chat/${id}` });
    await say(page, 'Message', JSON.stringify({ command: 'cat ~/.aws/config' }));
    const card = page.locator('[data-tool="run_shell_command"]').first();
    await card.getByText('This place stays closed').waitFor();
    expect(await card.getByRole('button', { name: /^Allow/ }).count()).toBe(0);
    const outside = JSON.stringify({ command: 'cat ~/.aws/config', access: { outside: true, reason: 'the region is there' } });
    for (const answer of ['Once, outside the sandbox', 'No']) {
      await say(page, 'Message', outside);
      await page.getByRole('radio', { name: answer }).waitFor();
      await page.getByText('the region is there').first().waitFor();
      expect(await page.getByRole('radio', { name: 'Always in this project' }).count()).toBe(0);
      await keep(page, `outside-${answer === 'No' ? 'no' : 'once'}`);
      await page.getByRole('radio', { name: answer }).check();
      await page.getByRole('button', { name: /^(Send|Submit|Answer)/ }).last().click();
      await page.getByRole('radio', { name: answer }).waitFor({ state: 'detached' });
      await expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);
    }
    expect(await page.getByText('It said: region = home', { exact: true }).count()).toBe(1);
  });
});
