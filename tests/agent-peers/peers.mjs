// The real agents inside ChatOS, over ACP: how each is started so that it asks about everything, its tools in its own
// words, and a chat with it.

import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { home, serve } from '../mcp-peers/support.mjs';
import { AGENTS, put, wanted } from './agents.mjs';
import { open } from './inbox.mjs';

const NODE = process.env.PEER_NODE ?? process.execPath;
/** Real agents take their time to start. */
const LONG = 180_000;

const adapter = (name) => fileURLToPath(new URL(`all/node_modules/@agentclientprotocol/${name}/dist/index.js`, import.meta.url));
const merged = (file, more) => put(file, { ...JSON.parse(readFileSync(file, 'utf8')), ...more });
/** A patch of a new file, in codex's own words. */
const patch = (name, text) => `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${name}\n${text.trimEnd().split('\n').map((line) => `+${line}`).join('\n')}\n*** End Patch\nEOF`;

const HOW = {
  gemini: {
    argv: ({ program }) => [NODE, program, '--acp', '--model', 'gemini-2.5-pro'],
    ask: (place) => merged(join(place.home, '.gemini/settings.json'), { tools: {} }),
    edit: (path, text) => ({ name: 'write_file', input: { file_path: path, content: text } }),
  },
  claude: {
    argv: () => [NODE, adapter('claude-agent-acp')],
    needs: adapter('claude-agent-acp'),
    env: ({ program }) => ({ CLAUDE_CODE_EXECUTABLE: program }),
    edit: (path, text) => ({ name: 'Write', input: { file_path: path, content: text } }),
  },
  codex: {
    argv: () => [NODE, adapter('codex-acp')],
    needs: adapter('codex-acp'),
    // Else a second model decides; it is chosen as a person would.
    mode: 'read-only',
    env: ({ program }) => ({ CODEX_PATH: program }),
    edit: (path, text) => ({ name: 'exec_command', input: { cmd: patch(path.split('/').at(-1), text) } }),
  },
  opencode: {
    argv: ({ program }) => [program, 'acp'],
    ask: (place) => merged(join(place.home, '.config/opencode/opencode.json'), { permission: { bash: 'ask', edit: 'ask' } }),
    edit: (path, text) => ({ name: 'write', input: { filePath: path, content: text } }),
  },
};

/** The agents of this run as they are in ChatOS, each with why it cannot be tested here. */
export const PEERS = wanted().map(({ word, skip }) => {
  const there = HOW[word].needs === undefined || existsSync(HOW[word].needs);
  if (!there && !skip) throw new Error(`not installed: ${HOW[word].needs}`);
  return { word, ...AGENTS[word], ...HOW[word], skip };
});

/** Waits for something of a real agent. */
export async function long(what, look) {
  const until = Date.now() + LONG;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (Date.now() > until) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;

/** A host in a home of its own with this agent in it. Its process writes its number to `agent.pid` in its home. */
export async function settle(t, peer, scripted, place = home(t), host = undefined) {
  const env = { ...peer.configure(place, scripted), ...peer.env?.(peer) };
  peer.ask?.(place);
  // Its account is in its environment, which a person would have in their own.
  const start = join(place.home, `start-${peer.word}.sh`);
  const names = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`);
  put(start, `#!/bin/sh\n${names.join('\n')}\necho $$ > "$HOME/agent.pid"\nexec ${peer.argv(peer).map(quoted).join(' ')}\n`);
  chmodSync(start, 0o755);
  const running = host ?? (await serve(t, place));
  const order = { program: start, name: peer.title, workspaceRoot: place.project, confirmed: true, withoutGateway: true };
  const agent = await running.api('POST', 'acp/agents', order);
  if (peer.mode) {
    // What can be chosen is known once it told it.
    const first = await running.api('POST', 'sessions', { agentId: agent.id });
    await over(running, (await send(running, first.id, 'look around')).runId);
  }
  return { place, host: running, agent };
}

/** A chat with it. */
export async function chatWith(host, peer, agent) {
  const { id } = await host.api('POST', 'sessions', { agentId: agent.id });
  if (peer.mode) await host.api('POST', `acp/sessions/${id}`, { option: 'mode', value: peer.mode });
  return id;
}

export const send = (host, chat, text) => host.api('POST', `sessions/${chat}/send`, { text });
export const messages = async (host, chat) => (await host.api('GET', `sessions/${chat}/messages?limit=200`)).messages;
export const runOf = (host, id) => host.api('GET', `runs/${id}`).then((found) => found.run ?? found);
export const over = (host, id) =>
  long('the end of the run', async () => {
    const run = await runOf(host, id);
    return ['done', 'failed', 'aborted', 'interrupted', 'discarded'].includes(run.state) ? run : undefined;
  });
export const said = (list) => list.filter(({ role, content }) => role === 'assistant' && content).map(({ content }) => content).join('|');
export const lines = (place, name) => (existsSync(join(place.project, name)) ? readFileSync(join(place.project, name), 'utf8').split('\n').filter(Boolean).length : 0);

/** The question of a run, which may fail instead. */
export const asked = (host, runId) =>
  long('the question', async () => {
    const run = await runOf(host, runId);
    if (['failed', 'done', 'aborted'].includes(run.state)) throw new Error(`no question; the run is ${run.state}: ${JSON.stringify(run.error)}`);
    return (await open(host)).find((item) => (item.runId ?? item.card?.runId ?? runId) === runId);
  });

/** A yes as this question takes it. */
export const yes = (item) => ({ status: 'ok', ...(item.prompt.kind === 'choice' ? { selection: item.prompt.options[0].value } : {}) });
