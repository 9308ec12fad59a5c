// A client library of TypeScript calls one tool through a server on stdio, as `clients.py` does:
// `node clients.mjs LIBRARY TOOL ARGUMENTS COMMAND…`.

const [library, tool, args, command, ...rest] = process.argv.slice(2);

/** The libraries, and the era each is asked to speak. */
const LIBRARIES = {
  client: async () => {
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const client = new Client({ name: 'typescript-client', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    return { client, transport: new StdioClientTransport({ command, args: rest, env: process.env }) };
  },
  sdk: async () => {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const client = new Client({ name: 'typescript-sdk', version: '1' });
    return { client, transport: new StdioClientTransport({ command, args: rest, env: process.env }) };
  },
};

const { client, transport } = await LIBRARIES[library]();
await client.connect(transport);
const { tools } = await client.listTools();
const { name } = tools.find((each) => each.name.endsWith(`_${tool}`));
const result = await client.callTool({ name, arguments: JSON.parse(args) });
const version = client.getNegotiatedProtocolVersion?.() ?? null;
console.log(JSON.stringify({ names: tools.map((each) => each.name), version, text: result.content[0].text }));
await client.close();
