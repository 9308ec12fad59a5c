// The modes of the real agents that stop asking: each needs a person's word, then really asks no more, and is not set
// again by itself when the host was killed.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { eventually, serve } from '../mcp-peers/support.mjs';
import { answer, open } from './inbox.mjs';
import { model } from './model.mjs';
import { PEERS, asked, chatWith, lines, over, send, settle } from './peers.mjs';

const TIME = 400_000;
const COMMAND = 'echo x >> count';
/** What each calls it; opencode asks by its own settings, and has no such mode. */
const UNASKED = { claude: 'bypassPermissions', codex: 'agent-full-access', gemini: 'yolo' };

for (const peer of PEERS) {
  test(`${peer.title}: a mode that stops asking is confirmed, and gone after a restart`, { timeout: TIME, skip: peer.skip }, async (t) => {
    let calls = 0;
    const shell = peer.shell(COMMAND);
    // codex refuses a call that asks to leave a room without walls.
    let call = peer.word === 'codex' ? { ...shell, input: { cmd: COMMAND } } : shell;
    const wants = (names) => {
      if (calls === 0 || !names.includes(call.name)) return undefined;
      calls -= 1;
      return call;
    };
    const scripted = await model(t, wants, { again: true });
    // Claude offers its mode to the administrator of a machine only in a closed room, and this may be one.
    const { place, host, agent } = await settle(t, { ...peer, env: () => ({ ...peer.env?.(peer), IS_SANDBOX: '1' }) }, scripted);
    const chat = await chatWith(host, peer, agent);
    assert.equal((await over(host, (await send(host, chat, 'look around')).runId)).state, 'done');
    const at = `acp/sessions/${chat}`;
    const { options } = await host.api('GET', at);
    const unasked = options.flatMap(({ id, choices }) => choices.filter((choice) => choice.unasked).map((choice) => [id, choice.id]));
    const wanted = UNASKED[peer.word];
    t.diagnostic(JSON.stringify(options.map(({ id, value, choices }) => [id, value, choices.map((choice) => choice.id)])));
    if (!wanted) {
      assert.deepEqual(unasked, []);
      return;
    }
    assert.ok(unasked.some(([, value]) => value === wanted), JSON.stringify(unasked));
    const [option] = unasked.find(([, value]) => value === wanted);
    const valueOf = (view) => view.options.find(({ id }) => id === option).value;
    const before = valueOf({ options });
    await assert.rejects(host.api('POST', at, { option, value: wanted }), /not_confirmed/);
    assert.equal(valueOf(await host.api('GET', at)), before, 'nothing changed');
    assert.equal(valueOf(await host.api('POST', at, { option, value: wanted, confirmed: true })), wanted);
    calls = 1;
    const done = await over(host, (await send(host, chat, 'count once')).runId);
    assert.equal(done.state, 'done', JSON.stringify(done.error));
    assert.equal(lines(place, 'count'), 1, 'it ran, and nobody was asked');
    assert.equal((await open(host)).length, 0);

    process.kill(host.pid, 'SIGKILL');
    const second = await eventually('another host', () => serve(t, place).catch(() => undefined));
    calls = 1;
    call = shell;
    const { runId } = await send(second, chat, 'count once more');
    const item = await asked(second, runId).catch((error) => assert.fail(`${error.message}; counted ${lines(place, 'count')}`));
    assert.equal(valueOf(await second.api('GET', at)), before, 'as it was before');
    assert.equal(lines(place, 'count'), 1);
    await answer(second, item, { status: 'canceled' });
    await over(second, runId);
    assert.equal(lines(place, 'count'), 1);
  });
}
