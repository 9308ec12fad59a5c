// Tasks and journal against the real host: adding, moving, editing, live updates, search, both languages.

import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';

describe('tasks', () => {
  test('a task is added, moved, edited, found and deleted, and another page follows', async ({ open }) => {
    const page = await open({ at: '#/tasks' });
    const other = await open({ at: '#/tasks/list' });
    await page.getByLabel('New task').fill('Read the release notes');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Read the release notes' }).waitFor();
    await other.getByRole('button', { name: 'Read the release notes' }).waitFor();

    await page.getByLabel('Status: Read the release notes').selectOption('doing');
    await page.getByRole('region', { name: 'Doing' }).getByRole('button', { name: 'Read the release notes' }).waitFor();
    await other.getByLabel('Status: Read the release notes').waitFor();
    await expect.poll(() => other.getByLabel('Status: Read the release notes').inputValue()).toBe('doing');

    await page.getByRole('button', { name: 'Read the release notes' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('Title').fill('');
    await drawer.getByText('A task needs a title').waitFor();
    expect(await drawer.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await drawer.getByLabel('Title').fill('Read them twice');
    await drawer.getByLabel('Tags').fill('docs 测试');
    await drawer.getByLabel('Add a note').fill('started');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Read them twice' }).waitFor();
    await other.getByText('测试').waitFor();

    await page.getByLabel('Search tasks').fill('nothing like it');
    await page.getByText('No task contains').waitFor();
    await page.getByLabel('Search tasks').fill('twice');
    await page.getByRole('button', { name: 'Read them twice' }).click();
    await page.getByRole('dialog').getByText('started').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete task' }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Delete task' }).click();
    await page.getByText('Task deleted').waitFor();
    await expect.poll(() => other.getByRole('button', { name: 'Read them twice' }).count()).toBe(0);
  });

  test('hostile texts are shown, not run', async ({ open, host }) => {
    await host.api('POST', 'tasks', { title: '<img src=x onerror=alert(1)>\u202e evil', tags: ['<b>'] });
    await host.api('POST', 'journal', { summary: '![x](http://127.0.0.1:9/x.png) <script>alert(1)</script>' });
    const page = await open({ at: '#/tasks', language: 'zh', theme: 'dark' });
    await page.getByRole('button', { name: /onerror/ }).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('tab', { name: '日志' }).click();
    await page.getByText('alert(1)').waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });
});
