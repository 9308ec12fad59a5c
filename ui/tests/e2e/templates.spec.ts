// Projects of `chatos plugin init` in the real host: what a template makes is mounted and works without an edit
// (devkit §3; packages §12.9).

import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { frameOf, openApp, pluginFolder, trust } from './app-plugins';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { chatosBinary } from './programs';

/** Makes a project straight into the place of installed plugins, and trusts it. */
async function make(host: Host, template: string, lang = 'en'): Promise<string> {
  const id = `com.template.${template}`;
  const home = mkdtempSync(join(tmpdir(), 'chatos-init-'));
  const args = ['plugin', 'init', pluginFolder(host, id), '-t', template, '--id', id, '--name', `My ${template}`, '--lang', lang, '--json'];
  execFileSync(chatosBinary(), args, { env: { PATH: process.env['PATH'], HOME: home } });
  await trust(host, id);
  return id;
}

describe('templates', () => {
  test('basic: the backend answers and a question is asked, shown and answered', async ({ host, open }) => {
    const id = await make(host, 'basic');
    const page = await open({ at: '#/apps', lasting: true });
    const frame = await openApp(page, id);
    await frame.getByRole('button', { name: 'Ping the backend' }).click();
    await expect.poll(() => frame.locator('output').textContent()).toBe('The backend answers: app');
    await frame.getByRole('button', { name: 'Ask me' }).click();
    // `host.uiPrompts.open()` shows the question just asked, not the list.
    const field = page.getByRole('textbox', { name: 'Name' });
    await field.fill('Ada');
    await page.getByRole('button', { name: 'Submit' }).click();
    await expect.poll(() => frame.locator('output').textContent()).toBe('Hello, Ada');
  });

  test('notepad: a note is written, found in the tree, searched, and deleted after a question', async ({ host, open }) => {
    const id = await make(host, 'notepad');
    const page = await open({ at: '#/apps', lasting: true });
    const frame = await openApp(page, id);
    await frame.getByRole('button', { name: 'New note' }).click();
    const name = frame.getByRole('textbox', { name: /Name, such as/ });
    await name.fill('work/plan');
    await name.press('Enter');
    const text = frame.getByRole('textbox', { name: 'Text' });
    await text.fill('# The plan\n\n#urgent call Ada');
    await frame.getByRole('button', { name: 'Save' }).click();
    await frame.getByText('#urgent', { exact: true }).waitFor();
    const item = (label: string) => frame.getByRole('treeitem', { name: label, exact: true });
    await item('work').locator('.ds-tree-toggle').click();
    await item('The plan').click();
    expect(await violations(page)).toEqual([]);
    await frame.getByRole('searchbox').fill('ada urgent');
    await item('The plan').waitFor();
    await item('The plan').click({ button: 'right' });
    await page.getByRole('radio', { name: 'Delete' }).check();
    await page.getByRole('button', { name: 'Submit' }).click();
    await expect.poll(() => item('The plan').count()).toBe(0);
  });

  test('async-task and server-only are mounted in both languages', async ({ host, open }) => {
    for (const [template, lang] of [['async-task', 'zh'], ['server-only', 'en']] as const) {
      const id = await make(host, template, lang);
      const page = await open({ at: '#/apps', lasting: true });
      await openApp(page, id);
      const frame = await frameOf(page, id);
      await frame.getByText(template === 'async-task' ? 'No jobs yet' : 'This app has tools for agents').waitFor();
    }
  });
});
