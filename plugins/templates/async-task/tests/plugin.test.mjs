//zh 用 `npm test` 运行；不需要安装任何东西。
//en Run with `npm test`; nothing has to be installed.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { createUiAppsBackend } from '../backend/index.mjs';
import { connect, tempDir } from './client.mjs';

const SERVER = 'apps/__APP_ID__/mcp-server.mjs';

test('a job is acknowledged at once, done by the backend, and its result carries the task id', async (t) => {
  const dir = await tempDir(t);
  const server = await connect(t, SERVER, { dataDir: dir });
  const names = await server.tools();
  for (const name of ['job_run', 'job_cancel']) assert.ok(names.includes(name), name);
  const accepted = await server.call('job_run', { text: 'one two three' }, { taskId: 'task_12345678' });
  assert.deepEqual(accepted.data, { status: 'accepted', taskId: 'task_12345678' });

  const backend = await createUiAppsBackend({ dataDir: dir, stateDir: dir, stepMs: 1 });
  t.after(() => backend.dispose());
  const line = await result(dir);
  assert.equal(line.requestId, 'task_12345678');
  assert.match(line.prompt.markdown, /^3 words/);
  await eventually(async () => assert.equal((await backend.methods.jobs()).jobs[0].state, 'done'));
});

test('a canceled job says so, and an unknown one cannot be canceled', async (t) => {
  const dir = await tempDir(t);
  const server = await connect(t, SERVER, { dataDir: dir });
  await server.call('job_run', { text: 'one' }, { taskId: 'task_87654321' });
  assert.equal((await server.call('job_cancel', { taskId: 'task_87654321' })).isError, false);
  assert.match((await server.call('job_cancel', { taskId: 'task_00000000' })).text, /not_found/);
  const backend = await createUiAppsBackend({ dataDir: dir, stateDir: dir, stepMs: 1 });
  t.after(() => backend.dispose());
  const line = await result(dir);
  assert.equal(line.prompt.isError, true);
});

async function result(dir) {
  let line;
  await eventually(async () => {
    const text = await readFile(join(dir, 'ui-prompts.jsonl'), 'utf8');
    line = JSON.parse(text.trim().split('\n').at(-1));
  });
  return line;
}

async function eventually(check) {
  for (let tries = 0; ; tries += 1) {
    try {
      await check();
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
