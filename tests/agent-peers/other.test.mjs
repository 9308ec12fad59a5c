// Other agents inside ChatOS (ACP client), driven through the real program by a scripted agent that behaves in every way
// it should not. The real ones are in real.test.mjs.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { CHATOS, chatos, eventually, home, run, serve } from '../mcp-peers/support.mjs';
import { put } from './agents.mjs';
import { Frames } from './frames.mjs';
import { answer, open, question } from './inbox.mjs';

const TIME = { timeout: 180_000 };
const NODE = process.env.PEER_NODE ?? process.execPath;
const SCRIPTED = fileURLToPath(new URL('scripted-agent.mjs', import.meta.url));

/** A host with the scripted agent in a chat. */
async function desk(t, flags = []) {
  let place;
  // Before its home is removed, which is the next of these.
  t.after(() => assert.deepEqual(faults(place), []));
  place = home(t);
  const host = await serve(t, place);
  const order = { program: NODE, args: [SCRIPTED, ...flags], name: 'Scripted', workspaceRoot: place.project, confirmed: true };
  const agent = await host.api('POST', 'acp/agents', order);
  const chat = await host.api('POST', 'sessions', { agentId: agent.id });
  return { place, host, agent, chat: chat.id };
}

/** What of all that the agent was sent is not as the protocol's schema says. */
function faults(place) {
  const frames = new Frames();
  for (const message of told(place)) {
    if (message.asked) frames.asked(message.id, message.asked);
    else frames.look(message);
  }
  return frames.faults;
}

const send = (host, chat, text) => host.api('POST', `sessions/${chat}/send`, { text });
const messages = async (host, chat) => (await host.api('GET', `sessions/${chat}/messages?limit=200`)).messages;
const runOf = async (host, id) => (await host.api('GET', `runs/${id}`)).run ?? (await host.api('GET', `runs/${id}`));
const over = (host, id) =>
  eventually('the end of the run', async () => {
    const run = await runOf(host, id);
    return ['done', 'failed', 'aborted', 'interrupted', 'discarded'].includes(run.state) ? run : undefined;
  });
const said = (list) => list.filter(({ role, content }) => role === 'assistant' && content).map(({ content }) => content).join('|');
const lines = (place, name) => (existsSync(join(place.project, name)) ? readFileSync(join(place.project, name), 'utf8').split('\n').filter(Boolean).length : 0);
/** Everything in the audit log. */
const audited = (place) => readdirSync(join(place.state, 'audit')).map((file) => readFileSync(join(place.state, 'audit', file), 'utf8')).join('');
const told = (place) => readFileSync(join(place.home, 'scripted.jsonl'), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));

test('text, thoughts, a plan and the second message of the same session', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const first = await send(host, chat, 'hello');
  assert.equal((await over(host, first.runId)).state, 'done');
  const list = await messages(host, chat);
  assert.equal(said(list), 'Hello there.');
  assert.equal(list.find(({ role }) => role === 'assistant').reasoning, 'Let me think.');
  assert.equal((await over(host, (await send(host, chat, 'plan')).runId)).state, 'done');
  const plan = (await messages(host, chat)).find(({ role, tool }) => role === 'tool' && tool === 'plan');
  assert.match(plan.content, /- \[x\] look\n- \[ \] act/);
  const calls = told(place).map(({ method }) => method).filter((method) => method?.startsWith('session/') || method === 'initialize');
  assert.deepEqual(calls, ['initialize', 'session/new', 'session/prompt', 'session/prompt']);
});

test('an edit is asked with its whole diff, and happens only after a yes', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const { runId } = await send(host, chat, 'write a.txt one two');
  const item = await question(host);
  assert.match(item.prompt.diff, /\+one two/);
  assert.equal(item.card.agent, 'Scripted');
  assert.equal(item.card.project.root, place.project);
  assert.match(item.prompt.message, /Scripted does this itself/);
  assert.equal(lines(place, 'a.txt'), 0, 'nothing before the answer');
  await answer(host, item, { status: 'ok' });
  assert.equal((await over(host, runId)).state, 'done');
  assert.equal(readFileSync(join(place.project, 'a.txt'), 'utf8'), 'one two\n');
  const result = (await messages(host, chat)).find(({ role }) => role === 'tool');
  assert.match(result.toolStructuredContent.data.diff, /\+one two/);
  const reply = told(place).find(({ result }) => result?.outcome);
  assert.deepEqual(reply.result.outcome, { outcome: 'selected', optionId: 'yes' });
});

