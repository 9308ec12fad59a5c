// Models, agents, land_configs, prompts and secrets on the page, against the real host (issue 7).

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { install, oneApp } from './app-plugins';
import { violations } from './axe';
import { test } from './fixtures';
import { ModelServer } from './model-server';

const KEY = 'sk-canary-5d1f0c9b7a3e4f62';

async function modelServer(): Promise<ModelServer> {
  const server = await ModelServer.start(KEY);
  onTestFinished(() => server.stop());
  return server;
}

/** A label with or without the star of what must be filled in. */
const field = (name: string) => new RegExp(`^${name}( ?\\*)?$`);
const explained = (page: Page, server: string) => page.locator(`[data-explain="${server}"]`);

describe('a model', () => {
  test('is added from an address in one step, tested by class, and its key is never shown', async ({ ownHost, open }) => {
    const [host, models] = await Promise.all([ownHost(), modelServer()]);
    const page = await open({ host, at: '#/agents/models' });
    await page.locator('[data-model]').first().waitFor();
    await page.getByText('it is not an AI').first().waitFor();
    await page.getByText('Default', { exact: true }).waitFor();

    await page.getByLabel('Paste a key or an address').fill('what is this');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('isn’t from a known provider').waitFor();

    await page.getByLabel('Paste a key or an address').fill(models.baseUrl);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Found:').waitFor();
    await page.getByLabel(field('Address')).waitFor();
    await page.getByRole('button', { name: 'Test and add' }).click();
    await page.getByText('Enter a model name.').waitFor();
    await page.getByLabel(field('Model')).fill('tiny');
    // Called what it is, not where it is; a name a person gives stays.
    expect(await page.getByLabel(field('Display name')).inputValue()).toBe('tiny');
    await page.getByLabel(field('Key')).fill('sk-wrong');
    await page.getByLabel(field('Display name')).fill('My model');
    await page.getByLabel(field('Model')).fill('tiny2');
    await page.getByLabel(field('Model')).fill('tiny');
    expect(await page.getByLabel(field('Display name')).inputValue()).toBe('My model');
    await page.getByRole('button', { name: 'Test and add' }).click();
    await page.locator('[data-test="auth"]').getByText('The key was rejected.').waitFor();
    expect(await host.api<{ items: unknown[] }>('GET', 'secrets')).toEqual({ items: [] });

    await page.getByLabel(field('Key')).fill(KEY);
    await page.getByRole('button', { name: 'Test and add' }).click();
    const card = page.locator('[data-model="My model"]');
    await card.waitFor();
    // The first real model takes the place of the demo.
    await card.getByText('Default', { exact: true }).waitFor();
    const calls = models.requests.filter(({ path }) => path.endsWith('/chat/completions'));
    expect(calls.at(-1)).toMatchObject({ key: KEY, body: { model: 'tiny' } });

    await card.getByRole('button', { name: 'Test' }).click();
    await card.locator('[data-test="ok"]').waitFor();
    await page.evaluate(() => (location.hash = '#/settings/secrets'));
    await page.locator('[data-secret]').waitFor();
    expect(await page.content()).not.toContain('canary');
    expect(host.log).not.toContain('canary');
    for (const file of files(join(host.home, 'state'))) {
      // One that the host has put away meanwhile is in another place of the list.
      if (existsSync(file)) expect(readFileSync(file).includes('sk-canary'), file).toBe(false);
    }
  });

  test('is changed, priced and removed; an agent that used it says so', async ({ ownHost, open }) => {
    const host = await ownHost();
    const made = await host.api<{ id: string }>('POST', 'models', { name: 'Other', provider: 'openai_compatible', model: 'm', baseUrl: 'http://127.0.0.1:9/v1' });
    await host.api('POST', 'agents', { name: 'Needs it', mode: 'custom', modelId: made.id });
    const page = await open({ host, at: `#/agents/models/${made.id}` });
    await page.getByLabel('Input', { exact: true }).fill('free');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Enter a number.').waitFor();
    await page.getByLabel('Input', { exact: true }).fill('0.5');
    await page.getByLabel('Currency').fill('USD');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.locator('[data-model="Other"]').waitFor();
    expect(await host.api('GET', `models/${made.id}`)).toMatchObject({ priceInput: 0.5, currency: 'USD' });

    await page.locator('[data-model="Other"]').getByRole('button', { name: 'Test' }).click();
    await page.locator('[data-test="network"]').getByText('Can’t reach this address.').waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.locator('[data-model="Demo"]').waitFor();
    await expect.poll(() => page.locator('[data-model="Other"]').count()).toBe(0);
    await page.evaluate(() => (location.hash = '#/agents'));
    await page.locator('[data-agent="Needs it"]').getByText('1 problem').waitFor();
  });
});

