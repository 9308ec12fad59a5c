// Rough input of other programs at the real program (other-agents §8): a client that floods with calls, one with an endless
// name, an agent that pours out text, and one that asks about an edit nobody could read.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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

/** The most memory a process has had since this was asked, in MiB, and what it had then. */
function memory(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const most = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  const before = most();
  return { before, most };
}

test('10,000 calls at once of one client: each has its answer, and another client is served meanwhile', TIME, async (t) => {
  const place = home(t);
  put(join(place.project, 'marked.txt'), 'INSIDE\n');
  const host = await serve(t, place);
  const id = await make(host, ['project_files']);
  const [loud, quiet] = [await connect(t, place, id, 'loud'), await connect(t, place, id, 'quiet')];
  const read = ({ client, tool }) => client.callTool({ name: tool('_read_file'), arguments: { path: 'marked.txt' } }, undefined, { timeout: 300_000 });
  await read(quiet);
  const { before, most } = memory(host.pid);
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
  t.diagnostic(`${made} made, ${refused} refused in ${Math.round(performance.now() - began)} ms; the other waited ${Math.round(Math.max(...waits))} ms at most of ${waits.length}; memory ${Math.round(before)} → ${Math.round(most())} MiB`);
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

/** Most memory of one agent, in MiB (other-agents §8). */
const ROOM = 64;
const ALL = process.env.AGENT_PEERS === 'all';

for (const { what, order, always = false } of [
  { what: '300 megabytes of words, 30 megabytes at a time', order: 'pour 10 30000', always: true },
  { what: 'a gigabyte of words, a megabyte at a time', order: 'pour 1000' },
  { what: '200 megabytes of words, a kilobyte at a time', order: 'pour 200000 1' },
  { what: 'a gigabyte of calls that never end, three megabytes at a time', order: 'pour 330 3000 calls' },
  { what: 'two million zeros in each call', order: 'pour 100 4000 dense' },
  { what: 'ten thousand zeros in each call', order: 'pour 500 20 dense' },
  { what: 'names of sessions of five megabytes each', order: 'pour 60 5000 sessions' },
]) {
  const skip = ALL || always ? false : 'only the nightly run pours so much';
  test(`an agent that pours out ${what} costs its own time, and the chat goes on`, { ...TIME, skip }, async (t) => {
    const { host, over, send, messages } = await desk(t);
    await over((await send('hello')).runId);
    const { before, most } = memory(host.pid);
    const began = performance.now();
    const { runId } = await send(order);
    let run;
    do {
      await new Promise((resolve) => setTimeout(resolve, 200));
      const from = performance.now();
      await host.api('GET', 'prompts?view=needs_you');
      assert.ok(performance.now() - from < 20_000, 'others are served');
      run = await host.api('GET', `runs/${runId}`);
      run = run.run ?? run;
    } while (!['done', 'failed', 'aborted'].includes(run.state));
    t.diagnostic(`${run.state}; ${Math.round(performance.now() - began)} ms; memory ${Math.round(before)} → ${Math.round(most())} MiB`);
    assert.equal(run.state, 'done', JSON.stringify(run.error));
    // However much it pours: a few messages, and the beginning of what is kept.
    assert.ok(most() - before <= ROOM, `${Math.round(most() - before)} MiB more`);
    assert.equal((await over((await send('hello')).runId)).state, 'done');
    const list = await messages();
    assert.match(list.at(-1).content, /Hello there/);
    assert.ok(!list.some(({ content }) => content?.includes('[]')), 'what is not read is no text');
  });
}

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
