// A day of work, in both languages (issue 21, acceptance 1): a project is opened, an agent edits three files with
// approvals, the host is restarted in between, a test fails, the person steers, undoes one change, forks, attaches a
// text and a PDF, switches the model and takes the chat away. With CHATOS_PICTURES=<folder> each stop is kept as a picture.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from './fixtures';
import { lastOf, ModelServer } from './model-server';
import { keep } from './pictures';

type Body = Parameters<typeof lastOf>[0];

const WORDS = {
  en: {
    name: /^Name/, folder: 'Working folder', profile: /^Permissions profile/, developer: 'Developer', create: 'Create', message: 'Message', approve: 'Approve',
    resume: 'Continue', steerNow: 'Steer now', send: 'Send', undo: 'Undo…', undoOne: 'Undo 1 file', fork: 'Fork into a new chat', actions: /^Actions for/,
    export: 'Export…', exportNow: 'Export', exit: 'exit code 1', agent: 'Tea shop',
    task: 'Put cocoa for 4.00 on the menu and run the tests.', steer: 'Cocoa is 3.20, not 4.00.', ask: 'What do our customers say?', again: 'And in one word?',
    failed: 'The test fails: cocoa costs 4.00, more than 3.60.', done: 'All tests pass. Cocoa is on the menu for **3.20**.',
    read: 'They like the tea and ask for more cocoa.', word: 'More!', menu: 'cocoa: rich and dark', feedback: 'Lovely tea. More cocoa, please!\n',
  },
  zh: {
    name: /^名称/, folder: '工作文件夹', profile: /^授权配置/, developer: '开发者', create: '创建', message: '消息', approve: '同意',
    resume: '继续', steerNow: '立即引导', send: '发送', undo: '撤销…', undoOne: '撤销 1 个文件', fork: '从这里另开对话', actions: /的操作$/,
    export: '导出…', exportNow: '导出', exit: '退出码 1', agent: '茶铺',
    task: '把可可加进菜单，定价 4.00，然后运行测试。', steer: '可可是 3.20，不是 4.00。', ask: '顾客怎么说？', again: '用一个词概括呢？',
    failed: '测试失败：可可 4.00，超过了 3.60。', done: '测试全部通过。可可已加入菜单，定价 **3.20**。',
    read: '他们喜欢茶，还想要更多可可。', word: '再来！', menu: 'cocoa：浓郁香醇', feedback: '茶很好喝。想要更多可可！\n',
  },
};
type Words = (typeof WORDS)['en'];

/** Thirty pages. */
const REPORT = join(import.meta.dirname, '../../../crates/chatos-cli/tests/documents/report.pdf');

/** What only a host that goes away provokes. */
const LOST = /ERR_CONNECTION|WebSocket|Failed to load resource|net::/;

const FILES: Record<string, string> = {
  'prices.txt': 'tea 3.00\ncoffee 3.50\n',
  'menu.md': '# Menu\n\n- tea: fresh and green\n- coffee: strong\n',
  'README.md': '# Tea shop\n\nWe sell tea and coffee.\n',
  'test.sh': 'bad=0\nwhile read -r name price; do\n  if [ "$(echo "$price" | tr -d .)" -gt 360 ]; then echo "FAIL $name costs $price, more than 3.60"; bad=1; else echo "ok   $name $price"; fi\ndone < prices.txt\nexit $bad\n',
};

