// Texts of a project: the question once, the chip with what was sent, a change of mind; and Settings → Commands.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { ModelServer } from './model-server';
import { keep } from './pictures';

const MARK = 'Speak like a lighthouse keeper.';

/** A chat in a project with instructions, and everything its model was asked. */
async function chatInProject(host: Host): Promise<{ id: string; asked: string[] }> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  const asked: string[] = [];
  models.decide = (body) => {
    asked.push(JSON.stringify(body));
    return { text: 'Understood.' };
  };
  const work = join(host.home, 'work');
  mkdirSync(join(work, '.git'), { recursive: true });
  mkdirSync(join(work, 'docs'), { recursive: true });
  writeFileSync(join(work, 'AGENTS.md'), `# Rules\n\n${MARK}\n`);
  writeFileSync(join(work, 'CLAUDE.md'), 'Other rules.\n');
  writeFileSync(join(work, 'docs/AGENTS.md'), 'Below.\n');
  const model = await host.api<{ id: string }>('POST', 'models', { name: `Scripted ${models.baseUrl}`, provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Lighthouse', modelId: model.id, workspaceRoot: work });
  return { id, asked };
}

const box = (page: Page) => page.locator('[data-composer] textarea');
const chip = (page: Page) => page.locator('[data-instructions]');

describe('texts of a project', () => {
  test('are asked about once, shown as they were sent, and can be switched off', async ({ ownHost, open }) => {
    const host = await ownHost();
    const { id, asked } = await chatInProject(host);
    const page = await open({ host, at: `#/chat/${id}`, bypassCSP: true });
    await chip(page).getByText('Instructions off').waitFor();
    await box(page).fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByText("Use this project's instructions?").first().waitFor();
    expect(asked).toEqual([]);
    await keep(page, 'instructions-question');
    expect(await violations(page)).toEqual([]);
    await choose(page, 'Show');
    await page.getByText(MARK).first().waitFor();
    await keep(page, 'instructions-question-shown');
    await choose(page, 'Use them here');
    await page.locator('[data-row="assistant"]').getByText('Understood.').waitFor();
    expect(asked.length).toBe(1);
    expect(asked[0]?.split(MARK).length).toBe(2);

    await chip(page).getByText(/^1 instruction file, \d+ bytes$/).click();
    const dialog = page.getByRole('dialog', { name: 'Project instructions' });
    await dialog.getByText(MARK).waitFor();
    await dialog.getByText('What was sent').waitFor();
    await dialog.getByText('another file takes its place').waitFor();
    await dialog.getByText('docs/AGENTS.md').first().waitFor();
    await keep(page, 'instructions-dialog');
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('switch', { name: 'Use them in this project' }).click();
    await expect.poll(async () => (await host.api<{ consent?: string }>('GET', `instructions?session=${id}`)).consent).toBe('skip');
    await page.keyboard.press('Escape');
    await chip(page).getByText('Instructions off').waitFor();
    await box(page).fill('And now?');
    await page.keyboard.press('Enter');
    await expect.poll(() => asked.length).toBe(2);
    expect(asked[1]).toContain('do not count any more');
  });
});

async function choose(page: Page, label: string): Promise<void> {
  await page.getByRole('radio', { name: label, exact: true }).check();
  await page.getByRole('button', { name: 'Submit' }).click();
}

describe('Settings → Commands', () => {
  test('commands are made, edited and removed', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: '#/settings/commands', bypassCSP: true });
    await page.getByText('No commands yet').waitFor();
    await page.getByRole('button', { name: 'New command' }).click();
    const made = page.getByRole('dialog', { name: 'New command' });
    await made.getByLabel('Name').fill('review');
    await made.getByLabel('Text').fill('Review $1.');
    await keep(page, 'commands-dialog');
    expect(await violations(page)).toEqual([]);
    await made.getByRole('button', { name: 'Save' }).click();
    const row = page.locator('[data-command="review"]');
    await row.getByText('/review').waitFor();
    await keep(page, 'commands-settings');
    expect(await violations(page)).toEqual([]);
    await row.getByRole('button', { name: 'Edit' }).click();
    const edited = page.getByRole('dialog', { name: '/review' });
    expect(await edited.getByLabel('Text').inputValue()).toBe('Review $1.');
    await edited.getByLabel('Text').fill('Review $1 and $2.');
    await edited.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Review $1 and $2.').waitFor();
    const { text } = await host.api<{ text: string }>('POST', 'commands/fill', { text: '/review a b' });
    expect(text).toBe('Review a and b.');
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No commands yet').waitFor();
    expect((await host.api<{ items: unknown[] }>('GET', 'commands/own')).items).toEqual([]);
  });
});