test('a no does nothing, and its note is the next message to the agent', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const { runId } = await send(host, chat, 'run echo x >> count');
  const item = await question(host);
  assert.equal(item.prompt.command, 'echo x >> count');
  assert.equal(item.card.risk, 'high', 'nothing of ours confines it');
  await answer(host, item, { status: 'canceled', remark: 'note use a ledger' });
  assert.equal((await over(host, runId)).state, 'done');
  assert.equal(lines(place, 'count'), 0);
  assert.match(said(await messages(host, chat)), /noted: use a ledger/);
});

for (const [flags, told1, what] of [
  [['--steers'], ['session/prompt', '_session/steering'], 'goes into the turn of an agent that can be steered'],
  [['--steers-not'], ['session/prompt', '_session/steering', 'session/prompt'], 'that the agent does not take is its next message'],
  [[], ['session/prompt', 'session/prompt'], 'is the next message of an agent that cannot be steered'],
]) {
  test(`what is written while it works ${what}`, TIME, async (t) => {
    const { place, host, chat } = await desk(t, flags);
    const { runId } = await send(host, chat, 'run echo x >> count');
    const item = await question(host);
    const steered = await host.api('POST', `sessions/${chat}/send`, { text: 'note with a ledger', mode: 'steer' });
    assert.equal(steered.runId, runId, 'the same run');
    if (flags.length > 0) await eventually('it was told', () => told(place).some(({ method }) => method === '_session/steering'));
    await answer(host, item, { status: 'ok' });
    assert.equal((await over(host, runId)).state, 'done');
    assert.equal(lines(place, 'count'), 1);
    const list = await messages(host, chat);
    assert.match(said(list), flags[0] === '--steers' ? /taken: note with a ledger/ : /noted: with a ledger/);
    assert.equal(list.filter(({ role }) => role === 'user').length, 2);
    const calls = told(place).map(({ method }) => method).filter((method) => ['session/prompt', '_session/steering'].includes(method));
    assert.deepEqual(calls, told1, 'each is told once');
  });
}

test('what the profile denies is refused without a question', TIME, async (t) => {
  const { place, host, agent, chat } = await desk(t);
  await host.api('PUT', `agents/${agent.id}`, { landConfigId: 'lc_safe_default' });
  const { runId } = await send(host, chat, 'run echo x >> count');
  assert.equal((await over(host, runId)).state, 'done');
  assert.equal(lines(place, 'count'), 0);
  assert.equal((await open(host)).length, 0);
  const result = (await messages(host, chat)).find(({ role }) => role === 'tool');
  assert.equal(result.status, 'denied');
});

test('something else than was approved stops the turn and is in the audit log', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const { runId } = await send(host, chat, 'change run echo x >> count');
  await answer(host, await question(host), { status: 'ok' });
  const run = await over(host, runId);
  assert.equal(run.state, 'failed');
  assert.equal(run.errorCode ?? run.error?.code, 'changed_after_approval');
  await eventually('the record', () => audited(place).includes('changed_after_approval'));
});

test('a lie about the session, no options and an id twice end no turn', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  for (const word of ['lie', 'nothing']) {
    const { runId } = await send(host, chat, `${word} run echo x >> count`);
    assert.equal((await over(host, runId)).state, 'done', word);
    assert.equal((await open(host)).length, 0, word);
  }
  const { runId } = await send(host, chat, 'twice run echo x >> count');
  const item = await question(host);
  assert.equal((await open(host)).length, 1);
  await answer(host, item, { status: 'ok' });
  assert.equal((await over(host, runId)).state, 'done');
  assert.equal(lines(place, 'count'), 1);
});

