// A small MCP server with a view (extension io.modelcontextprotocol/ui), without any library. Its page is in
// view-page.html; it writes down every call it gets into the file its first argument names.

import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , log = ''] = process.argv;
const PAGE = readFileSync(new URL('./view-page.html', import.meta.url), 'utf8');
const VIEW = 'ui://weather/dashboard';
/** One red dot. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const noArguments = { type: 'object', properties: {} };
const TOOLS = [
  { name: 'weather', description: 'The weather of a city.', inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }, _meta: { ui: { resourceUri: VIEW } } },
  { name: 'refresh', description: 'New numbers for the view.', inputSchema: noArguments, _meta: { ui: { resourceUri: VIEW, visibility: ['app'] } } },
  { name: 'secret_plan', description: 'For models only.', inputSchema: noArguments, _meta: { ui: { visibility: ['model'] } } },
  { name: 'broken', description: 'Its page is no page.', inputSchema: noArguments, _meta: { ui: { resourceUri: 'ui://weather/broken' } } },
];

function answer(method, params) {
  switch (method) {
    case 'initialize':
      appendFileSync(log, `initialize ${JSON.stringify(params.capabilities?.extensions ?? null)}\n`);
      return { protocolVersion: '2025-06-18', capabilities: { tools: {}, resources: {} }, serverInfo: { name: 'weather', version: '1.0.0' } };
    case 'tools/list':
      return { tools: TOOLS };
    case 'tools/call':
      appendFileSync(log, `call ${params.name} ${JSON.stringify(params.arguments ?? {})}\n`);
      if (params.name === 'weather') return { content: [{ type: 'text', text: `Sunny in ${params.arguments.city}` }, { type: 'image', data: DOT, mimeType: 'image/png' }], structuredContent: { city: params.arguments.city, degrees: 21 } };
      return { content: [{ type: 'text', text: 'refreshed' }], structuredContent: { degrees: 23 } };
    case 'resources/read':
      appendFileSync(log, `read ${params.uri}\n`);
      if (params.uri === VIEW) {
        return { contents: [{ uri: VIEW, mimeType: 'text/html;profile=mcp-app', text: PAGE, _meta: { ui: { csp: { connectDomains: ['https://api.example.com'] }, prefersBorder: true } } }] };
      }
      if (params.uri === 'data://facts') return { contents: [{ uri: params.uri, mimeType: 'text/plain', text: 'water is wet' }] };
      return { contents: [{ uri: params.uri, mimeType: 'text/plain', text: 'not a page' }] };
  }
  return null;
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answer(method, params ?? {});
  const reply = result === null ? { error: { code: -32601, message: `no method ${method}` } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
});
