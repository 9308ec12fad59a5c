// The real agents inside ChatOS (ACP), offline against a scripted model: a message, a command, an edit, a no, a stop, and
// the same session after the host was killed.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { eventually, serve } from '../mcp-peers/support.mjs';
import { answer, open } from './inbox.mjs';
import { model } from './model.mjs';
import { PEERS, asked, chatWith, lines, messages, over, said, send, settle, yes } from './peers.mjs';

const TIME = 400_000;
const COMMAND = 'echo x >> count';

/** The model wants this call when it is offered the tool. */
const wants = (t, call) => model(t, (names) => (names.includes(call.name) ? call : undefined));

for (const peer of PEERS) {
  const { title, skip } = peer;
  test(`${title}: a command is asked about, runs once after a yes and not after a no`, { timeout: TIME, skip }, async (t) => {
    const scripted = await wants(t, peer.shell(COMMAND));
    const { place, host, agent } = await settle(t, peer, scripted);
    let count = 0;
    for (const agreed of [true, false]) {
      const chat = await chatWith(host, peer, agent);
      const { runId } = await send(host, chat, 'count once');
      const item = await asked(host, runId);
      assert.match(JSON.stringify(item.prompt), /echo x >> count/);
      assert.equal(item.card.agent, title);
      assert.equal(lines(place, 'count'), count, 'nothing before the answer');
      await answer(host, item, agreed ? yes(item) : { status: 'canceled', remark: 'use a ledger' });
      count += agreed ? 1 : 0;
      const run = await over(host, runId);
      assert.equal(run.state, 'done', JSON.stringify(run.error));
      assert.equal(lines(place, 'count'), count);
      if (agreed) assert.match(said(await messages(host, chat)), /all done/);
      else assert.ok(scripted.said('use a ledger'), 'the note reaches the model');
    }
  });

  test(`${title}: what is written while it works reaches it in the same run`, { timeout: TIME, skip }, async (t) => {
    const scripted = await wants(t, peer.shell(COMMAND));
    const { place, host, agent } = await settle(t, peer, scripted);
    const chat = await chatWith(host, peer, agent);
    const { runId } = await send(host, chat, 'count once');
    const item = await asked(host, runId);
    const steered = await host.api('POST', `sessions/${chat}/send`, { text: 'think of SAFFRON', mode: 'steer' });
    assert.equal(steered.runId, runId);
    await answer(host, item, yes(item));
    const run = await over(host, runId);
    assert.equal(run.state, 'done', JSON.stringify(run.error));
    assert.ok(scripted.said('SAFFRON'), 'the model reads it');
    assert.equal(lines(place, 'count'), 1);
    const words = (await messages(host, chat)).filter(({ role }) => role === 'user').map(({ content }) => content);
    assert.deepEqual(words, ['count once', 'think of SAFFRON'], 'each is shown once');
  });

  test(`${title}: an edit is asked about with its text, and is made after a yes alone`, { timeout: TIME, skip }, async (t) => {
    let call;
    const scripted = await model(t, (names) => (call && names.includes(call.name) ? call : undefined));
    const { place, host, agent } = await settle(t, peer, scripted);
    const file = join(place.project, 'note.txt');
    call = peer.edit(file, 'one line\n');
    for (const agreed of [false, true]) {
      const chat = await chatWith(host, peer, agent);
      const { runId } = await send(host, chat, 'write the note');
      const item = await asked(host, runId);
      assert.match(JSON.stringify(item.prompt), /one line/, 'the person sees what is written');
      assert.equal(existsSync(file), false, 'nothing before the answer');
      await answer(host, item, agreed ? yes(item) : { status: 'canceled' });
      const run = await over(host, runId);
      assert.equal(run.state, 'done', JSON.stringify(run.error));
      assert.equal((await open(host)).length, 0, 'one question');
      assert.equal(existsSync(file), agreed);
    }
    assert.equal(readFileSync(file, 'utf8'), 'one line\n');
  });

  test(`${title}: a stopped turn closes its question, and the chat goes on with its session after a kill`, { timeout: TIME, skip }, async (t) => {
    let calls = true;
    const scripted = await model(t, (names) => {
      const call = peer.shell(COMMAND);
      return calls && names.includes(call.name) ? call : undefined;
    });
    const { place, host, agent } = await settle(t, peer, scripted);
    const chat = await chatWith(host, peer, agent);
    const { runId } = await send(host, chat, 'my word is PAPRIKA');
    const item = await asked(host, runId);
    await host.api('POST', `runs/${runId}/abort`, {});
    assert.equal((await over(host, runId)).state, 'aborted');
    await eventually('the question is closed', async () => (await open(host)).length === 0);
    await assert.rejects(answer(host, item, { status: 'ok' }), /409/);
    assert.equal(lines(place, 'count'), 0);
    calls = false;
    const next = await send(host, chat, 'my other word is SAFFRON');
    assert.equal((await over(host, next.runId)).state, 'done');
    process.kill(host.pid, 'SIGKILL');
    const second = await eventually('another host', () => serve(t, place).catch(() => undefined));
    scripted.seen.length = 0;
    const last = await send(second, chat, 'which words?');
    const run = await over(second, last.runId);
    assert.equal(run.state, 'done', JSON.stringify(run.error));
    // By the agent itself, or by us where its session is gone.
    assert.ok(scripted.said('SAFFRON'), 'the model is told what was said before');
    assert.equal(said(await messages(second, chat)).match(/all done/g).length, 2, 'nothing is shown twice');
    assert.equal(lines(place, 'count'), 0);
  });
}
