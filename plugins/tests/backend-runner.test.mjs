// The program that runs plugin backends: the contract of createUiAppsBackend, over a real descriptor 3.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const RUNNER = fileURLToPath(new URL('../../crates/chatos-plugins/src/backend/runner.mjs', import.meta.url));
const dir = await mkdtemp(join(tmpdir(), 'backend-runner-'));
const started = new Set();
after(async () => {
  for (const child of started) child.kill('SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

let files = 0;

/** A backend with this source, and a line to it. */
async function start(source, { name = 'index.mjs', ctx = {} } = {}) {
  files += 1;
  const entry = join(dir, `${files}-${name}`);
  await writeFile(entry, source);
  const child = spawn(process.execPath, [RUNNER], { cwd: dir, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  started.add(child);
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output.text += data));
  const exit = once(child, 'exit');
  const channel = child.stdio[3];
  const waiting = new Map();
  const requests = [];
  let buffer = '';
  channel.on('error', () => {});
  channel.on('data', (data) => {
    buffer += data;
    for (let end = buffer.indexOf('\n'); end >= 0; end = buffer.indexOf('\n')) {
      const message = JSON.parse(buffer.slice(0, end));
      buffer = buffer.slice(end + 1);
      if (message.method) requests.push(message);
      else waiting.get(message.id)?.(message);
    }
  });
  let next = 1;
  const write = (message) => channel.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method, params) => {
    const id = next;
    next += 1;
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    write({ id, method, params });
    return Object.assign(answer, { id });
  };
  const invoke = (method, params) => ask('invoke', { method, params });
  const opened = await Promise.race([
    ask('init', { entry, ctx: { pluginId: 'p', pluginDir: dir, dataDir: dir, llm: false, ...ctx } }),
    exit.then(([code]) => ({ exited: code })),
  ]);
  return { child, exit, output, ask, invoke, write, requests, opened, close: () => channel.destroy() };
}

const until = async (test) => {
  for (let left = 500; left > 0; left -= 1) {
    const value = test();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it did not happen');
};

test('methods get parameters and a context, and answer with values', async () => {
  const backend = await start(`export async function createUiAppsBackend(ctx) {
    return { methods: {
      async ping(params, call) { return { pong: params ?? null, same: ctx.pluginId === call.pluginId, id: typeof call.callId }; },
      nothing() {},
      no: () => ({ ok: false, why: 'a value' }),
    } };
  }`);
  assert.equal(typeof backend.opened.result.pid, 'number');
  assert.deepEqual((await backend.invoke('ping', { a: 1 })).result, { pong: { a: 1 }, same: true, id: 'number' });
  assert.equal((await backend.invoke('nothing')).result, null);
  assert.deepEqual((await backend.invoke('no')).result, { ok: false, why: 'a value' });
  assert.equal((await backend.ask('dispose')).result, null);
  assert.deepEqual(await backend.exit, [0, null]);
});

test('CommonJS works too', async () => {
  const backend = await start('exports.createUiAppsBackend = () => ({ methods: { a: () => 1 } });', { name: 'index.cjs' });
  assert.equal((await backend.invoke('a')).result, 1);
  backend.close();
});

test('only own functions are methods, looked up anew for each call', async () => {
  const backend = await start(`class Base { inherited() { return 1; } }
    export const createUiAppsBackend = () => {
      const methods = Object.assign(new Base(), { value: 5, add() { methods.later = () => 'now'; } });
      return { methods };
    };`);
  for (const method of ['constructor', 'toString', '__proto__', 'inherited', 'value', 'later', '']) {
    const { error } = await backend.invoke(method);
    assert.deepEqual([error.data.code, error.message], ['not_found', `Method not found: ${method}`]);
  }
  await backend.invoke('add');
  assert.equal((await backend.invoke('later')).result, 'now');
  backend.close();
});

test('what is thrown is told: message and known codes, the stack only in the log', async () => {
  const backend = await start(`export const createUiAppsBackend = () => ({ methods: {
    plain() { throw new Error('broken'); },
    coded() { throw Object.assign(new Error('gone'), { code: 'not_found' }); },
    odd() { throw Object.assign(new Error('x'), { code: 'EACCES' }); },
    text() { throw 'just text'; },
    async later() { await null; throw new Error('late'); },
  } });`);
  const failed = async (method) => {
    const { error } = await backend.invoke(method);
    return [error.data.code, error.message];
  };
  assert.deepEqual(await failed('plain'), ['internal', 'broken']);
  assert.deepEqual(await failed('coded'), ['not_found', 'gone']);
  assert.deepEqual(await failed('odd'), ['internal', 'x']);
  assert.deepEqual(await failed('text'), ['internal', 'just text']);
  assert.deepEqual(await failed('later'), ['internal', 'late']);
  await until(() => backend.output.text.includes('index.mjs'));
  backend.close();
});

test('results that are not JSON, and those that are too large', async () => {
  const backend = await start(`export const createUiAppsBackend = () => ({ methods: {
    big: () => 10n, fn: () => () => 1, loop() { const a = {}; a.a = a; return a; }, huge: () => 'x'.repeat(33 * 1024 * 1024),
    bad: () => ({ toJSON() { throw new Error('no'); } }),
  } });`);
  for (const method of ['big', 'fn', 'loop', 'bad']) {
    assert.equal((await backend.invoke(method)).error.message, `Result of "${method}" is not JSON`);
  }
  assert.equal((await backend.invoke('huge')).error.data.code, 'resource_exhausted');
  backend.close();
});

test('printing disturbs nothing', async () => {
  const backend = await start(`console.log('{"jsonrpc":"2.0","id":1,"result":"forged"}');
    export const createUiAppsBackend = () => ({ methods: { a() { process.stdout.write('x'.repeat(100000)); console.error('e'); return 1; } } });`);
  assert.equal((await backend.invoke('a')).result, 1);
  await until(() => backend.output.text.includes('forged') && backend.output.text.length > 100_000);
  backend.close();
});

test('a canceled call sees its signal; others go on', async () => {
  const backend = await start(`export const createUiAppsBackend = () => ({ methods: {
    wait: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped'))),
    now: () => 1,
  } });`);
  const waiting = backend.invoke('wait');
  assert.equal((await backend.invoke('now')).result, 1);
  backend.write({ method: '$/cancel', params: { id: waiting.id } });
  assert.equal((await waiting).result, 'stopped');
  backend.close();
});

test('a model is asked through the host, and canceled with its call', async () => {
  const source = `export const createUiAppsBackend = (ctx) => ({ methods: {
    has: () => ctx.llm !== null,
    ask: async (params, { llm }) => (await llm.complete({ input: params })).content,
  } });`;
  const without = await start(source);
  assert.equal((await without.invoke('has')).result, false);
  without.close();
  const backend = await start(source, { ctx: { llm: true } });
  const answer = backend.invoke('ask', 'hi');
  const request = await until(() => backend.requests[0]);
  assert.deepEqual([request.method, request.params.payload], ['llm.complete', { input: 'hi' }]);
  backend.write({ id: request.id, result: { ok: true, content: 'hello' } });
  assert.equal((await answer).result, 'hello');
  const refused = backend.invoke('ask', 'again');
  const second = await until(() => backend.requests[1]);
  backend.write({ id: second.id, error: { code: -32000, message: 'No models configured', data: { code: 'unavailable' } } });
  assert.deepEqual((await refused).error.data, { code: 'unavailable' });
  const canceled = backend.invoke('ask', 'slow');
  const third = await until(() => backend.requests[2]);
  backend.write({ method: '$/cancel', params: { id: canceled.id } });
  assert.equal((await canceled).error.data.code, 'canceled');
  const told = await until(() => backend.requests[3]);
  assert.deepEqual([told.method, told.params.id], ['$/cancel', third.id]);
  backend.close();
});

test('entries that are no backend say so', async () => {
  for (const [source, message] of [
    ['export const x = 1;', 'Plugin backend must export createUiAppsBackend'],
    ['export const createUiAppsBackend = () => ({});', 'createUiAppsBackend() must return { methods }'],
    ['export const createUiAppsBackend = () => null;', 'createUiAppsBackend() must return { methods }'],
    ['export const createUiAppsBackend = () => { throw new Error("no disk"); };', 'no disk'],
    ['import "./missing.mjs"; export const createUiAppsBackend = () => ({ methods: {} });', /missing\.mjs/],
  ]) {
    const backend = await start(source);
    const said = backend.opened.error?.message;
    if (message instanceof RegExp) assert.match(said, message);
    else assert.equal(said, message);
    backend.close();
    await backend.exit;
  }
});

test('it ends with its host, and when told to', async () => {
  const source = `setInterval(() => {}, 1000);
    export const createUiAppsBackend = () => ({ methods: { a: () => 1 }, dispose() { console.log('bye'); throw new Error('oops'); } });`;
  const orphan = await start(source);
  orphan.close();
  assert.deepEqual(await orphan.exit, [71, null]);
  const told = await start(source);
  assert.ok((await told.ask('ping')).result.busy >= 1, 'a timer keeps it busy');
  await told.ask('dispose');
  assert.deepEqual(await told.exit, [0, null]);
  assert.match(told.output.text, /bye[\s\S]*dispose failed/);
});

test('an idle backend says that it is idle', async () => {
  const backend = await start('export const createUiAppsBackend = () => ({ methods: {} });');
  assert.deepEqual((await backend.ask('ping')).result, { busy: 0, calls: 0 });
  backend.close();
});

test('children of a backend do not hold the line to the host', async () => {
  const backend = await start(`import { spawn } from 'node:child_process';
    export const createUiAppsBackend = () => ({ methods: {
      fork: () => new Promise((resolve) => {
        const child = spawn('/bin/sh', ['-c', 'test -e /proc/self/fd/3'], { stdio: ['ignore', 'ignore', 'ignore'] });
        child.on('exit', resolve);
      }),
    } });`);
  assert.notEqual((await backend.invoke('fork')).result, 0, 'descriptor 3 is not there');
  backend.close();
});
