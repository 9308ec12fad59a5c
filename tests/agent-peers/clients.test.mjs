// Client libraries of other makers call through `chatos gateway`, each in the eras and over the roads it has: what was
// read arrives, wrong arguments are named, a call that needs a person waits for one and runs once, a no comes with its
// note, and a call that is taken back is asked about no longer while the next one works. Where the Python ones cannot be
// installed, their tests are skipped and say why.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { install, python } from '../mcp-servers/python.mjs';
import { CHATOS, eventually, home, serve, start } from '../mcp-peers/support.mjs';
import { put } from './agents.mjs';
import { agent, answer, open, question } from './inbox.mjs';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const NODE = process.env.PEER_NODE ?? process.execPath;
const MODERN = '2026-07-28';
const missing = install() ?? false;
if (missing && process.env.AGENT_PEERS === 'all') throw new Error(`not installed: ${missing}`);

const typescript = (word) => [NODE, file('clients.mjs'), word];
const fromPython = (word) => [python, file('clients.py'), word];
const BOTH = ['modern', 'legacy'];

/** Each library, its command and the eras it can be asked to speak. Six of them speak the modern one. */
const LIBRARIES = [
  { name: '@modelcontextprotocol/client', begin: typescript('client'), eras: BOTH },
  { name: '@modelcontextprotocol/sdk', begin: typescript('sdk'), eras: ['legacy'] },
  // It forgets a call that is taken back and tells nobody, but for the request that ends over HTTP in the modern era:
  // its question stays until a person answers it.
  { name: '@ai-sdk/mcp', begin: typescript('aisdk'), eras: BOTH, tells: (era, over) => era === 'modern' && over === 'http' },
  { name: 'mcp', begin: fromPython('mcp'), eras: BOTH, skip: missing },
  { name: 'fastmcp', begin: fromPython('fastmcp'), eras: BOTH, skip: missing },
  { name: 'pydantic-ai', begin: fromPython('pydantic_ai'), eras: BOTH, skip: missing },
  { name: 'openai-agents', begin: fromPython('openai_agents'), eras: ['modern'], skip: missing },
];