test('only a lasting permission on offer: the person picks it by name', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const { runId } = await send(host, chat, 'bare run echo x >> count');
  const item = await question(host);
  assert.equal(item.prompt.kind, 'choice');
  assert.match(item.prompt.options[0].label, /remembered by Scripted, not by ChatOS/);
  await answer(host, item, { status: 'ok', selection: 'always' });
  assert.equal((await over(host, runId)).state, 'done');
  assert.equal(lines(place, 'count'), 1);
});

test('a flood arrives whole', TIME, async (t) => {
  const { host, chat } = await desk(t);
  const { runId } = await send(host, chat, 'flood 5000');
  assert.equal((await over(host, runId)).state, 'done');
  assert.equal(said(await messages(host, chat)).trim().split(' ').length, 5000);
});

test('a stopped turn is told to the agent and its question is closed', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const { runId } = await send(host, chat, 'run echo x >> count');
  const item = await question(host);
  await host.api('POST', `runs/${runId}/abort`, {});
  assert.equal((await over(host, runId)).state, 'aborted');
  await eventually('the question is closed', async () => (await open(host)).length === 0);
  await assert.rejects(answer(host, item, { status: 'ok' }), /409/);
  assert.ok(told(place).some(({ method }) => method === 'session/cancel'));
  assert.equal(lines(place, 'count'), 0);
  // The chat goes on with the session it had.
  assert.equal((await over(host, (await send(host, chat, 'hello')).runId)).state, 'done');
  assert.ok(told(place).some(({ method }) => method === 'session/load'));
  assert.doesNotMatch(said(await messages(host, chat)), /REPLAYED/);
});

for (const [flag, code, words] of [
  ['--version-2', 'protocol_version', /version 2/],
  ['--auth', 'auth_required', /Log in with Scripted|sign/i],
  ['--garbage', 'agent_gone', /does not speak ACP/],
  ['--silent', 'agent_silent', /did not answer/],
]) {
  test(`${flag} is said in words`, TIME, async (t) => {
    const { host, chat } = await desk(t, [flag]);
    const { runId } = await send(host, chat, 'hello');
    // One that says nothing is given a minute.
    const run = await over(host, runId).catch(() => over(host, runId));
    assert.equal(run.state, 'failed');
    assert.equal(run.errorCode ?? run.error?.code, code);
    assert.match(JSON.stringify(run), words);
  });
}

for (const when of ['die-before', 'die-asked', 'die-answered', 'die-done']) {
  test(`an agent that dies (${when}) goes on with its session, and nothing runs twice without a word`, TIME, async (t) => {
    const { place, host, chat } = await desk(t);
    const { runId } = await send(host, chat, `${when} run echo x >> count`);
    const asked = new Set();
    const run = await eventually('the end', async () => {
      const [item] = await open(host);
      if (item && item.prompt.kind === 'choice') {
        // A person who looks answers what became of it.
        const ran = lines(place, 'count') > 0;
        await answer(host, item, { status: 'ok', selection: ran ? 'worked' : 'again' });
      } else if (item && !(when === 'die-asked' && asked.size === 0 && !told(place).some(({ method }) => method === 'session/load'))) {
        asked.add(item.requestId);
        // After a yes the same command is only agreed to when it did not run.
        await answer(host, item, lines(place, 'count') === 0 ? { status: 'ok' } : { status: 'canceled' });
      }
      const now = await runOf(host, runId);
      return ['done', 'failed', 'aborted'].includes(now.state) ? now : undefined;
    });
    assert.equal(run.state, 'done', JSON.stringify(run));
    assert.equal(lines(place, 'count'), 1);
    assert.equal((await open(host)).length, 0);
    if (when === 'die-asked') assert.equal(asked.size, 1, 'the same question, once');
    assert.doesNotMatch(said(await messages(host, chat)), /REPLAYED/);
  });
}