/** What the model does, by what it was asked last and how many tools it has called since. */
function work(w: Words, body: Body): ReturnType<ModelServer['decide']> {
  const messages = body.messages ?? [];
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const question = lastOf({ messages: messages.slice(0, asked + 1) }).text;
  const called = messages.slice(asked + 1).filter(({ role }) => role === 'tool').length;
  const edit = (path: string, old_string: string, new_string: string) => ({ call: { tool: 'edit_file', args: { path, old_string, new_string } } });
  const test = { call: { tool: 'run_shell_command', args: { command: 'sh test.sh' } } };
  if (question.includes(w.task)) {
    const steps = [
      edit('prices.txt', 'coffee 3.50\n', 'coffee 3.50\ncocoa 4.00\n'),
      edit('menu.md', '- coffee: strong\n', `- coffee: strong\n- ${w.menu}\n`),
      edit('README.md', 'tea and coffee', 'tea, coffee and cocoa'),
      test,
    ];
    // It says what is wrong, and thinks about it until somebody helps.
    return steps[called] ?? { pieces: [w.failed], more: new Promise(() => undefined) };
  }
  if (question.includes(w.steer)) return [edit('prices.txt', 'cocoa 4.00', 'cocoa 3.20'), test][called] ?? { text: w.done };
  if (question.includes(w.ask)) return { text: (question.includes('cocoa') || question.includes('可可')) && question.includes('[page 1 of 30]') ? w.read : 'nothing attached' };
  return { text: body.model === 'small' ? w.word : 'not this model' };
}

