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
const READ = { tool: 'read_file', input: { path: 'marked.txt' } };

/** The agent with the gateway pasted into its settings, and a model that wants one call of it. */
async function desk(t, agent, { tool, input }) {
  const place = home(t);
  put(join(place.project, 'marked.txt'), 'one\nINSIDE the file\n');
  const scripted = await model(t, (names) => {
    const name = names.find((name) => name?.endsWith(`_${tool}`));
    return name ? { name, input } : undefined;
  });
  const env = agent.configure(place, scripted);
  const host = await serve(t, place);
  const id = await make(host, ['code_writer', 'project_files']);
  const printed = await chatos(place, ['gateway', '--agent', id, '--print-config', agent.client]);
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
}
