// Servers of other makers through the whole program: added with `chatos mcp servers add`, called with
// `chatos tools call`, by the running host.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { entry, freePort, here, serve } from './support.mjs';

const program = process.env.CHATOS_BIN ?? join(here, '../../target/debug/chatos');

let folder;
let host;

/** Runs a command to its end; `--` ends the flags, so the state directory comes first. */
function chatos(...args) {
  return new Promise((resolve) => {
    const all = ['--state-dir', join(folder, 'state'), '--json', ...args];
    execFile(program, all, { cwd: folder, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const value = stdout.trim() === '' ? undefined : JSON.parse(stdout);
      resolve({ code: error ? error.code : 0, value, stderr });
    });
  });
}

async function add(name, ...rest) {
  const added = await chatos('mcp', 'servers', 'add', name, ...rest);
  assert.equal(added.code, 0, JSON.stringify(added));
}

async function call(server, tool, args = {}) {
  const done = await chatos('tools', 'call', server, tool, '--args', JSON.stringify(args));
  return { ...done, text: done.value?.content?.map((block) => block.text ?? '').join('\n') };
}

before(async () => {
  if (!existsSync(program)) {
    throw new Error(`no program at ${program}; build it with: cargo build -p chatos-cli`);
  }
  folder = await mkdtemp(join(tmpdir(), 'chatos-servers-'));
  const args = ['serve', '--no-open', '--ready-json', '--port', '0', '--state-dir', join(folder, 'state')];
  host = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve, reject) => {
    createInterface({ input: host.stdout }).once('line', resolve);
    host.once('exit', (code) => reject(new Error(`the host ended with ${code}`)));
  });
});

after(async () => {
  const gone = new Promise((resolve) => host.once('exit', resolve));
  host.kill('SIGTERM');
  await gone;
  await rm(folder, { recursive: true });
});

test('server-everything: text, image, structured content, progress, and a question in the queue', async () => {
  await add('everything', '--', 'node', entry('server-everything'), 'stdio');
  const echo = await call('everything', 'echo', { message: '你好, server' });
  assert.match(echo.text ?? JSON.stringify(echo), /你好, server/);
  const image = await call('everything', 'get-tiny-image');
  assert.ok(image.value.content.some((block) => block.type === 'image'), JSON.stringify(image));
  const structured = await call('everything', 'get-structured-content', { location: 'New York' });
  assert.equal(typeof structured.value.structuredContent, 'object', JSON.stringify(structured));
  const long = await call('everything', 'trigger-long-running-operation', { duration: 1, steps: 4 });
  assert.equal(long.code, 0, JSON.stringify(long));
  const asking = call('everything', 'trigger-elicitation-request');
  let id;
  while (id === undefined) {
    const list = await chatos('prompts', 'list');
    id = list.value.items[0]?.requestId;
  }
  const declined = await chatos('prompts', 'answer', id, '--decline');
  assert.equal(declined.code, 0, JSON.stringify(declined));
  const asked = await asking;
  assert.match(asked.text ?? JSON.stringify(asked), /declin/i);
});

test('server-everything over HTTP on this machine, once that is allowed', async () => {
  const port = await freePort();
  const server = await serve('node', [entry('server-everything'), 'streamableHttp'], port, { PORT: String(port) });
  try {
    await add('web', `http://127.0.0.1:${port}/mcp`);
    const refused = await call('web', 'echo', { message: 'x' });
    assert.equal(refused.value.error.code, 'address_refused', JSON.stringify(refused));
    const allowed = await chatos('mcp', 'servers', 'edit', 'web', '--allow-private');
    assert.equal(allowed.code, 0, JSON.stringify(allowed));
    const echo = await call('web', 'echo', { message: 'over http' });
    assert.match(echo.text ?? JSON.stringify(echo), /over http/);
  } finally {
    server.kill('SIGKILL');
  }
});

test('server-filesystem and server-memory', async () => {
  await writeFile(join(folder, 'a.txt'), 'first\n');
  await add('files', '--', 'node', entry('server-filesystem'), folder);
  const read = await call('files', 'read_text_file', { path: join(folder, 'a.txt') });
  assert.equal(read.text, 'first\n', JSON.stringify(read));
  const outside = await call('files', 'read_text_file', { path: '/etc/passwd' });
  assert.equal(outside.code, 1, JSON.stringify(outside));
  const file = join(folder, 'memory.jsonl');
  await add('memory', '--env', `MEMORY_FILE_PATH=${file}`, '--', 'node', entry('server-memory'));
  const entities = [{ name: '甲', entityType: 'person', observations: ['likes tea'] }];
  const made = await call('memory', 'create_entities', { entities });
  assert.equal(made.code, 0, JSON.stringify(made));
  assert.match(await readFile(file, 'utf8'), /likes tea/);
});

test('all of them are shown as ready, with their era and tools', async () => {
  const list = await chatos('mcp', 'servers');
  const ready = list.value.items.filter((server) => server.source === 'user');
  for (const server of ready.filter((server) => server.name !== 'web')) {
    assert.equal(server.state.phase, 'ready', JSON.stringify(server));
    assert.ok(server.state.era && server.state.tools > 0, JSON.stringify(server));
  }
});
