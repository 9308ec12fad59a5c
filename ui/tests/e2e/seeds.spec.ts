// An app that asks what the protocol of prompts prints, one question after the other (“complex interactions”: write a
// request, find its response among the entries, decide, write the next), in `chatos dev` and installed.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Frame, FrameLocator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { openApp } from './app-plugins';
import { test } from './fixtures';
import { Host } from './host';
import { openSandbox, run, Sandbox } from './sandbox';

const ID = 'com.example.plugin';

/** The requests as they are printed. */
const PRINTED = [
  {
    kind: 'kv',
    title: '需要你补充信息',
    message: '请填写表单后继续。',
    source: 'com.example.plugin:my-app',
    allowCancel: true,
    fields: [{ key: 'name', label: '姓名', description: '用于报告署名', placeholder: '请输入', default: '', required: true, multiline: false, secret: false }],
  },
  {
    kind: 'choice',
    title: '需要你做出选择',
    message: '请选择一项。',
    source: 'com.example.plugin:my-app',
    allowCancel: true,
    multiple: false,
    options: [
      { value: 'alpha', label: 'Alpha', description: '选项说明' },
      { value: 'beta', label: 'Beta', description: '' },
    ],
    default: 'alpha',
    minSelections: 0,
    maxSelections: 2,
  },
  {
    kind: 'choice',
    title: '需要你做出选择（多选）',
    message: '请选择 1-2 项。',
    allowCancel: true,
    multiple: true,
    options: [
      { value: 'a', label: 'A' },
      { value: 'b', label: 'B' },
      { value: 'c', label: 'C' },
    ],
    default: ['a'],
    minSelections: 1,
    maxSelections: 2,
  },
  {
    kind: 'task_confirm',
    title: '任务创建确认',
    message: '请确认任务列表。',
    allowCancel: true,
    source: 'main',
    tasks: [{ draftId: 'uuid', title: '写文档', details: '补齐 UI Prompts 协议', priority: 'high', status: 'todo', tags: ['docs', 'ui-prompts'] }],
    defaultRemark: '',
  },
  {
    kind: 'file_change_confirm',
    title: '文件变更确认',
    message: '即将写入文件。',
    allowCancel: true,
    source: 'filesystem/write_file',
    path: 'src/app.js',
    command: 'node scripts/generate.js',
    cwd: 'C:\\\\project\\\\aide',
    diff: '--- a/src/app.js\\n+++ b/src/app.js\\n@@ ...',
    defaultRemark: '',
  },
];

/** Asks one after the other; the answers are what the app shows. */
const APP = `const PROMPTS = ${JSON.stringify(PRINTED)};
export async function mount({ container, host, slots }) {
  slots.header.textContent = 'My App';
  const list = document.createElement('output');
  container.append(list);
  const answers = [];
  let at = 0;
  let waiting = '';
  const ask = async () => {
    const { ok, requestId } = await host.uiPrompts.request({ prompt: PROMPTS[at], runId: 'optional-run-id' });
    if (!ok) throw new Error('refused');
    waiting = requestId;
    await host.uiPrompts.open();
  };
  const off = host.uiPrompts.onUpdate(({ path, entries }) => {
    const answer = entries.find((entry) => entry.type === 'ui_prompt' && entry.action === 'response' && entry.requestId === waiting);
    if (!path || !answer) return;
    waiting = '';
    answers.push(answer.response);
    list.textContent = JSON.stringify(answers);
    at += 1;
    if (at < PROMPTS.length) void ask();
  });
  await ask();
  return () => off();
}
`;

const FILES = {
  'plugin.json': JSON.stringify({ manifestVersion: 1, id: ID, name: 'Prompts', version: '0.1.0', apps: [{ id: 'my-app', name: 'My App', entry: { type: 'module', path: 'my-app/index.mjs' } }] }),
  'my-app/index.mjs': APP,
};

/** Answers all five as the printed answers are. */
async function answer(page: Page, app: Frame | FrameLocator): Promise<void> {
  const answered = (count: number) => expect.poll(async () => (JSON.parse((await app.locator('output').textContent()) || '[]') as unknown[]).length).toBe(count);
  const submit = () => page.getByRole('button', { name: /^(Submit|Confirm|Approve|Allow)/ }).first().click();
  await page.getByRole('textbox', { name: '姓名' }).fill('Alice');
  await submit();
  await answered(1);
  await page.getByRole('radio', { name: 'Alpha' }).check();
  await submit();
  await answered(2);
  await page.getByRole('checkbox', { name: 'B', exact: true }).check();
  await submit();
  await answered(3);
  await page.getByText('任务创建确认').first().waitFor();
  await submit();
  await answered(4);
  await page.getByText('文件变更确认').first().waitFor();
  await submit();
  await answered(5);
  const answers = JSON.parse((await app.locator('output').textContent()) ?? '') as Record<string, unknown>[];
  expect(answers.map((one) => one['status'])).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
  expect(answers[0]).toMatchObject({ values: { name: 'Alice' } });
  expect(answers[1]).toMatchObject({ selection: 'alpha' });
  expect(answers[2]).toMatchObject({ selection: ['a', 'b'] });
  expect(answers[3]).toMatchObject({ tasks: [{ draftId: 'uuid', title: '写文档', details: '补齐 UI Prompts 协议', priority: 'high', status: 'todo', tags: ['docs', 'ui-prompts'] }] });
}

describe('an app written from the printed prompts', () => {
  test('asks them one after the other in chatos dev', async ({ open, onTestFinished }) => {
    const sandbox = await Sandbox.start(Sandbox.files(ID, FILES));
    onTestFinished(async () => expect(await sandbox.stop()).toBe(0));
    const page = await open({ at: false, lasting: true, viewport: { width: 1440, height: 900 } });
    await answer(page, await openSandbox(page, sandbox));
  });

  test('and installed', async ({ open, onTestFinished }) => {
    const { home, dir } = Sandbox.files(ID, FILES);
    const real = mkdtempSync(join(tmpdir(), 'chatos-real-'));
    const host = await Host.start({ home: real });
    onTestFinished(async () => {
      await host.stop();
      for (const folder of [home, real]) rmSync(folder, { recursive: true, force: true });
    });
    const state = ['--state-dir', join(real, 'state'), '--json'];
    const installed = JSON.parse(run(real, ['plugin', 'install', dir, ...state])) as { plugins: { digest: string }[] };
    run(real, ['plugin', 'trust', ID, '--digest', installed.plugins[0]?.digest ?? '', ...state]);
    const page = await open({ host, at: '#/apps', lasting: true, viewport: { width: 1440, height: 900 } });
    await answer(page, await openApp(page, ID, 'my-app'));
  });
});
