// Runs the tests with a Node that the agents accept: this one, or the one from the lock file. `all`: every agent.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const WANTED = 22;
const here = fileURLToPath(new URL('.', import.meta.url));
const recent = Number(process.versions.node.split('.')[0]) >= WANTED;
const locked = `${here}node_modules/node-${process.platform}-${process.arch}/bin/node`;
const node = recent ? process.execPath : locked;
if (!existsSync(node)) {
  console.error(`error: the agents need Node ${WANTED} or newer, this is ${process.versions.node}`);
  console.error('hint: run `npm ci` in this folder, or put a newer Node on PATH');
  process.exit(2);
}
const words = process.argv.slice(2);
const all = words[0] === 'all';
const named = all ? words.slice(1) : words;
const files = named.length > 0 ? named : ['hooks.test.mjs', 'gateway.test.mjs', 'clients.test.mjs', 'lists.test.mjs', 'rough.test.mjs', 'everything.test.mjs', 'acp.test.mjs', 'other.test.mjs', 'five.test.mjs', 'real.test.mjs', 'kills.test.mjs', ...(all ? ['modes.test.mjs', 'terminal.test.mjs', 'person.test.mjs', 'matrix.test.mjs'] : [])];
const args = ['--test', '--test-concurrency=1', ...files.map((file) => `${here}${file}`)];
const env = { ...process.env, PEER_NODE: node, ...(all ? { AGENT_PEERS: 'all' } : {}) };
const { status } = spawnSync(node, args, { cwd: here, stdio: 'inherit', env });
process.exit(status ?? 1);
