// Another program as an agent: found on this machine, added after a word about what that means, chatted with, and its
// change approved with the whole difference in sight (other-agents §9.6).

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';

const SCRIPTED = resolve(import.meta.dirname, '../../../tests/agent-peers/scripted-agent.mjs');
const SHOTS = process.env['CHATOS_SHOTS'];

test('opencode is found, added, asked, and its edit approved with its diff', async ({ ownHost, open }) => {
  const bin = join(await folder(), 'bin');
  mkdirSync(bin, { recursive: true });
  // The name is what is looked for; the scripted agent answers to it.
  writeFileSync(join(bin, 'opencode'), `#!/bin/sh\nexec '${process.execPath}' '${SCRIPTED}' "$@"\n`);
  chmodSync(join(bin, 'opencode'), 0o755);
  const host = await ownHost({ env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` } });
  const page = await open({ host, at: '#/agents' });
  const row = page.locator('[data-other="opencode"]');
  await row.getByRole('button', { name: 'Add' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('with your login').waitFor();
  if (SHOTS) await page.screenshot({ path: join(SHOTS, 'acp-add.png') });
  await dialog.getByRole('button', { name: 'Add' }).click();
  await row.getByText('Added').waitFor();
  await expect.poll(() => page.locator('[data-agent="opencode"]').count()).toBe(1);
  expect(await violations(page)).toEqual([]);
  if (SHOTS) await page.screenshot({ path: join(SHOTS, 'acp-agents.png') });

  await page.evaluate(() => (location.hash = '#/chat'));
  await page.locator('[data-choose="agent"]').click();
  await page.getByRole('menuitemradio', { name: 'opencode' }).click();
  // It has its own model: there is none to choose.
  await expect.poll(() => page.locator('[data-choose="model"]').count()).toBe(0);
  const box = page.locator('[data-composer] textarea');
  await box.fill('write a.txt one two');
  await box.press('Enter');
  await page.getByText('+one two').or(page.getByText('one two', { exact: true })).first().waitFor();
  await page.getByText('opencode does this itself').first().waitFor();
  if (SHOTS) await page.screenshot({ path: join(SHOTS, 'acp-question.png') });
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('done', { exact: true }).waitFor();
  await expect.poll(() => readFileSync(join(host.home, 'a.txt'), 'utf8')).toBe('one two\n');
  await page.getByText('Edited').first().waitFor();
  expect(await page.locator('[data-demo]').count()).toBe(0);
  if (SHOTS) await page.screenshot({ path: join(SHOTS, 'acp-done.png') });
  if (SHOTS) {
    const narrow = await open({ host, at: '#/agents', language: 'zh', theme: 'dark', viewport: { width: 400, height: 900 } });
    await narrow.locator('[data-other="opencode"]').waitFor();
    await narrow.screenshot({ path: join(SHOTS, 'acp-narrow.png'), fullPage: true });
  }
});

test('its plan, change, terminal and mode are in the chat, and a mode that stops asking is confirmed', async ({ ownHost, open }) => {
  const host = await ownHost({});
  const project = join(host.home, 'project');
  mkdirSync(project);
  const agent = await host.api<{ id: string }>('POST', 'acp/agents', { program: process.execPath, args: [SCRIPTED], name: 'Scripted', workspaceRoot: project, confirmed: true, withoutGateway: true });
  const chat = await host.api<{ id: string }>('POST', 'sessions', { agentId: agent.id });
  const at = `#/chat/${chat.id}`;
  const page = await open({ host, at });
  const box = page.locator('[data-composer] textarea');
  await box.fill('work');
  await box.press('Enter');
  await page.locator('[data-plan]').getByText('Write the summary').waitFor();
  if (SHOTS) await page.screenshot({ path: join(SHOTS, 'acp-plan-asked.png') });
  for (const tool of ['edit', 'execute']) {
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.locator(`[data-tool="${tool}"][data-state="ok"]`).waitFor();
  }
  await page.getByText('The summary is written and the tests pass.', { exact: true }).waitFor();
  expect(readFileSync(join(project, 'summary.md'), 'utf8')).toContain('the tests pass');
  await page.locator('[data-tool="execute"] button.line').click();
  await page.locator('[data-tool="execute"]').getByText('summary.md').first().waitFor();

  await page.locator('[data-option="mode"]').click();
  await page.getByRole('menuitemradio', { name: 'YOLO' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('without asking').first().waitFor();
  if (SHOTS) await page.screenshot({ path: join(SHOTS, 'acp-confirm.png') });
  await dialog.getByRole('button', { name: 'Stop asking' }).click();
  await expect.poll(() => page.locator('[data-option="mode"].warns').count()).toBe(1);
  expect(await violations(page)).toEqual([]);
  await box.fill('/rev');
  await page.locator('[data-composer-menu]').getByText('/review').waitFor();
  await box.fill('');
  if (SHOTS) {
    await page.locator('[data-tool="edit"] button.line').click();
    await page.screenshot({ path: join(SHOTS, 'acp-chat-en.png') });
    for (const [name, language, theme, width] of [['zh-dark', 'zh', 'dark', 1280], ['zh-400', 'zh', 'light', 400], ['en-400-dark', 'en', 'dark', 400]] as const) {
      const other = await open({ host, at, language, theme, viewport: { width, height: 900 } });
      await other.locator('[data-plan]').waitFor();
      await other.locator('[data-tool="edit"] button.line').click();
      await other.locator('[data-tool="execute"] button.line').click();
      await other.screenshot({ path: join(SHOTS, `acp-chat-${name}.png`) });
    }
  }
});

async function folder(): Promise<string> {
  const { mkdtemp } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  return mkdtemp(join(tmpdir(), 'chatos-other-'));
}
