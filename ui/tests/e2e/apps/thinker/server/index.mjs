import { createInterface } from 'node:readline';

const tools = [{ name: 'double', description: 'Doubles a number.', inputSchema: { type: 'object', properties: { number: { type: 'number' } }, required: ['number'] } }];
const answers = {
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'thinker', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: { number } }) => ({ content: [{ type: 'text', text: String(number * 2) }] }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params);
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: method } }) })}\n`);
});
