// The Inspector lists every tool of every built-in server and finds nothing to complain about.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatos, ERAS, home, inspect, stdio } from './support.mjs';

test('every built-in server passes the strict check in both eras', async (t) => {
  const place = home(t);
  const known = JSON.parse((await chatos(place, ['mcp', 'list', '--json'])).stdout).servers;
  assert.ok(known.length >= 4, 'there are servers');
  for (const server of known) {
    for (const era of ERAS) {
      await t.test(`${server.name}, ${era}`, async () => {
        const more = server.tools.some((tool) => tool.annotations.destructiveHint) ? ['--write'] : [];
        const done = await inspect(place, stdio(place, server.name, more), era, ['--method', 'tools/list', '--strict']);
        assert.equal(done.status, 0, done.say());
        const tools = (done.json?.result ?? done.json).tools;
        assert.deepEqual(tools.map((tool) => tool.name), server.tools.map((tool) => tool.name));
      });
    }
  }
});
