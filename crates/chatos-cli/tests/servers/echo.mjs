// A hand-written server of protocol 2024-11-05: no ping, dotted tool names, unknown notifications.
// What it does wrong is chosen by its first word.
import { createInterface } from "node:readline";
import { appendFileSync, existsSync, readFileSync } from "node:fs";

const fault = process.argv[2] ?? "";
const note = process.argv[3];
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const reply = (id, result) => send({ jsonrpc: "2.0", id, result });
const text = (value, more = {}) => ({ content: [{ type: "text", text: value }], ...more });
let waiting;

if (fault === "dies") {
  console.error("no configuration found");
  process.exit(3);
}
if (fault === "module") {
  await import("a-module-that-nobody-installed");
}

const describe = () => (note && existsSync(note) ? readFileSync(note, "utf8") : "says what it was told");

const tools = () => [
  { name: "echo.params", description: describe(), inputSchema: { type: "object", properties: { a: {} } } },
  { name: "ask", description: "asks for a number", inputSchema: { type: "object" } },
  { name: "crash", description: "ends the process", inputSchema: { type: "object" } },
  { name: "hang", description: "never answers", inputSchema: { type: "object" } },
  { name: "fails", description: "says that it failed", inputSchema: { type: "object" } },
  { name: "report_run", description: "answers later", inputSchema: { type: "object" } },
];

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.id === waiting?.id && message.method === undefined) {
    reply(waiting.call, text(JSON.stringify(message.result)));
    waiting = undefined;
    return;
  }
  const { id, method, params } = message;
  if (fault === "silent") return;
  switch (method) {
    case "initialize":
      send({ jsonrpc: "2.0", method: "notifications/of/nobody", params: {} });
      reply(id, {
        protocolVersion: "2024-11-05",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "echo", version: "0.1" },
      });
      break;
    case "tools/list":
      if (fault === "no-list") return;
      if (fault === "garbage") process.stdout.write("this is no JSON\n\u0000\u0001\n[1,2\n");
      reply(id, { tools: tools() });
      break;
    case "tools/call":
      switch (params.name) {
        case "echo.params":
          reply(id, text(JSON.stringify(params)));
          break;
        case "ask":
          waiting = { id: "q1", call: id };
          send({
            jsonrpc: "2.0",
            id: "q1",
            method: "elicitation/create",
            params: {
              message: "How many?",
              requestedSchema: {
                type: "object",
                required: ["count"],
                properties: { count: { type: "integer" }, sure: { type: "boolean" } },
              },
            },
          });
          break;
        case "crash":
          process.exit(9);
          break;
        case "hang":
          break;
        case "fails":
          reply(id, text("the disk is on fire", { isError: true }));
          break;
        case "report_run":
          if (note) appendFileSync(note, `${params._meta.taskId}\n`);
          reply(id, text("accepted"));
          break;
      }
      break;
    default:
      if (id !== undefined) send({ jsonrpc: "2.0", id, error: { code: -32601, message: `no ${method}` } });
  }
});
