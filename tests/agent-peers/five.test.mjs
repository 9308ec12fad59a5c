// Five programs ask at once: one Inbox, each question with its program and its project, and each answer reaches the one
// that asked. With `CHATOS_SHOTS=FOLDER` the page is also drawn there: wide, narrow, dark, in Chinese.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { browser, CHATOS, CHROMIUM, chatos, eventually, home, serve } from '../mcp-peers/support.mjs';
import { agent as make, answer, open } from './inbox.mjs';

/** What programs call themselves, and where each works. */
const PROGRAMS = [
  { name: 'codex-mcp-client', shown: 'codex', project: 'billing' },
  { name: 'opencode', project: 'website' },
  { name: 'gemini-cli-mcp-client', shown: 'Gemini CLI', project: 'weather-app' },
  { name: 'goose', project: 'notes' },
];
const SHOTS = process.env.CHATOS_SHOTS;
/** How often five programs ask at once and are answered in any order; `CHATOS_FIVE_ROUNDS=1000` where there is time. */
const ROUNDS = Number(process.env.CHATOS_FIVE_ROUNDS ?? 10);
const NODE = process.env.PEER_NODE ?? process.execPath;
const SCRIPTED = fileURLToPath(new URL('scripted-agent.mjs', import.meta.url));

async function asking(t) {
  const place = home(t);
  const host = await serve(t, place);
  const id = await make(host, ['code_writer']);
  const env = { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' };
  const calls = [];
  for (const { name, shown = name, project } of PROGRAMS) {
    const cwd = join(place.root, project);
    mkdirSync(cwd);
    const client = new Client({ name, version: '1.2.3' });
    const args = ['gateway', '--agent', id, '--state-dir', place.state, '--lang', 'en'];
    await client.connect(new StdioClientTransport({ command: CHATOS, args, cwd, env, stderr: 'ignore' }));
    t.after(() => client.close());
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name.endsWith('write_file')).name;
    const done = client.callTool({ name: tool, arguments: { path: `${project}.md`, contents: `# ${project}\n\nWritten by ${name}.\n` } }, undefined, { timeout: 120_000 });
    done.catch(() => {});
    calls.push({ name, shown, project, cwd, done });
  }
  // The fifth has its own tools, and asks with its hook.
  const cwd = join(place.root, 'shop');
  mkdirSync(cwd);
  const hook = spawn(CHATOS, ['hook', 'claude', '--state-dir', place.state, '--lang', 'en'], { cwd, env });
  t.after(() => hook.kill('SIGKILL'));
  let said = '';
  hook.stdout.on('data', (chunk) => (said += chunk));
  const ended = new Promise((resolve) => hook.once('close', () => resolve(said && JSON.parse(said))));
  hook.stdin.end(JSON.stringify({ hook_event_name: 'PermissionRequest', session_id: 'fix the cart', cwd, tool_name: 'Bash', tool_input: { command: 'npm test' } }));
  calls.push({ name: 'Claude Code', shown: 'Claude Code', project: 'shop', cwd, done: ended, hook: true });
  const items = await eventually('five questions', async () => {
    const items = await open(host);
    return items.length === 5 ? items : undefined;
  });
  return { place, host, calls, items };
}

