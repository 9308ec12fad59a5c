// A client library of TypeScript, driven line by line: `node clients.mjs LIBRARY ERA COMMAND…`, or an address in place
// of the command, with the token in `TOKEN`. Prints one JSON object a line: first the tools' names and the version of
// the protocol; then, for each line `{"call": TOOL, "arguments": …}` that is read, the text of the result.
// `{"cancel": true}` takes back the call that is waiting.

import { createInterface } from 'node:readline';

const [library, era, ...where] = process.argv.slice(2);
const [command, ...args] = where;
const url = command.startsWith('http://') ? new URL(command) : undefined;
const headers = { Authorization: `Bearer ${process.env.TOKEN ?? ''}` };
/** A question may take a person's time. */
const timeout = 120_000;

/** The libraries: what they list, call and speak. */
const LIBRARIES = {
  client: async () => {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const client = new Client({ name: 'typescript-client', version: '1' }, { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : 'auto' } });
    await client.connect(url ? new StreamableHTTPClientTransport(url, { requestInit: { headers } }) : new StdioClientTransport({ command, args, env: process.env }));
    return { client, version: client.getNegotiatedProtocolVersion(), call: (order, signal) => client.callTool(order, { signal, timeout }) };
  },
  sdk: async () => {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const client = new Client({ name: 'typescript-sdk', version: '1' });
    await client.connect(url ? new StreamableHTTPClientTransport(url, { requestInit: { headers } }) : new StdioClientTransport({ command, args, env: process.env }));
    return { client, version: null, call: (order, signal) => client.callTool(order, undefined, { signal, timeout }) };
  },
  // Its own implementation of the protocol, not built on the ones above.
  aisdk: async () => {
    const { createMCPClient } = await import('@ai-sdk/mcp');
    const { StdioMCPTransport } = await import('@ai-sdk/mcp/mcp-stdio');
    /** By itself it takes a server that needs a second to start for an old one; a busy machine may need it. */
    class Patient extends StdioMCPTransport {
      waitsForProtocolVersionDiscovery = true;
    }
    const transport = url ? { type: 'http', url: url.href, headers } : new Patient({ command, args, env: process.env });
    const client = await createMCPClient({ transport, clientName: 'ai-sdk', version: '1', protocolVersionDiscovery: era !== 'legacy' });
    return { client, version: client.initializeResult.protocolVersion, call: (order, signal) => client.callTool({ ...order, options: { signal, timeout } }) };
  },
};

const say = (what) => console.log(JSON.stringify(what));
const { client, version, call } = await LIBRARIES[library]();
const { tools } = await client.listTools();
say({ names: tools.map(({ name }) => name), version });
let running;
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if (order.cancel) {
    running.abort.abort(new Error('taken back'));
    await running.done;
    say({ canceled: true });
    continue;
  }
  const abort = new AbortController();
  const { name } = tools.find((each) => each.name.endsWith(`_${order.call}`));
  const done = call({ name, arguments: order.arguments }, abort.signal).then(
    ({ content }) => say({ text: content[0].text }),
    (error) => abort.signal.aborted || say({ error: String(error.message) }),
  );
  running = { abort, done };
}
await client.close();