describe('an agent', () => {
  test('custom: what it can do is live, and a refused tool says which rule and where to change it', async ({ host, open }) => {
    const page = await open({ at: '#/agents/agents/new' });
    await explained(page, 'project_files').waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Enter a name.').waitFor();
    await page.getByLabel(field('Name')).fill('Writer');

    await page.getByLabel('Why can’t it…').fill('write_file');
    const refused = explained(page, 'code_writer');
    await refused.waitFor();
    expect(await refused.getAttribute('data-granted')).toBe('false');
    await refused.getByText('Safe default').first().waitFor();
    expect(await refused.getByRole('link', { name: 'Change', exact: true }).getAttribute('href')).toContain('#/agents/land-configs');

    await page.getByLabel(field('Permissions profile')).selectOption({ label: 'Developer' });
    await expect.poll(() => explained(page, 'code_writer').getAttribute('data-granted')).toBe('true');
    await explained(page, 'code_writer').locator('[data-explain-tool="write_file"][data-granted="true"]').waitFor();
    await page.getByLabel('Why can’t it…').fill('subagent_router');
    await page.getByRole('button', { name: 'As subagent', exact: true }).click();
    await expect.poll(() => explained(page, 'subagent_router').getAttribute('data-granted').catch(() => 'absent')).not.toBe('true');

    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('[data-agent="Writer"]').waitFor();
    const { items } = await host.api<{ items: { name: string; landConfigId: string; mode: string }[] }>('GET', 'agents');
    expect(items.find(({ name }) => name === 'Writer')).toMatchObject({ landConfigId: 'lc_developer', mode: 'custom' });
  });

  test('custom: only apps that have something for agents can be added', async ({ host, open }) => {
    const ai = { mcpPrompt: { zh: { content: '你好' } } };
    const two = (id: string, name: string, more = {}) => oneApp(id, 'export function mount() {}', { manifest: { apps: [{ id: 'app', name, entry: 'app/index.mjs', ...more }] } });
    await install(host, two('com.test.page', 'Only a page'));
    await install(host, two('com.test.texts', 'With texts', { ai }));
    const page = await open({ at: '#/agents/agents/new' });
    const offered = page.getByRole('combobox', { name: 'Add an app…' });
    const names = () => offered.locator('option').allTextContents();
    await expect.poll(names).toContain('With texts');
    expect(await names()).not.toContain('Only a page');
  });

  test('flow: it needs a permissions profile and nothing else', async ({ host, open }) => {
    const page = await open({ at: '#/agents/agents/new' });
    await page.getByLabel(field('Name')).fill('By the book');
    await page.getByRole('radio', { name: /Profile only/ }).check();
    await page.getByText('Flow agents need a land_config').waitFor();
    expect(await page.getByRole('region', { name: 'Apps' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Choose a permissions profile.').waitFor();
    await page.getByLabel(field('Permissions profile')).selectOption({ label: 'Safe default' });
    await explained(page, 'project_files').waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('[data-agent="By the book"]').getByText('Profile only').waitFor();
    const { items } = await host.api<{ items: { name: string; landConfigId: string; mode: string }[] }>('GET', 'agents');
    expect(items.find(({ name }) => name === 'By the book')).toMatchObject({ landConfigId: 'lc_safe_default', mode: 'flow' });
  });

  test('a change shows what it gains and loses before it is saved', async ({ host, open }) => {
    const made = await host.api<{ id: string }>('POST', 'agents', { name: 'Changing', mode: 'custom', prompt: 'be kind' });
    const page = await open({ at: `#/agents/agents/${made.id}` });
    await explained(page, 'project_files').waitFor();
    await page.getByLabel(field('Permissions profile')).selectOption({ label: 'Developer' });
    await page.locator('[data-change^="gained:code_writer"]').first().waitFor();
    await page.getByRole('group', { name: 'Servers' }).getByRole('button', { name: 'Only these' }).click();
    await page.locator('[data-change^="lost:project_files"]').first().waitFor();
    await page.getByText('None selected: it gets no servers').waitFor();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await expect.poll(() => page.locator('[data-changes]').count()).toBe(0);

    await page.getByRole('radio', { name: /Profile only/ }).check();
    await page.getByText('clears your custom choices').waitFor();
    await page.getByText('its own instructions').waitFor();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.locator('[data-agent="Changing"]').getByText('Profile only').waitFor();
    expect(await host.api('GET', `agents/${made.id}`)).toMatchObject({ mode: 'flow', prompt: '', landConfigId: 'lc_safe_default' });
  });

  test('what it referred to and is gone is a problem, not a wider right', async ({ host, open }) => {
    const land = await host.api<{ id: string }>('POST', 'land-configs/lc_safe_default/copy', { name: 'Short lived' });
    const made = await host.api<{ id: string }>('POST', 'agents', { name: 'Orphan', mode: 'custom', landConfigId: land.id, mcpServerIds: ['no-such-server'] });
    const page = await open({ at: '#/agents' });
    await page.locator('[data-agent="Orphan"]').getByText(/problem/).first().waitFor();
    await page.locator('[data-agent="Orphan"]').getByRole('link').click();
    await page.getByText('no longer exists').waitFor();
    await page.locator('[data-explain][data-granted="true"]').first().waitFor({ state: 'detached' });
    // An open editor would ask what the agent that is going can do.
    await page.close();
    await host.api('DELETE', `agents/${made.id}`);
  });
});

describe('a permissions profile', () => {
  test('a locked one is only shown; its copy is edited with live matches, exported and imported again', async ({ host, open }) => {
    const page = await open({ at: '#/agents/land-configs/lc_developer', expectConsole: /status of 409/ });
    await page.getByText('Built-in profiles are read-only.').waitFor();
    expect(await page.getByRole('button', { name: 'Save changes' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Duplicate', exact: true }).click();
    await page.locator('form[data-land-open="Developer (copy)"]').waitFor();
    await page.getByLabel(field('Name')).fill('House rules');

    const entry = page.locator('[data-entry="project_files"]');
    await entry.locator('summary').click();
    await entry.locator('[data-match="read_file:allow"]').waitFor();
    await entry.getByLabel('name or pattern…').first().fill('read_*');
    await entry.getByLabel('name or pattern…').first().press('Enter');
    await entry.locator('[data-match="read_file:deny"]').waitFor();
    await entry.getByLabel('name or pattern…').last().fill('nothing_like_it');
    await entry.getByLabel('name or pattern…').last().press('Enter');
    await entry.getByText('Matches nothing right now: nothing_like_it').waitFor();
    await page.getByLabel('Model calls (1 to 500)').fill('501');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('out of range').waitFor();
    await page.getByLabel('Model calls (1 to 500)').fill('12');
    await page.getByRole('button', { name: 'Save changes' }).click();
    const card = page.locator('[data-land="House rules"]');
    await card.waitFor();

    const download = page.waitForEvent('download');
    await card.getByRole('button', { name: 'Export' }).click();
    const text = readFileSync(await (await download).path(), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ name: 'House rules', limits: { maxPasses: 12 } });
    await page.getByRole('button', { name: 'Import…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('{"name": "x"');
    await dialog.getByRole('button', { name: 'Import' }).click();
    await dialog.getByText('Not a permissions profile').waitFor();
    await dialog.getByRole('textbox').fill(text);
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.locator('form[data-land-open="House rules 2"]').waitFor();

    const { items } = await host.api<{ items: { id: string; name: string }[] }>('GET', 'land-configs');
    const house = items.find(({ name }) => name === 'House rules') ?? expect.fail('no copy');
    await host.api('POST', 'agents', { name: 'Bound', mode: 'flow', landConfigId: house.id });
    await page.evaluate((id) => (location.hash = `#/agents/land-configs/${id}`), house.id);
    await page.getByRole('link', { name: 'Bound' }).waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    // Refused, with who uses it.
    await page.locator('form').getByRole('alert').first().waitFor();
    expect(await host.api('GET', `land-configs/${house.id}`)).toMatchObject({ name: 'House rules' });
  });
});

test('system prompts are written, changed and reset', async ({ host, open }) => {
  const page = await open({ at: '#/agents/prompts' });
  await page.locator('[data-prompt]').first().waitFor();
  await page.getByRole('link', { name: 'New prompt' }).click();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('Enter the text.').waitFor();
  await page.getByLabel(field('Key')).fill('house_style');
  await page.getByLabel(field('Text')).fill('x'.repeat(128 * 1024 + 1));
  await page.getByText('at most 128 KiB').waitFor();
  await page.getByLabel(field('Text')).fill('Write short sentences.');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.locator('[data-prompt="house_style"]').getByText('Write short sentences.').waitFor();

  const { items } = await host.api<{ items: { id: string; name: string; builtin: boolean; locked: boolean; content: string }[] }>('GET', 'system-prompts');
  const own = items.find(({ builtin, locked }) => builtin && !locked) ?? expect.fail('no built-in prompt to change');
  await page.evaluate((id) => (location.hash = `#/agents/prompts/${id}`), own.id);
  await page.getByLabel(field('Text')).fill('Mine now.');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Edited by you').waitFor();
  await page.evaluate((id) => (location.hash = `#/agents/prompts/${id}`), own.id);
  await page.getByRole('button', { name: 'Reset to built-in text' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reset to built-in text' }).click();
  await expect.poll(() => page.getByText('Edited by you').count()).toBe(0);
  expect(await host.api('GET', `system-prompts/${own.id}`)).toMatchObject({ content: own.content });
});

test('subagents of a folder are shown, trusted and imported, switched and removed', async ({ host, open }) => {
  const folder = join(host.home, 'helpers');
  mkdirSync(join(folder, 'agents'), { recursive: true });
  writeFileSync(join(folder, 'agents', 'careful.md'), '---\nname: careful\ndescription: Reads twice.\n---\nYou read everything twice.\n');
  const page = await open({ at: '#/agents/sub-agents', expectConsole: /status of (400|404|422)/ });
  await page.locator('[data-subagents]').first().waitFor();
  await page.getByRole('button', { name: 'Import a folder…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill(join(host.home, 'nowhere'));
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog.getByRole('alert').first().waitFor();
  await dialog.getByRole('textbox').fill(folder);
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog.getByText('Reads twice.').waitFor();
  const before = await page.locator('[data-subagents]').count();
  expect(await dialog.getByRole('button', { name: 'Trust and import' }).isDisabled()).toBe(true);
  await dialog.getByRole('checkbox').check();
  await dialog.getByRole('button', { name: 'Trust and import' }).click();
  await expect.poll(() => page.locator('[data-subagents]').count()).toBe(before + 1);
  const row = page.locator('[data-subagents]').filter({ hasText: 'Imported' });
  await row.getByRole('switch').click();
  await expect.poll(async () => (await host.api<{ plugins: { source: string; enabled: boolean }[] }>('GET', 'subagents')).plugins.find(({ source }) => source !== 'builtin')?.enabled).toBe(false);
  await row.getByRole('button', { name: /Remove/ }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await expect.poll(() => page.locator('[data-subagents]').count()).toBe(before);
});

test('secrets are set, replaced and removed, and never shown', async ({ ownHost, open }) => {
  const host = await ownHost();
  const page = await open({ host, at: '#/settings/secrets' });
  await page.getByText('No secrets yet').waitFor();
  await page.getByRole('button', { name: 'Add a secret' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(field('Name')).fill('not a name');
  await dialog.getByLabel(field('Value')).fill('one');
  await dialog.getByRole('button', { name: 'Set' }).click();
  await dialog.getByText('Use letters, digits and underscores').waitFor();
  await dialog.getByLabel(field('Name')).fill('MY_KEY');
  await dialog.getByLabel(field('Value')).fill(KEY);
  await dialog.getByRole('button', { name: 'Set' }).click();
  const row = page.locator('[data-secret="MY_KEY"]');
  await row.waitFor();
  expect(await page.content()).not.toContain('canary');
  await row.getByRole('button', { name: 'Replace' }).click();
  expect(await dialog.getByLabel(field('Value')).inputValue()).toBe('');
  await dialog.getByLabel(field('Value')).fill('another');
  await dialog.getByRole('button', { name: 'Replace' }).click();
  await expect.poll(() => dialog.count()).toBe(0);
  await row.getByRole('button', { name: 'Remove' }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No secrets yet').waitFor();
});

describe('looks', () => {
  const PAGES = ['agents', 'agents/agents/new', 'agents/models', 'agents/land-configs', 'agents/land-configs/lc_developer', 'agents/prompts', 'agents/sub-agents', 'agents/usage', 'settings/secrets', 'settings/servers', 'settings/servers/new'];

  test('every page is sound for assistive technology and fits a narrow window, in both themes and languages', async ({ open }) => {
    for (const [language, theme] of [['en', 'light'], ['zh', 'dark']] as const) {
      const page = await open({ language, theme, at: '#/agents', bypassCSP: true });
      for (const path of PAGES) {
        await page.evaluate((hash) => (location.hash = `#/${hash}`), path);
        await page.locator('main [role="tabpanel"] >> :scope :is(p, form, h2)').first().waitFor();
        await expect.poll(() => page.locator('main [role="status"][aria-label]').count()).toBe(0);
        expect(await violations(page), `${path} in ${theme}`).toEqual([]);
      }
      if (language === 'en') continue;
      await page.setViewportSize({ width: 390, height: 844 });
      for (const path of PAGES) {
        await page.evaluate((hash) => (location.hash = `#/${hash}`), path);
        await page.locator('main [role="tabpanel"] >> :scope :is(p, form, h2)').first().waitFor();
        await expect.poll(() => page.evaluate(() => {
          const main = document.querySelector('main');
          return main ? main.scrollWidth - main.clientWidth : -1;
        }), { message: path }).toBe(0);
      }
    }
  });
});

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