test('five programs are told apart, and no answer reaches another one', { timeout: 180_000 }, async (t) => {
  const { place, host, calls, items } = await asking(t);
  const shown = items.map(({ client }) => `${client.name} ${client.project}`).sort();
  assert.deepEqual(shown, calls.map(({ name, project }) => `${name} ${project}`).sort());
  // Every second one is agreed to, in another order than they asked.
  for (const [at, call] of [...calls.entries()].reverse()) {
    const item = items.find(({ client }) => client.name === call.name);
    await answer(host, item, at % 2 === 0 ? { status: 'ok' } : { status: 'canceled', remark: `not in ${call.project}` });
    const result = await call.done;
    if (call.hook) {
      assert.equal(result.hookSpecificOutput.decision.behavior, 'allow');
      continue;
    }
    assert.equal(existsSync(join(call.cwd, `${call.project}.md`)), at % 2 === 0, call.name);
    if (at % 2 !== 0) assert.match(JSON.stringify(result), new RegExp(`not in ${call.project}`));
  }
  assert.equal((await open(host)).length, 0);

  // What each did is a run that can be read.
  const { items: runs } = await host.api('GET', 'runs?kind=client');
  assert.deepEqual(runs.map(({ task }) => task).sort(), calls.map(({ name, project }) => `${name} · ${project}`).sort());
  const run = await host.api('GET', `runs/${runs.find(({ task }) => task.startsWith('opencode')).id}`);
  assert.deepEqual(run.steps.map(({ kind }) => kind), ['tool', 'prompt']);
  assert.deepEqual([run.steps[0].tool, run.steps[0].input.path, run.steps[1].status], ['write_file', 'website.md', 'canceled']);
  assert.equal((await host.api('GET', 'runs')).items.length, 0, 'not among the runs of chats');
  const listed = await chatos(place, ['runs', 'list', '--programs']);
  assert.equal(listed.status, 0, listed.stderr);
  for (const { name, project } of calls) assert.ok(listed.stdout.includes(`${name} · ${project}`), listed.stdout);
  const told = await chatos(place, ['runs', 'show', run.id]);
  assert.match(told.stdout, /write_file/);
});

test('on the page each says who asks and where', { timeout: 180_000, skip: CHROMIUM === undefined ? 'no Chromium' : false }, async (t) => {
  const { place, host, calls } = await asking(t);
  const chromium = await browser(t);
  const looks = ['en-US', 'zh-CN'].flatMap((locale) => ['light', 'dark'].flatMap((scheme) => [1440, 400].map((width) => [`${locale.slice(0, 2)}-${scheme}-${width}`, width, locale, scheme])));
  if (!SHOTS) looks.splice(1);
  for (const [word, width, locale, colorScheme] of looks) {
    const context = await chromium.newContext({ locale, colorScheme, viewport: { width, height: 900 } });
    const page = await context.newPage();
    await page.goto(JSON.parse((await chatos(place, ['open', '--no-open', '--json'])).stdout).signInUrl);
    await page.getByRole('navigation').first().waitFor();
    await page.evaluate(() => (location.hash = '#/queue'));
    const list = page.locator('[data-list]').first();
    await eventually('five rows', async () => (await list.locator('[role="option"]').count()) === 5);
    const text = await list.innerText();
    for (const { shown, project } of calls) assert.ok(text.includes(`${shown} · ${project}`), `${shown} in ${project}: ${text}`);
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `five-${word}.png`) });
    await page.evaluate(() => (location.hash = '#/runs'));
    await page.getByRole('button', { name: locale === 'zh-CN' ? '其他程序' : 'Other programs' }).click();
    const rows = page.locator('[data-run]');
    await eventually('five runs', async () => (await rows.count()) === 5);
    await rows.filter({ hasText: 'opencode' }).click();
    await eventually('its steps', async () => (await page.locator('[data-step]').count()) === 2);
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `runs-${word}.png`) });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1), `${word}: nothing sticks out`);
    if (word === looks.at(-1)[0]) {
      // An answer is seen in the run that is open; it is the program's, and is not stopped, steered or exported from here.
      const view = page.locator('[data-run-view]');
      const item = (await open(host)).find(({ client }) => client.name === 'opencode');
      await answer(host, item, { status: 'canceled' });
      await eventually('the run shows the answer', async () => /Canceled|已取消/.test(await view.locator('[data-kind="prompt"]').innerText()));
      for (const button of [/^(Stop|停止)/, /^(Steer|引导)/, /^(Export|导出)/]) assert.equal(await view.getByRole('button', { name: button }).count(), 0);
      await view.getByRole('link', { name: locale === 'zh-CN' ? '打开程序' : 'Open program' }).click();
      await eventually('the program', async () => (await page.innerText('main')).includes('website'));
    }
    await context.close();
  }
});

