// Programs of other makers at one desk: five of them ask at once and are told apart in the inbox, two with one name
// too, and the page of programs says who they are and what they asked (other-agents §2).

import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from './axe';
import { type OpenOptions, test } from './fixtures';
import type { Host } from './host';
import { client, endPrograms, hook } from './other-programs';

const SHOTS = process.env['CHATOS_SHOTS'];


interface Waiting {
  requestId: string;
  client: { name: string; number: number; project: string } | null;
}

test('five programs ask at once and are told apart, two of one name too', async ({ ownHost, open }) => {
  const host = await ownHost();
  try {
    await told(host, open);
  } finally {
    await endPrograms();
  }
});

async function told(host: Host, open: (options?: OpenOptions) => Promise<Page>): Promise<void> {
  await host.api('PUT', 'settings/confirmFileChanges', { value: true });
  const agents = await host.api<{ items: { id: string }[] }>('GET', 'agents');
  await host.api('PUT', `agents/${agents.items[0]?.id ?? ''}`, { name: 'Desk', mode: 'flow', landConfigId: 'lc_developer' });
  const shell = (command: string) => ({ tool_input: { command } });
  hook(host, 'claude', 'shop', { hook_event_name: 'PreToolUse', session_id: 'morning', tool_name: 'Bash', ...shell('npm test') });
  await expect.poll(async () => (await host.api<{ items: Waiting[] }>('GET', 'prompts?view=needs_you')).items.length).toBe(1);
  hook(host, 'claude', 'shop', { hook_event_name: 'PreToolUse', session_id: 'afternoon', tool_name: 'Bash', ...shell('git push --force') });
  hook(host, 'codex', 'website', { hook_event_name: 'PermissionRequest', session_id: 'c-17', tool_name: 'Bash', ...shell('make deploy') });
  hook(host, 'gemini', 'papers', { hook_event_name: 'BeforeTool', session_id: 'g-4', tool_name: 'write_file', tool_input: { file_path: join(host.home, 'papers/draft.md'), content: 'A first draft.\n' } });
  hook(host, 'opencode', 'tools', { sessionID: 'o-2', tool: 'bash', args: { command: 'rm -r build' } });
  await client(host, 'goose', 'garden');

  const waiting = async () => (await host.api<{ items: Waiting[] }>('GET', 'prompts?view=needs_you')).items;
  await expect.poll(async () => (await waiting()).length).toBe(6);
  const named = (await waiting()).map(({ client: each }) => `${each?.name} ${each?.number} ${each?.project}`).sort();
  expect(named).toEqual(['Claude Code 1 shop', 'Claude Code 2 shop', 'Gemini CLI 1 papers', 'codex 1 website', 'goose 1 garden', 'opencode 1 tools']);

  for (const [name, options] of Object.entries({ en: {}, 'zh-dark': { language: 'zh', theme: 'dark' }, narrow: { viewport: { width: 400, height: 900 } } } as const)) {
    const page = await open({ host, at: '#/queue', ...options });
    await page.getByText('Claude Code 2 · shop').first().waitFor();
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `five-${name}.png`) });
    await page.evaluate(() => (location.hash = '#/agents/programs'));
    await expect.poll(() => page.locator('[data-program]').count()).toBe(6);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1)).toBe(true);
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `programs-${name}.png`), fullPage: true });
    await page.locator('[data-program]', { hasText: 'goose' }).click();
    await page.getByText('code_maintainer').or(page.getByText('code_writer')).first().waitFor();
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `program-${name}.png`), fullPage: true });
    if (name === 'en') {
      expect(await violations(page)).toEqual([]);
      const [question] = (await waiting()).filter((item) => item.client?.name === 'goose');
      await page.getByText('Its last questions').waitFor();
      await page.locator(`a[href*="${question?.requestId ?? ''}"]`).click();
      // And from the question back to the program.
      await page.locator('article a.asker', { hasText: 'goose' }).click();
      await page.getByText('Uses the tools of').waitFor();
    }
  }
}
