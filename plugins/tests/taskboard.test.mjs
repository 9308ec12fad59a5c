// The board server with the official client, over stdio and over HTTP, and the pure arranging of tasks.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, readdir, writeFile, mkdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { arrange } from '../com.chatos.taskboard/lib/board.mjs';
import { startTeamServer } from '../com.chatos.taskboard/team/http-server.mjs';
import { call, connect, environment, pluginPath, tempDir } from './support.mjs';

const SCRIPT = pluginPath('com.chatos.taskboard', 'board', 'mcp-server.mjs');
const TOKEN = 'a-secret-of-some-length';

const task = (id, status, more = {}) => ({
  id, title: `Task ${id}`, details: '', status, priority: 'medium', tags: [], updatedAt: `2026-01-0${id}T00:00:00.000Z`, ...more,
});

test('tasks are grouped, sorted, filtered and counted', () => {
  const tasks = [task('1', 'doing'), task('2', 'doing', { priority: 'high' }), task('3', 'todo', { tags: ['a', 'b'] }), task('4', 'done')];
  const board = arrange({ groupBy: 'status', sort: 'priority', filter: { status: ['todo', 'doing'] }, wip: { doing: 1 } }, tasks);
  const shape = board.columns.map((column) => [column.key, column.tasks.map((item) => item.id), column.over]);
  assert.deepEqual(shape, [['todo', ['3'], false], ['doing', ['2', '1'], true], ['blocked', [], false], ['done', [], false]]);
  assert.deepEqual([board.shown, board.hidden], [3, 1]);
  const byTag = arrange({ groupBy: 'tag', sort: 'updated' }, tasks);
  assert.deepEqual(byTag.columns.map((column) => [column.key, column.tasks.length]), [['a', 1], ['b', 1], ['', 3]]);
});

test('views and pins over stdio', async (t) => {
  const dataDir = await tempDir(t);
  const client = await connect(t, SCRIPT, dataDir, ['--stdio']);
  const saved = await call(client, 'board.save_view', { name: 'My week', groupBy: 'priority', wip: { high: 2 } });
  assert.equal(saved.data.view.id, 'my-week');
  const chinese = await call(client, 'board.save_view', { name: '本周' });
  assert.match(chinese.data.view.id, /^view-[0-9a-f]{6}$/u);
  const arranged = await call(client, 'board.arrange', { view: 'my-week', tasks: [task('1', 'todo', { priority: 'high', title: 'a\n# b' })] });
  assert.match(arranged.text, /## high: 1 \/ 2\n\n- \[todo\/high\] a # b \(id=1\)/u);
  await call(client, 'board.pin', { taskId: '1', note: 'today' });
  const pinned = await call(client, 'board.pin', { taskId: '1', note: 'now' });
  assert.deepEqual(pinned.data.pins.map((pin) => pin.note), ['now']);
  const { data } = await call(client, 'board.views');
  assert.deepEqual(data.views.map((view) => view.name), ['All tasks', 'My week', '本周']);
  await call(client, 'board.delete_view', { id: 'my-week' });
  await call(client, 'board.unpin', { taskId: '1' });
  const stored = JSON.parse(await readFile(join(dataDir, 'board', 'board.json'), 'utf8'));
  assert.deepEqual([stored.views.length, stored.pins.length], [1, 0]);
});

test('what cannot be a view is refused with its place', async (t) => {
  const client = await connect(t, SCRIPT, await tempDir(t));
  const refused = async (args, path) => {
    const result = await call(client, 'board.save_view', args);
    assert.equal(result.data.error.code, 'invalid_argument');
    assert.ok(result.data.error.details?.issues.some((issue) => issue.path === path) ?? path === '', JSON.stringify(result.data));
  };
  await refused({ name: '' }, '/name');
  await refused({ name: 'x', groupBy: 'person' }, '/groupBy');
  await refused({ name: 'x', filter: { status: ['later'] } }, '/filter/status/0');
  await refused({ name: 'x', wip: { doing: 0 } }, '/wip/doing');
  await refused({ name: 'x', id: '../x' }, '/id');
  await refused({ name: 'x', id: 'all' }, '');
  assert.equal((await call(client, 'board.arrange', { view: 'none', tasks: [] })).data.error.code, 'not_found');
});

test('a broken file is reported and left alone', async (t) => {
  const dataDir = await tempDir(t);
  await mkdir(join(dataDir, 'board'));
  const path = join(dataDir, 'board', 'board.json');
  await writeFile(path, '{"version":1,');
  const client = await connect(t, SCRIPT, dataDir);
  const result = await call(client, 'board.pin', { taskId: '1' });
  assert.equal(result.data.error.code, 'unavailable');
  assert.equal(await readFile(path, 'utf8'), '{"version":1,');
});

test('the team board: the official client over HTTP, one file per board name', async (t) => {
  const dataDir = await tempDir(t);
  const server = await startTeamServer({ port: 0, token: TOKEN, dataDir, log: () => {} });
  t.after(() => server.close());
  const url = new URL(`http://127.0.0.1:${server.address().port}/mcp`);
  const connectTo = async (board) => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'X-Board': board };
    const client = new Client({ name: 'tests', version: '0.0.0' });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    t.after(() => client.close());
    return client;
  };
  const [red, blue] = [await connectTo('red'), await connectTo('blue')];
  await call(red, 'board.pin', { taskId: '1' }, { board: { root: join(dataDir, 'stolen') } });
  assert.equal((await call(red, 'board.views')).data.pins.length, 1);
  assert.equal((await call(blue, 'board.views')).data.pins.length, 0);
  assert.deepEqual(await readdir(dataDir), ['boards']);
});