test('the host is killed while a question is open: it stays, is answered, and the run goes on', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const { runId } = await send(host, chat, 'run echo x >> count');
  const item = await question(host);
  process.kill(host.pid, 'SIGKILL');
  await eventually('the agent is gone', () => {
    try {
      process.kill(host.pid, 0);
      return false;
    } catch {
      return true;
    }
  });
  const second = await serve(t, place);
  const still = await question(second);
  assert.equal(still.requestId, item.requestId);
  assert.equal((await runOf(second, runId)).state, 'interrupted');
  await answer(second, still, { status: 'ok' });
  await eventually('the end', async () => (await runOf(second, runId)).state === 'done');
  assert.equal(lines(place, 'count'), 1, 'once');
  assert.equal((await open(second)).length, 0);
});

test('an agent that cannot load its session says so instead of guessing', TIME, async (t) => {
  const { place, host, chat } = await desk(t, ['--no-load']);
  await over(host, (await send(host, chat, 'hello')).runId);
  const { runId } = await send(host, chat, 'die-asked run echo x >> count');
  const run = await over(host, runId);
  assert.equal(run.errorCode ?? run.error?.code, 'session_lost');
  assert.equal(lines(place, 'count'), 0);
  await eventually('the question is closed', async () => (await open(host)).length === 0);
});

test('an agent that cannot load its session is told what was said before when the person writes again', TIME, async (t) => {
  const { place, host, chat } = await desk(t, ['--no-load']);
  await over(host, (await send(host, chat, 'hello')).runId);
  process.kill(host.pid, 'SIGKILL');
  const second = await eventually('another host', () => serve(t, place).catch(() => undefined));
  assert.equal((await over(second, (await send(second, chat, 'plan')).runId)).state, 'done');
  const [before, message] = told(place).filter(({ method }) => method === 'session/prompt').at(-1).params.prompt;
  assert.match(before.text, /could not be loaded[^]*Person: hello\nYou: Hello there\.$/);
  assert.equal(message.text, 'plan');
  const list = await messages(second, chat);
  assert.deepEqual(list.filter(({ role }) => role === 'user').map(({ content }) => content), ['hello', 'plan'], 'the person did not say it');
});

test('an agent that had not kept its session in its first turn is told the message again, and asks once', TIME, async (t) => {
  const { place, host, chat } = await desk(t, ['--no-load']);
  const { runId } = await send(host, chat, 'die-asked run echo x >> count');
  const item = await question(host);
  await eventually('it was started again', () => told(place).filter(({ method }) => method === 'session/new').length === 2);
  await eventually('it asks again', () => told(place).filter(({ method }) => method === 'session/prompt').length === 2);
  assert.deepEqual((await open(host)).map(({ requestId }) => requestId), [item.requestId], 'the same question');
  await answer(host, item, { status: 'ok' });
  const run = await over(host, runId);
  assert.equal(run.state, 'done', JSON.stringify(run.error));
  assert.equal(lines(place, 'count'), 1);
});

test('detecting starts nothing, adding wants a yes, and fields of models are refused', TIME, async (t) => {
  const place = home(t);
  const host = await serve(t, place);
  const { items } = await host.api('GET', 'acp/detect');
  assert.deepEqual(items.map(({ id }) => id), ['claude-code', 'codex', 'opencode', 'gemini', 'goose']);
  await assert.rejects(host.api('POST', 'acp/agents', { program: NODE, args: [SCRIPTED] }), /not_confirmed/);
  const env = { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' };
  const added = await run(CHATOS, ['agent', 'add', '--state-dir', place.state, '--yes', '--name', 'Mine', '--json', '--', NODE, SCRIPTED], { cwd: place.project, env });
  assert.equal(added.status, 0, added.stderr);
  const { id } = JSON.parse(added.stdout);
  await assert.rejects(host.api('PUT', `agents/${id}`, { prompt: 'be kind' }), /not_for_acp/);
  const done = await chatos(place, ['chat', '--agent', 'Mine', '-p', 'hello']);
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /Hello there\./);
  const found = await chatos(place, ['agent', 'detect']);
  assert.match(found.stdout, /Claude Code/);
});

