// Three thousand questions by what they are about and who asks: counted, filtered, grouped, ticked by the group, kept
// in the address, without the mouse (inbox §3.2, §3.3, §3.5).

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { keep } from './pictures';
import { chatosBinary } from './programs';
import { answerOf, append, lookUp, request } from './questions';

const COUNT = 3_000;
const SOURCES = ['builder', 'mailer', 'planner'];

/** Each third is of another program: choices, forms and task lists in turn. */
function prompts(): object[] {
  const start = Date.now() - COUNT * 1_000;
  return Array.from({ length: COUNT }, (_, index) => {
    const source = SOURCES[index % 3] ?? '';
    const kinds = [
      { kind: 'choice', options: [{ value: 'y', label: 'Yes' }], default: 'y' },
      { kind: 'kv', fields: [{ key: 'name', label: 'Name' }] },
      { kind: 'task_confirm', tasks: [{ draftId: '1', title: 'Water the plants' }] },
    ];
    const kind = kinds[Math.floor(index / 3) % 10 === 0 ? 1 : index % 30 === 4 ? 2 : 0];
    return request(`q-${index}`, { ...kind, title: `Question ${index}`, source }, new Date(start + index * 1_000).toISOString());
  });
}

const fill = (host: Host) => append(host, ...(prompts() as Record<string, unknown>[]));
const query = (page: Page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.split('?')[1] ?? '')));
const chip = (page: Page, name: string) => page.locator('.facets .chip', { hasText: name });
const status = (page: Page) => page.locator('.several [role="status"]').textContent();
/** Badges say 99+ where their name says the number. */
const faults = async (page: Page) => (await violations(page)).filter((text) => !text.startsWith('label-content-name-mismatch'));
const firstRow = (page: Page) => page.locator('[data-list] .slot').first().locator('[role="option"]');

test('3,000 questions are filtered by count, without the mouse, and a reload shows the same', async ({ ownHost, open }) => {
  const host = await ownHost();
  const page = await open({ host, at: '#/queue', bypassCSP: true });
  fill(host);
  const key = (name: string) => page.keyboard.press(name);
  await page.getByRole('heading', { level: 2, name: 'Question 0', exact: true }).waitFor();

  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await key('f');
  await expect.poll(() => page.locator('.facets').textContent(), { timeout: 20_000 }).toContain('mailer 1,000');
  expect(await page.locator('.facets .chip').allTextContents()).toEqual(expect.arrayContaining([expect.stringMatching(/^Form\s*300$/)]));
  expect(await page.locator('.facets [role="status"]').count()).toBe(0);
  expect(await faults(page)).toEqual([]);

  // The focus is on the first of them; what is chosen narrows the others, and all of it stands in the address.
  expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/Form/);
  await key('Enter');
  await expect.poll(() => query(page)).toEqual({ kind: 'form' });
  await expect.poll(() => chip(page, 'mailer').textContent()).toMatch(/100$/);
  await chip(page, 'mailer').focus();
  await key('Space');
  await expect.poll(() => query(page)).toEqual({ kind: 'form', from: 'program:mailer' });
  await expect.poll(() => status(page)).toContain(`100 of ${COUNT}`);
  // What is open is one of them, the first.
  await page.getByRole('heading', { level: 2, name: 'Question 1', exact: true }).waitFor();
  await page.getByText('1 / 100').waitFor();
  await key('Escape');
  expect(await page.evaluate(() => document.activeElement?.matches('[data-list]'))).toBe(true);
  await key('j');
  await page.getByRole('heading', { level: 2, name: 'Question 31', exact: true }).waitFor();
  expect(await faults(page)).toEqual([]);

  await page.reload();
  await page.getByRole('heading', { level: 2, name: 'Question 31', exact: true }).waitFor();
  await expect.poll(() => status(page)).toContain(`100 of ${COUNT}`);
  await page.getByRole('button', { name: 'Remove filter: mailer' }).waitFor();

  // Words narrow what the filters left; nothing at all is said, with the way back.
  await key('/');
  await page.keyboard.type('Question 2999');
  await page.getByText('No matching questions').waitFor();
  expect(await query(page)).toEqual({ kind: 'form', from: 'program:mailer', q: 'Question 2999' });
  await page.getByRole('button', { name: 'Show all questions' }).click();
  await expect.poll(() => query(page)).toEqual({});
  // The whole list again, at the question that is open.
  await page.locator('[data-prompt="q-31"][aria-selected="true"]').waitFor();
  expect(await page.getByLabel('Search questions').inputValue()).toBe('');
});

