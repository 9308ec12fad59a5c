// The kill matrix of agents inside ChatOS: five moments of a turn, the host or the agent killed, the agent acting itself
// or through our tools. Nothing is lost, nothing runs twice without a person's word, no question is open twice.
// `CHATOS_ACP_ROUNDS=10` goes through it ten times.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { eventually, home, serve } from '../mcp-peers/support.mjs';
import { answer, open } from './inbox.mjs';

const TIME = { timeout: 180_000 };
const NODE = process.env.PEER_NODE ?? process.execPath;
const AGENT = fileURLToPath(new URL('sdk-agent.mjs', import.meta.url));
const ROUNDS = Number(process.env.CHATOS_ACP_ROUNDS ?? 1);
const MOMENTS = ['before', 'open', 'answered', 'during', 'after'];

const count = (place) => (existsSync(join(place.project, 'count')) ? readFileSync(join(place.project, 'count'), 'utf8').split('\n').filter(Boolean).length : 0);
const runOf = (host, id) => host.api('GET', `runs/${id}`).then((found) => found.run ?? found);

async function gone(pid) {
  await eventually(`the end of ${pid}`, () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
}

for (let round = 1; round <= ROUNDS; round += 1) {
  for (const road of ['own', 'ours']) {
    for (const victim of ['agent', 'host']) {
      for (const moment of MOMENTS) {
        test(`${road}: ${victim} killed ${moment} (round ${round})`, TIME, async (t) => {
          const place = home(t);
          let host = await serve(t, place);
          const order = { program: NODE, args: [AGENT], name: 'Killed', workspaceRoot: place.project, confirmed: true, withoutGateway: true };
          const agent = await host.api('POST', 'acp/agents', order);
          const chat = await host.api('POST', 'sessions', { agentId: agent.id });
          const { runId } = await host.api('POST', `sessions/${chat.id}/send`, { text: `${road} ${moment}` });
          const seen = new Map();
          let killed = false;
          /** A person who looks before they answer. */
          const person = async () => {
            const items = await open(host);
            const shown = items.map((item) => `${item.prompt.kind} ${item.prompt.command ?? item.prompt.title}`);
            assert.equal(new Set(shown).size, shown.length, `the same question is open once: ${shown}`);
            const [item] = items;
            if (!item || (moment === 'open' && !killed)) return;
            const uncertain = item.prompt.kind === 'choice';
            const response = uncertain
              ? { status: 'ok', selection: count(place) > 0 ? 'worked' : 'again' }
              : count(place) > 0 ? { status: 'canceled' } : { status: 'ok' };
            try {
              await answer(host, item, response);
              seen.set(item.requestId, (seen.get(item.requestId) ?? 0) + 1);
            } catch (error) {
              if (!/409|404/.test(error.message)) throw error;
            }
          };
          const due = async () => (moment === 'open' ? (await open(host)).length > 0 : existsSync(join(place.home, `at-${moment}`)));
          await eventually(`the moment ${moment}`, async () => {
            await person();
            return due();
          });
          const before = count(place);
          const pid = Number(readFileSync(join(place.home, 'agent.pid'), 'utf8'));
          if (victim === 'agent') {
            process.kill(pid, 'SIGKILL');
          } else {
            process.kill(host.pid, 'SIGKILL');
            await gone(host.pid);
            await gone(pid);
          }
          killed = true;
          writeFileSync(join(place.home, `go-${moment}`), '');
          if (victim === 'host') {
            host = await serve(t, place);
            await eventually('the run is there', async () => (await runOf(host, runId)).state === 'interrupted');
            if ((await open(host)).length === 0) await host.api('POST', `runs/${runId}/resume`, {});
          }
          const run = await eventually('the end of the run', async () => {
            await person();
            const now = await runOf(host, runId);
            return ['done', 'failed', 'aborted', 'discarded'].includes(now.state) ? now : undefined;
          });
          assert.equal(run.state, 'done', JSON.stringify(run.error));
          assert.equal(count(place), 1, `once; ${before} before the kill`);
          assert.equal((await open(host)).length, 0, 'nothing is left open');
          for (const [id, times] of seen) assert.equal(times, 1, `${id} was answered once`);
          const { messages } = await host.api('GET', `sessions/${chat.id}/messages?limit=200`);
          const said = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
          assert.ok(said.filter((text) => /turn 1\./.test(text)).length <= 1, 'no word is told twice');
          const results = messages.filter(({ role }) => role === 'tool').map(({ toolCallId }) => toolCallId);
          assert.equal(new Set(results).size, results.length, 'a call has one result');
        });
      }
    }
  }
}
