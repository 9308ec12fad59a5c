// `chatos hook` with the real agents: their own hook asks in the queue, a person's word decides, and nothing that
// goes wrong on the way is a yes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { CHATOS, eventually, home, serve } from '../mcp-peers/support.mjs';
import { begin, processOf, put, wanted } from './agents.mjs';
import { agent as make, answer, open, questionOf as question } from './inbox.mjs';
import { model } from './model.mjs';

/** Appends a line each time; without a redirection, which some programs ask about whatever they are told. */
const COMMAND = 'sh count.sh';

const lines = (place) => (existsSync(join(place.project, 'count.txt')) ? readFileSync(join(place.project, 'count.txt'), 'utf8').trim().split('\n').length : 0);

/** A home with the hook installed, a scripted model that wants one command, and a host. */
async function desk(t, word, agent, { host = true } = {}) {
  const place = home(t);
  put(join(place.project, 'count.sh'), 'echo x >> count.txt\n');
  const scripted = await model(t, (names) => {
    const call = agent.shell(COMMAND);
    return names.includes(call.name) ? call : undefined;
  });
  const env = agent.configure(place, scripted);
  const install = await hook(place, env, [word, '--install', '--yes', ...(agent.install ?? [])]);
  assert.equal(install.status, 0, install.stderr);
  const running = host ? await serve(t, place) : undefined;
  return { place, scripted, env, host: running };
}

function hook(place, env, args, stdin = '') {
  return new Promise((resolve, reject) => {
    const child = spawn(CHATOS, ['hook', ...args, '--state-dir', place.state, '--lang', 'en'], { cwd: place.project, env });
    const out = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (out.stdout += chunk));
    child.stderr.on('data', (chunk) => (out.stderr += chunk));
    child.once('error', reject);
    child.once('close', (status) => resolve({ ...out, status }));
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
  });
}

for (const { word, agent, skip } of wanted()) {
  test(`${word}: a yes runs it once, and the card says who asks where`, { timeout: 240_000, skip }, async (t) => {
    const { place, scripted, env, host } = await desk(t, word, agent);
    const run = begin(t, agent, place, env);
    const item = await question(host, run);
    assert.equal(item.client.name, agent.title);
    assert.equal(item.client.kind, 'hook');
    assert.equal(item.client.project, 'project');
    assert.ok(item.client.label, 'the session of the program');
    assert.equal(item.prompt.command, COMMAND);
    assert.equal(lines(place), 0, 'nothing before the answer');
    await answer(host, item, { status: 'ok' });
    await run.done;
    assert.equal(lines(place), 1, run.text);
    assert.equal((await open(host)).length, 0);
    assert.ok(scripted.seen.length >= 2, 'the model saw the result');
  });

  test(`${word}: a no with a note does not run it, and the model reads the note`, { timeout: 240_000, skip }, async (t) => {
    const { place, scripted, env, host } = await desk(t, word, agent);
    const run = begin(t, agent, place, env);
    const item = await question(host, run);
    await answer(host, item, { status: 'canceled', remark: 'please use a ledger' });
    await run.done;
    assert.equal(lines(place), 0);
    assert.ok(scripted.said('please use a ledger'), run.text);
  });

  test(`${word}: a no that stops ends the turn of a program that has a word for it, and is not taken for another`, { timeout: 240_000, skip }, async (t) => {
    const { place, scripted, env, host } = await desk(t, word, agent);
    const run = begin(t, agent, place, env);
    const item = await question(host, run);
    assert.equal(item.card?.stops ?? false, agent.stops ?? false, 'the card offers it where it can be done');
    const stop = answer(host, item, { status: 'canceled', stop: true, remark: 'the wrong folder' });
    if (agent.stops) {
      await stop;
      await run.done;
      assert.ok(!scripted.said('the wrong folder'), `its model was asked again:\n${run.text}`);
    } else {
      await assert.rejects(stop, /cannot_stop/);
      assert.equal((await open(host)).length, 1, 'it is still to be answered');
      await answer(host, item, { status: 'canceled', remark: 'the wrong folder' });
      await run.done;
    }
    assert.equal(lines(place), 0, run.text);
    assert.equal((await open(host)).length, 0);
  });

  test(`${word}: the question outlives the host it was asked of`, { timeout: 240_000, skip }, async (t) => {
    const { place, env, host } = await desk(t, word, agent);
    const run = begin(t, agent, place, env);
    const item = await question(host, run);
    process.kill(host.pid, 'SIGKILL');
    // The lock of the killed one is gone a moment after it.
    const second = await eventually('another host', () => serve(t, place).catch(() => undefined));
    const again = await question(second, run);
    assert.equal(again.requestId, item.requestId, 'nothing new is asked');
    await answer(second, again, { status: 'ok' });
    await run.done;
    assert.equal(lines(place), 1, run.text);
  });

  test(`${word}: nobody waits any more once the agent is gone`, { timeout: 240_000, skip }, async (t) => {
    const { place, env, host } = await desk(t, word, agent);
    const run = begin(t, agent, place, env);
    const item = await question(host, run);
    process.kill(-run.child.pid, 'SIGKILL');
    await eventually('the question is closed', async () => (await open(host)).length === 0);
    const closed = await host.api('GET', `prompts/${item.requestId}`);
    assert.equal(closed.answer.response.code, 'asker_gone');
    await assert.rejects(answer(host, item, { status: 'ok' }), /409|asker_gone|already/);
    assert.equal(lines(place), 0);
  });

  test(`${word}: a hook that is killed is no yes of ours, and its question is closed`, { timeout: 240_000, skip }, async (t) => {
    const { place, env, host } = await desk(t, word, agent);
    const run = begin(t, agent, place, env);
    const item = await question(host, run);
    process.kill(processOf('hook', place), 'SIGKILL');
    await eventually('the question is closed', async () => (await open(host)).length === 0);
    await assert.rejects(answer(host, item, { status: 'ok' }), /409/);
    await run.done;
    // What the program then does by itself is its own: docs/other-agents.md says it for each.
    assert.equal(lines(place), agent.goesOn ? 1 : 0, run.text);
  });

  test(`${word}: without a host nothing is allowed`, { timeout: 240_000, skip }, async (t) => {
    const { place, env } = await desk(t, word, agent, { host: false });
    const said = await hook(place, env, [word, '--on-failure', 'deny'], JSON.stringify(call(word, agent, place)));
    assert.doesNotMatch(said.stdout, /"allow"/);
    assert.notEqual(said.status, 1);
    const large = JSON.stringify({ ...call(word, agent, place), more: 'x'.repeat(50_000_000) });
    for (const bad of ['', '{', '[]', '{"hook_event_name":"Stop"}', large]) {
      const wrong = await hook(place, env, [word], bad);
      assert.doesNotMatch(wrong.stdout, /"allow"/);
      assert.equal(wrong.status, 2, `${bad.slice(0, 80)}: ${wrong.stderr}`);
    }
  });

  test(`${word}: time over is a no`, { timeout: 240_000, skip }, async (t) => {
    const { place, env, host } = await desk(t, word, agent);
    const said = await hook(place, env, [word, '--wait', '2s'], JSON.stringify(call(word, agent, place)));
    assert.match(said.stdout + said.stderr, /nobody answered in time/);
    assert.doesNotMatch(said.stdout, /"allow"/);
    assert.equal((await open(host)).length, 0);
  });

  test(`${word}: out again leaves the file as it was`, { timeout: 60_000, skip }, async (t) => {
    const place = home(t);
    const env = agent.configure(place, { url: 'http://127.0.0.1:9' });
    const before = snapshot(place.home);
    await hook(place, env, [word, '--install', '--yes', ...(agent.install ?? [])]);
    assert.notDeepEqual(snapshot(place.home), before);
    const status = JSON.parse((await hook(place, env, [word, '--status', '--json', ...(agent.install ?? [])])).stdout);
    assert.equal(status.hook, 'installed');
    const removed = await hook(place, env, [word, '--remove', '--yes']);
    assert.equal(removed.status, 0, removed.stderr);
    assert.deepEqual(snapshot(place.home), before);
  });
}

