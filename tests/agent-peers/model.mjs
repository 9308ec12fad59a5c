// A scripted model on loopback that speaks what the agents speak: Anthropic messages, OpenAI responses and chat
// completions, Gemini. It asks for one tool call, and when it has seen the result it says so.

import { createServer } from 'node:http';

/**
 * Starts it. `call(names, text)` gives `{name, input}` for the tools on offer, or nothing; `text` is the whole request.
 * It is not asked again once there is a result, unless `again` says so. Every request is kept.
 */
export async function model(t, call, { again = false } = {}) {
  const seen = [];
  let made = 0;
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      let body = {};
      try {
        body = text ? JSON.parse(text) : {};
      } catch {
        // A probe.
      }
      seen.push({ url: request.url, body, text });
      const decide = async (answered, names) => {
        const wanted = answered && !again ? undefined : await call(names, text);
        return wanted && { ...wanted, id: `${++made}` };
      };
      Promise.resolve(answer(request.url, body, text, response, decide)).catch((error) => {
        if (!response.headersSent) response.writeHead(500).end(String(error));
      });
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.closeAllConnections?.() ?? server.close());
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, seen, said: (words) => seen.some(({ text }) => text.includes(words)) };
}

async function answer(url, body, text, response, call) {
  const path = url.split('?')[0];
  if (path.endsWith('/messages')) return anthropic(body, response, call);
  if (path.endsWith('/responses')) return responses(body, response, call);
  if (path.endsWith('/chat/completions')) return completions(body, response, call);
  if (path.includes('enerateContent')) return gemini(path, body, response, call);
  if (path.endsWith(':countTokens')) return json(response, { totalTokens: 10 });
  if (path.endsWith('/count_tokens')) return json(response, { input_tokens: 10 });
  if (path.endsWith('/models')) return json(response, { object: 'list', data: [{ id: 'scripted', object: 'model' }], models: [] });
  response.writeHead(404).end('{}');
}

const json = (response, value) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));

function events(response, list) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const [name, data] of list) response.write(`${name ? `event: ${name}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  response.end();
}

const DONE = 'all done';

async function anthropic(body, response, call) {
  const names = (body.tools ?? []).map((tool) => tool.name);
  const answered = (body.messages ?? []).some(({ content }) => Array.isArray(content) && content.some((part) => part.type === 'tool_result'));
  const wanted = await call(answered, names);
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
  const block = wanted ? { type: 'tool_use', id: `toolu_${wanted.id}`, name: wanted.name, input: {} } : { type: 'text', text: '' };
  const delta = wanted ? { type: 'input_json_delta', partial_json: JSON.stringify(wanted.input) } : { type: 'text_delta', text: DONE };
  const stop = wanted ? 'tool_use' : 'end_turn';
  if (!body.stream) {
    const content = wanted ? [{ ...block, input: wanted.input }] : [{ type: 'text', text: DONE }];
    return json(response, { ...message, content, stop_reason: stop });
  }
  events(response, [
    ['message_start', { type: 'message_start', message }],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: block }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    ['message_delta', { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } }],
    ['message_stop', { type: 'message_stop' }],
  ]);
}

async function responses(body, response, call) {
  // codex puts the tools of a server into a namespace, and wants it back with a call.
  const spaces = new Map();
  for (const tool of body.tools ?? []) {
    if (tool.type === 'namespace') for (const inner of tool.tools ?? []) spaces.set(inner.name, tool.name);
  }
  const names = [...(body.tools ?? []).map((tool) => tool.name ?? tool.type), ...spaces.keys()];
  const input = Array.isArray(body.input) ? body.input : [];
  const answered = input.some((item) => String(item.type).endsWith('_output'));
  const wanted = await call(answered, names);
  const item = wanted
    ? { type: 'function_call', id: `fc_${wanted.id}`, call_id: `call_${wanted.id}`, name: wanted.name, arguments: JSON.stringify(wanted.input), status: 'completed', ...(spaces.has(wanted.name) ? { namespace: spaces.get(wanted.name) } : {}) }
    : { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: DONE, annotations: [] }] };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
  const whole = { id: 'resp_1', object: 'response', status: 'completed', model: body.model, output: [item], usage };
  events(response, [
    ['response.created', { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } }],
    ['response.output_item.added', { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } }],
    ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item }],
    ['response.completed', { type: 'response.completed', response: whole }],
  ]);
}

async function completions(body, response, call) {
  const names = (body.tools ?? []).map((tool) => tool.function?.name);
  const answered = (body.messages ?? []).some(({ role }) => role === 'tool');
  const wanted = await call(answered, names);
  const chunk = (delta, finish = null) => ({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: body.model, choices: [{ index: 0, delta, finish_reason: finish }] });
  const delta = wanted
    ? { role: 'assistant', tool_calls: [{ index: 0, id: `call_${wanted.id}`, type: 'function', function: { name: wanted.name, arguments: JSON.stringify(wanted.input) } }] }
    : { role: 'assistant', content: DONE };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (!body.stream) {
    const message = wanted ? { role: 'assistant', content: null, tool_calls: delta.tool_calls } : delta;
    return json(response, { id: 'c1', object: 'chat.completion', created: 1, model: body.model, choices: [{ index: 0, message, finish_reason: wanted ? 'tool_calls' : 'stop' }], usage });
  }
  events(response, [['', chunk(delta)], ['', { ...chunk({}, wanted ? 'tool_calls' : 'stop'), usage }], ['', '[DONE]']]);
}

async function gemini(path, body, response, call) {
  const names = (body.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name));
  const answered = (body.contents ?? []).some(({ parts }) => (parts ?? []).some((part) => part.functionResponse));
  const wanted = await call(answered, names);
  // Side questions of the program want JSON.
  const plain = body.generationConfig?.responseMimeType === 'application/json' || body.generationConfig?.responseJsonSchema ? '{}' : DONE;
  const parts = wanted ? [{ functionCall: { name: wanted.name, args: wanted.input } }] : [{ text: plain }];
  const whole = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }, modelVersion: 'scripted' };
  if (path.includes(':stream')) return events(response, [['', whole]]);
  return json(response, whole);
}