/** What the agent heard from its client, as it said it. */
const heard = async (host, chat) => JSON.parse((await messages(host, chat)).filter(({ role, content }) => role === 'assistant' && content.startsWith('{')).at(-1).content);
/** Answers what comes until the run is over; gives what was asked. */
async function through(host, chat, text, response = { status: 'ok' }) {
  const { runId } = await send(host, chat, text);
  const asked = [];
  const run = await eventually('the end', async () => {
    const [item] = await open(host);
    if (item) {
      asked.push(item);
      await answer(host, item, typeof response === 'function' ? response(item) : response);
    }
    const now = await runOf(host, runId);
    return ['done', 'failed', 'aborted'].includes(now.state) ? now : undefined;
  });
  assert.equal(run.state, 'done', JSON.stringify(run.error));
  return { asked, runId };
}

test('what is offered is what the profile allows', TIME, async (t) => {
  const { place, host, agent, chat } = await desk(t);
  await through(host, chat, 'hello');
  const hello = (n) => told(place).filter(({ method }) => method === 'initialize').at(n).params.clientCapabilities;
  assert.deepEqual(hello(0).fs, { readTextFile: true, writeTextFile: true });
  assert.equal(hello(0).terminal, true);
  await host.api('PUT', `agents/${agent.id}`, { landConfigId: 'lc_safe_default' });
  await through(host, chat, 'term echo x >> count');
  assert.equal(hello(-1).terminal, false);
  assert.equal((await heard(host, chat)).error.code, -32601, 'not granted is not there');
  assert.equal(lines(place, 'count'), 0);
});

test('a file is read through us, inside the project only', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  put(join(place.project, 'a.txt'), '1\n2\n3\n');
  const long = `${'line of a long file\n'.repeat(10_000)}end`;
  put(join(place.project, 'long.txt'), long);
  const get = async (text) => {
    assert.equal((await through(host, chat, `get ${text}`)).asked.length, 0);
    return heard(host, chat);
  };
  assert.deepEqual(await get('a.txt'), { content: '1\n2\n3\n' });
  assert.deepEqual(await get('a.txt 2 1'), { content: '2\n' });
  assert.equal((await get('long.txt')).content, long);
  assert.match((await get('none.txt')).error.message, /^Resource not found: .*none\.txt$/);
  assert.equal((await get('/etc/hostname')).error.code, -32602);
  assert.match((await get('../x')).error.message, /outside/);
});

test('an approved edit that we write has no second question, is in the history and can be undone', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const { asked, runId } = await through(host, chat, 'approved put a.txt one two');
  assert.equal(asked.length, 1);
  assert.equal(readFileSync(join(place.project, 'a.txt'), 'utf8'), 'one two\n');
  assert.deepEqual(await heard(host, chat), { again: {} }, 'the same once more is no act');
  const changes = await chatos(place, ['changes', 'list', '--run', runId, '--json']);
  assert.match(changes.stdout, /a\.txt/);
  const undone = await chatos(place, ['changes', 'undo', '--run', runId, '--yes']);
  assert.equal(undone.status, 0, undone.stderr);
  assert.equal(existsSync(join(place.project, 'a.txt')), false);
});

test('another text than was approved, or one nobody approved, has its own question', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const { asked } = await through(host, chat, 'other put a.txt one');
  assert.equal(asked.length, 2);
  assert.match(asked[1].prompt.message, /ChatOS does this for Scripted/);
  assert.match(asked[1].prompt.diff, /\+one/);
  assert.equal(readFileSync(join(place.project, 'a.txt'), 'utf8'), 'one\n');
  const no = await through(host, chat, 'put b.txt two', { status: 'canceled', remark: 'note not there' });
  assert.equal(no.asked.length, 1);
  assert.equal(existsSync(join(place.project, 'b.txt')), false);
  const list = await messages(host, chat);
  assert.match(said(list), /"error"/);
  assert.match(said(list), /noted: not there/, 'the remark is the next message');
});