test('the team board refuses what is not a client with its token', async (t) => {
  const dataDir = await tempDir(t);
  const server = await startTeamServer({ port: 0, token: TOKEN, dataDir, log: () => {} });
  t.after(() => server.close());
  const { port } = server.address();
  const good = { host: `127.0.0.1:${port}`, authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const ask = (method, path, headers, body = '{"jsonrpc":"2.0","id":1,"method":"ping"}') =>
    new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, method, path, headers, setHost: false }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      });
      outgoing.on('error', reject);
      outgoing.end(method === 'POST' ? body : undefined);
    });
  assert.equal(await ask('POST', '/mcp', good), 200);
  assert.equal(await ask('POST', '/mcp', { ...good, authorization: 'Bearer wrong' }), 401);
  assert.equal(await ask('POST', '/mcp', { host: good.host, 'content-type': 'application/json' }), 401);
  assert.equal(await ask('POST', '/mcp', { ...good, host: `evil.example:${port}` }), 403);
  assert.equal(await ask('POST', '/mcp', { ...good, host: `127.0.0.1.evil.example:${port}` }), 403);
  assert.equal(await ask('POST', '/mcp', { ...good, origin: `http://127.0.0.1:${port}` }), 403);
  assert.equal(await ask('POST', '/mcp', { ...good, 'content-type': 'text/plain' }), 415);
  assert.equal(await ask('POST', '/mcp', { ...good, 'x-board': '../x' }), 400);
  assert.equal(await ask('POST', '/mcp', good, '{'), 400);
  assert.equal(await ask('GET', '/mcp', good), 405);
  assert.equal(await ask('POST', '/other', good), 404);
});

test('the team server does not start without a real secret', async (t) => {
  const dataDir = await tempDir(t);
  const short = join(dataDir, 'short');
  await writeFile(short, 'abc\n');
  const script = pluginPath('com.chatos.taskboard', 'team', 'http-server.mjs');
  const run = (args) =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [script, ...args], { env: environment(dataDir), stdio: ['ignore', 'ignore', 'pipe'] });
      let text = '';
      child.stderr.on('data', (chunk) => {
        text += chunk;
      });
      child.once('exit', (code) => resolve({ code, text }));
    });
  assert.match((await run([])).text, /--token-file is required/u);
  assert.match((await run(['--token-file', short])).text, /at least 16 characters/u);
  assert.equal((await run(['--port', 'x', '--token-file', short])).code, 1);
});
