// The protocols models are spoken to in, each as far as a server needs it that calls tools one after the other: which
// tools a request offers, how many answers of tools it has, the pictures in it, and a call or a text as an answer.

const each = (value, key) => (Array.isArray(value) ? value.flatMap((one) => each(one, key)) : value && typeof value === 'object' ? Object.entries(value).flatMap(([name, one]) => (name === key ? [one] : each(one, key))) : []);
const event = (data, name) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
const named = (data) => event(data, data.type);

/** provider → how it is spoken to; `call` is absent where the model says its last word. */
export const VENDORS = {
  openai_compatible: {
    base: '/v1',
    tools: (asked) => asked.tools?.map((one) => one.function.name),
    answered: (asked) => asked.messages.filter(({ role }) => role === 'tool').length,
    pictures: (asked) => each(asked.messages, 'image_url').map(({ url }) => url),
    answer(call, number) {
      const calls = call && [{ index: 0, id: `call-${number}`, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) } }];
      const choices = [{ index: 0, delta: call ? { tool_calls: calls } : { content: 'seen' }, finish_reason: call ? 'tool_calls' : 'stop' }];
      return `${event({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}data: [DONE]\n\n`;
    },
  },
  openai_responses: {
    base: '/v1',
    tools: (asked) => asked.tools?.map((one) => one.name),
    answered: (asked) => asked.input.filter(({ type }) => type === 'function_call_output').length,
    pictures: (asked) => each(asked.input, 'image_url'),
    answer(call, number) {
      const item = call
        ? { type: 'function_call', id: `fc_${number}`, call_id: `call_${number}`, name: call.name, arguments: JSON.stringify(call.args), status: 'completed' }
        : { type: 'message', id: `msg_${number}`, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'seen', annotations: [] }] };
      const text = call ? [] : [{ type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: 'seen' }];
      const response = { id: 'resp_1', object: 'response', status: 'completed', output: [item], usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } };
      const all = [{ type: 'response.created', response: { ...response, status: 'in_progress', output: [] } }, { type: 'response.output_item.added', output_index: 0, item }, ...text, { type: 'response.output_item.done', output_index: 0, item }, { type: 'response.completed', response }];
      return all.map(named).join('');
    },
  },
  anthropic: {
    base: '',
    tools: (asked) => asked.tools?.map((one) => one.name),
    answered: (asked) => asked.messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === 'tool_result').length,
    pictures: (asked) => each(asked.messages, 'source').map(({ media_type, data }) => `data:${media_type};base64,${data}`),
    answer(call, number) {
      const block = call ? { type: 'tool_use', id: `toolu_${number}`, name: call.name, input: {} } : { type: 'text', text: '' };
      const delta = call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.args) } : { type: 'text_delta', text: 'seen' };
      const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
      const end = { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null };
      const all = [{ type: 'message_start', message }, { type: 'content_block_start', index: 0, content_block: block }, { type: 'content_block_delta', index: 0, delta }, { type: 'content_block_stop', index: 0 }, { type: 'message_delta', delta: end, usage: { output_tokens: 2 } }, { type: 'message_stop' }];
      return all.map(named).join('');
    },
  },
  gemini: {
    base: '',
    tools: (asked) => asked.tools?.flatMap((one) => one.functionDeclarations ?? []).map((one) => one.name),
    answered: (asked) => each(asked.contents, 'functionResponse').length,
    pictures: (asked) => each(asked.contents, 'inlineData').map(({ mimeType, data }) => `data:${mimeType};base64,${data}`),
    answer(call) {
      const parts = [call ? { functionCall: { name: call.name, args: call.args } } : { text: 'seen' }];
      return event({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } });
    },
  },
  ollama: {
    base: '',
    tools: (asked) => asked.tools?.map((one) => one.function.name),
    answered: (asked) => asked.messages.filter(({ role }) => role === 'tool').length,
    // It has bytes alone, without their kind.
    pictures: (asked) => each(asked.messages, 'images').flat().map((data) => `data:image/png;base64,${data}`),
    answer(call) {
      const message = { role: 'assistant', content: call ? '' : 'seen', ...(call ? { tool_calls: [{ function: { name: call.name, arguments: call.args } }] } : {}) };
      return `${JSON.stringify({ model: 'm', created_at: '2026-01-01T00:00:00Z', message, done: true, done_reason: 'stop', prompt_eval_count: 1, eval_count: 1 })}\n`;
    },
  },
};
