//zh 用 `npm test` 运行；不需要安装任何东西。
//en Run with `npm test`; nothing has to be installed.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { createUiAppsBackend } from '../backend/index.mjs';
import { connect, tempDir } from './client.mjs';

const SERVER = 'apps/__APP_ID__/mcp-server.mjs';

test('the backend answers and says what it lacks', async () => {
  const { methods } = await createUiAppsBackend({});
  assert.deepEqual(methods.ping({ a: 1 }), { pong: { a: 1 } });
  await assert.rejects(methods.summarize({ text: 'long' }, { llm: null }), { code: 'unavailable' });
  const llm = { complete: async ({ input }) => ({ content: input.slice(0, 3), model: 'test' }) };
  assert.deepEqual(await methods.summarize({ text: 'long' }, { llm }), { summary: 'lon', model: 'test' });
});

test('echo answers, and refuses what it was not made for', async (t) => {
  const server = await connect(t, SERVER);
  const names = await server.tools();
  for (const name of ['echo', 'report_run']) assert.ok(names.includes(name), name);
  assert.equal((await server.call('echo', { text: '你好' })).text, '你好');
  const refused = await server.call('echo', {});
  assert.ok(refused.isError && refused.text.includes('"text" is required'));
});

test('report_run acknowledges at once and writes its result', async (t) => {
  const dir = await tempDir(t);
  const server = await connect(t, SERVER, { dataDir: dir });
  const accepted = await server.call('report_run', { topic: 'Tests' }, { taskId: 'task_12345678' });
  assert.deepEqual(accepted.data, { status: 'accepted', taskId: 'task_12345678' });
  const line = await result(join(dir, 'ui-prompts.jsonl'));
  assert.equal(line.requestId, 'task_12345678');
  assert.equal(line.prompt.kind, 'result');
  assert.ok(line.prompt.markdown.startsWith('# Tests'));
});

/** The line, once it is there. */
async function result(path) {
  for (let tries = 0; tries < 100; tries += 1) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text.endsWith('\n')) return JSON.parse(text.trim().split('\n').at(-1));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('no result was written');
}
