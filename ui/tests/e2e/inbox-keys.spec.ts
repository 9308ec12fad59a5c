// The Inbox by keyboard alone (inbox §3.5): a dozen questions of several kinds, one by one and several at once; and a
// key that is held down answers one question at most.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';
import { answerOf, ask } from './questions';

interface Waiting {
  requestId: string;
  title: string | null;
  card: { object: string } | null;
}

const waiting = async (host: Host): Promise<Waiting[]> => (await host.api<{ items: Waiting[] }>('GET', 'prompts?view=needs_you')).items;

/** Asks for a file to be written, and waits until the question is there. */
async function write(host: Host, path: string, contents = `${path}\n`): Promise<{ id: string; status: Promise<string> }> {
  const call = host.api<{ structuredContent: { status: string } }>('POST', 'tools/code_maintainer/write_file/call', { arguments: { path, contents } });
  const id = await asked(host, path);
  return { id, status: call.then(({ structuredContent }) => structuredContent.status, () => 'the host has ended') };
}

async function asked(host: Host, object: string): Promise<string> {
  await expect.poll(async () => (await waiting(host)).some(({ card }) => card?.object === object)).toBe(true);
  return (await waiting(host)).find(({ card }) => card?.object === object)?.requestId ?? '';
}

/** An agent of a chat asks to write a file. */
async function writeInChat(host: Host, path: string): Promise<string> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = (body) => (lastOf(body).role === 'tool' ? { text: 'Done.' } : { call: { tool: 'write_file', args: { path, contents: `${path}\n` } } });
  const model = await host.api<{ id: string }>('POST', 'models', { name: 'Writes', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Writer', mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
  const chat = await host.api<{ id: string }>('POST', 'sessions', { title: 'By keys', agentId: agent.id, workspaceRoot: host.home });
  await host.api('POST', `sessions/${chat.id}/send`, { text: 'write it' });
  return asked(host, path);
}

const focused = (page: Page) => page.evaluate(() => (document.activeElement?.matches('[data-list]') ? 'list' : (document.activeElement?.tagName ?? '')));

/** The question is open and its buttons work. */
const armed = (page: Page, id: string) => page.locator(`article[data-open="${id}"][data-ready="true"] .actions button:not(:disabled)`).first().waitFor();
const ticks = (page: Page) => page.locator('[role="option"][aria-checked="true"]').count();

test('twelve questions of several kinds are answered without the mouse', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('PUT', 'settings/confirmFileChanges', { value: true });
  const one = await write(host, 'one.txt');
  const two = await write(host, 'two.txt');
  const choice = await ask(host, { kind: 'choice', source: 'test', title: 'Which colour?', options: [{ value: 'red' }, { value: 'blue' }] });
  const form = await ask(host, { kind: 'kv', source: 'test', title: 'Your name?', fields: [{ key: 'name', label: 'Name', required: true }] });
  const tasks = await ask(host, { kind: 'task_confirm', source: 'test', tasks: [{ draftId: '1', title: 'Water the plants' }] });
  const long = await write(host, 'long.txt', 'a line of a long file\n'.repeat(4_000));
  const always = await write(host, 'always.txt');
  const inChat = await writeInChat(host, 'chat.txt');
  const several = [await write(host, 's1.txt'), await write(host, 's2.txt'), await write(host, 's3.txt')];
  const last = await ask(host, { kind: 'choice', source: 'test', title: 'Anything else?', options: [{ value: 'y' }] });

  const page = await open({ host, at: '#/queue', bypassCSP: true });
  const key = (name: string) => page.keyboard.press(name);
  await armed(page, one.id);
  expect(await waiting(host)).toHaveLength(12);

  // Letters belong to the list and the card: from elsewhere they answer nothing. A jump's second letter is no answer.
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await key('a');
  await key('k');
  expect(await focused(page)).toBe('list');
  await key('g');
  await key('a');
  await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/apps');
  await key('g');
  await key('i');
  await armed(page, one.id);
  expect(await waiting(host)).toHaveLength(12);
  await key('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await sheet.getByText('Approve for this chat').waitFor();
  await key('Escape');
  await sheet.waitFor({ state: 'detached' });

  // From the list: approve; the next row is there, and the letters go on working.
  await key('k');
  await key('a');
  expect(await one.status).toBe('ok');
  await armed(page, two.id);
  expect(await focused(page)).toBe('list');
  // A note, and no.
  await key('n');
  await page.keyboard.type('arrange it otherwise');
  await key('Escape');
  await key('r');
  expect(await two.status).not.toBe('ok');
  expect(await answerOf(host, two.id)).toMatchObject({ status: 'canceled', response: { remark: 'arrange it otherwise' } });

  // Things to pick and to fill in: the title has the focus, so that no letter ends up in a field unasked.
  await armed(page, choice);
  await expect.poll(() => focused(page)).toBe('H2');
  await key('a');
  await key('2');
  await key('Control+Enter');
  expect(await answerOf(host, choice)).toMatchObject({ response: { selection: 'blue' } });
  await armed(page, form);
  await key('o');
  await expect.poll(() => focused(page)).toBe('INPUT');
  await page.keyboard.type('arc');
  await key('Control+Enter');
  expect(await answerOf(host, form)).toMatchObject({ response: { values: { name: 'arc' } } });
  await armed(page, tasks);
  await key('a');
  expect(await answerOf(host, tasks)).toMatchObject({ status: 'ok' });

  // More than is shown at first: not before all of it was.
  await armed(page, long.id);
  await key('a');
  await page.getByText('Show everything before you approve.').waitFor();
  await key('d');
  await page.locator('[data-act="approve"]:not(:disabled)').waitFor();
  await key('a');
  expect(await long.status).toBe('ok');

  // A rule for the folder, one for the chat.
  await armed(page, always.id);
  await key('Shift+A');
  await page.getByRole('dialog', { name: 'Always approve this?' }).getByText('always.txt').waitFor();
  expect(existsSync(join(host.home, 'always.txt'))).toBe(false);
  const save = page.getByRole('button', { name: 'Save rule and approve' });
  for (let tries = 0; tries < 6 && !(await save.evaluate((button) => button === document.activeElement)); tries += 1) await key('Tab');
  await key('Enter');
  expect(await always.status).toBe('ok');
  await armed(page, inChat);
  await expect.poll(() => focused(page)).toBe('H2');
  await key('c');
  expect(await answerOf(host, inChat)).toMatchObject({ status: 'ok' });
  await expect.poll(() => existsSync(join(host.home, 'chat.txt'))).toBe(true);
  expect((await host.api<{ rules: unknown[] }>('GET', 'rules')).rules).toHaveLength(2);

  // Several: ticked one by one, all, none, up to here; answered on one sheet.
  await armed(page, several[0]?.id ?? '');
  await key('x');
  expect(await ticks(page)).toBe(1);
  await key('*');
  expect(await ticks(page)).toBe(4);
  await key('Escape');
  expect(await ticks(page)).toBe(0);
  await key('x');
  await key('j');
  await key('j');
  await key('Shift+X');
  expect(await ticks(page)).toBe(3);
  expect(await violations(page)).toEqual([]);
  await key('a');
  const many = page.getByRole('dialog', { name: 'Answer several questions' });
  const approve = many.getByRole('button', { name: 'Approve 3' });
  await approve.waitFor();
  for (let tries = 0; tries < 12 && !(await approve.evaluate((button) => button === document.activeElement)); tries += 1) await key('Tab');
  await key('Enter');
  expect(await Promise.all(several.map(({ status }) => status))).toEqual(['ok', 'ok', 'ok']);
  await many.waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('list');

  // The last one, from the list.
  await armed(page, last);
  await key('1');
  await key('Control+Enter');
  expect(await answerOf(host, last)).toMatchObject({ status: 'ok', response: { selection: 'y' } });
  await page.getByText('All done. Nothing else needs you.').waitFor();
  expect(readFileSync(join(host.home, 's3.txt'), 'utf8')).toBe('s3.txt\n');
});

test('a held key answers one question at most, and nothing before it is armed', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('PUT', 'settings/confirmFileChanges', { value: true });
  const files = [await write(host, 'a.txt'), await write(host, 'b.txt'), await write(host, 'c.txt'), await write(host, 'd.txt'), await write(host, 'e.txt')];
  const page = await open({ host, at: '#/queue' });
  const [first, second] = files;
  await armed(page, first?.id ?? '');
  await page.keyboard.press('k');
  // Pressed and held: what comes after the first is a repetition, as from a keyboard.
  await page.keyboard.down('a');
  expect(await first?.status).toBe('ok');
  await armed(page, second?.id ?? '');
  for (let times = 0; times < 30; times += 1) await page.keyboard.down('a');
  await page.keyboard.up('a');
  expect(await waiting(host)).toHaveLength(4);

  // At the very moment a card appears its buttons do nothing, whoever presses.
  const early = await page.evaluate(() => {
    document.querySelector('[data-list]')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
    return new Promise<boolean>((resolve) => {
      const look = () => {
        const button = document.querySelector<HTMLButtonElement>('article [data-act="approve"]');
        if (!button) return requestAnimationFrame(look);
        const { disabled } = button;
        document.querySelector('[data-list]')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
        resolve(disabled);
      };
      requestAnimationFrame(look);
    });
  });
  expect(early).toBe(true);
  await armed(page, files[2]?.id ?? '');
  expect(await waiting(host)).toHaveLength(4);

  // In the search letters are letters; Enter leads to what is found.
  await page.keyboard.press('/');
  await page.keyboard.type('d.txt');
  await page.keyboard.press('Enter');
  await armed(page, files[3]?.id ?? '');
  await page.keyboard.press('r');
  expect(await files[3]?.status).not.toBe('ok');
  expect(await waiting(host)).toHaveLength(3);
});
