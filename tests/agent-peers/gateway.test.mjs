// `chatos gateway` in the real agents, with the configuration it prints for them: the card names the program and its
// project, the person's word decides, a killed host changes nothing, and what was read reaches the model.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { chatos, eventually, home, serve } from '../mcp-peers/support.mjs';
import { begin, put, wanted } from './agents.mjs';
import { agent as make, answer, open, questionOf } from './inbox.mjs';
import { model } from './model.mjs';

const TIME = 240_000;
const WRITE = { tool: 'write_file', input: { path: 'agent.txt', contents: 'x\n' } };
const MISSING = { tool: 'read_file', input: { path: 'no-such-file.txt' } };
const READ = { tool: 'read_file', input: { path: 'marked.txt' } };

/** The agent with the gateway pasted into its settings, and a model that wants one call of it. */
async function desk(t, agent, { tool, input }, { script, flags = [] } = {}) {
  const place = home(t);
  put(join(place.project, 'marked.txt'), 'one\nINSIDE the file\n');
  const once = (names) => {
    const name = names.find((name) => name?.endsWith(`_${tool}`));
    return name ? { name, input } : undefined;
  };
  const scripted = await model(t, script ? script(once) : once, { again: script !== undefined });
  const env = agent.configure(place, scripted);
  const host = await serve(t, place);
  const id = await make(host, ['code_writer', 'project_files']);
  const printed = await chatos(place, ['gateway', '--agent', id, ...flags, '--print-config', agent.client]);
  assert.equal(printed.status, 0, printed.stderr);
  agent.join(place, printed.stdout);
  return { place, scripted, env, host };
}

const written = (place) => existsSync(join(place.project, 'agent.txt')) && readFileSync(join(place.project, 'agent.txt'), 'utf8');

for (const { word, agent, skip } of wanted()) {
  test(`${word}: a call through the gateway is asked about, and runs once in the client's project`, { timeout: TIME, skip }, async (t) => {
    const { place, scripted, env, host } = await desk(t, agent, WRITE);
    const run = begin(t, agent, place, env);
    const item = await questionOf(host, run);
    const offered = scripted.seen.map(({ text }) => text).join();
    for (const tool of ['write_file', 'read_file', 'list_directory']) assert.ok(offered.includes(`_${tool}`), `${tool} is listed`);
    assert.equal(item.client.kind, 'gateway');
    assert.equal(item.client.project, 'project');
    assert.ok(item.client.name, 'the program says its name');
    assert.equal(written(place), false, 'nothing before the answer');
    await answer(host, item, { status: 'ok' });
    await run.done;
    assert.equal(written(place), 'x\n', run.text);
    assert.ok(scripted.said('agent.txt'), 'the model saw the result');
    assert.equal((await host.api('GET', 'prompts?view=all')).items.length, 1, 'asked once');
  });

  test(`${word}: a no with a note reaches the model through the gateway`, { timeout: TIME, skip }, async (t) => {
    const { place, scripted, env, host } = await desk(t, agent, WRITE);
    const run = begin(t, agent, place, env);
    await answer(host, await questionOf(host, run), { status: 'canceled', remark: 'please use a ledger' });
    await run.done;
    assert.equal(written(place), false);
    assert.ok(scripted.said('please use a ledger'), run.text);
  });

  test(`${word}: a held call outlives the host it was asked of`, { timeout: TIME, skip }, async (t) => {
    const { place, env, host } = await desk(t, agent, WRITE);
    const run = begin(t, agent, place, env);
    const item = await questionOf(host, run);
    process.kill(host.pid, 'SIGKILL');
    const second = await eventually('another host', () => serve(t, place).catch(() => undefined));
    const again = await questionOf(second, run);
    assert.equal(again.requestId, item.requestId, 'nothing new is asked');
    await answer(second, again, { status: 'ok' });
    await run.done;
    assert.equal(written(place), 'x\n', run.text);
  });

  test(`${word}: what is read through the gateway reaches the model`, { timeout: TIME, skip }, async (t) => {
    const { place, scripted, env, host } = await desk(t, agent, READ);
    const run = begin(t, agent, place, env);
    await run.done;
    assert.ok(scripted.said('INSIDE the file'), run.text);
    assert.equal((await open(host)).length, 0, 'reading is not asked about');
  });

  test(`${word}: a call that fails is told to the model, and the program goes on`, { timeout: TIME, skip }, async (t) => {
    const { place, scripted, env, host } = await desk(t, agent, MISSING);
    const run = begin(t, agent, place, env);
    await run.done;
    assert.ok(scripted.seen.some(({ text }) => /not[_ ]found|does not exist/i.test(text)), run.text);
    assert.equal((await open(host)).length, 0);
  });

  test(`${word}: nobody waits for a call of a program that was stopped`, { timeout: TIME, skip }, async (t) => {
    const { place, env, host } = await desk(t, agent, WRITE);
    const run = begin(t, agent, place, env);
    const item = await questionOf(host, run);
    process.kill(-run.child.pid, 'SIGTERM');
    await eventually('the question is closed', async () => (await open(host)).length === 0);
    assert.equal((await host.api('GET', `prompts/${item.requestId}`)).answer.response.code, 'asker_gone');
    await assert.rejects(answer(host, item, { status: 'ok' }), /409/);
    assert.equal(written(place), false);
  });

  test(`${word}: an answer that comes after the program's own time limit is still used`, { timeout: TIME, skip }, async (t) => {
    let calls = 0;
    // The model does what it is told: it waits with the tool that was named, as often as it has to.
    const script = (once) => (names, text) => {
      const told = [...text.matchAll(/needs_input: a person.{0,200}?call[\\": ]+([0-9a-f]{32})/g)];
      const name = names.find((name) => name?.endsWith('chatos_wait'));
      if (!name || (calls > 0 && told.length < calls)) return undefined;
      calls += 1;
      return calls === 1 ? once(names) : { name, input: { call: told.at(-1)[1] } };
    };
    const { place, scripted, env, host } = await desk(t, agent, WRITE, { script, flags: ['--hold', '3s'] });
    agent.limit(place);
    const run = begin(t, agent, place, env);
    const item = await questionOf(host, run);
    const late = Date.now() + 12_000;
    await eventually('a second wait', () => calls > 2 && Date.now() > late);
    assert.equal(written(place), false);
    await answer(host, item, { status: 'ok' });
    await run.done;
    assert.equal(written(place), 'x\n', run.text);
    assert.ok(scripted.said('agent.txt'));
    assert.equal((await host.api('GET', 'prompts?view=all')).items.length, 1, 'asked once');
  });
}

for (const { agent, skip } of wanted().filter(({ word }) => word === 'codex')) {
  test('codex: where it may not ask anybody, a tool that only reads is still called', { timeout: TIME, skip }, async (t) => {
    const { place, scripted, env, host } = await desk(t, agent, READ);
    const silent = { ...agent, argv: () => [agent.program, 'exec', '--skip-git-repo-check', '-c', 'approval_policy="never"', 'count once'] };
    const run = begin(t, silent, place, env);
    await run.done;
    assert.ok(scripted.said('INSIDE the file'), run.text);
    assert.equal((await open(host)).length, 0);
  });
}
