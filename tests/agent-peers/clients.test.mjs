// Client libraries of other makers call through `chatos gateway`: what was read arrives, and a call that needs a person
// waits for one and runs once. Where the Python ones cannot be installed, their tests are skipped and say why.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { install, python } from '../mcp-servers/python.mjs';
import { CHATOS, home, run, serve } from '../mcp-peers/support.mjs';
import { put } from './agents.mjs';
import { agent, answer, open, question } from './inbox.mjs';

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const NODE = process.env.PEER_NODE ?? process.execPath;
const MODERN = '2026-07-28';
const missing = install() ?? false;
if (missing && process.env.AGENT_PEERS === 'all') throw new Error(`not installed: ${missing}`);

/** Each library, its command, and whether it speaks the modern era of the protocol. */
const LIBRARIES = [
  { name: '@modelcontextprotocol/client', start: [NODE, file('clients.mjs'), 'client'], modern: true },
  { name: '@modelcontextprotocol/sdk', start: [NODE, file('clients.mjs'), 'sdk'], modern: false },
  { name: 'mcp', start: [python, file('clients.py'), 'mcp'], modern: true, skip: missing },
  { name: 'fastmcp', start: [python, file('clients.py'), 'fastmcp'], modern: true, skip: missing },
  { name: 'pydantic-ai', start: [python, file('clients.py'), 'pydantic_ai'], modern: true, skip: missing },
  { name: 'openai-agents', start: [python, file('clients.py'), 'openai_agents'], modern: true, skip: missing },
];

for (const { name, start, modern, skip = false } of LIBRARIES) {
  test(`${name}: calls through the gateway`, { timeout: 400_000, skip }, async (t) => {
    const place = home(t);
    put(join(place.project, 'marked.txt'), 'one\nINSIDE the file\n');
    const host = await serve(t, place);
    const id = await agent(host, ['code_writer', 'project_files']);
    const log = join(place.home, 'spoken.jsonl');
    const gateway = [NODE, file('tap.mjs'), log, CHATOS, 'gateway', '--agent', id, '--state-dir', place.state, '--lang', 'en'];
    const env = { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' };
    const call = async (tool, args) => {
      const [program, ...words] = [...start, tool, JSON.stringify(args), ...gateway];
      const done = await run(program, words, { cwd: place.project, env });
      assert.equal(done.status, 0, done.stderr);
      return JSON.parse(done.stdout);
    };

    const read = await call('read_file', { path: 'marked.txt' });
    assert.match(read.text, /INSIDE the file/);
    assert.ok(read.names.length > 5, read.names.join(' '));
    const spoken = readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    const called = spoken.find(({ method }) => method === 'tools/call');
    assert.equal(called.version === MODERN, modern, JSON.stringify(spoken));
    assert.equal((await open(host)).length, 0, 'reading is not asked about');

    const writing = call('write_file', { path: 'a.txt', contents: 'x\n' });
    writing.catch(() => {});
    const item = await question(host);
    assert.equal(item.client.project, 'project');
    assert.equal(existsSync(join(place.project, 'a.txt')), false, 'nothing before the answer');
    await answer(host, item, { status: 'ok' });
    assert.match((await writing).text, /a\.txt/);
    assert.equal(readFileSync(join(place.project, 'a.txt'), 'utf8'), 'x\n');

    // The host knows who was there, and whose the question was.
    const { sessions } = await host.api('GET', 'clients');
    const mine = sessions.find(({ id }) => id === item.client.id);
    assert.equal(mine.kind, 'gateway');
    assert.equal(mine.root, place.project);
    const shown = await host.api('GET', `clients/${mine.id}`);
    assert.deepEqual(shown.questions.map(({ requestId, status }) => [requestId, status]), [[item.requestId, 'ok']]);
    assert.ok(shown.uses.some(({ server }) => server === 'code_writer'));
  });
}
