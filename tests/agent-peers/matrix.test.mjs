// The kill matrix with the real agents inside ChatOS: five moments of a turn, the host or the agent killed. A command
// that appends a line runs once, or twice only after a person's word; no question is lost, none is open twice.
// `CHATOS_ACP_ROUNDS=10` goes through it ten times, `CHATOS_ACP_ONLY='codex host during'` takes the rows with these words.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { eventually, home, serve } from '../mcp-peers/support.mjs';
import { put } from './agents.mjs';
import { answer, open } from './inbox.mjs';
import { model } from './model.mjs';
import { PEERS, chatWith, lines, long, messages, runOf, send, settle, yes } from './peers.mjs';

const TIME = 500_000;
const ROUNDS = Number(process.env.CHATOS_ACP_ROUNDS ?? 1);
const ONLY = (process.env.CHATOS_ACP_ONLY ?? '').split(' ').filter(Boolean);
const MOMENTS = ['before', 'open', 'answered', 'during', 'after'];
/** Counts, says that it is at work, and waits to be let go on. */
const SCRIPT = 'echo x >> count\n: > at-during\nn=0\nwhile [ ! -e go-during ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done\necho COUNTED\n';

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

for (let round = 1; round <= ROUNDS; round += 1) {
  for (const peer of PEERS) {
    for (const victim of ['agent', 'host']) {
      for (const moment of MOMENTS) {
        const words = [peer.word, victim, moment];
        if (ONLY.length > 0 && !ONLY.every((one) => words.includes(one))) continue;
        test(`${peer.title}: ${victim} killed ${moment} (round ${round})`, { timeout: TIME, skip: peer.skip }, async (t) => {
          const place = home(t);
          const at = (name) => join(place.project, name);
          put(at('count.sh'), SCRIPT);
          let [killed, enough, held, active] = [false, false, false, false];
          let release;
          const hold = () => {
            held = true;
            return new Promise((resolve) => (release = resolve));
          };
          t.after(() => release?.());
          const call = peer.shell('sh count.sh');
          const scripted = await model(t, async (names, text) => {
            if (!active || !names.includes(call.name)) return undefined;
            const done = /COUNTED|confirmed that these calls worked/.test(text);
            if (!killed && ((moment === 'before' && !done) || (moment === 'after' && done))) await hold();
            return done || enough ? undefined : call;
          }, { again: true });
          let { host, agent } = await settle(t, peer, scripted, place);
          const chat = await chatWith(host, peer, agent);
          active = true;
          const { runId } = await send(host, chat, 'count once');
          const agentPid = () => Number(readFileSync(join(place.home, 'agent.pid'), 'utf8'));
          const seen = new Map();
          /** A person who looks before they answer. */
          const person = async () => {
            const items = await open(host);
            const shown = items.map((item) => `${item.prompt.kind} ${item.prompt.command ?? item.prompt.title}`);
            assert.equal(new Set(shown).size, shown.length, `the same question is open once: ${shown}`);
            const [item] = items;
            if (!item || (moment === 'open' && !killed)) return;
            const ran = lines(place, 'count') > 0;
            const uncertain = item.prompt.options?.some(({ value }) => value === 'worked');
            let response = ran ? { status: 'canceled' } : yes(item);
            if (uncertain) response = { status: 'ok', selection: ran ? 'worked' : 'again' };
            else if (ran) enough = true;
            const stops = moment === 'answered' && !killed;
            // What it is told now it does not hear any more.
            if (stops) process.kill(agentPid(), 'SIGSTOP');
            try {
              await answer(host, item, response);
              seen.set(item.requestId, (seen.get(item.requestId) ?? 0) + 1);
            } catch (error) {
              if (!/409|404/.test(error.message)) throw error;
            }
            if (stops) held = true;
          };
          const due = async () => {
            if (moment === 'open') return (await open(host)).length > 0;
            return moment === 'during' ? existsSync(at('at-during')) : held;
          };
          if (moment === 'after') writeFileSync(at('go-during'), '');
          await long(`the moment ${moment}`, async () => {
            const run = await runOf(host, runId);
            if (['failed', 'done'].includes(run.state)) throw new Error(`it ended as ${run.state}: ${JSON.stringify(run.error)}`);
            if (!(await due())) await person();
            return due();
          });
          const before = lines(place, 'count');
          const pid = agentPid();
          if (victim === 'agent') {
            process.kill(pid, 'SIGKILL');
          } else {
            process.kill(host.pid, 'SIGKILL');
            await eventually('the end of both', () => !isAlive(host.pid) && !isAlive(pid));
          }
          killed = true;
          writeFileSync(at('go-during'), '');
          release?.();
          if (victim === 'host') {
            host = await eventually('another host', () => serve(t, place).catch(() => undefined));
            await eventually('the run is there', async () => (await runOf(host, runId)).state === 'interrupted');
            if ((await open(host)).length === 0) await host.api('POST', `runs/${runId}/resume`, {});
          }
          const run = await long('the end of the run', async () => {
            await person();
            const now = await runOf(host, runId);
            return ['done', 'failed', 'aborted', 'discarded'].includes(now.state) ? now : undefined;
          });
          t.diagnostic(`${run.state} ${run.error?.code ?? ''}; counted ${before} before, ${lines(place, 'count')} after; ${seen.size} answers`);
          assert.equal(run.state, 'done', JSON.stringify(run.error));
          assert.equal(lines(place, 'count'), 1, `once; ${before} before the kill`);
          // What was open when the host was killed is answered once, and that answer is used.
          if (moment === 'open' && victim === 'host') assert.equal(seen.size, 1, 'asked once');
          assert.equal((await open(host)).length, 0, 'nothing is left open');
          for (const [id, times] of seen) assert.equal(times, 1, `${id} was answered once`);
          const list = await messages(host, chat);
          const results = list.filter(({ role }) => role === 'tool').map(({ toolCallId }) => toolCallId);
          assert.equal(new Set(results).size, results.length, 'a call has one result');
          const words = list.filter(({ role, content }) => role === 'assistant' && /all done/.test(content)).length;
          assert.ok(words <= 1, `the end is said once: ${words}`);
        });
      }
    }
  }
}
