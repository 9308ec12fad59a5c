// litellm's proxy, unmodified, between the real program and a model server of another maker: answers, tools, and what
// litellm makes of a vendor's refusals. Where it can't be installed, the tests count as skipped and say why.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { LLMock } from '@copilotkit/aimock';

import { install } from '../mcp-servers/python.mjs';
import { freePort, serve } from '../mcp-servers/support.mjs';
import { startHost } from './support.mjs';

const here = import.meta.dirname;
const missing = install(here);
const KEY = 'sk-proxy-of-the-test';
/** What summaries are asked for with. */
const SUMMARY = 'Summarise it for yourself';
/** The window that the vendor behind the proxy names when it has had enough. */
const WINDOW = 40_000;
/** More than that window, in words. */
const LONG = 'all work and no play '.repeat(5_000);

const dir = mkdtempSync(join(tmpdir(), 'chatos-litellm-'));
let mock;
let proxy;
let host;
let usual;
/** Stands where litellm would find the way out, and counts who comes. */
let wayOut;
let left = 0;

/** Adds a model of the proxy as a person does. */
async function add(model) {
  const place = ['--provider', 'openai_compatible', '--url', `${proxy.url}/v1`, '--context', '200000'];
  const done = await host.chatos(['models', 'add', model, ...place, '--key-name', 'PROXY', '--key', '--json'], KEY);
  assert.equal(done.status, 0, done.stdout + done.stderr);
  return JSON.parse(done.stdout).id;
}

async function startProxy() {
  const config = {
    model_list: ['through', 'short'].map((name) => ({
      model_name: name,
      litellm_params: { model: `openai/${name}-vendor`, api_base: `${mock.url}/v1`, api_key: 'key-of-the-vendor' },
    })),
    litellm_settings: { num_retries: 0, telemetry: false },
    general_settings: { master_key: KEY },
  };
  const file = join(dir, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  const port = await freePort();
  const args = ['--config', file, '--host', '127.0.0.1', '--port', `${port}`, '--telemetry', 'False'];
  const out = `http://127.0.0.1:${wayOut.address().port}`;
  const child = await serve(join(here, '.venv/bin/litellm'), args, port, {
    HOME: dir,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS: 'True',
    LITELLM_LOG: 'CRITICAL',
    HTTP_PROXY: out,
    HTTPS_PROXY: out,
    http_proxy: out,
    https_proxy: out,
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
  });
  return { url: `http://127.0.0.1:${port}`, child };
}

/** What the vendor behind the proxy was asked, in order and whole. */
const asked = [];

before(async () => {
  if (missing !== undefined) return;
  wayOut = createServer((socket) => {
    left += 1;
    socket.destroy();
  });
  await new Promise((resolve) => wayOut.listen(0, '127.0.0.1', resolve));
  mock = new LLMock({ port: 0, chunkSize: 8 });
  const noted = (request) => asked.push(request) && false;
  mock.on({ predicate: noted }, { content: 'nobody gets this' });
  mock.on({ predicate: (request) => JSON.stringify(request.messages).includes(SUMMARY) }, { content: 'SUMMARY: much was said' });
  mock.on({ model: /short/, predicate: (request) => JSON.stringify(request).length > LONG.length }, {
    status: 400,
    error: {
      message: `This model's maximum context length is ${WINDOW} tokens. However, your messages resulted in 45000 tokens. Please reduce the length of the messages.`,
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  });
  mock.on({ userMessage: 'time', hasToolResult: false }, { toolCalls: [{ name: 'get_current_time', arguments: '{}' }] });
  mock.on({ userMessage: 'time', hasToolResult: true }, { content: 'That was the time, from a tool.' });
  mock.on({ userMessage: 'essay' }, { content: 'Half of it is read.' });
  mock.on({ userMessage: 'hello' }, { content: 'Hello, this is an answer in several pieces.' });
  await mock.start();
  proxy = await startProxy();
  host = await startHost(dir);
  usual = await add('through');
});

after(async () => {
  await host?.stop();
  if (proxy !== undefined) {
    const gone = new Promise((resolve) => proxy.child.once('exit', resolve));
    proxy.child.kill('SIGTERM');
    await gone;
  }
  await mock?.stop();
  wayOut?.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

const through = (name, check) => test(`through litellm: ${name}`, { skip: missing ?? false }, check);

through('a streamed answer', async () => {
  const { run, messages } = await host.chat(usual, 'hello there');
  assert.equal(run.state, 'done', JSON.stringify(run.error));
  assert.equal(messages.at(-1).content, 'Hello, this is an answer in several pieces.');
  assert.equal(asked.at(-1).model, 'through-vendor', 'the proxy asked the vendor');
  assert.equal(asked.at(-1).stream, true);
});

through('a tool call and its result', async () => {
  const { run, messages } = await host.chat(usual, 'what time is it');
  assert.equal(run.state, 'done', JSON.stringify(run.error));
  assert.deepEqual(messages.map((message) => message.role), ['user', 'assistant', 'tool', 'assistant']);
  assert.equal(messages[2].status, 'ok');
  assert.equal(messages[3].content, 'That was the time, from a tool.');
  const [call] = asked.at(-1).messages.find((message) => message.tool_calls).tool_calls;
  const result = asked.at(-1).messages.find((message) => message.role === 'tool');
  assert.equal(result.tool_call_id, call.id);
});

through('a model that it does not have is not found', async () => {
  const id = await add('nobody-has-this');
  const said = JSON.parse((await host.chatos(['models', 'test', id, '--json'])).stdout);
  assert.deepEqual([said.ok, said.class], [false, 'not_found'], JSON.stringify(said));
  const { run } = await host.chat(id, 'hello there');
  assert.deepEqual([run.state, run.error.code], ['failed', 'not_found'], JSON.stringify(run.error));
});

through('what the vendor finds too long is summarised, and the run goes on', async () => {
  const model = await add('short');
  const before = await host.chat(model, `hello ${LONG.slice(0, LONG.length / 2)}`);
  assert.equal(before.run.state, 'done', JSON.stringify(before.run.error));
  asked.length = 0;
  const { run, messages } = await host.chat(model, `the essay: ${LONG.slice(0, LONG.length / 2)}`, before.session);
  assert.equal(run.state, 'done', JSON.stringify(run.error));
  assert.equal(messages.at(-1).content, 'Half of it is read.');
  assert.ok(run.steps.some((step) => step.kind === 'compact' && step.state === 'done'), JSON.stringify(run.steps));
  const sizes = asked.map((body) => JSON.stringify(body).length);
  const summary = asked.findIndex((body) => JSON.stringify(body.messages).includes(SUMMARY));
  assert.ok(summary > 0, `a summary was asked for: ${sizes}`);
  assert.ok(sizes[0] > LONG.length && sizes.at(-1) < sizes[0] * 0.7, `the last request is much shorter: ${sizes}`);
  const last = JSON.stringify(asked.at(-1).messages);
  assert.ok(last.includes('SUMMARY: much was said') && last.includes('the essay: all work'), last.slice(0, 400));
});

through('nothing left this machine', () => {
  assert.equal(left, 0);
});
