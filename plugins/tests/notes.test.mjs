// The notes server with the official client, and its store under hostile names, links, crashes and crowds.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readFile, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { call, connect, environment, pluginPath, tempDir } from './support.mjs';

const SCRIPT = pluginPath('com.chatos.notes', 'notes', 'mcp-server.mjs');

test('a note is written, listed, read, found, changed and deleted', async (t) => {
  const dataDir = await tempDir(t);
  const client = await connect(t, SCRIPT, dataDir);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), [
    'notes.list', 'notes.read', 'notes.write', 'notes.delete', 'notes.search', 'notes.export', 'notes.export_cancel',
  ]);

  const created = await call(client, 'notes.write', { text: '# Trip to 北京 #travel\r\n\r\nBook the train.  ' });
  assert.equal(created.data.note.id, 'trip-to-北京');
  assert.equal(created.data.note.title, 'Trip to 北京');
  assert.deepEqual(created.data.note.tags, ['travel']);
  assert.equal(await readFile(join(dataDir, 'notes', 'trip-to-北京.md'), 'utf8'), '# Trip to 北京 #travel\n\nBook the train.\n');

  const listed = await call(client, 'notes.list', { tag: 'Travel' });
  assert.equal(listed.data.total, 1);
  const read = await call(client, 'notes.read', { id: 'trip-to-北京' });
  assert.match(read.data.note.text, /Book the train/u);
  const found = await call(client, 'notes.search', { query: 'TRAIN 北京' });
  assert.deepEqual(found.data.hits[0].matches.map((match) => match.line), [1, 3]);

  const { revision } = read.data.note;
  const changed = await call(client, 'notes.write', { id: 'trip-to-北京', text: '# Trip\n\nBooked.', ifRevision: revision });
  assert.equal(changed.data.note.created, false);
  const stale = await call(client, 'notes.write', { id: 'trip-to-北京', text: 'mine', ifRevision: revision });
  assert.equal(stale.isError, true);
  assert.equal(stale.data.error.code, 'conflict');
  assert.match((await call(client, 'notes.read', { id: 'trip-to-北京' })).data.note.text, /Booked/u);

  const deleted = await call(client, 'notes.delete', { id: 'trip-to-北京' });
  assert.match(deleted.data.deleted.trash, /^\.trash\/trip-to-北京-\d+\.md$/u);
  const gone = await call(client, 'notes.read', { id: 'trip-to-北京' });
  assert.equal(gone.data.error.code, 'not_found');
});

test('a second note of the same title gets its own id; the same text is no change', async (t) => {
  const client = await connect(t, SCRIPT, await tempDir(t));
  const ids = [];
  for (let i = 0; i < 3; i += 1) ids.push((await call(client, 'notes.write', { text: `# Plan\n\n${i}` })).data.note.id);
  assert.deepEqual(ids, ['plan', 'plan-2', 'plan-3']);
  const same = await call(client, 'notes.write', { id: 'plan', text: '# Plan\n\n0\n' });
  assert.equal(same.data.note.changed, false);
  const taken = await call(client, 'notes.write', { id: 'plan', text: 'new', ifRevision: '' });
  assert.equal(taken.data.error.code, 'conflict');
});

