// The gateway beside servers that are slow, many and switched off, and a client that says yes to everything. Times are
// printed, not judged: a busy machine is no fault.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { CHATOS, eventually, home, run, serve } from '../mcp-peers/support.mjs';
import { put } from './agents.mjs';
import { agent, answer, open, question } from './inbox.mjs';

const TIME = { timeout: 240_000 };
const NODE = process.env.PEER_NODE ?? process.execPath;

/** `server.mjs COUNT [FILE]`: so many tools, every other one writes; with a file it says nothing before that is there. */
const SERVER = `
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
const [count, file] = process.argv.slice(2);
const reply = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
const text = 'Does one thing of its kind, and says what became of it in a sentence that models understand. ';
const tool = (n) => ({
  name: (n % 2 ? 'write_thing_' : 'read_thing_') + n, description: text.repeat(2) + n,
  inputSchema: { type: 'object', properties: { name: { type: 'string', description: 'Which thing is meant, by its whole name' } } },
  annotations: { readOnlyHint: n % 2 === 0 },
});
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  while (file && !existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 50));
  if (method === 'initialize') reply(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'made', version: '0' } });
  else if (method === 'tools/list') reply(id, { tools: Array.from({ length: Number(count) }, (_, n) => tool(n)) });
  else if (method === 'tools/call') reply(id, { content: [{ type: 'text', text: 'did ' + params.name }] });
});
`;

async function add(place, name, ...args) {
  put(join(place.home, 'server.mjs'), SERVER);
  const added = await run(CHATOS, ['--state-dir', place.state, 'mcp', 'servers', 'add', name, '--start-timeout', '120000', '--', NODE, join(place.home, 'server.mjs'), ...args], { cwd: place.project, env: { PATH: process.env.PATH, HOME: place.home } });
  assert.equal(added.status, 0, added.stderr);
}

/** A client of either era at the gateway, which hears that the list of tools is another one. */
async function connect(t, era, place, id, { more = [], elicited } = {}) {
  const params = { command: CHATOS, args: ['gateway', '--agent', id, '--state-dir', place.state, '--lang', 'en', ...more], cwd: place.project, env: { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' }, stderr: 'ignore' };
  const heard = { changes: 0 };
  const options = { capabilities: elicited ? { elicitation: { form: {} } } : {}, listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => (heard.changes += 1) } } };
  let client;
  if (era === 'modern') {
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    client = new Client({ name: 'modern', version: '1' }, { ...options, versionNegotiation: { mode: 'auto' } });
    if (elicited) client.setRequestHandler('elicitation/create', elicited);
    heard.transport = new StdioClientTransport(params);
  } else {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    client = new Client({ name: 'older', version: '1' }, options);
    if (elicited) client.setRequestHandler(ElicitRequestSchema, elicited);
    heard.transport = new StdioClientTransport(params);
  }
  const began = performance.now();
  await client.connect(heard.transport);
  heard.connectedMs = performance.now() - began;
  t.after(() => client.close());
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  return { client, heard, names };
}

const timed = async (work) => {
  const began = performance.now();
  const value = await work();
  return [value, Math.round(performance.now() - began)];
};

test('a server that says nothing holds up nobody, joins when it speaks, and one that is switched off leaves all clients', TIME, async (t) => {
  const place = home(t);
  const host = await serve(t, place);
  const speak = join(place.home, 'speak');
  await add(place, 'quick', '2');
  await add(place, 'slow', '1', speak);
  const id = await agent(host, ['quick', 'slow']);
  const clients = [];
  for (const era of ['legacy', 'modern']) {
    const client = await connect(t, era, place, id);
    for (let round = 0; round < 3; round += 1) {
      const [names, ms] = await timed(client.names);
      t.diagnostic(`${era}: connected in ${Math.round(client.heard.connectedMs)} ms, list ${round} in ${ms} ms`);
      // The quick one may be late the first time, on a busy machine; the slow one cannot be there.
      assert.ok(!names.some((name) => name.startsWith('mcp_slow_')), names.join());
    }
    await eventually('the quick one is there', async () => (await client.names()).includes('mcp_quick_read_thing_0'));
    clients.push({ era, ...client });
  }
  const { content } = await clients[0].client.callTool({ name: 'mcp_quick_read_thing_0', arguments: {} });
  assert.equal(content[0].text, 'did read_thing_0', 'it works beside the silent one');

  for (const each of clients) each.heard.changes = 0;
  writeFileSync(speak, '');
  for (const { era, heard, names } of clients) {
    const [, ms] = await timed(async () => {
      await eventually(`${era}: it is told`, () => heard.changes > 0);
      await eventually(`${era}: the slow one joined`, async () => (await names()).includes('mcp_slow_read_thing_0'));
    });
    t.diagnostic(`${era}: the slow one joined after ${ms} ms`);
  }

  for (const each of clients) each.heard.changes = 0;
  const quick = (await host.api('GET', 'mcp-servers')).items.find(({ name }) => name === 'quick');
  const began = performance.now();
  await host.api('PUT', `mcp-servers/${quick.id}`, { enabled: false });
  for (const { era, heard, names } of clients) {
    await eventually(`${era}: it is told`, () => heard.changes > 0);
    t.diagnostic(`${era}: told ${Math.round(performance.now() - began)} ms after it was switched off`);
    await eventually(`${era}: it is gone`, async () => !(await names()).some((name) => name.startsWith('mcp_quick_')));
  }
});

