// Runs the tests with a Node that the peers accept: this one, or the one from the lock file.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const WANTED = [22, 19];
const here = fileURLToPath(new URL('.', import.meta.url));
const [major, minor] = process.versions.node.split('.').map(Number);
const recent = major > WANTED[0] || (major === WANTED[0] && minor >= WANTED[1]);
const locked = `${here}node_modules/node-${process.platform}-${process.arch}/bin/node`;
const node = recent ? process.execPath : locked;
if (!existsSync(node)) {
  console.error(`error: the MCP peers need Node ${WANTED.join('.')} or newer, this is ${process.versions.node}`);
  console.error('hint: run `npm ci` in this folder, or put a newer Node on PATH');
  process.exit(2);
}
const named = process.argv.slice(2);
const files = named.length > 0 ? named : ['inspector.test.mjs', 'language.test.mjs', 'models.test.mjs', 'prompts.test.mjs'];
const args = ['--test', '--test-concurrency=2', ...files.map((file) => `${here}${file}`)];
const { status } = spawnSync(node, args, { cwd: here, stdio: 'inherit', env: { ...process.env, PEER_NODE: node } });
process.exit(status ?? 1);