/** Another program behind the gateway, by the name it gives itself, in a folder of its own. */
class Program {
  #id = 0;
  readonly #answers = new Map<number, (result: Record<string, unknown>) => void>();

  private constructor(private readonly child: ChildProcess) {
    if (!child.stdout) throw new Error('started without stdout');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, result } = JSON.parse(line) as { id?: number; result?: Record<string, unknown> };
      if (id !== undefined) this.#answers.get(id)?.(result ?? {});
    });
  }

  static async start(host: Host, name: string, folder: string, agent: string): Promise<Program> {
    const cwd = join(host.home, folder);
    mkdirSync(cwd, { recursive: true });
    const args = ['gateway', '--agent', agent, '--tools', 'all', '--lang', 'en', '--state-dir', join(host.home, 'state')];
    const child = spawn(chatosBinary(), args, { cwd, env: { PATH: process.env['PATH'] ?? '', HOME: host.home, LANG: 'C.UTF-8' }, stdio: ['pipe', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const program = new Program(child);
    await program.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name, version: '1' } });
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    return program;
  }

  ask(method: string, params: object): Promise<Record<string, unknown>> {
    const id = (this.#id += 1);
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve) => this.#answers.set(id, resolve));
  }

  /** Ends it; it keeps files of the home in use. */
  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }

  /** Wants files written; each is asked about. */
  async write(names: string[]): Promise<void> {
    const { tools } = (await this.ask('tools/list', {})) as { tools: { name: string }[] };
    const tool = tools.find(({ name }) => name.endsWith('write_file'))?.name;
    for (const path of names) void this.ask('tools/call', { name: tool, arguments: { path, contents: `${path}\n` } });
  }
}

/** What they call themselves, and where they work: five programs in four folders. */
const PROGRAMS = [['goose', 'shop'], ['opencode', 'shop'], ['zed', 'website'], ['crush', 'notes'], ['amp', 'billing']] as const;

test('five programs in four folders among 3,000: filtered, grouped, searched, and reached by End, Home and the page keys', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('PUT', 'settings/confirmFileChanges', { value: true });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Gate', mode: 'flow', landConfigId: 'lc_developer' });
  fill(host);
  const programs: Program[] = [];
  for (const [name, folder] of PROGRAMS) {
    const program = await Program.start(host, name, folder, agent.id);
    programs.push(program);
    await program.write(Array.from({ length: 4 }, (_, index) => `${name}-${index}.md`));
  }
  const page = await open({ host, at: '#/queue', bypassCSP: true });
  const key = (name: string) => page.keyboard.press(name);
  await page.getByRole('button', { name: `Inbox: ${COUNT + 20} things need you` }).waitFor({ timeout: 60_000 });
  await page.getByRole('heading', { level: 2, name: 'Question 0', exact: true }).waitFor();
  expect(await page.locator('*').count()).toBeLessThan(1_500);

  // The far ends, and a page at a time, though most of it was never loaded.
  const at = (place: number) => page.getByText(`${place} / ${COUNT + 20}`).waitFor();
  await page.locator('[data-list]').focus();
  await key('End');
  await at(COUNT + 20);
  await page.locator('[data-list] [role="option"][aria-selected="true"]').waitFor();
  await key('PageUp');
  await expect.poll(async () => page.getByText(`${COUNT + 20} / ${COUNT + 20}`).count()).toBe(0);
  await key('Home');
  await at(1);
  await key('PageDown');
  await expect.poll(async () => page.getByText(`1 / ${COUNT + 20}`, { exact: true }).count()).toBe(0);
  expect(await page.locator('*').count()).toBeLessThan(1_500);

  // By program and by folder, with how many each would leave.
  await key('f');
  await expect.poll(() => page.locator('.facets').textContent(), { timeout: 20_000 }).toContain('mailer 1,000');
  const more = page.locator('.facets').getByRole('button', { name: /^\d+ more$/ });
  while ((await more.count()) > 0) await more.first().click();
  const facets = await page.locator('.facets .chip').allTextContents();
  for (const [name] of PROGRAMS) expect(facets).toEqual(expect.arrayContaining([expect.stringMatching(new RegExp(`^${name}\\s*4$`, 'i'))]));
  await keep(page, 'views-programs');
  await chip(page, 'shop').first().click();
  await expect.poll(() => status(page)).toContain(`8 of ${COUNT + 20}`);
  await expect.poll(() => chip(page, 'goose').first().textContent()).toMatch(/4$/);
  expect(await faults(page)).toEqual([]);
  await key('Escape');
  await key('Shift+G');
  await page.getByRole('menuitemradio', { name: /who asks/i }).first().click();
  await expect.poll(async () => (await page.locator('[data-group]').allTextContents()).length).toBe(2);
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await keep(page, 'views-grouped');
  await key('/');
  await page.keyboard.type('goose-2.md');
  await expect.poll(() => page.locator('[data-list] [data-prompt]').count()).toBe(1);
  await key('Enter');
  await page.getByRole('heading', { level: 2, name: 'Create goose-2.md?' }).waitFor();
  await keep(page, 'views-found');
  for (const program of programs) await program.end();
}, 180_000);

