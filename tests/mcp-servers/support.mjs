// Runs our client (`mcp-fixture drive`) against servers, and our server (`server-fixture`) for clients.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));

/** The program under test: given by CI, or the one the last build made. */
export const client = process.env.MCP_FIXTURE ?? join(here, '../../target/debug/mcp-fixture');

/** Our own server, for the suite: given by CI, or the one the last build made. */
const server = process.env.SERVER_FIXTURE ?? join(here, '../../target/debug/server-fixture');

export const SUITE = join(here, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** The suite wants a newer Node than the project does; the lock file brings one. */
export function recentNode() {
  if (Number(process.versions.node.split('.')[0]) >= 22) {
    return process.execPath;
  }
  const locked = join(here, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  if (!existsSync(locked)) {
    throw new Error('the conformance suite needs Node 22; run: cargo xtask ci --only packages');
  }
  return locked;
}

/** Starts our own server and gives its address; it ends when its input is closed. */
export async function ownServer(t) {
  if (!existsSync(server)) {
    throw new Error(`no server at ${server}; build it with: cargo build -p chatos-layer`);
  }
  const child = spawn(server, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    await gone;
  });
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

/** The start script of an installed server. */
export function entry(name) {
  const path = join(here, 'node_modules/@modelcontextprotocol', name, 'dist/index.js');
  if (!existsSync(path)) {
    throw new Error(`${name} is not installed; run: cargo xtask ci --only packages`);
  }
  return path;
}

/** Drives the client; the outcomes are in the order of the steps. */
export function drive(servers, steps) {
  if (!existsSync(client)) {
    throw new Error(`no client at ${client}; build it with: cargo build -p chatos-mcp`);
  }
  return new Promise((resolve, reject) => {
    const child = spawn(client, ['drive'], { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0) {
        reject(new Error(`the client ended with ${code}`));
        return;
      }
      resolve(JSON.parse(output));
    });
    child.stdin.end(JSON.stringify({ servers, steps }));
  });
}

/** A port nobody uses at the moment. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts a web server and waits until its port answers. */
export async function serve(command, args, port, env = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } });
  const end = Date.now() + 60_000;
  for (;;) {
    try {
      await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(2_000) });
      return child;
    } catch (error) {
      if (Date.now() > end || child.exitCode !== null) {
        child.kill('SIGKILL');
        throw new Error(`the server on port ${port} does not answer`, { cause: error });
      }
      await new Promise((wake) => setTimeout(wake, 50));
    }
  }
}
