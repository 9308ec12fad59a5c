// A server that was added is given to an agent on its page, with what that changes shown first, and taken back.

import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';

const FIXTURE = fileURLToPath(new URL('./mcp-fixture.mjs', import.meta.url));

test('a new server says that nobody can use it, is given to an agent and taken back', async ({ ownHost, open }) => {
  const host = await ownHost();
  const { id } = await host.api<{ id: string }>('POST', 'mcp-servers', { name: 'fixture', argv: [process.execPath, FIXTURE] });
  await host.api('POST', `mcp-servers/${id}/connect`, {});
  const page = await open({ host, at: '#/settings/servers', bypassCSP: true });
  await page.locator('[data-server="fixture"]').getByText('No agent uses it').waitFor();
  await page.getByRole('link', { name: 'fixture' }).click();
  await page.getByText('No agent can use it yet.').waitFor();
  await page.getByRole('button', { name: 'Give to an agent…' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByRole('button', { name: 'Give', exact: true }).isDisabled()).toBe(true);
  await dialog.getByText('ChatOS', { exact: true }).click();
  await dialog.locator('[data-gains="ChatOS"]').getByText(/gains/).waitFor();
  await dialog.getByText('gets a copy of that permissions profile', { exact: false }).waitFor();
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Give', exact: true }).click();
  await page.locator('[data-users="fixture"]').getByRole('link', { name: 'ChatOS' }).waitFor();
  const explained = await host.api<{ servers: { name: string; granted: boolean; tools: { ask: boolean }[] }[] }>('GET', 'agents/agent_default/explain');
  const server = explained.servers.find(({ name }) => name === 'fixture');
  expect(server?.granted).toBe(true);
  expect(server?.tools.every(({ ask }) => ask)).toBe(true);
  await page.getByRole('button', { name: 'Take it back from ChatOS' }).click();
  await page.getByText('No agent can use it yet.').waitFor();
});

test('the dialog speaks Chinese and fits a phone', async ({ ownHost, open }) => {
  const host = await ownHost();
  const { id } = await host.api<{ id: string }>('POST', 'mcp-servers', { name: 'fixture', argv: [process.execPath, FIXTURE] });
  const page = await open({ host, at: `#/settings/servers/${id}`, language: 'zh', bypassCSP: true });
  await page.setViewportSize({ width: 400, height: 800 });
  await page.getByRole('button', { name: '交给智能体…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('ChatOS', { exact: true }).click();
  await dialog.getByText('将改用该授权配置的副本', { exact: false }).waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
});
