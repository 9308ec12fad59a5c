// Whole runs of the real program against a model server of another maker: text, tool calls and its faults,
// in the shapes of OpenAI (both), Anthropic and Ollama.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { LLMock } from '@copilotkit/aimock';

const PATIENCE_MS = 120_000;
const dir = mkdtempSync(join(tmpdir(), 'chatos-models-'));
let host;
let mock;
const models = {};

async function api(method, path, body) {
  const response = await fetch(`${host.url}api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${host.token}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${text}`);
  return text === '' ? null : JSON.parse(text);
}

async function chat(model, text) {
  const session = await api('POST', 'sessions', { modelId: models[model] });
  const sent = await api('POST', `sessions/${session.id}/send`, { text });
  const began = Date.now();
  for (;;) {
    const run = await api('GET', `runs/${sent.runId}`);
    if (['done', 'failed', 'aborted'].includes(run.state)) {
      const page = await api('GET', `sessions/${session.id}/messages`);
      return { run, messages: page.messages };
    }
    assert.ok(Date.now() - began < PATIENCE_MS, `the run stays ${run.state}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

before(async () => {
  mock = new LLMock({ port: 0, chunkSize: 8 });
  mock.on({ userMessage: 'time', hasToolResult: false }, {
    toolCalls: [{ name: 'get_current_time', arguments: '{}' }],
  });
  mock.on({ userMessage: 'time', hasToolResult: true }, { content: 'That was the time, from a tool.' });
  mock.on({ userMessage: 'nonsense', hasToolResult: false }, {
    toolCalls: [{ name: 'there_is_no_such_tool', arguments: '{"a":1}' }],
  });
  mock.on({ userMessage: 'nonsense', hasToolResult: true }, { content: 'The tool was not there.' });
  mock.on({ userMessage: 'fault' }, { content: 'An answer after all.' });
  mock.on({ userMessage: 'hello' }, { content: 'Hello, this is an answer in several pieces.' });
  await mock.start();
  const program = process.env.CHATOS_BIN ?? join(import.meta.dirname, '../../target/debug/chatos');
  const child = spawn(program, ['serve', '--state-dir', join(dir, 'state'), '--port', '0', '--no-open', '--ready-json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, HOME: dir, CHATOS_STATE_DIR: undefined },
  });
  const lines = createInterface({ input: child.stdout });
  const ready = await new Promise((resolve, reject) => {
    lines.once('line', (line) => resolve(JSON.parse(line)));
    child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)));
  });
  host = { url: ready.url, token: ready.token, child };
  await api('PUT', 'secrets/MOCK_KEY', { value: 'mock-key-for-tests' });
  for (const [name, provider, baseUrl, model] of [
    ['openai', 'openai', `${mock.url}/v1`, 'gpt-4o'],
    ['anthropic', 'anthropic', mock.url, 'claude-sonnet-4-5'],
    ['responses', 'openai_responses', `${mock.url}/v1`, 'gpt-5'],
    ['ollama', 'ollama', mock.url, 'llama3.1'],
  ]) {
    const made = await api('POST', 'models', { name, provider, baseUrl, model, apiKeyName: 'MOCK_KEY' });
    models[name] = made.id;
  }
});

after(async () => {
  host?.child.kill('SIGTERM');
  await mock?.stop();
  rmSync(dir, { recursive: true, force: true });
});

for (const model of ['openai', 'anthropic', 'responses', 'ollama']) {
  test(`${model}: a streamed answer`, async () => {
    const { run, messages } = await chat(model, 'hello there');
    assert.equal(run.state, 'done', JSON.stringify(run.error));
    assert.equal(messages.at(-1).content, 'Hello, this is an answer in several pieces.');
  });

  test(`${model}: a tool call and its result`, async () => {
    const { run, messages } = await chat(model, 'what time is it');
    assert.equal(run.state, 'done', JSON.stringify(run.error));
    assert.deepEqual(messages.map((message) => message.role), ['user', 'assistant', 'tool', 'assistant']);
    assert.equal(messages[2].status, 'ok');
    assert.equal(messages[3].content, 'That was the time, from a tool.');
  });

  test(`${model}: an unknown tool is told to the model`, async () => {
    const { run, messages } = await chat(model, 'call nonsense');
    assert.equal(run.state, 'done', JSON.stringify(run.error));
    assert.equal(messages.find((message) => message.role === 'tool').code, 'not_found');
  });

  for (const [fault, chaos] of [
    ['errors', { dropRate: 1 }],
    ['rate limits', { rateLimitRate: 1 }],
    ['malformed answers', { malformedRate: 1 }],
    ['broken connections', { disconnectRate: 1 }],
  ]) {
    test(`${model}: ${fault} are repeated, and one answer comes`, async () => {
      mock.setChaos(chaos);
      const calm = setTimeout(() => mock.clearChaos(), 1500);
      try {
        const { run, messages } = await chat(model, `a fault: ${fault}`);
        assert.equal(run.state, 'done', JSON.stringify(run.error));
        const answers = messages.filter((message) => message.role === 'assistant');
        assert.deepEqual(answers.map((message) => message.content), ['An answer after all.']);
      } finally {
        clearTimeout(calm);
        mock.clearChaos();
      }
    });
  }
}
