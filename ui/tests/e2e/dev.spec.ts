// `chatos dev` in the browser: every panel with a project of `plugin init`, saving, and what is broken (devkit §4, §5).

import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import { mounted, openSandbox, panel, Sandbox } from './sandbox';

describe('chatos dev', () => {
  test('every panel works with the basic template', async ({ open, onTestFinished }) => {
    const sandbox = await Sandbox.start(Sandbox.project('basic'));
    onTestFinished(async () => expect(await sandbox.stop()).toBe(0));
    const page = await open({ at: false, lasting: true, viewport: { width: 1440, height: 900 } });
    const app = await openSandbox(page, sandbox);

    // The app in both views, and what it asks of the host.
    await app.getByRole('button', { name: 'Ping the backend' }).click();
    await expect.poll(() => app.locator('output').textContent()).toBe('The backend answers: app');
    await panel(page, 'Inspector');
    await page.locator('[data-bridge-calls]').getByText('backend.invoke').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Compact', exact: true }).click();
    await mounted(page);
    await page.getByRole('button', { name: 'Full', exact: true }).click();
    const full = await mounted(page);

    // Prompts: the app's question opens in the panel, and the answer reaches the app.
    await full.getByRole('button', { name: 'Ask me' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Ada');
    await page.getByRole('button', { name: 'Submit' }).click();
    await expect.poll(() => full.locator('output').textContent()).toBe('Hello, Ada');
    await page.getByRole('button', { name: 'Add a request' }).click();
    await page.getByRole('menuitem', { name: 'Choice' }).click();
    await page.getByText('Which format should the export have?').first().waitFor();

    // Tools as forms, with what is sent.
    await panel(page, 'MCP Test');
    await page.getByRole('textbox', { name: 'text' }).fill('hello tool');
    await page.getByRole('textbox', { name: 'Add to _meta' }).fill('{ "mine": 1 }');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const sent = page.locator('[data-sent-meta]');
    await sent.getByText('"mine": 1').waitFor();
    expect(await sent.textContent()).toContain('"pluginId": "com.example.basic"');
    await page.locator('[data-status="ok"]').getByText('hello tool').first().waitFor();

    // AsyncTask: the loop, and the tool whose result comes through the log.
    await panel(page, 'AsyncTask');
    await page.getByRole('button', { name: 'Run the test' }).click();
    await page.locator('[data-async-test="matched"]').waitFor();
    await page.getByRole('combobox', { name: 'Fault' }).selectOption('torn_line');
    await page.getByRole('button', { name: 'Run the test' }).click();
    await page.getByText('half a line written').waitFor();
    const tool = page.getByRole('region', { name: 'Tool test' });
    await tool.getByRole('button', { name: 'Run', exact: true }).click();
    await tool.getByRole('list', { name: 'Timeline' }).getByText('ACK').waitFor();

    // The backend by hand.
    await panel(page, 'Backend');
    await page.getByRole('textbox', { name: 'Method' }).fill('ping');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.locator('[data-backend-result]').waitFor();
    await page.getByRole('button', { name: 'Restart' }).click();

    // A chat with the offline model, which calls the plugin's tool.
    await panel(page, 'LLM');
    await page.getByRole('textbox', { name: 'Message' }).fill('/call echo {"text":"through the model"}');
    await page.keyboard.press('Enter');
    await page.getByText('Here’s what I found:', { exact: true }).waitFor();
    await expect.poll(() => page.locator('[data-panel="llm"]').textContent()).toContain('through the model');

    await panel(page, 'Logs');
    await page.getByRole('log', { name: 'Output of the plugin' }).waitFor();
    await panel(page, 'Problems');
    await page.getByText('No problems.').waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test('a save two imports below the entry is seen, and panels stay as they are', async ({ open, onTestFinished }) => {
    const project = Sandbox.files('com.example.deep', {
      'plugin.json': JSON.stringify({ id: 'com.example.deep', name: 'Deep', apps: [{ id: 'app', name: 'Deep', entry: 'app/index.mjs' }] }),
      'app/index.mjs': "import { text } from './one.mjs';\nexport function mount({ container }) { container.textContent = text; }\n",
      'app/one.mjs': "export { text } from '../two.mjs';\n",
      'two.mjs': "export const text = 'first version';\n",
    });
    const sandbox = await Sandbox.start(project);
    onTestFinished(async () => expect(await sandbox.stop()).toBe(0));
    const page = await open({ at: false, lasting: true, viewport: { width: 1440, height: 900 }, expectConsole: /missing\.mjs/ });
    const app = await openSandbox(page, sandbox);
    await app.getByText('first version').waitFor();
    await panel(page, 'AsyncTask');
    await page.getByRole('combobox', { name: 'Fault' }).selectOption('truncate');
    sandbox.edit('two.mjs', 'first', 'second');
    await app.getByText('second version').waitFor();
    expect(await page.getByRole('combobox', { name: 'Fault' }).inputValue()).toBe('truncate');
    // An app that fails says so, and is there again once it is put right.
    sandbox.edit('app/one.mjs', '../two.mjs', '../missing.mjs');
    await page.getByRole('alert').first().waitFor();
    sandbox.edit('app/one.mjs', '../missing.mjs', '../two.mjs');
    await app.getByText('second version').waitFor();
  });

  test('without an origin, in Chinese and dark, and with a broken manifest', async ({ open, onTestFinished }) => {
    const sandbox = await Sandbox.start(Sandbox.project('basic', 'zh'));
    onTestFinished(async () => expect(await sandbox.stop()).toBe(0));
    const page = await open({ at: false, lasting: true, language: 'zh', theme: 'dark', viewport: { width: 1440, height: 900 } });
    await openSandbox(page, sandbox);
    await page.getByRole('combobox', { name: '来源' }).selectOption('opaque');
    const app = await mounted(page);
    await app.getByRole('button', { name: '呼叫后端' }).click();
    await expect.poll(() => app.locator('output').textContent()).toContain('app');
    // Broken while typing: what ran goes on, the banner says so; put right it is gone.
    sandbox.edit('plugin.json', '"id"', '"id');
    await page.getByText('保存的文件有错误').waitFor();
    await app.getByRole('button', { name: '呼叫后端' }).click();
    await page.getByRole('button', { name: '查看问题' }).click();
    await page.locator('[data-problem="manifest_syntax"]').waitFor();
    sandbox.edit('plugin.json', '"id', '"id"');
    await expect.poll(() => page.getByText('保存的文件有错误').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });
});
