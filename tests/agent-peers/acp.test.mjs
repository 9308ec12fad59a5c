// `chatos acp` with the official client library: an editor drives an agent, a person answers in the inbox, and either
// side may be killed in between. Every frame it is sent is held against the official schema.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, Readable, Writable } from 'node:stream';
import { test } from 'node:test';

import * as acp from '@agentclientprotocol/sdk';
import { CHATOS, chatos, eventually, home, serve } from '../mcp-peers/support.mjs';
import { Frames } from './frames.mjs';
import { agent as make, answer, open, question } from './inbox.mjs';
import { model } from './model.mjs';

const TIME = { timeout: 120_000 };

/** A host with an agent that may write files after a question, and a scripted model that wants to. */
async function desk(t) {
  const place = home(t);
  const scripted = await model(t, (names) => {
    const name = names.find((name) => name?.endsWith('write_file'));
    return name ? { name, input: { path: 'a.txt', contents: 'x\n' } } : undefined;
  });
  const host = await serve(t, place);
  const agent = await make(host, ['code_writer'], scripted.url);
  return { place, host, agent, scripted };
}

/** An editor: the process it started, what it was told, and a way to ask. */
function edit(t, place, agent, more = []) {
  const args = ['acp', '--state-dir', place.state, '--lang', 'en', ...(agent ? ['--agent', agent] : []), ...more];
  const env = { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' };
  const child = spawn(CHATOS, args, { cwd: place.project, env, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  child.stdin.on('error', () => {});
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.pipe(child.stdin);
  child.stdout.pipe(output);
  // Looked at beside the library; what a killed process did not finish is no frame.
  const frames = new Frames();
  const each = (stream, look) => createInterface({ input: stream }).on('line', (line) => line.endsWith('}') && look(JSON.parse(line)));
  each(input, ({ id, method }) => method && frames.asked(id, method));
  each(child.stdout, (message) => frames.look(message));
  t.after(() => {
    assert.deepEqual(frames.faults, []);
    assert.ok(frames.seen > 0, 'nothing was looked at');
  });
  const updates = [];
  const app = acp.client({ name: 'test editor' }).onNotification('session/update', ({ params }) => updates.push(params.update));
  const stream = acp.ndJsonStream(Writable.toWeb(input), Readable.toWeb(output));
  const connection = app.connect(stream);
  const ask = (method, params) => connection.agent.request(method, params);
  const hello = () => ask('initialize', { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {}, clientInfo: { name: 'test editor', version: '1' } });
  const words = (kind) => updates.filter(({ sessionUpdate }) => sessionUpdate === kind).map(({ content }) => content.text).join('');
  return { child, updates, words, ask, hello, tell: (method, params) => connection.agent.notify(method, params) };
}

const prompt = (text) => [{ type: 'text', text }];
const written = (place) => existsSync(join(place.project, 'a.txt')) && readFileSync(join(place.project, 'a.txt'), 'utf8');

test('an editor chats, a person approves in the inbox, and the chat can be loaded again', TIME, async (t) => {
  const { place, host, agent } = await desk(t);
  const editor = edit(t, place, agent);
  const hello = await editor.hello();
  assert.equal(hello.protocolVersion, 1);
  assert.equal(hello.agentInfo.name, 'chatos');
  assert.equal(hello.agentCapabilities.loadSession, true);
  const { sessionId, configOptions } = await editor.ask('session/new', { cwd: place.project, mcpServers: [] });
  assert.deepEqual(configOptions.map(({ id, type }) => [id, type]), [['agent', 'select'], ['model', 'select']]);
  assert.equal(configOptions[0].currentValue, agent);
  const other = configOptions[1].options.find(({ name }) => name === 'scripted').value;
  const chosen = await editor.ask('session/set_config_option', { sessionId, configId: 'model', value: other });
  assert.equal(chosen.configOptions[1].currentValue, other);
  await assert.rejects(editor.ask('session/set_config_option', { sessionId, configId: 'mood', value: 'good' }));
  const { sessions: programs } = await host.api('GET', 'clients');
  assert.deepEqual(programs.map(({ kind, name, root }) => [kind, name, root]), [['acp_editor', 'test editor', place.project]]);
  const turn = editor.ask('session/prompt', { sessionId, prompt: prompt('write it') });
  const item = await question(host);
  await eventually('the editor is told', () => editor.updates.some(({ sessionUpdate, status }) => sessionUpdate === 'tool_call_update' && status === 'pending'));
  const call = editor.updates.find(({ sessionUpdate }) => sessionUpdate === 'tool_call');
  assert.equal(call.kind, 'edit');
  assert.equal(call.locations[0].path, join(place.project, 'a.txt'));
  assert.deepEqual(call.content, [{ type: 'diff', path: join(place.project, 'a.txt'), oldText: null, newText: 'x\n' }]);
  assert.equal(written(place), false, 'nothing before the answer');
  await answer(host, item, { status: 'ok' });
  assert.deepEqual(await turn, { stopReason: 'end_turn' });
  assert.equal(written(place), 'x\n');
  assert.equal(editor.words('agent_message_chunk'), 'all done');
  const ended = editor.updates.filter(({ toolCallId }) => toolCallId === call.toolCallId).at(-1);
  assert.equal(ended.status, 'completed');

  const second = edit(t, place, agent);
  await second.hello();
  const { sessions } = await second.ask('session/list', { cwd: place.project });
  assert.deepEqual(sessions.map((row) => [row.sessionId, row.cwd]), [[sessionId, place.project]]);
  await second.ask('session/load', { sessionId, cwd: place.project, mcpServers: [] });
  assert.equal(second.words('user_message_chunk'), 'write it');
  assert.equal(second.words('agent_message_chunk'), 'all done');
});

test('the tasks of a chat are its plan, and how full the window is arrives', TIME, async (t) => {
  const place = home(t);
  const scripted = await model(t, (names) => {
    const name = names.find((name) => name?.endsWith('add_task'));
    return name ? { name, input: { title: 'Water the plants' } } : undefined;
  });
  const host = await serve(t, place);
  const agent = await make(host, ['task_manager'], scripted.url);
  const editor = edit(t, place, agent);
  await editor.hello();
  const { sessionId } = await editor.ask('session/new', { cwd: place.project, mcpServers: [] });
  assert.deepEqual(await editor.ask('session/prompt', { sessionId, prompt: prompt('plan it') }), { stopReason: 'end_turn' });
  const plan = editor.updates.find(({ sessionUpdate }) => sessionUpdate === 'plan');
  assert.deepEqual(plan.entries.map(({ content, status }) => [content, status]), [['Water the plants', 'pending']]);
  const usage = editor.updates.filter(({ sessionUpdate }) => sessionUpdate === 'usage_update').at(-1);
  assert.ok(usage.used > 0 && usage.size > usage.used, JSON.stringify(usage));
});

test('a no with a note reaches the model, and nothing is written', TIME, async (t) => {
  const { place, host, agent, scripted } = await desk(t);
  const editor = edit(t, place, agent);
  await editor.hello();
  const { sessionId } = await editor.ask('session/new', { cwd: place.project, mcpServers: [] });
  const turn = editor.ask('session/prompt', { sessionId, prompt: prompt('write it') });
  await answer(host, await question(host), { status: 'canceled', remark: 'please use a ledger' });
  assert.deepEqual(await turn, { stopReason: 'end_turn' });
  assert.equal(written(place), false);
  assert.ok(scripted.said('please use a ledger'));
});

test('a turn that is cancelled ends as cancelled, and its question is closed', TIME, async (t) => {
  const { place, host, agent } = await desk(t);
  const editor = edit(t, place, agent);
  await editor.hello();
  const { sessionId } = await editor.ask('session/new', { cwd: place.project, mcpServers: [] });
  const turn = editor.ask('session/prompt', { sessionId, prompt: prompt('write it') });
  const item = await question(host);
  await editor.tell('session/cancel', { sessionId });
  assert.deepEqual(await turn, { stopReason: 'cancelled' });
  await eventually('the question is closed', async () => (await open(host)).length === 0);
  await assert.rejects(answer(host, item, { status: 'ok' }), /409/);
  assert.equal(written(place), false);
});

test('a run goes on when its editor is killed', TIME, async (t) => {
  const { place, host, agent } = await desk(t);
  const editor = edit(t, place, agent);
  await editor.hello();
  const { sessionId } = await editor.ask('session/new', { cwd: place.project, mcpServers: [] });
  editor.ask('session/prompt', { sessionId, prompt: prompt('write it') }).catch(() => {});
  const item = await question(host);
  editor.child.kill('SIGKILL');
  await new Promise((resolve) => editor.child.once('exit', resolve));
  assert.equal((await question(host)).requestId, item.requestId, 'it is still asked');
  await answer(host, item, { status: 'ok' });
  await eventually('the file', () => written(place));
  const second = edit(t, place, agent);
  await second.hello();
  await eventually('the end of the turn', async () => {
    second.updates.length = 0;
    await second.ask('session/load', { sessionId, cwd: place.project, mcpServers: [] });
    return second.words('agent_message_chunk') === 'all done';
  });
  assert.equal(written(place), 'x\n');
});

test('a host that is killed ends the turn with a sentence, and the chat is still there', TIME, async (t) => {
  const { place, host, agent } = await desk(t);
  const editor = edit(t, place, agent);
  await editor.hello();
  const { sessionId } = await editor.ask('session/new', { cwd: place.project, mcpServers: [] });
  const turn = editor.ask('session/prompt', { sessionId, prompt: prompt('write it') });
  turn.catch(() => {});
  const item = await question(host);
  process.kill(host.pid, 'SIGKILL');
  const second = await eventually('another host', () => serve(t, place).catch(() => undefined));
  await assert.rejects(turn, /continue the run in ChatOS/);
  assert.equal(written(place), false);
  assert.equal((await question(second)).requestId, item.requestId, 'asked once');
  const { sessions } = await editor.ask('session/list', { cwd: place.project });
  assert.equal(sessions[0].sessionId, sessionId, 'the same editor goes on');
});

test('without a host one is started; without leave, an error says so', TIME, async (t) => {
  const place = home(t);
  const refused = edit(t, place, undefined, ['--no-serve']);
  await refused.hello();
  await assert.rejects(refused.ask('session/new', { cwd: place.project, mcpServers: [] }), /chatos serve/);
  const editor = edit(t, place);
  try {
    await editor.hello();
    const { sessionId } = await editor.ask('session/new', { cwd: place.project, mcpServers: [] });
    assert.ok(sessionId);
    editor.child.kill('SIGKILL');
    const status = await chatos(place, ['status', '--json']);
    assert.equal(JSON.parse(status.stdout).running, true, 'it outlives the editor');
  } finally {
    await chatos(place, ['stop']);
  }
});

test('what an editor says wrong is answered with an error of the protocol', TIME, async (t) => {
  const { place, agent } = await desk(t);
  const editor = edit(t, place, agent);
  await editor.hello();
  const code = (wanted) => (error) => error.code === wanted;
  await assert.rejects(editor.ask('session/new', { cwd: 'project', mcpServers: [] }), code(-32602));
  await assert.rejects(editor.ask('session/new', { cwd: '/no/such/folder', mcpServers: [] }), code(-32602));
  await assert.rejects(editor.ask('session/prompt', { sessionId: 'none', prompt: prompt('x') }), code(-32002));
  await assert.rejects(editor.ask('session/load', { sessionId: 'none', cwd: place.project, mcpServers: [] }), code(-32002));
  await assert.rejects(editor.ask('session/fork_it', {}), code(-32601));
  const { sessionId } = await editor.ask('session/new', { cwd: place.project, mcpServers: [] });
  await assert.rejects(editor.ask('session/prompt', { sessionId, prompt: [] }), code(-32602));
  editor.child.stdin.write('{"broken\n[]\n17\n\n');
  assert.ok((await editor.ask('session/list', {})).sessions.length > 0, 'it goes on');
});