test(`in ${ROUNDS} rounds of five programs no answer crosses over to another`, { timeout: 60_000 + ROUNDS * 20_000 }, async (t) => {
  const place = home(t);
  const host = await serve(t, place);
  const id = await make(host, ['code_writer']);
  const env = { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' };
  const folder = (name) => {
    const cwd = join(place.root, name);
    mkdirSync(cwd);
    return cwd;
  };
  /** Each asks for one thing that carries the round, and tells whether it was done. */
  const askers = [];
  for (const name of ['first-agent', 'second-agent']) {
    const cwd = folder(name);
    const order = { program: NODE, args: [SCRIPTED], name, workspaceRoot: cwd, confirmed: true, withoutGateway: true };
    const agent = await host.api('POST', 'acp/agents', order);
    const chat = await host.api('POST', 'sessions', { agentId: agent.id });
    askers.push({
      name,
      ask: async (round) => {
        const { runId } = await host.api('POST', `sessions/${chat.id}/send`, { text: `write round-${round}.txt ${name}` });
        const run = await eventually(`the end of ${name}`, async () => {
          const found = await host.api('GET', `runs/${runId}`);
          const now = found.run ?? found;
          return ['done', 'failed', 'aborted'].includes(now.state) ? now : undefined;
        });
        assert.equal(run.state, 'done', JSON.stringify(run.error));
        return existsSync(join(cwd, `round-${round}.txt`)) && readFileSync(join(cwd, `round-${round}.txt`), 'utf8').includes(name);
      },
    });
  }
  for (const name of ['first-client', 'second-client']) {
    const cwd = folder(name);
    const client = new Client({ name, version: '1' });
    const args = ['gateway', '--agent', id, '--state-dir', place.state, '--lang', 'en'];
    await client.connect(new StdioClientTransport({ command: CHATOS, args, cwd, env, stderr: 'ignore' }));
    t.after(() => client.close());
    const tool = (await client.listTools()).tools.find((each) => each.name.endsWith('write_file')).name;
    askers.push({
      name,
      ask: async (round) => {
        const call = { name: tool, arguments: { path: `round-${round}.txt`, contents: `${name}\n` } };
        const result = await client.callTool(call, undefined, { timeout: 120_000 });
        const there = existsSync(join(cwd, `round-${round}.txt`));
        assert.equal(result.structuredContent.status === 'ok', there, JSON.stringify(result));
        return there && readFileSync(join(cwd, `round-${round}.txt`), 'utf8') === `${name}\n`;
      },
    });
  }
  const cwd = folder('hooked');
  askers.push({
    name: 'hooked',
    ask: (round) =>
      new Promise((resolve, reject) => {
        const hook = spawn(CHATOS, ['hook', 'claude', '--state-dir', place.state, '--lang', 'en'], { cwd, env });
        let said = '';
        hook.stdout.on('data', (chunk) => (said += chunk));
        hook.once('error', reject);
        hook.once('close', () => resolve(JSON.parse(said).hookSpecificOutput.decision.behavior === 'allow'));
        hook.stdin.end(JSON.stringify({ hook_event_name: 'PermissionRequest', session_id: 's', cwd, tool_name: 'Bash', tool_input: { command: `echo hooked ${round}` } }));
      }),
  });

  for (let round = 1; round <= ROUNDS; round += 1) {
    const asked = askers.map(({ name, ask }) => ({ name, done: ask(round) }));
    for (const { done } of asked) done.catch(() => {});
    const items = await eventually(`five questions of round ${round}`, async () => {
      const items = await open(host);
      return items.length === askers.length ? items : undefined;
    });
    const whose = (item) => askers.filter(({ name }) => JSON.stringify([item.prompt, item.client?.name, item.card]).includes(name)).map(({ name }) => name);
    const wanted = new Map();
    for (const item of items.map((item) => [Math.random(), item]).sort(([a], [b]) => a - b).map(([, item]) => item)) {
      const names = whose(item);
      assert.equal(names.length, 1, `${names}: ${JSON.stringify(item)}`);
      wanted.set(names[0], Math.random() < 0.5);
      await answer(host, item, wanted.get(names[0]) ? { status: 'ok' } : { status: 'canceled' });
    }
    for (const { name, done } of asked) assert.equal(await done, wanted.get(name), `${name}, round ${round}`);
  }
});
