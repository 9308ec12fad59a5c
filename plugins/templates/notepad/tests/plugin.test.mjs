//zh 用 `npm test` 运行；不需要安装任何东西。
//en Run with `npm test`; nothing has to be installed.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { createUiAppsBackend } from '../backend/index.mjs';
import { connect, tempDir } from './client.mjs';

const SERVER = 'apps/__APP_ID__/mcp-server.mjs';

test('what a tool writes, the page reads, and the other way round', async (t) => {
  const dataDir = await tempDir(t);
  const server = await connect(t, SERVER, { dataDir });
  const { methods } = await createUiAppsBackend({ dataDir });
  await server.call('notes.create', { id: 'work/plan', text: '# The plan\n\n#urgent call Ada' });
  const note = await methods['notes.get']({ id: 'work/plan' });
  assert.deepEqual([note.title, note.tags], ['The plan', ['urgent']]);
  await methods['notes.update']({ id: 'work/plan', text: '# Another plan' });
  assert.equal((await server.call('notes.get', { id: 'work/plan' })).data.title, 'Another plan');
  assert.deepEqual((await methods['folders.list']()).folders, ['work']);
  assert.equal((await server.call('folders.delete', { path: 'work' })).text, '[conflict] the folder work is not empty');
  await server.call('notes.delete', { id: 'work/plan' });
  assert.deepEqual((await methods['notes.list']()).notes, []);
});

test('the index is made from the files, and search needs every word', async (t) => {
  const dataDir = await tempDir(t);
  await mkdir(join(dataDir, 'notes', 'by-hand'), { recursive: true });
  await writeFile(join(dataDir, 'notes', 'by-hand', 'a.md'), 'Tea in the morning');
  const { methods } = await createUiAppsBackend({ dataDir });
  assert.deepEqual((await methods['notes.search']({ query: 'MORNING tea' })).notes.map((note) => note.id), ['by-hand/a']);
  assert.deepEqual((await methods['notes.search']({ query: 'tea evening' })).notes, []);
});

test('names that lead elsewhere are refused', async (t) => {
  const dataDir = await tempDir(t);
  const server = await connect(t, SERVER, { dataDir });
  for (const id of ['../x', '/etc/passwd', 'a//b', '.hidden', 'a/..', '']) {
    const answer = await server.call('notes.create', { id, text: 'x' });
    assert.ok(answer.isError && answer.text.includes('invalid_argument'), id);
  }
});
