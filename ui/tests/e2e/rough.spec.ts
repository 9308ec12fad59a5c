// What a page has to live with (issue 21, "Bad input"): lines of megabytes, code blocks that never end, output full of
// control codes, an answer that draws itself as a question, a chat deleted elsewhere, a wrong clock; and many visits.

import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer, type Script } from './model-server';
import { RESULTS } from './programs';

/** A chat whose model does what `answers` says of the words it is asked. */
async function chatWith(host: Host, answers: (text: string, called: boolean) => Script): Promise<string> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = (body) => {
    const messages = body.messages ?? [];
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    return answers(lastOf({ messages: messages.slice(0, asked + 1) }).text, messages.slice(asked + 1).some(({ role }) => role === 'tool'));
  };
  const model = await host.api<{ id: string }>('POST', 'models', { name: 'Rough', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Rough', mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
  return (await host.api<{ id: string }>('POST', 'sessions', { title: 'Rough', agentId: agent.id })).id;
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

const idle = (page: Page) => expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);
const noWider = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1);

/** As much like a question of ours as Markdown can be. */
const IMITATION = '## Run this command?\n\n**High risk** · Tea shop ▸ run_shell_command\n\n```sh\nrm -rf ~\n```\n\n<button data-approve>Approve</button> [Approve](javascript:alert(1)) <form><input type="submit" value="Approve"></form>\n\n<article data-open="x" data-ready="true"></article>';

test('a line of five megabytes, a block that is never closed and an answer that imitates a question do no harm', async ({ ownHost, open }) => {
  const host = await ownHost();
  const LONG = 5_000_000;
  let rest = (): void => undefined;
  const more = new Promise<void>((resolve) => (rest = resolve));
  const chat = await chatWith(host, (text) => {
    if (text.includes('long')) return { pieces: ['begin ', ...Array.from({ length: 50 }, () => 'x'.repeat(LONG / 50))], text: ' end' };
    if (text.includes('fence')) return { pieces: ['Here:\n\n```python\nprint("one")\n', 'print("two")\n'], more, text: 'print("three")' };
    return { text: IMITATION };
  });
  const page = await open({ host, at: `#/chat/${chat}` });

  // While it is written and when it has ended: all of it is code, and nothing is lost.
  await say(page, 'a fence');
  const block = page.locator('[data-row="assistant"] pre').first();
  await expect.poll(() => block.innerText()).toContain('print("two")');
  rest();
  await idle(page);
  await expect.poll(() => block.innerText()).toContain('print("three")');
  expect(await page.locator('[data-row="assistant"] pre').count()).toBe(1);

  // It looks like what it is: an answer. There is nothing to press, and nothing asks.
  await say(page, 'imitate');
  await page.locator('[data-row="assistant"] h2').getByText('Run this command?').waitFor();
  await idle(page);
  const answer = page.locator('[data-row="assistant"] .markdown').last();
  expect(await answer.innerText()).toContain('Run this command?');
  expect(await answer.locator('button[data-approve], form, input, article, a').count()).toBe(0);
  expect(await page.locator('[data-dock] article').count()).toBe(0);
  expect((await host.api<{ items: unknown[] }>('GET', 'prompts?view=needs_you')).items).toEqual([]);

  // Fifty pieces of 100 kB each draw the line anew; on a busy machine that takes its time.
  await say(page, 'long');
  await expect.poll(() => page.locator('[data-row="assistant"]').last().innerText().then((text) => text.startsWith('begin'))).toBe(true);
  await expect.poll(() => page.locator('[data-run-state]').count(), { timeout: 150_000 }).toBe(0);
  expect(await noWider(page)).toBe(true);
  // The page still works.
  await page.getByLabel('Message', { exact: true }).fill('still here');
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('still here');
}, 240_000);

test('five megabytes in one piece arrive, cut where a reply ends, and the person is told', async ({ ownHost, open }) => {
  const host = await ownHost();
  const chat = await chatWith(host, (text) => (/\blong\s*$/.test(text) ? { text: `begin ${'x '.repeat(2_500_000)} end` } : { text: 'fine' }));
  const page = await open({ host, at: `#/chat/${chat}` });
  await say(page, 'long');
  const row = page.locator('[data-row="assistant"]').last();
  await row.getByText('Cut off: this reply reached its maximum length.').waitFor({ timeout: 120_000 });
  const kept = (await host.api<{ messages: { role: string; content: string }[] }>('GET', `sessions/${chat}/messages`)).messages.filter(({ role }) => role === 'assistant');
  expect(kept.map(({ content }) => [content.slice(0, 7), content.length])).toEqual([['begin x', 4 * 1024 * 1024]]);
  await expect.poll(() => row.innerText().then((text) => text.startsWith('begin x'))).toBe(true);
  expect(await page.getByText('The model returned an empty reply.').count()).toBe(0);
  expect(await noWider(page)).toBe(true);
  await page.screenshot({ path: `${RESULTS}/pages/one-long-piece.png` });

  // The connection lives, and so does the chat.
  await say(page, 'and now?');
  await page.locator('[data-row="assistant"]').getByText('fine', { exact: true }).waitFor({ timeout: 60_000 });
}, 240_000);

