// Rough input of other programs at the real program (other-agents §8): a client that floods with calls, one with an endless
// name, an agent that pours out text, and one that asks about an edit nobody could read.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { CHATOS, eventually, home, serve } from '../mcp-peers/support.mjs';
import { put } from './agents.mjs';
import { agent as make, answer, open, question } from './inbox.mjs';

const TIME = { timeout: 400_000 };
const NODE = process.env.PEER_NODE ?? process.execPath;
const SCRIPTED = fileURLToPath(new URL('scripted-agent.mjs', import.meta.url));

async function connect(t, place, id, name) {
  const client = new Client({ name, version: '1' });
  const env = { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' };
  const args = ['gateway', '--agent', id, '--state-dir', place.state, '--lang', 'en'];
  await client.connect(new StdioClientTransport({ command: CHATOS, args, cwd: place.project, env, stderr: 'ignore' }));
  t.after(() => client.close());
  const { tools } = await client.listTools();
  const tool = (end) => tools.find((each) => each.name.endsWith(end)).name;
  return { client, tool };
}

/** Resident memory of a process, in MiB: now, or the most it ever had. */
const memory = (pid, which = 'VmRSS') => Number(new RegExp(`${which}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

test('10,000 calls at once of one client: each has its answer, and another client is served meanwhile', TIME, async (t) => {
  const place = home(t);
  put(join(place.project, 'marked.txt'), 'INSIDE\n');
  const host = await serve(t, place);
  const id = await make(host, ['project_files']);
  const [loud, quiet] = [await connect(t, place, id, 'loud'), await connect(t, place, id, 'quiet')];
  const read = ({ client, tool }) => client.callTool({ name: tool('_read_file'), arguments: { path: 'marked.txt' } }, undefined, { timeout: 300_000 });
  await read(quiet);
  const before = memory(host.pid);
  const began = performance.now();
  const calls = Array.from({ length: 10_000 }, () => read(loud));
  let over = false;
  const all = Promise.all(calls).finally(() => (over = true));
  const waits = [];
  while (!over) {
    const from = performance.now();
    const { isError } = await read(quiet);
    assert.ok(!isError, 'the other one is served');
    waits.push(performance.now() - from);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  let [made, refused] = [0, 0];
  for (const { isError, content } of await all) {
    if (!isError) made += 1;
    else refused += Number(/^rate_limited/.test(content[0].text));
  }
  t.diagnostic(`${made} made, ${refused} refused in ${Math.round(performance.now() - began)} ms; the other waited ${Math.round(Math.max(...waits))} ms at most of ${waits.length}; memory ${Math.round(before)} → ${Math.round(memory(host.pid, 'VmHWM'))} MiB`);
  assert.equal(made + refused, 10_000, 'each has its answer');
  assert.ok(made >= 1_064, 'those that had a place, or waited for one');
  assert.ok(Math.max(...waits) < 60_000, 'the other one is not held up');
  assert.ok(!(await read(loud)).isError, 'it goes on');
});

test('a name of a megabyte, with characters that turn text round, is cut and shown plainly', TIME, async (t) => {
  const place = home(t);
  const host = await serve(t, place);
  const id = await make(host, ['code_writer']);
  const { client, tool } = await connect(t, place, id, `\u202e\u0007ev\u200bil\n${'x'.repeat(1_000_000)}`);
  client.callTool({ name: tool('_write_file'), arguments: { path: 'a.txt', contents: 'x\n' } }).catch(() => {});
  const item = await question(host);
  assert.match(item.client.name, /^evilx{50,60}$/);
  assert.ok(item.client.name.length <= 64);
  const { sessions } = await host.api('GET', 'clients');
  assert.equal(sessions[0].name, item.client.name);
  await answer(host, item, { status: 'canceled' });
});

/** A host with the scripted agent in a chat. */
async function desk(t) {
  const place = home(t);
  const host = await serve(t, place);
  const order = { program: NODE, args: [SCRIPTED], name: 'Scripted', workspaceRoot: place.project, confirmed: true, withoutGateway: true };
  const agent = await host.api('POST', 'acp/agents', order);
  const { id: chat } = await host.api('POST', 'sessions', { agentId: agent.id });
  const over = (runId) =>
    eventually('the end of the run', async () => {
      const found = await host.api('GET', `runs/${runId}`);
      const run = found.run ?? found;
      return ['done', 'failed', 'aborted'].includes(run.state) ? run : undefined;
    });
  const send = (text) => host.api('POST', `sessions/${chat}/send`, { text });
  const messages = async () => (await host.api('GET', `sessions/${chat}/messages?limit=200`)).messages;
  return { place, host, over, send, messages };
}

test('an agent that pours out a gigabyte costs its own time, and the chat goes on', TIME, async (t) => {
  const { host, over, send, messages } = await desk(t);
  await over((await send('hello')).runId);
  const before = memory(host.pid);
  const { runId } = await send('pour 1000');
  let most = 0;
  let ended;
  over(runId).then((run) => (ended = run), (error) => (ended = error));
  const began = performance.now();
  while (!ended || ended instanceof Error) {
    most = Math.max(most, memory(host.pid));
    const from = performance.now();
    await host.api('GET', 'prompts?view=needs_you');
    assert.ok(performance.now() - from < 20_000, 'others are served');
    await new Promise((resolve) => setTimeout(resolve, 200));
    if (ended instanceof Error) {
      ended = undefined;
      over(runId).then((run) => (ended = run), (error) => (ended = error));
    }
  }
  t.diagnostic(`${ended.state}; ${Math.round(performance.now() - began)} ms; memory ${Math.round(before)} → ${Math.round(most)} MiB`);
  assert.equal(ended.state, 'done', JSON.stringify(ended.error));
  // However much it pours: a few messages, and the beginning of the text that is kept.
  assert.ok(most - before <= 100, `${Math.round(most - before)} MiB more`);
  assert.equal((await over((await send('hello')).runId)).state, 'done');
  assert.match((await messages()).at(-1).content, /Hello there/);
});

test('an edit of twenty megabytes with 200 options, each twice, is told no, and the person is told why', TIME, async (t) => {
  const { place, host, over, send, messages } = await desk(t);
  const { runId } = await send('large 20');
  assert.equal((await over(runId)).state, 'done');
  assert.equal((await open(host)).length, 0);
  const list = await messages();
  assert.ok(list.some(({ role, content }) => role === 'assistant' && content === 'cancelled'), 'the agent heard a no');
  assert.match(list.find(({ role }) => role === 'tool').content, /too large to be shown/);
  assert.ok(!existsSync(join(place.project, 'large.txt')));
});
