// The protocol below the tools: versions, garbage, sizes, cancellation, the end of input.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { environment, pluginPath, raw, tempDir } from './support.mjs';

const SERVERS = [
  pluginPath('com.chatos.notes', 'notes', 'mcp-server.mjs'),
  pluginPath('com.chatos.taskboard', 'board', 'mcp-server.mjs'),
];

const initialize = (id, protocolVersion) => ({
  jsonrpc: '2.0', id, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo: { name: 't', version: '0' } },
});

for (const script of SERVERS) {
  const name = script.split('/').at(-3);

  test(`${name}: every known revision is spoken, another one gets the newest`, async (t) => {
    const server = raw(t, script, environment(await tempDir(t)));
    for (const [index, version] of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].entries()) {
      server.send(initialize(index, version));
      const reply = await server.next();
      assert.equal(reply.id, index);
      assert.equal(reply.result.protocolVersion, version);
    }
    server.send(initialize('x', '1999-01-01'));
    assert.equal((await server.next()).result.protocolVersion, '2025-11-25');
  });

  test(`${name}: bad input is answered and the server goes on`, async (t) => {
    const server = raw(t, script, environment(await tempDir(t)));
    const errorTo = async (line) => {
      server.write(`${line}\n`);
      const reply = await server.next();
      return [reply.id, reply.error.code];
    };
    assert.deepEqual(await errorTo('{"jsonrpc":"2.0","id":1,'), [null, -32700]);
    assert.deepEqual(await errorTo('[]'), [null, -32600]);
    assert.deepEqual(await errorTo('null'), [null, -32600]);
    assert.deepEqual(await errorTo('{"id":1,"method":"ping"}'), [null, -32600]);
    assert.deepEqual(await errorTo('{"jsonrpc":"2.0","id":2}'), [2, -32600]);
    assert.deepEqual(await errorTo('{"jsonrpc":"2.0","id":3,"method":"server/discover"}'), [3, -32601]);
    assert.deepEqual(await errorTo('{"jsonrpc":"2.0","id":4,"method":"constructor"}'), [4, -32601]);
    assert.deepEqual(await errorTo('{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nope"}}'), [5, -32602]);
    // Neither a notification nor a stray reply is answered.
    server.send({ jsonrpc: '2.0', method: 'notifications/unknown' });
    server.send({ jsonrpc: '2.0', id: 99, result: {} });
    server.write('\r\n  \n');
    server.send({ jsonrpc: '2.0', id: 6, method: 'ping' });
    assert.deepEqual(await server.next(), { jsonrpc: '2.0', id: 6, result: {} });
  });

  test(`${name}: a batch, a split character and a line that is too long`, async (t) => {
    const server = raw(t, script, environment(await tempDir(t)));
    server.write('[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"}]\n');
    assert.deepEqual(await server.next(), [{ jsonrpc: '2.0', id: 1, result: {} }]);
    const bytes = Buffer.from('{"jsonrpc":"2.0","id":"数据","method":"ping"}\n');
    const cut = bytes.indexOf(Buffer.from('数')) + 1;
    server.write(bytes.subarray(0, cut));
    await new Promise((resolve) => setTimeout(resolve, 20));
    server.write(bytes.subarray(cut));
    assert.deepEqual(await server.next(), { jsonrpc: '2.0', id: '数据', result: {} });
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    for (let i = 0; i < 9; i += 1) server.write(megabyte);
    server.write('\n');
    assert.equal((await server.next()).error.code, -32600);
    server.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
    assert.equal((await server.next()).id, 2);
  });

  test(`${name}: the end of input ends the server, after the last answer`, async (t) => {
    const server = raw(t, script, environment(await tempDir(t)));
    server.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    server.child.stdin.end();
    const reply = await server.next();
    for (const tool of reply.result.tools) {
      assert.equal(tool.inputSchema.type, 'object', tool.name);
      assert.equal(tool.inputSchema.additionalProperties, false, tool.name);
      assert.equal(typeof tool.annotations.readOnlyHint, 'boolean', tool.name);
      assert.ok(tool.description.length > 20, tool.name);
    }
    assert.deepEqual(await server.exited, { code: 0, signal: null });
  });

  test(`${name}: without a data folder every tool says what is missing`, async (t) => {
    const env = environment(await tempDir(t));
    delete env.CHATOS_DATA_DIR;
    const server = raw(t, script, env);
    const tool = name === 'com.chatos.notes' ? 'notes.list' : 'board.views';
    server.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool } });
    const { result } = await server.next();
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /no data directory.*CHATOS_DATA_DIR/u);
    server.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: tool, _meta: { chatos: { uiApp: { dataDir: 'relative' } } } } });
    assert.match((await server.next()).result.content[0].text, /must be an absolute path/u);
  });
}
