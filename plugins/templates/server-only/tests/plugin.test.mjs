//zh 用 `npm test` 运行；不需要安装任何东西。
//en Run with `npm test`; nothing has to be installed.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { connect, tempDir } from './client.mjs';

const SERVER = 'apps/__APP_ID__/mcp-server.mjs';

test('it counts, remembers, and refuses bad names', async (t) => {
  const dataDir = await tempDir(t);
  const server = await connect(t, SERVER, { dataDir });
  const names = await server.tools();
  for (const name of ['count']) assert.ok(names.includes(name), name);
  assert.deepEqual((await server.call('count', { name: 'a' })).data, { name: 'a', value: 1 });
  const again = await connect(t, SERVER, { dataDir });
  assert.deepEqual((await again.call('count', { name: 'a', by: 5 })).data, { name: 'a', value: 6 });
  const refused = await server.call('count', { name: '../x' });
  assert.ok(refused.isError && refused.text.includes('invalid_argument'));
});

test('without a data directory it says so instead of guessing', async (t) => {
  const server = await connect(t, SERVER);
  const refused = await server.call('count', { name: 'a' });
  assert.ok(refused.isError && refused.text.includes('no data directory'));
});
