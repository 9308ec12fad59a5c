// A small MCP server over standard input and output, in the old protocol and without any library. Its first
// argument names a file with the description of `echo`, read at each start, so that a test can change what
// the server says about itself between two starts. A file that says “broken” makes it end at once.

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , file = '', ...words] = process.argv;
const description = file === '' ? 'Says it again.' : readFileSync(file, 'utf8').trim();
process.stderr.write(`fixture started with ${JSON.stringify(words)}\n`);
if (description === 'broken') {
  process.stderr.write('the fixture was told to break\n');
  process.exit(3);
}

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const TOOLS = [
  {
    name: 'echo',
    title: 'Echo',
    description,
    inputSchema: { type: 'object', properties: { text: { type: 'string', minLength: 1, description: 'What to say' }, times: { type: 'integer', minimum: 1, maximum: 5 } }, required: ['text'] },
  },
  { name: 'env.read', description: 'Whether a variable is set.', inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
  { name: 'crash', description: 'Ends the server in the middle of the call.', inputSchema: { type: 'object', properties: {} } },
];

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'fixture', version: '1.2.3' } };
    case 'tools/list':
      return { tools: TOOLS };
    case 'tools/call': {
      const { name, arguments: given = {} } = params;
      if (name === 'echo') return text(Array.from({ length: given.times ?? 1 }, () => given.text).join(' '));
      if (name === 'env.read') return text(process.env[given.name] === undefined ? 'not set' : `set, ${process.env[given.name].length} characters`);
      process.stderr.write('the fixture crashes now\n');
      process.exit(7);
    }
  }
  return null;
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answer(method, params);
  const reply = result === null ? { error: { code: -32601, message: `no method ${method}` } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
});