test('groups fold, are ticked whole and answered together; the keys of one question do nothing on a head', async ({ ownHost, open }) => {
  const host = await ownHost();
  const page = await open({ host, at: '#/queue?group=from&kind=form', bypassCSP: true });
  fill(host);
  append(host, request('late', { kind: 'kv', title: 'The odd one', source: 'visitor', fields: [{ key: 'name', label: 'Name' }] }, new Date().toISOString()));
  const key = (name: string) => page.keyboard.press(name);
  const heads = () => page.locator('[data-group]').allTextContents();
  await page.locator('[data-group="program:builder"]', { hasText: '100' }).waitFor({ timeout: 20_000 });
  expect(await page.locator('*').count()).toBeLessThan(1_500);

  // From a question to the head of its group, folded, and on to the next heads.
  await page.locator('[data-prompt="q-0"]').click();
  await page.locator('[data-list]').focus();
  for (const name of ['ArrowLeft', 'ArrowLeft', 'j', 'ArrowLeft', 'j', 'o', 'j', 'Enter']) await key(name);
  await expect.poll(async () => (await heads()).length).toBe(4);
  expect((await heads()).every((text) => text.includes('folded'))).toBe(true);
  expect(await page.locator('[data-prompt]').count()).toBe(0);

  // On a head the letters of a card answer nothing.
  for (const name of ['a', 'r', 'Control+Enter', '1', 'n']) await key(name);
  expect((await lookUp(host, 'q-0')).state).toBe('pending');
  expect((await lookUp(host, 'late')).state).toBe('pending');
  await key('x');
  await expect.poll(() => page.locator('[role="option"][aria-checked="true"]').count()).toBe(1);
  await key('r');
  const sheet = page.getByRole('dialog', { name: 'Answer several questions' });
  await sheet.getByText('The odd one').waitFor();
  await sheet.getByRole('button', { name: 'Reject 1' }).click();
  expect((await answerOf(host, 'late')).status).toBe('canceled');
  await sheet.waitFor({ state: 'detached' });
  await expect.poll(async () => (await heads()).length).toBe(3);

  // All that is shown, folded or not, as far as one answer goes; a click on the box of a group takes it out again.
  await key('*');
  await page.getByText('200 at most').waitFor();
  await page.locator('[data-group="program:builder"] [data-tick]').click();
  await page.getByRole('button', { name: 'Answer 100…' }).waitFor();
  await key('Escape');
  await page.getByRole('button', { name: 'Answer several…' }).waitFor();
  expect(await faults(page)).toEqual([]);

  // The menu by its key; a jump to a page still begins with g.
  await key('Shift+G');
  await page.getByRole('menuitemradio', { name: 'Newest first' }).click();
  await expect.poll(() => query(page)).toMatchObject({ group: 'from', kind: 'form', order: 'newest' });
  expect(await firstRow(page).getAttribute('data-group')).toBe('program:planner');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await key('g');
  await key('t');
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
});
