// What other agents inside ChatOS cost the host (other-agents §9.3): ten that each say twenty things a second, and one
// that says two thousand. Taken from /proc: the time of the host's own process, not of the agents.
//
//   node bench/agents.mjs [path of the chatos binary] [seconds]

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const binary = process.argv[2] ? resolve(process.argv[2]) : join(root, 'target/release/chatos');
const SECONDS = Number(process.argv[3] ?? 20);
const AGENT = join(root, 'tests/agent-peers/scripted-agent.mjs');
const MOST = 5;

const home = mkdtempSync(join(tmpdir(), 'chatos-bench-'));
const project = join(home, 'project');
mkdirSync(project);
const env = { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8' };
const child = spawn(binary, ['serve', '--port', '0', '--no-open', '--ready-json', '--state-dir', join(home, 'state')], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] });
const host = await new Promise((ready, reject) => {
  createInterface({ input: child.stdout }).once('line', (line) => ready(JSON.parse(line)));
  child.once('exit', (code) => reject(new Error(`chatos serve ended with ${code}`)));
});
async function api(method, path, body) {
  const headers = { Authorization: `Bearer ${host.token}`, 'Content-Type': 'application/json' };
  const response = await fetch(new URL(`/api/v1/${path}`, host.url), { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
/** Seconds of a core the host has used. The kernel counts in hundredths. */
function used() {
  const fields = readFileSync(`/proc/${host.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
async function chat(name) {
  const agent = await api('POST', 'acp/agents', { program: process.execPath, args: [AGENT], name, workspaceRoot: project, confirmed: true, withoutGateway: true });
  return (await api('POST', 'sessions', { agentId: agent.id })).id;
}
const send = async (chat, text) => (await api('POST', `sessions/${chat}/send`, { text })).runId;
async function over(run) {
  for (;;) {
    const { state, error } = await api('GET', `runs/${run}`);
    if (state === 'done') return;
    if (['failed', 'aborted', 'interrupted'].includes(state)) throw new Error(`${run} is ${state}: ${JSON.stringify(error)}`);
    await pause(500);
  }
}
/** What came last is whole and in order. */
async function check(chat, count) {
  const { messages } = await api('GET', `sessions/${chat}/messages?limit=200`);
  const last = messages.findLast(({ role, content }) => role === 'assistant' && content);
  const said = last.content.trim().split(' ');
  if (said.length !== count || said.some((word, at) => word !== String(at))) throw new Error(`of ${count} updates ${said.length} arrived`);
}

console.log('| measured | host, share of one core | limit | share / limit | met |\n|---|---|---|---|---|');
try {
  const chats = [];
  for (let n = 0; n < 10; n += 1) chats.push(await chat(`agent ${n}`));
  // They are started, and have been spoken to.
  for (const run of await Promise.all(chats.map((id) => send(id, 'hello')))) await over(run);
  for (const [what, ids, rate, limit] of [['10 agents, 20 updates a second each', chats, 20, MOST], ['1 agent, 2,000 updates a second', chats.slice(0, 1), 2_000, undefined]]) {
    const count = rate * SECONDS;
    const runs = await Promise.all(ids.map((id) => send(id, `pace ${rate} ${count}`)));
    await pause(500);
    const [began, before] = [performance.now(), used()];
    await pause((SECONDS - 1) * 1_000);
    const share = ((used() - before) / ((performance.now() - began) / 1_000)) * 100;
    for (const run of runs) await over(run);
    const rest = limit === undefined ? '– | – | –' : `≤ ${limit} % | ${(share / limit).toFixed(2)}× | ${share <= limit ? 'yes' : 'NO'}`;
    console.log(`| ${what} | ${share.toFixed(1)} % | ${rest} |`);
    for (const id of ids) await check(id, count);
    console.log(`| … updates that arrived, in order | ${count * ids.length} of ${count * ids.length} | all | 1× | yes |`);
  }
} finally {
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await gone;
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
