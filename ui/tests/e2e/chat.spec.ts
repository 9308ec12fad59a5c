// Chats against the real host with its built-in demo model: the first minute, a question answered in place,
// a subagent, stopping, a host that is killed in the middle and continued, lists, and how it all looks.

import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import { Host } from './host';
import { CountingModel } from './model';

/** What only a host that goes away provokes. */
const LOST = /ERR_CONNECTION|WebSocket|Failed to load resource|net::/;

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

/** Waits until nothing runs in the chat on screen. */
async function idle(page: Page): Promise<void> {
  await page.locator('[data-row="assistant"]').last().waitFor();
  await expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);
}

function sessionOf(page: Page): string {
  return /#\/chat\/([^/?]+)/.exec(page.url())?.[1] ?? '';
}

describe('the first minute', () => {
  test.for([
    ['en', 'What can you do?', 'List the files in this folder'],
    ['zh', '你能做什么？', '列出这个文件夹里的文件'],
  ] as const)('%s: that it is a demo stands once, under the composer, and its answers are clean', async ([language, ask, list], { ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, language, at: '#/chat' });
    const note = page.locator('[data-demo]');
    await note.waitFor();
    const said = /^[^.。]+[.。]/.exec((await note.innerText()).trim())?.[0] ?? 'nothing';
    const times = async () => (await page.locator('body').innerText()).split(said).length - 1;
    const words = page.getByRole('textbox', { name: language === 'zh' ? '消息' : 'Message', exact: true });
    const put = async (text: string, answers: number) => {
      await words.fill(text);
      await page.keyboard.press('Enter');
      await expect.poll(() => page.locator('[data-row="assistant"]').count()).toBeGreaterThanOrEqual(answers);
      await idle(page);
    };
    await put(ask, 1);
    await put(list, 2);
    expect([await note.count(), await times()]).toEqual([1, 1]);
    const answers = await page.locator('[data-row="assistant"] .markdown').allInnerTexts();
    expect(answers.join('\n')).not.toMatch(/'''|```|[0-9a-f]{8}-[0-9a-f]{4}-/);
    expect(await page.locator('[data-row="assistant"] .markdown a').count()).toBe(0);
    // What the tool said is a block of code.
    await page.locator('[data-row="assistant"] .markdown pre').first().waitFor();
  });

  test('a suggestion greets, lists real files and says that it is a demo', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: '#/chat' });
    await page.locator('[data-demo]').getByRole('link', { name: 'Add a model' }).waitFor();
    await page.getByRole('button', { name: 'What can you do?' }).click();
    await page.locator('[data-row="user"]').getByText('What can you do?').waitFor();
    await idle(page);
    expect(await page.locator('[data-row="assistant"]').last().innerText()).toMatch(/demo/i);

    await say(page, 'List the files in this folder');
    const card = page.locator('[data-tool]').first();
    await card.waitFor();
    await idle(page);
    expect(await card.getAttribute('data-state')).toBe('ok');
    await card.getByRole('button').first().click();
    await card.getByText('Output', { exact: true }).waitFor();
    // The chat has a title by now and is in the list, the newest on top.
    await page.getByRole('navigation', { name: 'Chats' }).locator('[data-session]').first().waitFor();
    expect(await page.locator('nav [data-session]').first().getAttribute('data-session')).toBe(sessionOf(page));
  });

  test('a question takes the place of the composer, and its answer goes on with the run', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: '#/chat' });
    await page.getByRole('button', { name: 'Ask me something' }).click();
    const dock = page.locator('[data-dock]');
    await dock.locator('article[data-ready="true"]').waitFor();
    expect(await page.locator('[data-composer]').count()).toBe(0);
    // The cursor is on the question, not lost and not on a button.
    await expect.poll(() => page.evaluate(() => document.activeElement?.closest('[data-dock]') !== null && document.activeElement?.tagName !== 'BUTTON')).toBe(true);
    await page.locator('[data-tool][data-state="waiting"]').waitFor();
    await answer(page);
    await dock.waitFor({ state: 'detached' });
    await idle(page);
    await page.locator('[data-composer]').waitFor();
    expect(await page.locator('[data-tool]').first().getAttribute('data-state')).toBe('ok');
  });

  test('a subagent works in a card of its own, and its run is part of the trace', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: '#/chat' });
    await page.getByRole('button', { name: 'Run a subagent' }).click();
    const card = page.locator('[data-tool="run_sub_agent"]');
    await card.waitFor();
    await idle(page);
    expect(await card.getAttribute('data-state')).toBe('ok');
    await page.getByRole('button', { name: /^Actions for/ }).last().click();
    await page.getByRole('menuitem', { name: 'View last run' }).click();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    // Run, its tool call, the subagent's run: one chain.
    await page.locator('[data-span][data-kind="run"][data-depth="0"]').waitFor();
    await page.locator('[data-span][data-kind="run"][data-depth="2"]').waitFor();
  });
});

/** Fills in whatever the demo asks and confirms it. */
async function answer(page: Page): Promise<void> {
  const dock = page.locator('[data-dock]');
  for (const box of await dock.locator('input[type="text"], textarea').all()) await box.fill('blue');
  const radio = dock.locator('input[type="radio"]');
  if ((await radio.count()) > 0 && (await dock.locator('input[type="radio"]:checked').count()) === 0) await radio.first().check();
  await dock.getByRole('button', { name: /^(Submit|Approve|OK)/ }).click();
}

describe('runs', () => {
  test('Escape stops an answer; what was said stays and can be answered again', async ({ ownHost, open }) => {
    const host = await ownHost();
    const model = await CountingModel.start();
    try {
      const page = await open({ host, at: `#/chat/${await model.chatOn(host)}` });
      await say(page, 'Count');
      await page.locator('[data-row="assistant"]').getByText('1 2 3').waitFor();
      await page.keyboard.press('Escape');
      await idle(page);
      await page.getByText('Stopped', { exact: true }).waitFor();
      expect(await page.locator('[data-row="assistant"]').innerText()).toMatch(/^1 2 3/);
      model.upTo = 3;
      await page.getByRole('button', { name: 'Regenerate' }).click();
      await expect.poll(() => page.locator('[data-row="assistant"] .text').last().innerText()).toMatch(/^1 2 3\s*$/);
      await idle(page);
    } finally {
      await model.stop();
    }
  });

  test('a refused key says what to do, also after a reload', async ({ ownHost, open }) => {
    const host = await ownHost();
    const model = await CountingModel.start();
    try {
      model.failures.push({ status: 401, body: { error: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'no such key' } } });
      const page = await open({ host, at: `#/chat/${await model.chatOn(host)}` });
      await say(page, 'Count');
      await page.locator('[data-class="auth"]').getByRole('link', { name: 'Open models' }).waitFor();
      await page.reload();
      await page.locator('[data-class="auth"]').waitFor();
      expect(await page.locator('[data-class]').count()).toBe(1);
      model.upTo = 3;
      // The chat goes on; what failed keeps its card and its actions, also after a reload.
      await say(page, 'Count anyway');
      await page.locator('[data-row="assistant"]').getByText('1 2 3').waitFor();
      await idle(page);
      await page.locator('[data-class="auth"]').getByRole('link', { name: 'Open models' }).waitFor();
      await page.reload();
      await page.locator('[data-class="auth"]').getByRole('link', { name: 'Open models' }).waitFor();
      expect(await page.getByText('Stopped', { exact: true }).count()).toBe(0);
      model.failures.push({ status: 401, body: { error: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'no such key' } } });
      await say(page, 'Count once more');
      await page.locator('[data-class="auth"]').nth(1).waitFor();
      await page.getByRole('button', { name: 'Retry' }).click();
      await expect.poll(() => page.locator('[data-row="assistant"]').getByText('1 2 3').count()).toBe(2);
      await idle(page);
      // The turn that was left as it is keeps its card and offers nothing; the other was answered in its place.
      expect(await page.locator('[data-class]').count()).toBe(1);
      expect(await page.locator('[data-class]').getByRole('button', { name: 'Retry' }).count()).toBe(0);
    } finally {
      await model.stop();
    }
  });

  test('a host killed in the middle: the run is shown as interrupted and is continued', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: '#/chat', expectConsole: LOST });
    await page.getByRole('button', { name: 'Ask me something' }).click();
    await page.locator('[data-dock] article[data-ready="true"]').waitFor();
    const id = sessionOf(page);
    await host.halt('SIGKILL');
    await page.locator('[data-banner="connection"]').waitFor();

    const again = await Host.start({ home: host.home, port: host.ready.port });
    try {
      const next = await open({ host: again, at: `#/chat/${id}`, expectConsole: LOST });
      const card = next.locator('[data-interrupted]');
      await card.waitFor();
      await next.locator('nav [data-sign="interrupted"]').waitFor();
      await next.getByRole('link', { name: 'Runs, 1 interrupted' }).waitFor();
      await card.getByRole('button', { name: 'Continue' }).click();
      await next.locator('[data-dock] article[data-ready="true"]').waitFor();
      await answer(next);
      await idle(next);
      expect(await next.locator('[data-interrupted]').count()).toBe(0);
      // The question was asked once.
      expect(await next.locator('[data-tool]').count()).toBe(1);
    } finally {
      await again.halt();
    }
  });

  test('messages written while it works wait their turn', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: '#/chat' });
    await page.getByRole('button', { name: 'Ask me something' }).click();
    await page.locator('[data-dock] article[data-ready="true"]').waitFor();
    await host.api('POST', `sessions/${sessionOf(page)}/send`, { text: 'What can you do?' });
    await page.locator('[data-chip="queued"]').getByText('What can you do?').waitFor();
    await answer(page);
    await expect.poll(() => page.locator('[data-row="assistant"]').count()).toBeGreaterThan(1);
    await idle(page);
    await expect.poll(() => page.locator('[data-row]').last().getAttribute('data-row')).toBe('assistant');
  });

  test('two pages of one chat show the same, also one that is opened in the middle', async ({ ownHost, open }) => {
    const host = await ownHost();
    const model = await CountingModel.start();
    try {
      const id = await model.chatOn(host);
      const page = await open({ host, at: `#/chat/${id}` });
      await say(page, 'Count');
      await page.locator('[data-row="assistant"]').getByText('1 2 3').waitFor();
      const other = await open({ host, at: `#/chat/${id}` });
      await other.locator('[data-row="assistant"]').getByText('1 2 3').waitFor();
      await page.getByRole('button', { name: 'Stop', exact: true }).click();
      await idle(page);
      await idle(other);
      // What the host kept: every number once, none missing. The last piece may reach the pages with it.
      const { messages } = await host.api<{ messages: { role: string; content: string }[] }>('GET', `sessions/${id}/messages`);
      const text = messages.find(({ role }) => role === 'assistant')?.content.trim() ?? '';
      const numbers = text.split(/\s+/).map(Number);
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
      const shown = (one: Page) => one.locator('[data-row="assistant"] .text').innerText().then((said) => said.trim());
      await expect.poll(() => shown(page)).toBe(text);
      await expect.poll(() => shown(other)).toBe(text);
      await page.reload();
      await expect.poll(() => shown(page)).toBe(text);
    } finally {
      await model.stop();
    }
  });
});

describe('the list', () => {
  test('rename, pin, archive, search and delete', async ({ ownHost, open }) => {
    const host = await ownHost();
    const ids: string[] = [];
    for (const title of ['Alpha', 'Beta', 'Gamma']) ids.push((await host.api<{ id: string }>('POST', 'sessions', { title })).id);
    const page = await open({ host, at: `#/chat/${ids[0]}`, expectConsole: /404/ });
    const row = (title: string) => page.locator('nav [data-session]').filter({ hasText: title });
    const act = async (title: string, action: string) => {
      await row(title).hover();
      await row(title).getByRole('button', { name: `Actions for ${title}` }).click();
      await page.getByRole('menuitem', { name: action, exact: true }).click();
    };
    await act('Alpha', 'Rename');
    await page.getByRole('dialog').getByLabel('Name').fill('Älpha 第一');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Älpha 第一' }).waitFor();
    await act('Älpha 第一', 'Pin');
    await page.getByRole('heading', { name: 'Pinned' }).waitFor();
    expect(await page.locator('nav [data-session]').first().getAttribute('data-session')).toBe(ids[0]);

    await act('Beta', 'Archive');
    await row('Beta').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show archived' }).click();
    await row('Beta').waitFor();
    await page.getByRole('button', { name: 'Back to chats' }).click();
    await row('Gamma').waitFor();

    await page.getByLabel('Search chats').fill('gam');
    await expect.poll(() => page.locator('nav [data-session]').count()).toBe(1);
    await page.getByLabel('Search chats').fill('');
    await act('Gamma', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row('Gamma').waitFor({ state: 'detached' });
    await page.evaluate((id) => (location.hash = `#/chat/${id}`), ids[2]);
    await page.getByText('This chat no longer exists.').waitFor();
  });

  test('a picture is refused for a model that cannot see, and files of other kinds at once', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: '#/chat' });
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    const picker = page.locator('[data-composer] input[type="file"]');
    await picker.setInputFiles({ name: 'paper.pdf', mimeType: 'application/pdf', buffer: Buffer.from([0x25, 0x50, 0x44, 0x46, 0]) });
    await page.getByText('paper.pdf: can’t be attached').waitFor();
    await picker.setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png });
    await page.getByRole('alert').getByText('can’t see pictures').waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Remove dot.png' }).click();
    expect(await page.locator('[data-composer] img').count()).toBe(0);
  });
});

test('formulas, task lists and notes are drawn, with the page\u2019s own policy', async ({ ownHost, open }) => {
  const host = await ownHost();
  const model = await CountingModel.start();
  try {
    model.text = 'Euler: $e^{i\\pi} + 1 = 0$ for $5.[^1]\n\n$$\n\\int_0^1 x^2 \\, dx = \\frac{1}{3}\n$$\n\n- [x] proved\n- [ ] written down\n\n[^1]: The formula, not the price.\n';
    // A style that is refused would be an error of the console, which fails the test.
    const page = await open({ host, at: `#/chat/${await model.chatOn(host)}` });
    await say(page, 'Euler?');
    await idle(page);
    await page.locator('.markdown math mfrac').waitFor();
    expect(await page.locator('.markdown math').count()).toBe(2);
    const box = await page.locator('.math-block math').boundingBox();
    expect((box?.height ?? 0) > 20).toBe(true);
    expect(await page.locator('.markdown li.task').allInnerTexts()).toEqual(['☑ proved', '☐ written down']);
    expect(await page.locator('.markdown .notes').innerText()).toContain('not the price');
    expect(await page.locator('.markdown').innerText()).toContain('for $5');
  } finally {
    await model.stop();
  }
});

test('hostile texts are shown, not run', async ({ ownHost, open }) => {
  const host = await ownHost();
  const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: '<img src=x onerror=alert(1)>\u202e' });
  const page = await open({ host, at: `#/chat/${id}`, bypassCSP: true });
  await say(page, '<script>alert(1)</script> ![x](http://127.0.0.1:9/x.png) \u202eevil');
  await idle(page);
  expect(await page.locator('main img[src^="http"], main script').count()).toBe(0);
  await page.locator('[data-row="user"]').getByText('U+202E').waitFor();
  expect(await violations(page)).toEqual([]);
});

describe.each([
  ['en', 'light', 1280],
  ['zh', 'dark', 390],
] as const)('%s, %s, %i px', (language, theme, width) => {
  test('every state is accessible and has room', async ({ ownHost, open }) => {
    const host = await ownHost();
    const words = language === 'zh' ? { ask: '问我一个问题', list: '列出我的文件' } : { ask: 'Ask me something', list: 'List my files' };
    const page = await open({ host, at: '#/chat', language, theme, bypassCSP: true, viewport: { width, height: 844 } });
    const found: string[] = [];
    const check = async (state: string) => {
      found.push(...(await violations(page)).map((line) => `${state}: ${line}`));
      const wide = await page.evaluate(() => [document.documentElement, document.querySelector('main')].filter((box) => box && box.scrollWidth > box.clientWidth + 1).length);
      if (wide > 0) found.push(`${state}: wider than the window`);
    };
    await page.getByRole('button', { name: words.list }).waitFor();
    await check('welcome');
    await page.getByRole('button', { name: words.list }).click();
    await idle(page);
    await page.locator('[data-tool]').first().getByRole('button').first().click();
    await check('answered');
    await page.evaluate(() => (location.hash = '#/chat'));
    await page.getByRole('button', { name: words.ask }).click();
    await page.locator('[data-dock] article[data-ready="true"]').waitFor();
    await check('asked');
    await page.evaluate(() => (location.hash = '#/runs'));
    await page.locator('[data-run]').first().click();
    await page.locator('[data-run-view] [data-step]').first().waitFor();
    await check('steps');
    await page.getByRole('tab').last().click();
    await page.locator('[data-span]').first().waitFor();
    await check('trace');
    expect(found).toEqual([]);
  });
});