function call(word, agent, place) {
  const { name, input } = agent.shell(COMMAND);
  if (word === 'opencode') return { tool: name, args: input, sessionID: 's', callID: 'c', directory: place.project };
  const event = { claude: 'PreToolUse', codex: 'PermissionRequest', gemini: 'BeforeTool' }[word];
  return { hook_event_name: event, tool_name: name, tool_input: input, session_id: 's', cwd: place.project };
}

function snapshot(folder) {
  const found = {};
  for (const name of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (name.isFile()) found[join(name.parentPath, name.name)] = readFileSync(join(name.parentPath, name.name), 'utf8');
  }
  return found;
}

test('the permissions profile of an agent refuses first, without a question', { timeout: 120_000 }, async (t) => {
  const place = home(t);
  const host = await serve(t, place);
  const env = { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' };
  const input = JSON.stringify({ hook_event_name: 'PreToolUse', session_id: 's', cwd: place.project, tool_name: 'Bash', tool_input: { command: 'ls' } });
  const decided = async (agent) => {
    const said = await hook(place, env, ['claude', '--agent', agent, '--wait', '60s'], input);
    assert.equal(said.status, 0, said.stderr);
    return JSON.parse(said.stdout).hookSpecificOutput;
  };
  const reader = await make(host, ['project_files']);
  const refused = await decided(reader);
  assert.equal(refused.permissionDecision, 'deny');
  assert.match(refused.permissionDecisionReason, /shell_tasks/);
  assert.equal((await open(host)).length, 0);
  assert.equal((await decided('nobody')).permissionDecision, 'ask', 'an agent that is not there decides nothing');
  const allowed = decided(await make(host, ['shell_tasks'], undefined, 'b'));
  const item = await eventually('the question', async () => (await open(host))[0]);
  await answer(host, item, { status: 'ok' });
  assert.equal((await allowed).permissionDecision, 'allow');
});
