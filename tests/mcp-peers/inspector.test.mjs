// The Inspector lists and calls every tool of every built-in server, over stdio and HTTP, in both eras. It
// finds nothing to complain about, and every result fits the schema the tool published.

import Ajv2020 from 'ajv/dist/2020.js';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CALLS, FLAGS } from './calls.mjs';
import { agent } from '../agent-peers/inbox.mjs';
import { CHATOS, chatos, ERAS, home, inspect, serve, start, target } from './support.mjs';

const result = (done) => done.json?.result ?? done.json;

/** A project of a made-up language, with the language server of our own tests for it. */
function languageServer(place) {
  const script = join(place.project, 'fixture.mjs');
  writeFileSync(script, readFileSync(new URL('../../crates/chatos-lsp/tests/bridge/fixture.mjs', import.meta.url)));
  writeFileSync(join(place.project, 'one.fk'), 'alpha beta  \nbeta BAD\n');
  mkdirSync(place.state, { recursive: true, mode: 0o700 });
  const fake = { command: process.execPath, args: [script, 'good'], fileExtensions: ['fk'] };
  writeFileSync(join(place.state, 'lsp-servers.json'), JSON.stringify({ servers: { fake } }));
}

async function walk(t, server, road, era) {
  const place = home(t);
  writeFileSync(join(place.project, 'a.txt'), 'alpha\nbeta\n');
  mkdirSync(join(place.project, 'sub'));
  writeFileSync(join(place.project, 'sub', 'b.md'), '# b\n');
  if (server.name === 'lsp_bridge') languageServer(place);
  const to = await target(t, place, server.name, road, FLAGS[server.name]);
  const ask = (flags) => inspect(place, to.at, era, [...to.flags, ...flags]);

  const listed = await ask(['--method', 'tools/list', '--strict']);
  assert.equal(listed.status, 0, listed.say());
  const tools = new Map(result(listed).tools.map((tool) => [tool.name, tool]));
  assert.deepEqual([...tools.keys()], server.tools.map((tool) => tool.name));

  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const calls = CALLS[server.name] ?? [];
  const known = new Set(calls.map(([name]) => name));
  // A tool without a call here is a tool nobody has tried: its author writes one.
  assert.deepEqual([...tools.keys()].filter((name) => !known.has(name)), [], `calls are missing in calls.mjs for ${server.name}`);
  const ids = {};
  for (const [name, make, more = {}] of calls) {
    const done = await ask(['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(make(ids))]);
    const envelope = result(done)?.structuredContent;
    assert.ok(envelope, `${name}: ${done.say()}`);
    const fits = ajv.compile(tools.get(name).outputSchema);
    assert.ok(fits(envelope), `${name}: ${ajv.errorsText(fits.errors)}\n${done.stdout}`);
    assert.equal(envelope.status, more.status ?? 'ok', `${name}: ${done.say()}`);
    assert.equal(result(done).isError, more.isError ?? false, `${name}: ${done.say()}`);
    Object.assign(ids, more.keep?.(envelope.data));
  }
}

test('every tool of every built-in server', { concurrency: 3 }, async (t) => {
  const known = JSON.parse((await chatos(home(t), ['mcp', 'list', '--json'])).stdout).servers;
  assert.ok(known.length >= 4, 'there are servers');
  const walks = [];
  for (const server of known) {
    for (const road of ['stdio', 'http']) {
      for (const era of ERAS) walks.push(t.test(`${server.name}, ${road}, ${era}`, (t) => walk(t, server, road, era)));
    }
  }
  await Promise.all(walks);
});

for (const era of ERAS) {
  for (const road of ['stdio', 'http']) {
    test(`the gateway, ${road}, ${era}: lists without a complaint, reads, and says what is wrong`, async (t) => {
      const place = home(t);
      writeFileSync(join(place.project, 'a.txt'), 'INSIDE the file\n');
      const host = await serve(t, place);
      const id = await agent(host, ['project_files', 'code_writer']);
      const words = ['gateway', '--agent', id, '--state-dir', place.state, '--lang', 'en', '--root', place.project];
      let to = { at: [CHATOS, ...words], flags: [] };
      if (road === 'http') {
        const ready = await start(t, [...words, '--http', '127.0.0.1:0'], place, 'stderr');
        const token = readFileSync(join(place.state, 'mcp-token'), 'utf8').trim();
        to = { at: [/http:\/\/\S+\/mcp/.exec(ready)[0]], flags: ['--header', `Authorization: Bearer ${token}`] };
      }
      const ask = (flags) => inspect(place, to.at, era, [...to.flags, ...flags]);
      const listed = await ask(['--method', 'tools/list', '--strict']);
      assert.equal(listed.status, 0, listed.say());
      const name = result(listed).tools.map((tool) => tool.name).find((each) => each.endsWith('_read_file'));
      const call = (args) => ask(['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)]);
      assert.match((await call({ path: 'a.txt' })).stdout, /INSIDE the file/);
      assert.match((await call({ pth: 'a.txt' })).stdout, /path/);
    });
  }
}