test('templates put the text in its place, whatever the text holds', async (t) => {
  const client = await connect(t, SCRIPT, await tempDir(t));
  const { data } = await call(client, 'notes.write', { id: 'm', template: 'meeting', text: 'costs $& and {{text}} $1' });
  const { text } = (await call(client, 'notes.read', { id: data.note.id })).data.note;
  assert.match(text, /## Notes\n\ncosts \$& and \{\{text\}\} \$1\n/u);
});

test('ids that are paths, devices or nonsense never reach the disk', async (t) => {
  const dataDir = await tempDir(t);
  const client = await connect(t, SCRIPT, dataDir);
  const hostile = ['../x', '..', '.', '/etc/passwd', 'a/b', 'a\\b', 'a b', '.hidden', 'x.md', '-rf', 'a\u0000b', 'a\nb', ' ', 'é'.repeat(120), '\u202Eabc'];
  for (const id of hostile) {
    for (const [tool, args] of [['notes.write', { id, text: 'x' }], ['notes.read', { id }], ['notes.delete', { id }]]) {
      const result = await call(client, tool, args);
      assert.equal(result.isError, true, `${tool} ${JSON.stringify(id)}`);
      assert.equal(result.data.error.code, 'invalid_argument', `${tool} ${JSON.stringify(id)}`);
    }
  }
  const files = await readdir(dataDir, { recursive: true });
  assert.deepEqual(files.filter((name) => name.endsWith('.md')), []);
});

test('wrong arguments are named, all of them', async (t) => {
  const client = await connect(t, SCRIPT, await tempDir(t));
  const wrong = await call(client, 'notes.write', { text: 7, note: 'x', template: 'poem' });
  assert.deepEqual(wrong.data.error.details.issues.map((issue) => issue.path), ['/text', '/note', '/template']);
  for (const text of [' \n\t ', 'a\u0000b']) {
    assert.equal((await call(client, 'notes.write', { text })).data.error.code, 'invalid_argument');
  }
  const large = await call(client, 'notes.write', { text: '数'.repeat(400_000) });
  assert.equal(large.data.error.code, 'resource_exhausted');
  assert.equal((await call(client, 'notes.list', { limit: 0 })).isError, true);
  assert.equal((await call(client, 'notes.search', { query: '   ' })).isError, true);
});

test('links and strange files in the folder hide no note and are not followed', async (t) => {
  const dataDir = await tempDir(t);
  const notes = join(dataDir, 'notes');
  await mkdir(join(notes, 'folder.md'), { recursive: true });
  await writeFile(join(dataDir, 'secret.txt'), 'secret');
  await symlink(join(dataDir, 'secret.txt'), join(notes, 'link.md'));
  await writeFile(join(notes, 'good.md'), 'put here by hand #外部\n');
  await writeFile(join(notes, 'big.md'), 'x'.repeat(1024 * 1024 + 1));
  await writeFile(join(notes, 'name with space.md'), 'x');
  const client = await connect(t, SCRIPT, dataDir);
  const { data } = await call(client, 'notes.list');
  assert.deepEqual(data.notes.map((note) => note.id), ['good']);
  assert.equal((await call(client, 'notes.read', { id: 'link' })).isError, true);
  // Writing through the link's name replaces the link, never its target.
  await call(client, 'notes.write', { id: 'link', text: 'mine' });
  assert.equal(await readFile(join(dataDir, 'secret.txt'), 'utf8'), 'secret');
});

test('a note changed by another program is seen at once', async (t) => {
  const dataDir = await tempDir(t);
  const client = await connect(t, SCRIPT, dataDir);
  await call(client, 'notes.write', { id: 'shared', text: 'one' });
  const path = join(dataDir, 'notes', 'shared.md');
  await writeFile(path, 'two\n');
  await utimes(path, new Date(), new Date(Date.now() + 5_000));
  assert.equal((await call(client, 'notes.read', { id: 'shared' })).data.note.text, 'two\n');
});

test('four servers writing the same notes lose nothing and never mix two texts', async (t) => {
  const dataDir = await tempDir(t);
  const clients = await Promise.all([1, 2, 3, 4].map(() => connect(t, SCRIPT, dataDir)));
  await call(clients[0], 'notes.write', { id: 'counter', text: '0' });
  // Each adds one, 10 times, by reading and writing with the revision; a conflict is tried again.
  const addOne = async (client) => {
    for (;;) {
      const { note } = (await call(client, 'notes.read', { id: 'counter' })).data;
      const next = String(Number(note.text) + 1);
      const result = await call(client, 'notes.write', { id: 'counter', text: next, ifRevision: note.revision });
      if (!result.isError) return;
      assert.equal(result.data.error.code, 'conflict', result.text);
    }
  };
  await Promise.all(clients.map(async (client) => {
    for (let i = 0; i < 10; i += 1) await addOne(client);
  }));
  assert.equal(await readFile(join(dataDir, 'notes', 'counter.md'), 'utf8'), '40\n');
  const left = (await readdir(join(dataDir, 'notes'))).filter((name) => name.startsWith('.'));
  assert.deepEqual(left, []);
});

test('a killed writer leaves the old text or the new one, and no lock that stays', async (t) => {
  const dataDir = await tempDir(t);
  const old = `${'old '.repeat(50_000)}\n`;
  const next = 'new '.repeat(50_000);
  const client = await connect(t, SCRIPT, dataDir);
  await call(client, 'notes.write', { id: 'big', text: old });
  for (let i = 0; i < 15; i += 1) {
    const child = spawn(process.execPath, [SCRIPT], { env: environment(dataDir), stdio: ['pipe', 'ignore', 'ignore'] });
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'notes.write', arguments: { id: 'big', text: next } } };
    child.stdin.on('error', () => {});
    child.stdin.write(`${JSON.stringify(message)}\n`);
    await new Promise((resolve) => setTimeout(resolve, 40 + i * 3));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    const text = await readFile(join(dataDir, 'notes', 'big.md'), 'utf8');
    assert.ok(text.trimEnd() === old.trimEnd() || text.trimEnd() === next.trimEnd(), `${text.length} bytes`);
    const again = await call(client, 'notes.write', { id: 'big', text: old });
    assert.equal(again.isError, false, again.text);
  }
});

