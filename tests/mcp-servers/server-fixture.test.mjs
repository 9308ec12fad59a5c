// The server that the conformance suite is run against really does what its names promise: a scenario may
// be green when its tool is missing.

import assert from 'node:assert/strict';
import test from 'node:test';

import { ownServer } from './support.mjs';

const MODERN = '2026-07-28';
const CAPABLE = { elicitation: {}, sampling: {}, roots: {} };

/** One modern request; the messages that came and the status. */
async function modern(url, method, params = {}, capabilities = CAPABLE, meta = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...meta,
  };
  const name = params.name ?? params.uri;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': MODERN,
      'Mcp-Method': method,
      ...(name === undefined ? {} : { 'Mcp-Name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  const lines = response.headers.get('content-type')?.includes('event-stream')
    ? text.split(/\r?\n/).filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim())
    : [text];
  const messages = lines.filter((line) => line.length > 0).map((line) => JSON.parse(line));
  const last = messages.find((message) => message.id === 1);
  return { status: response.status, messages, result: last?.result, error: last?.error };
}

const call = (url, name, more = {}, ...rest) => modern(url, 'tools/call', { name, arguments: {}, ...more }, ...rest);
const words = (done) => done.result.content.find((part) => part.type === 'text').text;

test('the names the suite looks for are there', async (t) => {
  const url = await ownServer(t);
  const { result } = await modern(url, 'tools/list');
  const names = new Set(result.tools.map((tool) => tool.name));
  const wanted = [
    'test_simple_text', 'test_image_content', 'test_audio_content', 'test_embedded_resource',
    'test_multiple_content_types', 'test_tool_with_logging', 'test_logging_tool', 'test_error_handling',
    'test_tool_with_progress', 'test_sampling', 'test_elicitation', 'test_elicitation_sep1034_defaults',
    'test_elicitation_sep1330_enums', 'test_missing_capability', 'test_streaming_elicitation',
    'test_trigger_tool_change', 'test_trigger_prompt_change',
    ...['elicitation', 'sampling', 'list_roots', 'request_state', 'tampered_state', 'multiple_inputs', 'multi_round', 'capabilities']
      .map((what) => `test_input_required_result_${what}`),
  ];
  assert.deepEqual(wanted.filter((name) => !names.has(name)), []);
  const media = ['test_audio_content', 'test_embedded_resource', 'test_image_content', 'test_multiple_content_types'];
  const without = result.tools.filter((tool) => !tool.outputSchema?.required?.includes('status')).map((tool) => tool.name);
  assert.deepEqual(without, media, 'every tool has the envelope, unless its results are pictures, sounds or documents');
});

test('parts of a result follow the text, and no envelope hides them from a client that would show only that', async (t) => {
  const url = await ownServer(t);
  const { result } = await call(url, 'test_multiple_content_types');
  assert.deepEqual(result.content.map((part) => part.type), ['text', 'image', 'resource']);
  assert.equal('structuredContent' in result, false);
  assert.equal(result._meta.chatos.tool, 'test_multiple_content_types');
  const plain = await call(url, 'test_simple_text');
  assert.deepEqual(plain.result.structuredContent, { status: 'ok', code: 'ok', data: { done: true } });
  assert.equal(result.content[2].resource.uri, 'test://mixed-content-resource');
  const failed = await call(url, 'test_error_handling');
  assert.equal(failed.result.isError, true);
  assert.equal(failed.result.structuredContent.code, 'unavailable');
});

test('answers go from round to round, and only with their state', async (t) => {
  const url = await ownServer(t);
  const name = 'test_input_required_result_multi_round';
  const first = await call(url, name);
  assert.deepEqual(Object.keys(first.result.inputRequests), ['step1']);
  const step1 = { inputResponses: { step1: { action: 'accept', content: { name: 'Ada' } } } };
  const stateless = await call(url, name, step1);
  assert.deepEqual(Object.keys(stateless.result.inputRequests), ['step1'], 'without its state an answer does not count');
  const second = await call(url, name, { ...step1, requestState: first.result.requestState });
  assert.deepEqual(Object.keys(second.result.inputRequests), ['step2']);
  assert.notEqual(second.result.requestState, first.result.requestState);
  const step2 = { inputResponses: { step2: { action: 'accept', content: { color: 'green' } } } };
  const third = await call(url, name, { ...step2, requestState: second.result.requestState });
  assert.equal(words(third), 'Ada likes green.');
  const foreign = await call(url, 'test_input_required_result_request_state', { requestState: second.result.requestState });
  assert.equal(foreign.error.code, -32602, 'a state of another tool');
});

test('a client is asked only for what it offers', async (t) => {
  const url = await ownServer(t);
  const missing = await call(url, 'test_missing_capability', {}, {});
  assert.deepEqual([missing.status, missing.error.code], [400, -32021]);
  assert.deepEqual(missing.error.data.requiredCapabilities, { sampling: {} });
  const { result } = await call(url, 'test_input_required_result_capabilities', {}, { sampling: {} });
  assert.deepEqual(Object.values(result.inputRequests).map((request) => request.method), ['sampling/createMessage']);
});