/** The library at work: what it says line by line, and a way to tell it. */
function drive(t, begin, words, place, env) {
  const [program, ...args] = [...begin, ...words];
  const child = spawn(program, args, { cwd: place.project, env, stdio: ['pipe', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  child.stdin.on('error', () => {});
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const said = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line)));
  const next = () =>
    eventually('a word of the library', () => {
      if (said.length === 0 && child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${stderr}`);
      return said.shift();
    });
  const tell = (order) => child.stdin.write(`${JSON.stringify(order)}\n`);
  const ended = new Promise((resolve) => child.once('close', resolve));
  return { next, tell, ended, hangUp: () => child.stdin.end() };
}

/** The gateway as the library reaches it: a process of its own, or one address. */
async function road(t, over, place, id) {
  const env = { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' };
  const args = ['gateway', '--agent', id, '--state-dir', place.state, '--lang', 'en'];
  const log = join(place.home, 'spoken.jsonl');
  if (over === 'stdio') return { words: [NODE, file('tap.mjs'), log, CHATOS, ...args], env, log };
  const ready = await start(t, [...args, '--root', place.project, '--http', '127.0.0.1:0'], place, 'stderr');
  const url = /http:\/\/\S+\/mcp/.exec(ready)?.[0];
  assert.ok(url, ready);
  return { words: [url], env: { ...env, TOKEN: readFileSync(join(place.state, 'mcp-token'), 'utf8').trim() } };
}

for (const { name, begin, eras, tells = () => true, skip = false } of LIBRARIES) {
  for (const era of eras) {
    for (const over of ['stdio', 'http']) {
      test(`${name}, ${era}, ${over}: calls through the gateway`, { timeout: 400_000, skip }, async (t) => {
        const place = home(t);
        put(join(place.project, 'marked.txt'), 'one\nINSIDE the file\n');
        const host = await serve(t, place);
        const id = await agent(host, ['code_writer', 'project_files']);
        const { words, env, log } = await road(t, over, place, id);
        const library = drive(t, begin, [era, ...words], place, env);
        const call = (tool, args) => library.tell({ call: tool, arguments: args });
        const made = () => existsSync(join(place.project, 'a.txt')) && readFileSync(join(place.project, 'a.txt'), 'utf8');
        const asks = async () => {
          call('write_file', { path: 'a.txt', contents: 'x\n' });
          const item = await question(host);
          assert.equal(item.client.project, 'project');
          assert.equal(made(), false, 'nothing before the answer');
          return item;
        };

        const { names, version } = await library.next();
        assert.ok(names.length > 5, names.join(' '));
        if (version) assert.equal(version === MODERN, era === 'modern', version);
        call('read_file', { path: 'marked.txt' });
        assert.match((await library.next()).text, /INSIDE the file/);
        if (log) {
          const spoken = readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
          const called = spoken.find(({ method }) => method === 'tools/call');
          assert.equal(called.version === MODERN, era === 'modern', JSON.stringify(spoken));
        }

        call('read_file', { pth: 'marked.txt' });
        assert.match(JSON.stringify(await library.next()), /path/, 'what is wrong is named');
        assert.equal((await open(host)).length, 0, 'reading is not asked about');

        await answer(host, await asks(), { status: 'canceled', remark: 'please use a ledger' });
        assert.match(JSON.stringify(await library.next()), /please use a ledger/);

        const back = await asks();
        library.tell({ cancel: true });
        assert.deepEqual(await library.next(), { canceled: true });
        if (!tells(era, over)) {
          if (log) assert.ok(!readFileSync(log, 'utf8').includes('notifications/cancelled'), 'it tells by now');
          await answer(host, back, { status: 'canceled' });
        }
        await eventually('the question is closed', async () => (await open(host)).length === 0);
        await assert.rejects(answer(host, back, { status: 'ok' }), /409/);
        assert.equal(made(), false);
        call('read_file', { path: 'marked.txt' });
        assert.match((await library.next()).text, /INSIDE the file/, 'it goes on');

        const item = await asks();
        await answer(host, item, { status: 'ok' });
        assert.match((await library.next()).text, /a\.txt/);
        assert.equal(made(), 'x\n');
        rmSync(join(place.project, 'a.txt'));

        // The host knows who was there, whose the questions were, and that one of them was a success.
        const { sessions } = await host.api('GET', 'clients');
        const mine = sessions.find(({ id }) => id === item.client.id);
        assert.equal(mine.kind, 'gateway');
        assert.equal(mine.root, place.project);
        const shown = await host.api('GET', `clients/${mine.id}`);
        assert.equal(shown.questions.filter(({ status }) => status === 'ok').length, 1, JSON.stringify(shown.questions));
        assert.equal(shown.questions.length, 3, JSON.stringify(shown.questions));
        assert.equal(shown.calls.filter(({ tool, status }) => tool === 'write_file' && status === 'ok').length, 1, JSON.stringify(shown.calls));
        assert.ok(shown.uses.some(({ server }) => server === 'code_writer'));
        library.hangUp();
        await library.ended;
        assert.equal(made(), false, 'nothing is written later');
      });
    }
  }
}

test('a client that gives up after eight seconds without a word waits a minute for an answer', { timeout: 240_000 }, async (t) => {
  const place = home(t);
  const host = await serve(t, place);
  const id = await agent(host, ['code_writer']);
  const env = { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' };
  const params = { command: CHATOS, args: ['gateway', '--agent', id, '--state-dir', place.state, '--lang', 'en'], cwd: place.project, env, stderr: 'ignore' };
  const modern = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const older = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport: OlderTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const clients = [
    ['modern', new modern.Client({ name: 'modern', version: '1' }, { versionNegotiation: { mode: 'auto' } }), new StdioClientTransport(params)],
    ['older', new older.Client({ name: 'older', version: '1' }), new OlderTransport(params)],
  ];
  const calls = [];
  for (const [word, client, transport] of clients) {
    await client.connect(transport);
    t.after(() => client.close());
    const { tools } = await client.listTools();
    const name = tools.find((each) => each.name.endsWith('_write_file')).name;
    const reports = [];
    const options = { timeout: 8_000, resetTimeoutOnProgress: true, onprogress: ({ progress }) => reports.push(progress) };
    const order = { name, arguments: { path: `${word}.txt`, contents: 'x\n' } };
    const done = word === 'modern' ? client.callTool(order, options) : client.callTool(order, undefined, options);
    done.catch(() => {});
    calls.push({ word, done, reports });
  }
  await eventually('two questions', async () => (await open(host)).length === 2);
  await new Promise((resolve) => setTimeout(resolve, 60_000));
  for (const item of await open(host)) await answer(host, item, { status: 'ok' });
  for (const { word, done, reports } of calls) {
    const { isError, content } = await done;
    assert.ok(!isError, JSON.stringify(content));
    assert.ok(existsSync(join(place.project, `${word}.txt`)), word);
    assert.ok(reports.length > 5, `${word}: ${reports}`);
    assert.ok(reports.every((value, at) => at === 0 || value > reports[at - 1]), `${word} rises: ${reports}`);
  }
});