test('a command runs in our shell: approved once, its output and its end as the protocol says', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const { asked } = await through(host, chat, 'approved term echo hi; echo x >> count; exit 3');
  assert.equal(asked.length, 1);
  const { exit, output, after } = await heard(host, chat);
  assert.equal(exit.exitCode, 3);
  assert.match(output.output, /hi/);
  assert.equal(output.exitStatus.exitCode, 3);
  assert.equal(after.error.code, -32002, 'released is gone');
  assert.equal(lines(place, 'count'), 1);
  const card = (await messages(host, chat)).find(({ role, tool }) => role === 'tool' && tool === 'execute');
  assert.match(card.content, /hi/, 'the card shows what it printed');
  const other = await through(host, chat, 'other term echo y >> count', (item) => ({ status: item.prompt.command === 'echo y >> count' ? 'canceled' : 'ok' }));
  assert.equal(other.asked.length, 2, 'another command than approved is asked about');
  assert.equal(lines(place, 'count'), 1);
  await through(host, chat, 'sleeper sleep 300');
  assert.notEqual((await heard(host, chat)).exit.exitCode, 0);
  await through(host, chat, 'term head -c 5000 /dev/zero | tr "\\\\0" a');
  assert.equal((await heard(host, chat)).output.truncated, true);
});

test('many requests at once are all answered', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  put(join(place.project, 'a.txt'), 'x');
  await through(host, chat, 'many 400 a.txt');
  const { answered, ok } = await heard(host, chat);
  assert.equal(answered, 400);
  assert.ok(ok > 0);
});

test('a form of the agent is a question of the queue', TIME, async (t) => {
  const { host, chat } = await desk(t);
  const { asked } = await through(host, chat, 'form', { status: 'ok', values: { name: 'Ada' } });
  assert.equal(asked.length, 1);
  assert.deepEqual(await heard(host, chat), { action: 'accept', content: { name: 'Ada' } });
});

test('modes and options are chosen, kept, and one that stops asking is confirmed and not restored', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  await through(host, chat, 'hello');
  const at = `acp/sessions/${chat}`;
  const seen = await host.api('GET', at);
  assert.deepEqual(seen.options.map(({ id, value }) => [id, value]), [['mode', 'default'], ['model', 'small']]);
  assert.deepEqual(seen.commands.map(({ name }) => name), ['review', 'help']);
  const valueOf = (view, id) => view.options.find((option) => option.id === id).value;
  assert.equal(valueOf(await host.api('POST', at, { option: 'model', value: 'large' }), 'model'), 'large');
  await assert.rejects(host.api('POST', at, { option: 'mode', value: 'yolo' }), /not_confirmed/);
  await assert.rejects(host.api('POST', at, { option: 'mode', value: 'none' }), /422/);
  assert.equal(valueOf(await host.api('POST', at, { option: 'mode', value: 'yolo', confirmed: true }), 'mode'), 'yolo');
  await eventually('the record', () => audited(place).includes('acp_mode_unasked'));
  process.kill(host.pid, 'SIGKILL');
  const second = await eventually('another host', () => serve(t, place).catch(() => undefined));
  await through(second, chat, 'hello');
  const again = await second.api('GET', at);
  assert.equal(valueOf(again, 'model'), 'large', 'what was chosen is told to the new process');
  assert.equal(valueOf(again, 'mode'), 'default', 'what stops it from asking is not');
  const commands = await second.api('GET', `commands?session=${chat}`);
  assert.equal(commands.items.find(({ name }) => name === 'review').source, 'Scripted');
  assert.equal((await second.api('POST', 'commands/fill', { session: chat, text: '/review a.txt' })).text, '/review a.txt');
});

