// Whole runs of the real program against a model server of another maker: text, tool calls and its faults,
// in the shapes of OpenAI (both), Anthropic and Ollama.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { LLMock } from '@copilotkit/aimock';

import { startHost } from './support.mjs';

const dir = mkdtempSync(join(tmpdir(), 'chatos-models-'));
let host;
let mock;
const models = {};

const chat = (model, text) => host.chat(models[model], text);

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
  host = await startHost(dir);
  await host.api('PUT', 'secrets/MOCK_KEY', { value: 'mock-key-for-tests' });
  for (const [name, provider, baseUrl, model] of [
    ['openai', 'openai', `${mock.url}/v1`, 'gpt-4o'],
    ['anthropic', 'anthropic', mock.url, 'claude-sonnet-4-5'],
    ['responses', 'openai_responses', `${mock.url}/v1`, 'gpt-5'],
    ['ollama', 'ollama', mock.url, 'llama3.1'],
  ]) {
    const made = await host.api('POST', 'models', { name, provider, baseUrl, model, apiKeyName: 'MOCK_KEY' });
    models[name] = made.id;
  }
});

after(async () => {
  await host?.stop();
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
