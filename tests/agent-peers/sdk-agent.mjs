// A coding agent for the kill matrix, built on the official library of the protocol. It does one thing: append a line to
// `count`, after asking; by itself (`own`) or in a terminal of its client (`ours`). At the moment its message names it
// stops, once in all its lives, leaves a file `at-<moment>` in HOME, and waits to be killed or for `go-<moment>`.

import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';

import * as acp from '@agentclientprotocol/sdk';

const home = process.env.HOME;
const file = (name) => join(home, name);
const keep = (id) => file(`sdk-${id}.json`);
const read = (id) => JSON.parse(readFileSync(keep(id), 'utf8'));
const write = (id, more) => writeFileSync(keep(id), JSON.stringify({ ...read(id), ...more }));
writeFileSync(file('agent.pid'), String(process.pid));

async function at(moment, wanted) {
  if (moment !== wanted || existsSync(file(`at-${moment}`))) return;
  writeFileSync(file(`at-${moment}`), '');
  while (!existsSync(file(`go-${moment}`))) await new Promise((resolve) => setTimeout(resolve, 20));
}

const COMMAND = 'echo x >> count';
const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

async function turn(client, sessionId, text) {
  const [road, moment] = text.trim().split('\n').at(-1).split(' ');
  const update = (update) => client.notify('session/update', { sessionId, update });
  const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  const { cwd, turns = 0 } = read(sessionId);
  write(sessionId, { turns: turns + 1 });
  // After a cut it looks what a person said about it.
  if (/worked:/.test(text) || (turns > 0 && /completed/.test(JSON.stringify(read(sessionId).done ?? [])))) {
    await say('it was done before');
    return;
  }
  await say(`turn ${turns + 1}. `);
  const toolCallId = `t${process.pid}-${turns}`;
  const call = { toolCallId, title: COMMAND, kind: 'execute', status: 'pending', rawInput: { command: COMMAND } };
  await update({ sessionUpdate: 'tool_call', ...call });
  await at('before', moment);
  const { outcome } = await client.request('session/request_permission', { sessionId, toolCall: call, options: OPTIONS });
  if (outcome.outcome !== 'selected' || outcome.optionId !== 'yes') {
    await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' });
    await say('not done');
    return;
  }
  await at('answered', moment);
  await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
  if (road === 'ours') {
    const { terminalId } = await client.request('terminal/create', { sessionId, command: 'sh', args: ['-c', COMMAND], cwd });
    await at('during', moment);
    await client.request('terminal/wait_for_exit', { sessionId, terminalId });
    await client.request('terminal/release', { sessionId, terminalId });
  } else {
    appendFileSync(join(cwd, 'count'), 'x\n');
    await at('during', moment);
  }
  await at('after', moment);
  write(sessionId, { done: [{ toolCallId, status: 'completed' }] });
  await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
  await say('done');
}

const { methods } = acp;
acp
  .agent({ name: 'sdk agent' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: 'sdk', version: '1' },
    agentCapabilities: { loadSession: true, sessionCapabilities: { close: {} } },
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    const sessionId = `k${process.pid}-${Date.now()}`;
    writeFileSync(keep(sessionId), JSON.stringify({ cwd: params.cwd }));
    return { sessionId };
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    const { done = [] } = read(params.sessionId);
    for (const { toolCallId, status } of done) {
      const update = { sessionUpdate: 'tool_call', toolCallId, title: COMMAND, kind: 'execute', status };
      await client.notify('session/update', { sessionId: params.sessionId, update });
    }
    return {};
  })
  .onRequest(methods.agent.session.close, ({ params }) => {
    write(params.sessionId, { closed: true });
    return {};
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const text = params.prompt.map((block) => block.text ?? '').join('\n');
    await turn(client, params.sessionId, text);
    return { stopReason: 'end_turn' };
  })
  .onNotification(methods.agent.session.cancel, () => {})
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
process.stdin.on('end', () => process.exit(0));