test('the log of a client gets what it asked for', async (t) => {
  const url = await ownServer(t);
  const lines = async (level) => {
    const meta = level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level };
    const { messages } = await call(url, 'test_logging_tool', {}, CAPABLE, meta);
    return messages.filter((message) => message.method === 'notifications/message').length;
  };
  assert.deepEqual([await lines(), await lines('info'), await lines('error')], [0, 3, 0]);
});

test('documents, prompts and proposals', async (t) => {
  const url = await ownServer(t);
  const read = async (uri) => (await modern(url, 'resources/read', { uri })).result?.contents[0];
  assert.equal((await read('test://static-text')).text, 'This is the content of the static text resource.');
  assert.match((await read('test://static-binary')).blob, /^iVBOR/);
  assert.equal(JSON.parse((await read('test://template/7/data')).text).id, '7');
  const nothing = await modern(url, 'resources/read', { uri: 'test://template//data' });
  assert.deepEqual([nothing.error.code, nothing.error.data.uri], [-32602, 'test://template//data']);
  const prompt = (name, more) => modern(url, 'prompts/get', { name, ...more });
  const filled = await prompt('test_prompt_with_arguments', { arguments: { arg1: 'a', arg2: 'b' } });
  assert.equal(filled.result.messages[0].content.text, "Prompt with arguments: arg1='a', arg2='b'");
  assert.equal((await prompt('test_prompt_with_arguments', { arguments: { arg1: 'a' } })).error.code, -32602);
  assert.equal((await prompt('no_such_prompt')).error.code, -32602);
  const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
  const { result } = await modern(url, 'completion/complete', { ref, argument: { name: 'arg1', value: 'park' } });
  assert.deepEqual(result.completion.values, ['park']);
});

/** An older session, with its own stream. */
async function legacy(t, url) {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const post = (message) => fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const opened = await post({ id: 1, method: 'initialize', params });
  headers['Mcp-Session-Id'] = opened.headers.get('mcp-session-id');
  headers['MCP-Protocol-Version'] = '2025-11-25';
  await opened.text();
  await (await post({ method: 'notifications/initialized' })).text();
  const stop = new AbortController();
  t.after(() => stop.abort());
  const { 'Content-Type': _, ...listen } = headers;
  const stream = await fetch(url, { headers: { ...listen, Accept: 'text/event-stream' }, signal: stop.signal });
  return { post, stream };
}

test('every method says that its result is complete to a modern client, and nothing of it to an older one', async (t) => {
  const url = await ownServer(t);
  const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
  const methods = [
    ['tools/list', {}],
    ['tools/call', { name: 'test_simple_text', arguments: {} }],
    ['tools/call', { name: 'test_error_handling', arguments: {} }],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['resources/read', { uri: 'test://static-text' }],
    ['prompts/list', {}],
    ['prompts/get', { name: 'test_simple_prompt' }],
    ['completion/complete', { ref, argument: { name: 'arg1', value: 'p' } }],
  ];
  const { post } = await legacy(t, url);
  for (const [method, params] of [['server/discover', {}], ...methods]) {
    const { result, error } = await modern(url, method, params);
    assert.equal(result?.resultType, 'complete', `${method}: ${JSON.stringify(result ?? error)}`);
  }
  for (const [at, [method, params]] of methods.entries()) {
    const text = await (await post({ id: at + 2, method, params })).text();
    const data = text.split(/\r?\n/).filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim());
    const messages = (data.length > 0 ? data : [text]).filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    const { result } = messages.find((message) => message.id === at + 2);
    assert.ok(result, `${method}: ${text}`);
    assert.ok(!('resultType' in result), `${method}: ${JSON.stringify(result)}`);
  }
});

test('an older client hears of the documents it watches, and of no others', async (t) => {
  const url = await ownServer(t);
  const { post, stream } = await legacy(t, url);
  const watched = 'test://watched-resource';
  const subscribed = await post({ id: 2, method: 'resources/subscribe', params: { uri: watched } });
  assert.match(await subscribed.text(), /"result"/);
  await (await post({ id: 3, method: 'tools/call', params: { name: 'test_trigger_resource_change', arguments: {} } })).text();
  await (await post({ id: 4, method: 'resources/unsubscribe', params: { uri: watched } })).text();
  await (await post({ id: 5, method: 'tools/call', params: { name: 'test_trigger_resource_change', arguments: {} } })).text();
  await (await post({ id: 6, method: 'tools/call', params: { name: 'test_trigger_prompt_change', arguments: {} } })).text();
  let seen = '';
  for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) {
    seen += chunk;
    if (seen.includes('notifications/prompts/list_changed')) break;
  }
  assert.equal(seen.split('notifications/resources/updated').length - 1, 1, seen);
});