test('an export is acknowledged at once and its document arrives in the prompt log', async (t) => {
  const dataDir = await tempDir(t);
  const client = await connect(t, SCRIPT, dataDir);
  await call(client, 'notes.write', { id: 'a', text: '# A #x\u2028' });
  await call(client, 'notes.write', { id: 'b', text: '# B' });
  const promptLog = join(dataDir, 'ui-prompts.jsonl');
  await writeFile(promptLog, '{"torn":');
  const meta = { taskId: 'task_1', notes: { promptLog, source: 'com.chatos.notes:notes', project: '/home/u/shop' } };
  const ack = await call(client, 'notes.export', { tag: 'x' }, meta);
  assert.deepEqual(ack.data, { status: 'accepted', taskId: 'task_1' });
  let lines = [];
  while (lines.length < 2) {
    lines = (await readFile(promptLog, 'utf8')).split('\n').filter(Boolean);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const entry = JSON.parse(lines[1]);
  assert.equal(entry.type, 'ui_prompt');
  assert.equal(entry.action, 'request');
  assert.equal(entry.requestId, 'task_1');
  assert.equal(entry.prompt.kind, 'result');
  assert.match(entry.prompt.markdown, /^# 1 notes tagged #x \(shop\)/u);
  assert.ok(!lines[1].includes('\u2028'));
  const again = await call(client, 'notes.export_cancel', { taskId: 'task_1' });
  assert.equal(again.data.canceled, false);
  const direct = await call(client, 'notes.export');
  assert.match(direct.data.markdown, /# B/u);
});

test('the host decides the folder: _meta wins over the environment', async (t) => {
  const [one, two] = [await tempDir(t), await tempDir(t)];
  const client = await connect(t, SCRIPT, one);
  await call(client, 'notes.write', { id: 'here', text: 'x' }, { chatos: { uiApp: { dataDir: two } } });
  await call(client, 'notes.write', { id: 'there', text: 'x' }, { notes: { root: join(two, 'elsewhere') } });
  assert.deepEqual(await readdir(join(two, 'notes')), ['here.md']);
  assert.deepEqual(await readdir(join(two, 'elsewhere')), ['there.md']);
  assert.deepEqual(await readdir(one), []);
});
