// Servers from npm, unmodified, over every transport they have.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

import { drive, entry, freePort, serve } from './support.mjs';

const everything = entry('server-everything');

/** What `server-everything` must do, whatever road leads to it. */
async function checkEverything(server) {
  const [list, echo, sum, image, long, structured, sampled, asked, status] = await drive({ s: server }, [
    { server: 's', list: true },
    { server: 's', call: 'echo', arguments: { message: '你好, server' } },
    { server: 's', call: 'get-sum', arguments: { a: 2, b: 40 } },
    { server: 's', call: 'get-tiny-image', arguments: {} },
    { server: 's', call: 'trigger-long-running-operation', arguments: { duration: 1, steps: 4 } },
    { server: 's', call: 'get-structured-content', arguments: { location: 'New York' } },
    { server: 's', call: 'trigger-sampling-request', arguments: { prompt: 'hi', maxTokens: 10 } },
    { server: 's', call: 'trigger-elicitation-request', arguments: {} },
    { server: 's', status: true },
  ]);
  assert.ok(list.tools?.includes('echo'), JSON.stringify(list));
  assert.deepEqual(list.problems, []);
  assert.match(echo.text ?? JSON.stringify(echo), /你好, server/);
  assert.match(sum.text, /42/);
  assert.ok(image.kinds.includes('image'), JSON.stringify(image));
  assert.equal(long.isError, false, JSON.stringify(long));
  assert.ok(long.progress > 0, 'no progress was seen');
  assert.equal(structured.isError, false, JSON.stringify(structured));
  assert.equal(typeof structured.structured, 'object');
  assert.match(sampled.text ?? JSON.stringify(sampled), /sampled text/);
  assert.equal(asked.isError, false, JSON.stringify(asked));
  assert.equal(status.phase, 'ready');
}

test('server-everything as a child', () => checkEverything({ command: ['node', everything, 'stdio'] }));

test('server-everything over streamable HTTP', async () => {
  const port = await freePort();
  const server = await serve('node', [everything, 'streamableHttp'], port, { PORT: String(port) });
  try {
    await checkEverything({ url: `http://127.0.0.1:${port}/mcp` });
  } finally {
    server.kill('SIGKILL');
  }
});

test('server-everything over the older HTTP transport', async () => {
  const port = await freePort();
  const server = await serve('node', [everything, 'sse'], port, { PORT: String(port) });
  try {
    await checkEverything({ url: `http://127.0.0.1:${port}/sse` });
  } finally {
    server.kill('SIGKILL');
  }
});

test('server-filesystem reads and writes below its folder and nowhere else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-files-'));
  try {
    await writeFile(join(folder, 'a.txt'), 'first\n');
    const s = { command: ['node', entry('server-filesystem'), folder] };
    const [list, read, written, outside] = await drive({ s }, [
      { server: 's', list: true },
      { server: 's', call: 'read_text_file', arguments: { path: join(folder, 'a.txt') } },
      { server: 's', call: 'write_file', arguments: { path: join(folder, 'b.txt'), content: '第二\n' } },
      { server: 's', call: 'read_text_file', arguments: { path: '/etc/passwd' } },
    ]);
    assert.ok(list.tools.length >= 10, JSON.stringify(list));
    assert.equal(read.text, 'first\n');
    assert.equal(written.isError, false, JSON.stringify(written));
    assert.equal(await readFile(join(folder, 'b.txt'), 'utf8'), '第二\n');
    assert.ok(outside.isError || outside.error, JSON.stringify(outside));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('server-memory keeps what it is told', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-memory-'));
  try {
    const s = {
      command: ['node', entry('server-memory')],
      env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
    };
    const entity = { name: 'ChatOS', entityType: 'host', observations: ['runs tools'] };
    const [made, found] = await drive({ s }, [
      { server: 's', call: 'create_entities', arguments: { entities: [entity] } },
      { server: 's', call: 'search_nodes', arguments: { query: 'ChatOS' } },
    ]);
    assert.equal(made.isError, false, JSON.stringify(made));
    assert.match(found.text, /runs tools/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a server that is missing costs the others nothing', async () => {
  const servers = {
    gone: { command: ['node', '/nowhere/server.mjs'] },
    here: { command: ['node', everything, 'stdio'] },
  };
  const [gone, here] = await drive(servers, [
    { server: 'gone', list: true },
    { server: 'here', call: 'echo', arguments: { message: 'still here' } },
  ]);
  assert.match(gone.error, /its entry does not exist: \/nowhere\/server\.mjs/);
  assert.match(here.text, /still here/);
});