test('output full of control codes is text: it neither draws, moves nor hides anything', async ({ ownHost, open }) => {
  const host = await ownHost();
  const command = String.raw`for i in $(seq 2000); do printf '\033[2J\033[1;1H\033[31mred\033[0m\033]0;title\007\033[8mhidden\033[0m\033[999C\r'; done; printf '\033]8;;http://evil.test/\007link\033]8;;\007 seen\n'`;
  const chat = await chatWith(host, (_, called) => (called ? { text: 'done' } : { call: { tool: 'run_shell_command', args: { command } } }));
  const page = await open({ host, at: `#/chat/${chat}` });
  await say(page, 'go');
  await page.locator('[data-row="assistant"]').getByText('done', { exact: true }).waitFor();
  const card = page.locator('[data-tool="run_shell_command"]');
  await card.getByRole('button').first().click();
  await card.getByText('seen').first().waitFor();
  const text = await card.innerText();
  expect(text).toContain('red');
  expect(text).toContain('hidden');
  expect(text).not.toContain('\u001b');
  expect(await card.locator('a[href*="evil"]').count()).toBe(0);
  expect(await page.title()).toContain('ChatOS');
  expect(await noWider(page)).toBe(true);
});

test('a hundred megabytes of output are shown by their beginning and end, and the page goes on', async ({ ownHost, open }) => {
  const host = await ownHost();
  const command = 'echo first; yes 0123456789 | head -c 100000000; echo last';
  const chat = await chatWith(host, (_, called) => (called ? { text: 'done' } : { call: { tool: 'run_shell_command', args: { command } } }));
  const page = await open({ host, at: `#/chat/${chat}` });
  await say(page, 'go');
  await page.locator('[data-row="assistant"]').getByText('done', { exact: true }).waitFor({ timeout: 120_000 });
  const card = page.locator('[data-tool="run_shell_command"]');
  await card.getByRole('button').first().click();
  await card.getByText('first').first().waitFor();
  const text = await card.innerText();
  expect(text).toMatch(/first\n(0123456789\n){10}/);
  expect(text).toContain('last');
  expect(text.length).toBeLessThan(1_000_000);
  expect(await noWider(page)).toBe(true);
  await say(page, 'and now?');
  await expect.poll(() => page.locator('[data-row="assistant"]').getByText('done', { exact: true }).count()).toBe(2);
}, 240_000);

test('formulas that would grow without end are shown as they were written', async ({ ownHost, open }) => {
  const host = await ownHost();
  const ten = (name: string) => name.repeat(10);
  const bomb = String.raw`\def\a{xxxxxxxxxx}\def\b{${ten('\\a')}}\def\c{${ten('\\b')}}\def\d{${ten('\\c')}}\def\e{${ten('\\d')}}\def\f{${ten('\\e')}}\f`;
  const loop = String.raw`\def\g{\g\g}\g`;
  const chat = await chatWith(host, () => ({ text: `$$${bomb}$$\n\n$$${loop}$$\n\n$$${'{'.repeat(3_000)}$$\n\n$$${'x+'.repeat(3_000)}x$$\n\n$$y^2$$\n` }));
  const page = await open({ host, at: `#/chat/${chat}` });
  await say(page, 'go');
  const answer = page.locator('[data-row="assistant"] .markdown').last();
  await answer.locator('math').getByText('y').first().waitFor();
  await idle(page);
  const text = await answer.innerText();
  expect(text).toContain(String.raw`\def\a`);
  expect(text).toContain(String.raw`\def\g`);
  expect(await answer.locator('math').count()).toBe(1);
  expect(await noWider(page)).toBe(true);
});

test('lines that a program draws again and again are shown as it left them', async ({ ownHost, open }) => {
  const host = await ownHost();
  const command = String.raw`printf 'fetching 10%%\rfetching 60%%\rfetching 100%%\n'; printf 'app  1/3\nlib  1/2\n\033[2A\033[2K\033[32mapp  3/3\033[0m\n\033[2Klib  2/2\n'; printf 'added 214 packages\n'`;
  const chat = await chatWith(host, (_, called) => (called ? { text: 'done' } : { call: { tool: 'run_shell_command', args: { command } } }));
  const page = await open({ host, at: `#/chat/${chat}` });
  await say(page, 'go');
  await page.locator('[data-row="assistant"]').getByText('done', { exact: true }).waitFor();
  const card = page.locator('[data-tool="run_shell_command"]');
  await card.getByRole('button').first().click();
  await card.getByText('added 214 packages').first().waitFor();
  expect(await card.locator('pre').last().innerText()).toContain('\nfetching 100%\napp  3/3\nlib  2/2\nadded 214 packages\n');
  await page.screenshot({ path: `${RESULTS}/pages/redrawn-lines.png` });
});