test('a slow server that is given to an agent later joins as soon as it speaks', TIME, async (t) => {
  const place = home(t);
  const host = await serve(t, place);
  const speak = join(place.home, 'speak');
  await add(place, 'quick', '2');
  const id = await agent(host, ['quick']);
  const { heard, names } = await connect(t, 'legacy', place, id);
  await eventually('the quick one is there', async () => (await names()).includes('mcp_quick_read_thing_0'));
  // Nothing is late any more, and the gateway waits for news.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await add(place, 'slow', '1', speak);
  heard.changes = 0;
  const given = await run(CHATOS, ['--state-dir', place.state, 'grant', 'slow', '--agent', 'a'], { cwd: place.project, env: { PATH: process.env.PATH, HOME: place.home } });
  assert.equal(given.status, 0, given.stderr);
  await eventually('it is told', () => heard.changes > 0);
  assert.ok(!(await names()).includes('mcp_slow_read_thing_0'));
  heard.changes = 0;
  const [, ms] = await timed(async () => {
    writeFileSync(speak, '');
    await eventually('it is told that the slow one joined', () => heard.changes > 0);
  });
  t.diagnostic(`told after ${ms} ms`);
  // Before, the gateway looked again only when its long wait for news was over.
  assert.ok(ms < 15_000, `${ms} ms`);
  assert.ok((await names()).includes('mcp_slow_read_thing_0'));
});

test('1,200 tools: a short list, a search that finds, and reading alone where only reading is meant', TIME, async (t) => {
  const place = home(t);
  const host = await serve(t, place);
  await add(place, 'many', '600');
  await add(place, 'more', '600');
  const id = await agent(host, ['many', 'more', 'project_files', 'code_writer']);
  put(join(place.project, 'a.txt'), 'INSIDE\n');
  const { client, names } = await connect(t, 'modern', place, id);
  await eventually('the search', async () => (await names()).includes('find_tools'));
  // All of them are known by now, and none is in the list.
  const found = await eventually('one is found', async () => {
    const { content } = await client.callTool({ name: 'find_tools', arguments: { query: 'read thing 500' } });
    return /mcp_(many|more)_read_thing/.test(content[0].text) ? content[0].text : undefined;
  });
  const all = await host.api('GET', `tools?agent=${id}&waitMs=15000`);
  assert.ok(all.tools.filter(({ granted }) => granted).length > 1_200, `${all.tools.length}`);
  assert.match(found, /inputSchema|"name"/);
  const { tools } = await client.listTools();
  const bytes = Buffer.byteLength(JSON.stringify(tools));
  t.diagnostic(`${tools.length} tools in the list, ${bytes} bytes`);
  assert.ok(bytes <= 64 * 1024, `${bytes}`);
  assert.ok(!tools.some(({ name }) => /^mcp_(many|more)_/.test(name)));
  assert.ok(tools.find(({ name }) => name === 'call_readonly_tool').annotations.readOnlyHint);

  const call = (through, name, args) => client.callTool({ name: through, arguments: { name, arguments: args } });
  const read = await call('call_readonly_tool', 'mcp_project_files_read_file', { path: 'a.txt' });
  assert.match(JSON.stringify(read.content), /INSIDE/);
  for (const [name, args] of [['mcp_code_writer_write_file', { path: 'b.txt', contents: 'x' }], ['mcp_many_write_thing_7', {}]]) {
    const refused = await call('call_readonly_tool', name, args);
    assert.equal(refused.isError, true, name);
    assert.match(refused.content[0].text, /call_tool|read/i);
  }
  assert.equal(existsSync(join(place.project, 'b.txt')), false);
  assert.equal((await open(host)).length, 0, 'it was not even asked');
  const direct = await client.callTool({ name: 'mcp_more_read_thing_598', arguments: {} });
  assert.equal(direct.content[0].text, 'did read_thing_598', 'what is not listed can be called');
});

for (const era of ['legacy', 'modern']) {
  test(`${era}: a client that says yes to everything writes nothing while nobody allowed it`, TIME, async (t) => {
    const place = home(t);
    const host = await serve(t, place);
    const id = await agent(host, ['code_writer']);
    const asked = [];
    const elicited = ({ params }) => {
      asked.push(params);
      return { action: 'accept', content: { remark: 'yes', selection: 'ok' } };
    };
    const { client, names } = await connect(t, era, place, id, { elicited });
    const name = (await names()).find((each) => each.endsWith('_write_file'));
    const calling = client.callTool({ name, arguments: { path: 'own.txt', contents: 'x\n' } });
    const item = await question(host);
    assert.equal(existsSync(join(place.project, 'own.txt')), false);
    assert.deepEqual((await open(host)).map(({ requestId }) => requestId), [item.requestId], 'it still waits');
    await answer(host, item, { status: 'canceled', remark: 'ask me first' });
    const { content } = await calling;
    assert.match(content[0].text, /ask me first/);
    assert.deepEqual(asked, [], 'the client was never asked');
    assert.equal(existsSync(join(place.project, 'own.txt')), false);
  });
}