async function say(page: Page, w: Words, text: string): Promise<void> {
  await page.getByLabel(w.message, { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

const idle = (page: Page) => expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);

describe.each(['en', 'zh'] as const)('a day of work (%s)', (language) => {
  const w = WORDS[language];
  test('from the folder to the exported chat', async ({ ownHost, open }) => {
    const models = await ModelServer.start('');
    onTestFinished(() => models.stop());
    models.decide = (body) => work(w, body);
    const env = { LANG: language === 'zh' ? 'zh_CN.UTF-8' : 'en_US.UTF-8' };
    const first = await ownHost({ env });
    const project = join(first.home, 'tea-shop');
    mkdirSync(project);
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(project, name), text);
    const file = (name: string) => readFileSync(join(project, name), 'utf8');
    const model = { provider: 'openai', baseUrl: models.baseUrl };
    await first.api('POST', 'models', { ...model, name: 'Tiny', model: 'tiny', isDefault: true });
    await first.api('POST', 'models', { ...model, name: 'Small', model: 'small' });
    const page = await open({ host: first, at: '#/agents/agents/new', language, expectConsole: LOST });
    const picture = (name: string) => keep(page, `day-${language}-${name}`);

    // The project: an agent that works in its folder.
    await page.getByLabel(w.name).first().fill(w.agent);
    await page.getByLabel(w.profile).selectOption({ label: w.developer });
    await page.getByLabel(w.folder).fill(project);
    await picture('01-agent');
    await page.getByRole('button', { name: w.create, exact: true }).click();
    await page.locator(`[data-agent="${w.agent}"]`).waitFor();
    await picture('02-agents');
    await page.evaluate(() => (location.hash = '#/chat'));
    await page.locator('[data-choose="agent"]').click();
    await page.getByRole('menuitemradio', { name: w.agent }).click();
    await say(page, w, w.task);

    // Three files, each approved; the host is killed with the third question open.
    const dock = page.locator('[data-dock]');
    const approve = async (title: string) => {
      await dock.getByRole('heading', { level: 2, name: title }).waitFor();
      await picture(`03-approve-${title.replaceAll(/[^\w.]/gu, '')}`);
      await dock.getByRole('button', { name: w.approve, exact: true }).click();
      await dock.getByRole('heading', { level: 2, name: title }).waitFor({ state: 'detached' });
    };
    await approve('prices.txt');
    await approve('menu.md');
    await dock.getByRole('heading', { level: 2, name: 'README.md' }).waitFor();
    await first.halt('SIGKILL');
    await page.locator('[data-banner="connection"]').waitFor();
    await picture('04-host-gone');
    const host = await ownHost({ env, home: first.home, port: first.ready.port });
    // The browser is signed in, so the page is back by itself.
    await page.locator('[data-banner="connection"]').waitFor({ state: 'detached' });
    await picture('05-host-back');
    const interrupted = page.locator('[data-interrupted]');
    await interrupted.waitFor();
    await picture('06-interrupted');
    await interrupted.getByRole('button', { name: w.resume }).click();
    await approve('README.md');
    await expect.poll(() => file('README.md')).toContain('tea, coffee and cocoa');
    expect(file('menu.md')).toContain(w.menu);

    // A test fails; the person steers, and it goes on from there.
    // Sandboxed commands ask nobody.
    await page.locator('[data-row="assistant"]').getByText(w.failed).waitFor();
    await page.locator('[data-tool="run_shell_command"]').getByText(w.exit).waitFor();
    await page.locator('[data-tool="run_shell_command"] button').first().click();
    await picture('07-test-failed');
    await page.getByLabel(w.message, { exact: true }).fill(w.steer);
    await page.getByRole('button', { name: w.steerNow }).click();
    await picture('08-steer');
    await page.getByRole('button', { name: w.send, exact: true }).click();
    await approve('prices.txt');
    await page.locator('[data-row="assistant"]').getByText(w.done.replaceAll('*', '')).waitFor();
    await idle(page);
    expect(file('prices.txt')).toBe('tea 3.00\ncoffee 3.50\ncocoa 3.20\n');
    await picture('09-done');
    const chat = page.url();

    // One change is undone: that one only.
    await page.evaluate(() => (location.hash = '#/changes'));
    await page.locator('li[data-kind="modified"]').filter({ hasText: 'README.md' }).getByRole('link').click();
    const change = page.locator('[data-change-view]');
    await change.getByRole('button', { name: w.undo }).waitFor();
    await picture('10-changes');
    await change.getByRole('button', { name: w.undo }).click();
    await page.getByRole('dialog').locator('[data-action="restored"]').waitFor();
    await picture('11-undo');
    await page.getByRole('dialog').getByRole('button', { name: w.undoOne }).click();
    await expect.poll(() => file('README.md')).toBe(FILES['README.md']);
    expect(file('menu.md')).toContain(w.menu);
    await page.locator('li[data-undone]').waitFor();
    await picture('12-undone');

    // A fork, with files.
    await page.goto(chat);
    await page.getByRole('button', { name: w.fork }).last().click();
    await expect.poll(() => page.url()).not.toBe(chat);
    await page.locator('[data-row="assistant"]').getByText(w.done.replaceAll('*', '')).waitFor();
    await page.locator('[data-composer] input[type="file"]').setInputFiles([
      { name: 'feedback.txt', mimeType: 'text/plain', buffer: Buffer.from(w.feedback) },
      { name: 'report.pdf', mimeType: 'application/pdf', buffer: readFileSync(REPORT) },
    ]);
    await page.locator('[data-composer]').getByText('report.pdf').waitFor();
    await page.getByLabel(w.message, { exact: true }).fill(w.ask);
    await picture('13-fork-and-file');
    await page.keyboard.press('Enter');
    await page.locator('[data-row="assistant"]').getByText(w.read).waitFor();
    await idle(page);

    // Another model from here on.
    await page.locator('[data-choose="model"]').click();
    await picture('14-model');
    await page.getByRole('menuitemradio', { name: 'Small' }).click();
    await say(page, w, w.again);
    await page.locator('[data-row="assistant"]').getByText(w.word).waitFor();
    await idle(page);
    await picture('15-other-model');

    // The chat as a file.
    await page.getByRole('button', { name: w.actions }).last().click();
    await page.getByRole('menuitem', { name: w.export }).click();
    await page.getByRole('button', { name: w.exportNow, exact: true }).waitFor();
    await picture('16-export');
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: w.exportNow, exact: true }).click()]);
    const text = readFileSync(await download.path(), 'utf8');
    for (const part of [w.task, w.steer, w.done, w.ask, w.read, w.word]) expect(text).toContain(part);
    expect(host.log).not.toContain('panicked');
  });
});
