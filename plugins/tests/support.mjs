// What the tests share: a temporary data folder, a started server with the official client, raw JSON-RPC lines.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export const pluginsDir = fileURLToPath(new URL('..', import.meta.url));

export function pluginPath(...parts) {
  return join(pluginsDir, ...parts);
}

/** A folder that goes away with the test. */
export async function tempDir(t) {
  const dir = await mkdtemp(join(tmpdir(), 'chatos-plugin-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** The environment a host gives: little. */
export function environment(dataDir) {
  return { PATH: process.env.PATH, HOME: dataDir, ...(dataDir ? { CHATOS_DATA_DIR: dataDir } : {}) };
}

/** A server over stdio with the official client. */
export async function connect(t, script, dataDir, args = []) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [script, ...args],
    env: environment(dataDir),
    stderr: 'pipe',
  });
  const client = new Client({ name: 'tests', version: '0.0.0' });
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

/** Calls a tool and gives what a model and a program would see. */
export async function call(client, name, args = {}, meta) {
  const result = await client.callTool({ name, arguments: args, ...(meta ? { _meta: meta } : {}) });
  return { text: result.content[0].text, data: result.structuredContent, isError: result.isError === true };
}

/** A server spoken to line by line, for what no client would send. */
export function raw(t, script, env) {
  const child = spawn(process.execPath, [script], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  const waiting = [];
  const lines = [];
  let buffer = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk) => {
    buffer += chunk;
    const parts = buffer.split('\n');
    buffer = parts.pop();
    for (const line of parts) {
      const message = JSON.parse(line);
      const next = waiting.shift();
      if (next) next(message);
      else lines.push(message);
    }
  });
  return {
    child,
    write: (bytes) => child.stdin.write(bytes),
    send: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
    next: () => (lines.length > 0 ? Promise.resolve(lines.shift()) : new Promise((resolve) => waiting.push(resolve))),
    exited: new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal }))),
  };
}
