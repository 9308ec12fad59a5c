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
    await drawer.getByText('Enter a title').waitFor();
    expect(await drawer.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await drawer.getByLabel('Title').fill('Read them twice');
    await drawer.getByLabel('Tags').fill('docs 测试');
    await drawer.getByLabel('Add a note').fill('started');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Read them twice' }).waitFor();
    await other.getByText('测试').waitFor();

    await page.getByLabel('Search tasks').fill('nothing like it');
    await page.getByText('No tasks match').waitFor();
    await page.getByLabel('Search tasks').fill('twice');
    await page.getByRole('button', { name: 'Read them twice' }).click();
    await page.getByRole('dialog').getByText('started').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete task' }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Delete task' }).click();
    await page.getByText('Task deleted').waitFor();
    await expect.poll(() => other.getByRole('button', { name: 'Read them twice' }).count()).toBe(0);
  });

  test('are filtered by status, priority, tag and origin, and changed in place', async ({ open, host }) => {
    const make = (title: string, more: object = {}) => host.api('POST', 'tasks', { title, ...more });
    await make('Paint the fence', { priority: 'high', tags: ['garden'] });
    await make('Mow the lawn', { tags: ['garden', 'weekend'], status: 'done' });
    await make('Answer the mail', { priority: 'low', scope: 'chat' });
    const page = await open({ at: '#/tasks/list' });
    const row = (title: string) => page.getByRole('button', { name: title, exact: true });
    const shown = async (titles: string[]) => {
      for (const title of ['Paint the fence', 'Mow the lawn', 'Answer the mail']) await expect.poll(() => row(title).count(), { message: title }).toBe(titles.includes(title) ? 1 : 0);
    };
    await shown(['Paint the fence', 'Mow the lawn', 'Answer the mail']);
    await page.getByLabel('Hide finished').check();
    await shown(['Paint the fence', 'Answer the mail']);
    await page.getByRole('group', { name: 'Filters' }).getByLabel('Priority').selectOption('low');
    await shown(['Answer the mail']);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('button', { name: 'garden' }).first().click();
    await shown(['Paint the fence', 'Mow the lawn']);
    await page.getByRole('group', { name: 'Filters' }).getByLabel('Status').selectOption('done');
    await shown(['Mow the lawn']);
    await page.getByRole('tab', { name: 'Board' }).click();
    await shown(['Mow the lawn']);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('group', { name: 'Filters' }).getByLabel('Source').selectOption('chat');
    await shown(['Answer the mail']);
    await page.getByRole('button', { name: 'Clear filters' }).click();

    await page.getByRole('tab', { name: 'List' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Answer the mail' }).getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Title').fill('Answer nobody');
    await page.getByLabel('Title').press('Escape');
    await row('Answer the mail').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Answer the mail' }).getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Title').fill('Answer all the mail');
    await page.getByLabel('Title').press('Enter');
    await row('Answer all the mail').waitFor();
    await page.getByLabel('Priority: Answer all the mail').selectOption('high');
    const kept = () => host.api<{ items: { priority: string }[] }>('GET', 'tasks?q=Answer%20all').then(({ items }) => items[0]?.priority);
    await expect.poll(kept).toBe('high');
  });

  test('beyond a page are a press away', async ({ open, host }) => {
    const title = (number: number) => `Task number ${String(number).padStart(3, '0')}`;
    for (let number = 1; number <= 205; number += 1) await host.api('POST', 'tasks', { title: title(number) });
    const page = await open({ at: '#/tasks/list' });
    await page.getByText(/Showing 200 of \d+/).waitFor();
    expect(await page.getByRole('button', { name: title(1), exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('button', { name: title(1), exact: true }).waitFor();
  });

  test('the journal is a timeline by days that is searched, narrowed by tag and grows', async ({ open, host }) => {
    const write = (summary: string, tags: string[] = []) => host.api('POST', 'journal', { title: summary.slice(0, 20), summary, tags });
    await write('The parser lives in its own crate', ['refactoring']);
    await write('搜索找到了中文', ['search']);
    const page = await open({ at: '#/tasks/journal' });
    await page.getByRole('heading', { level: 2 }).filter({ hasText: String(new Date().getFullYear()) }).first().waitFor();
    await page.getByLabel('Search journal').fill('中文');
    await expect.poll(() => page.getByRole('heading', { level: 3 }).count()).toBe(1);
    await page.getByLabel('Search journal').fill('');
    await page.getByRole('button', { name: 'refactoring' }).click();
    await expect.poll(() => page.getByRole('heading', { level: 3 }).count()).toBe(1);
    await page.getByRole('button', { name: 'Remove filter: tag refactoring' }).click();
    await expect.poll(() => page.getByRole('heading', { level: 3 }).count()).toBe(2);
    await write('Written while somebody looks');
    await expect.poll(() => page.getByRole('heading', { level: 3 }).count()).toBe(3);
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
