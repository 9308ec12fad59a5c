// Takes the order and answers at once; the picture is painted where there is a canvas: in the app's page.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const tool = { name: 'paint', description: 'Paints a square of a colour.', inputSchema: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] } };
function answer(method, params) {
  if (method === 'initialize') return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'painter', version: '1' } };
  if (method === 'tools/list') return { tools: [tool] };
  if (method !== 'tools/call') return null;
  const job = { taskId: params._meta.taskId, colour: params.arguments.colour };
  appendFileSync(join(process.env.CHATOS_DATA_DIR, 'jobs.jsonl'), `${JSON.stringify(job)}\n`);
  return { content: [{ type: 'text', text: `accepted ${job.taskId}` }] };
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answer(method, params ?? {});
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: method } }) })}\n`);
});