test('who wants no movement sees none: what is at the end of a growing answer stands still', async ({ ownHost, open }) => {
  const host = await ownHost();
  let rest = (): void => undefined;
  const more = new Promise<void>((resolve) => (rest = resolve));
  const chat = await chatWith(host, () => ({ pieces: ['It ', 'grows '], more, text: 'on.' }));
  const page = await open({ host, at: `#/chat/${chat}` });
  await say(page, 'go');
  const grows = page.locator('[data-row="assistant"] .streaming p').last();
  await grows.getByText('It grows').waitFor();
  const caret = () => grows.evaluate((element) => {
    const look = getComputedStyle(element, '::after');
    const moving = document.getAnimations().filter((one) => one.playState === 'running' && one.effect?.getComputedTiming().iterations !== 1);
    return { width: Number.parseFloat(look.width) > 0, count: look.animationIterationCount, moving: moving.length };
  });
  // It is there, and it blinks for everybody else.
  expect(await caret()).toMatchObject({ width: true, count: 'infinite' });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  expect(await caret()).toMatchObject({ width: true, count: '1' });
  await expect.poll(async () => (await caret()).moving).toBe(0);
  rest();
  await idle(page);
});

test('a chat that is deleted in another window says so here, and what was written is not lost', async ({ ownHost, open }) => {
  const host = await ownHost();
  const chat = await chatWith(host, () => ({ text: 'ok' }));
  const page = await open({ host, at: `#/chat/${chat}`, expectConsole: /404/ });
  await say(page, 'hello');
  await page.locator('[data-row="assistant"]').getByText('ok', { exact: true }).waitFor();
  await page.getByLabel('Message', { exact: true }).fill('a draft');
  await host.api('DELETE', `sessions/${chat}`);
  await page.locator(`nav [data-session="${chat}"]`).waitFor({ state: 'detached' });
  await page.getByText(/deleted|not there|no longer/i).first().waitFor();
  // A new chat is a press away, and what was being written is in it.
  await page.getByText('What you were writing is now the draft of a new chat.').waitFor();
  await page.getByRole('link', { name: 'New chat' }).or(page.getByRole('button', { name: 'New chat' })).first().click();
  await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('a draft');
});

test('a clock that is a day off, either way, neither breaks times nor hides what waits', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('POST', 'prompts', { prompt: { kind: 'choice', title: 'Which colour?', source: 'paint', options: [{ value: 'red' }, { value: 'blue' }] } });
  for (const hours of [-24, 24]) {
    const page = await open({ host, at: false });
    await page.clock.install({ time: Date.now() + hours * 3_600_000 });
    await page.goto(await host.signInLink());
    await page.getByRole('navigation').first().waitFor();
    await page.evaluate(() => (location.hash = '#/queue'));
    await page.clock.runFor(2_000);
    await page.getByRole('heading', { name: 'Which colour?' }).first().waitFor();
    await page.clock.runFor(2_000);
    expect(await page.locator('main').innerText()).not.toMatch(/NaN|Invalid|-\d+ (second|minute|hour|day)/);
  }
});

test('going over all pages again and again leaves nothing behind', async ({ ownHost, open }) => {
  const host = await ownHost();
  const page = await open({ host, at: '#/tasks' });
  const tools = await page.context().newCDPSession(page);
  const PAGES = ['chat', 'queue', 'apps', 'agents', 'agents/models', 'agents/land-configs', 'agents/programs', 'settings/servers', 'settings/tools', 'settings/tool-log', 'runs', 'changes', 'settings', 'settings/doctor', 'settings/help', 'tasks'];
  const round = async () => {
    for (const at of PAGES) {
      await page.evaluate((hash) => (location.hash = `#/${hash}`), at);
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      await page.waitForFunction(() => document.querySelector('main .skeleton') === null);
    }
  };
  const count = async () => {
    for (let n = 0; n < 3; n += 1) await tools.send('HeapProfiler.collectGarbage');
    return (await tools.send('Memory.getDOMCounters')).nodes;
  };
  const ROUNDS = 4;
  for (let n = 0; n < 2; n += 1) await round();
  const before = await count();
  for (let n = 0; n < ROUNDS; n += 1) await round();
  // A page that is kept has hundreds; what a browser has not cleared away yet is a few.
  expect((await count()) - before).toBeLessThan(60 * ROUNDS);
});
