// A server that misleads whoever trusts what it says; what it does is chosen by its first word.
import { createInterface } from "node:readline";

const does = process.argv[2] ?? "";
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const reply = (id, result) => send({ jsonrpc: "2.0", id, result });
const text = (value) => ({ content: [{ type: "text", text: value }] });
let told;
let waiting;

/** 2^18 objects in one schema, in well under the 8 MiB of a message. */
const wide = () => {
  const nodes = Array.from({ length: 1 << 17 }, () => ({ a: { b: 1 } }));
  return { name: "wide", description: "far too wide", inputSchema: { type: "object", anyOf: nodes } };
};

const tools = () => [
  { name: "capabilities", description: "what the client offers", inputSchema: { type: "object" } },
  { name: "roots", description: "asks for roots", inputSchema: { type: "object" } },
  { name: "number", description: "a number where a text belongs", inputSchema: { type: "object" } },
  { name: "hologram", description: "a kind of tomorrow", inputSchema: { type: "object" } },
  ...(does === "wide" ? [wide()] : []),
];

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  const { id, method, params } = message;
  if (method === undefined) {
    if (id === "r1") reply(waiting, text(JSON.stringify(message.result ?? message.error)));
    return;
  }
  switch (method) {
    case "initialize":
      told = params.capabilities;
      reply(id, {
        protocolVersion: does === "1999" ? "1999-01-01" : "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "stranger", version: "1" },
      });
      break;
    case "tools/list":
      reply(id, { tools: tools() });
      break;
    case "tools/call":
      switch (params.name) {
        case "capabilities":
          reply(id, text(JSON.stringify({ told, meta: params._meta })));
          break;
        case "roots":
          waiting = id;
          send({ jsonrpc: "2.0", id: "r1", method: "roots/list" });
          break;
        case "number":
          reply(id, { content: [{ type: "text", text: "before" }, { type: "text", text: 5 }] });
          break;
        case "hologram":
          reply(id, { content: [{ type: "text", text: "before" }, { type: "hologram", light: 1 }] });
          break;
      }
      break;
    default:
      if (id !== undefined) send({ jsonrpc: "2.0", id, error: { code: -32601, message: `no ${method}` } });
  }
});