test('it is offered our servers but for those whose work it does, and is told when its session ends', TIME, async (t) => {
  const { place, host, agent, chat } = await desk(t);
  await through(host, chat, 'hello');
  const { mcpServers } = told(place).find(({ method }) => method === 'session/new').params;
  const [server] = mcpServers;
  assert.equal(server.name, 'chatos');
  assert.deepEqual(server.args.slice(-4), ['--root', place.project, '--session', chat]);
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const client = new Client({ name: 'scripted', version: '1' });
  await client.connect(new StdioClientTransport({ command: server.command, args: server.args, env: { PATH: process.env.PATH, HOME: place.home } }));
  const { tools } = await client.listTools();
  await client.close();
  assert.ok(tools.length > 0);
  assert.ok(!tools.some(({ name }) => /write_file|run_shell_command|read_file/.test(name)), tools.map(({ name }) => name).join());
  await host.api('PUT', `agents/${agent.id}`, { landConfigId: 'lc_safe_default' });
  await through(host, chat, 'hello');
  await eventually('the session is closed', () => told(place).some(({ method }) => method === 'session/close'));
});

const TASK = 'mcp_task_manager_add_task {"tasks":[{"title":"Water the plants","details":"all of them, twice a week"}]}';

test('a tool of our gateway is asked about by the gateway alone', TIME, async (t) => {
  const { host, chat } = await desk(t);
  const { asked } = await through(host, chat, `ours ${TASK}`);
  assert.equal(asked.length, 0, 'adding a task is not asked about');
  assert.match(said(await messages(host, chat)), /Created 1 task/);
});

test('a name of our tools alone lets nothing through', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  for (const order of [`quiet ours ${TASK}`, 'lie-done ours deploy {"to":"production"}', 'lie-done ours mcp_shell_tasks_run_shell_command {"x":1}']) {
    const { asked } = await through(host, chat, order, { status: 'canceled' });
    assert.equal(asked.length, 1, order);
    assert.match(asked[0].prompt.title, /mcp__chatos__/);
  }
  assert.equal(lines(place, 'count'), 0);
});

test('an agent that names our tool and does something else is stopped', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  const { runId } = await send(host, chat, `lie-done ours ${TASK}`);
  const run = await over(host, runId);
  assert.equal(run.state, 'failed');
  assert.equal(run.errorCode ?? run.error?.code, 'gateway_not_used');
  await eventually('the record', () => audited(place).includes('gateway_not_used'));
});

test('an agent whose calls of our tools never arrive is asked about as usual from then on', TIME, async (t) => {
  const { place, host, chat } = await desk(t);
  await through(host, chat, `lie-failed ours ${TASK}`);
  await eventually('the record', () => audited(place).includes('gateway_not_used'));
  const { asked } = await through(host, chat, `lie-failed ours ${TASK}`, { status: 'canceled' });
  assert.equal(asked.length, 1);
  assert.equal(lines(place, 'count'), 1, 'only what it did before');
});

test('500 messages that are wrong in some way: nothing panics, nothing is done, and the session goes on', { timeout: 400_000 }, async (t) => {
  const { place, host, chat } = await desk(t);
  const states = new Map();
  for (let seed = 1; seed <= 20; seed += 1) {
    const { runId } = await send(host, chat, `mutate ${seed} 25`);
    const run = await over(host, runId);
    states.set(run.state, (states.get(run.state) ?? 0) + 1);
    // Its answer may be no answer; then that is said.
    if (run.state !== 'done') assert.ok(run.errorCode ?? run.error?.code, JSON.stringify(run));
    await eventually('no question is left', async () => (await open(host)).length === 0).catch(async () => assert.fail(JSON.stringify([seed, run, await open(host)]).slice(0, 3000)));
    assert.equal((await over(host, (await send(host, chat, 'hello')).runId)).state, 'done', `after seed ${seed}`);
    const newest = (await messages(host, chat)).findLast(({ role, content }) => role === 'assistant' && content);
    assert.equal(newest.content, 'Hello there.', `the turn after seed ${seed} is whole`);
  }
  t.diagnostic(JSON.stringify([...states]));
  assert.equal(told(place).filter(({ method }) => method === 'session/new').length, 1, 'one session all the way');
  assert.equal(lines(place, 'mutated'), 0, 'nothing was done that nobody allowed');
  assert.doesNotMatch(place.stderr ?? '', /panicked/);
});
