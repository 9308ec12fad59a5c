// “Your first plugin” (docs/first-plugin.md) step by step, with the program and a browser; and every template from
// `init` to an agent that uses it. With CHATOS_PICTURES=1 the pictures of the document are taken anew.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { test } from './fixtures';
import { Host } from './host';
import { environment, openSandbox, panel, run, Sandbox } from './sandbox';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

type Language = 'en' | 'zh';

async function picture(page: Page, name: string, language: Language): Promise<void> {
  if (process.env['CHATOS_PICTURES'] === '1') await page.screenshot({ path: join(DOCS, 'pictures', `first-plugin-${name}.${language}.png`) });
}

const DOCUMENT = { en: 'first-plugin.md', zh: 'first-plugin.zh-CN.md' };

/** The code of the document, as somebody would copy it. */
function fromDocument(document: string, code: string): string {
  const text = readFileSync(join(DOCS, document), 'utf8');
  const found = new RegExp(`\`\`\`${code}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
  if (!found) throw new Error(`docs/${document} has no code in ${code}`);
  return found;
}

/** What is read on the page, in the words of the document. */
const WORDS = {
  en: { ping: 'Ping the backend', pinged: 'The backend answers: app', ask: 'Ask me', name: 'Name', submit: 'Submit', hello: 'Hello, Ada', greet: 'Say hello', test: 'MCP Test', tool: 'Tool', run: 'Run', llm: 'LLM', message: 'Message', found: 'Here’s what I found:' },
  zh: { ping: '呼叫后端', pinged: '后端回答：app', ask: '问我', name: '名字', submit: '提交', hello: '你好，Ada', greet: '打个招呼', test: 'MCP 测试', tool: '工具', run: '运行', llm: '模型', message: '消息', found: 'Here’s what I found:' },
};

describe('your first plugin', () => {
  test.for(['en', 'zh'] as const)('%s: can be followed from the first line to the last', async (language, { open, onTestFinished }) => {
    const w = WORDS[language];
    const home = mkdtempSync(join(tmpdir(), 'chatos-first-'));
    const dir = join(home, 'hello');
    run(home, ['plugin', 'init', 'hello', '--id', 'com.example.hello', '--name', 'Hello', '--lang', language]);
    const sandbox = await Sandbox.start({ home, dir });
    onTestFinished(async () => expect(await sandbox.stop()).toBe(0));
    const page = await open({ at: false, lasting: true, language, theme: 'light', viewport: { width: 1280, height: 760 } });

    // 2. Run it.
    const app = await openSandbox(page, sandbox);
    await app.getByRole('button', { name: w.ping }).click();
    await expect.poll(() => app.locator('output').textContent()).toBe(w.pinged);
    await app.getByRole('button', { name: w.ask }).click();
    await page.getByRole('textbox', { name: w.name }).waitFor();
    await picture(page, 'run', language);
    await page.getByRole('textbox', { name: w.name }).fill('Ada');
    await page.getByRole('button', { name: w.submit }).click();
    await expect.poll(() => app.locator('output').textContent()).toBe(w.hello);

    // 3. Change the page.
    sandbox.edit('apps/app/index.mjs', w.ping, w.greet);
    await app.getByRole('button', { name: w.greet }).waitFor();

    // 4. Add a tool, with the document's own lines.
    const server = join(dir, 'apps/app/mcp-server.mjs');
    const code = readFileSync(server, 'utf8').replace(/^(serveStdio.*)$/m, `${fromDocument(DOCUMENT[language], 'js')}\n$1`).replace('[echo, reportRun]', '[echo, reportRun, shout]');
    writeFileSync(server, code);
    await panel(page, w.test);
    const choice = page.getByRole('combobox', { name: w.tool, exact: true });
    await expect.poll(async () => (await choice.locator('option').allTextContents()).join()).toContain('shout');
    await choice.selectOption('shout');
    await page.getByRole('textbox', { name: 'text' }).fill('hello');
    await page.getByRole('button', { name: w.run, exact: true }).click();
    await page.locator('[data-status="ok"]').getByText('HELLO').first().waitFor();
    await page.locator('[data-sent-meta]').waitFor();
    await picture(page, 'tool', language);
    await panel(page, w.llm);
    await page.getByRole('textbox', { name: w.message }).fill('/call shout {"text": "hello"}');
    await page.keyboard.press('Enter');
    await page.getByText(w.found, { exact: true }).waitFor();
    await expect.poll(() => page.locator('[data-panel="llm"]').textContent()).toContain('HELLO');
    await picture(page, 'chat', language);

    // 5. Check, install and trust it.
    const checked = JSON.parse(run(home, ['plugin', 'validate', '--strict', '--json'], dir)) as { ok: boolean; digest: string };
    expect(checked.ok).toBe(true);
    execFileSync('npm', ['test'], { cwd: dir, env: environment(home), stdio: 'pipe' });
    const installed = JSON.parse(run(home, ['plugin', 'install', '.', '--json'], dir)) as { plugins: { digest: string }[] };
    run(home, ['plugin', 'trust', 'com.example.hello', '--digest', installed.plugins[0]?.digest ?? '', '--json']);
    expect(run(home, ['tools', 'call', 'com.example.hello.app', 'shout', 'text=hello'])).toContain('HELLO');
  });
});

interface Use {
  tool: string;
  args: Record<string, string>;
  /** What must come of it. */
  says: string;
  /** A method of its backend. */
  method?: string;
}

/** What is done with each template's tools, by hand and by an agent. */
const USES: Record<string, Use> = {
  basic: { tool: 'echo', args: { text: 'used by an agent' }, says: 'used by an agent', method: 'ping' },
  notepad: { tool: 'notes.create', args: { id: 'plan', text: '# The plan' }, says: 'The plan', method: 'notes.list' },
  'async-task': { tool: 'job_run', args: { text: 'three words here' }, says: '3', method: 'jobs' },
  'server-only': { tool: 'count', args: { name: 'agents' }, says: 'agents' },
};

/** As its author would, with what npm keeps of earlier ones. */
function npm(dir: string, ...args: string[]): void {
  execFileSync('npm', args, { cwd: dir, stdio: 'pipe' });
}

/** Every panel of the sandbox does what it is for. */
async function usePanels(page: Page, { tool, args, says, method }: Use): Promise<void> {
  await panel(page, 'LLM');
  await page.getByRole('textbox', { name: 'Message' }).fill(`/call ${tool} ${JSON.stringify(args)}`);
  await page.keyboard.press('Enter');
  await page.getByText('Here’s what I found:', { exact: true }).waitFor();
  await expect.poll(() => page.locator('[data-panel="llm"]').textContent()).toContain(says);

  await panel(page, 'UI Prompts');
  await page.getByRole('button', { name: 'Add a request' }).click();
  await page.getByRole('menuitem', { name: 'Choice' }).click();
  await page.getByText('Which format should the export have?').first().waitFor();

  await panel(page, 'MCP Test');
  await page.getByRole('combobox', { name: 'Tool', exact: true }).selectOption(tool);
  // What was made by the agent a moment ago is there already.
  for (const [name, value] of Object.entries(args)) await page.getByRole('textbox', { name, exact: true }).fill(name === 'id' ? `${value}-2` : value);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('[data-status="ok"]').first().waitFor();
  await page.locator('[data-sent-meta]').getByText('"pluginDir"').waitFor();

  await panel(page, 'AsyncTask');
  await page.getByRole('button', { name: 'Run the test' }).click();
  await page.locator('[data-async-test="matched"]').waitFor();

  await panel(page, 'Inspector');
  await page.getByText('--ds-accent', { exact: true }).first().waitFor();

  await panel(page, 'Backend');
  if (method) {
    await page.getByRole('textbox', { name: 'Method' }).fill(method);
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.locator('[data-backend-result]').waitFor();
  }
  await panel(page, 'Logs');
  await page.getByRole('log', { name: 'Output of the plugin' }).waitFor();
  await panel(page, 'Problems');
  await page.getByText('No problems.').waitFor();
}

describe('templates', () => {
  for (const template of Object.keys(USES)) {
    test(`${template}: init, npm install, build, dev, validate, pack, install, trust, used by an agent`, async ({ open, onTestFinished }) => {
      const project = Sandbox.project(template);
      const { home, dir, id } = project;
      const use = USES[template] as Use;
      npm(dir, 'install', '--no-audit', '--no-fund', '--prefer-offline');
      npm(dir, 'run', 'build');
      npm(dir, 'test');
      const sandbox = await Sandbox.start(project);
      onTestFinished(async () => expect(await sandbox.stop()).toBe(0));
      const page = await open({ at: false, lasting: true, viewport: { width: 1440, height: 900 } });
      await openSandbox(page, sandbox);
      await usePanels(page, use);

      // Two packs of one input are the same bytes; what is installed has the digest that was packed.
      run(home, ['plugin', 'validate', dir, '--strict', '--json']);
      const built = join(dir, 'out');
      const strict = JSON.parse(run(home, ['plugin', 'validate', built, '--strict', '--json'])) as { ok: boolean; digest: string };
      expect(strict.ok).toBe(true);
      const packs = ['a.zip', 'b.zip'].map((name) => JSON.parse(run(home, ['plugin', 'pack', built, '-o', join(home, name), '--json'])) as { digest: string });
      expect(readFileSync(join(home, 'a.zip')).equals(readFileSync(join(home, 'b.zip')))).toBe(true);
      expect(strict.digest).toBe(packs[0]?.digest);

      // The same plugin in the real host, with the same model.
      const real = mkdtempSync(join(tmpdir(), 'chatos-real-'));
      const host = await Host.start({ home: real });
      onTestFinished(async () => {
        await host.stop();
        rmSync(real, { recursive: true, force: true });
      });
      const state = ['--state-dir', join(real, 'state'), '--json'];
      run(real, ['plugin', 'install', join(home, 'a.zip'), ...state]);
      run(real, ['plugin', 'trust', id, '--digest', packs[0]?.digest ?? '', ...state]);
      const flow = { apps: [{ pluginId: id, appId: 'app' }], prompts: [] };
      const land = await host.api<{ id: string }>('POST', 'land-configs', { name: 'Only this', main: flow, sub: flow });
      const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'User of it', mode: 'flow', landConfigId: land.id });
      const session = await host.api<{ id: string }>('POST', 'sessions', { agentId: agent.id });
      // Who works is the app's backend, begun by its page: a page has to be there, looked at or not.
      await open({ host, at: '#/chat', lasting: true });
      await host.api('POST', `sessions/${session.id}/send`, { text: `/call ${use.tool} ${JSON.stringify(use.args)}` });
      await expect
        .poll(async () => JSON.stringify(await host.api('GET', `sessions/${session.id}/messages`)), { timeout: 60_000 })
        .toMatch(new RegExp(`Here’s what I found:.*${use.says}`));
      expect(existsSync(join(real, 'state', 'dev'))).toBe(false);
    });
  }
});
