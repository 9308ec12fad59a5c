// The server of a plugin: every call it gets becomes a line of the file its first word names.
import { createInterface } from "node:readline";
import { appendFileSync } from "node:fs";

const file = process.argv[2];
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const tool = (name) => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: "object", properties: { key: { type: "string" } } },
});
let asking;

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined && id === asking?.question) {
    send({ id: asking.call, result: text(JSON.stringify(result ?? error)) });
    asking = undefined;
    return;
  }
  if (method === "initialize") {
    send({
      id,
      result: {
        protocolVersion: "2024-11-05",
        capabilities: { tools: {} },
        serverInfo: { name: "window", version: "1" },
        instructions: JSON.stringify(params.capabilities),
      },
    });
  } else if (method === "tools/list") {
    const names = ["codex_app_window_run", "own_id_run", "echo", "slow", "ask", "sample"];
    send({ id, result: { tools: names.map(tool) } });
  } else if (method === "tools/call") {
    appendFileSync(file, `${JSON.stringify(params)}\n`);
    switch (params.name) {
      case "codex_app_window_run":
        // Seed 003 §2: the ACK at once; somebody else does the work.
        send({ id, result: text(JSON.stringify({ status: "accepted", taskId: params._meta.taskId })) });
        break;
      case "own_id_run":
        send({ id, result: text(JSON.stringify({ status: "accepted", taskId: `own-${params.arguments.key}` })) });
        break;
      case "slow":
        setTimeout(() => send({ id, result: text(`slow ${params.arguments.key}`) }), 2500);
        break;
      case "ask":
        asking = { question: "q", call: id };
        send({
          id: "q",
          method: "elicitation/create",
          params: { message: "How many?", requestedSchema: { type: "object", properties: { n: { type: "integer" } } } },
        });
        break;
      case "sample":
        asking = { question: "s", call: id };
        send({
          id: "s",
          method: "sampling/createMessage",
          params: {
            messages: [{ role: "user", content: { type: "text", text: `sampled ${params.arguments.key}` } }],
            maxTokens: 50,
          },
        });
        break;
      default:
        send({ id, result: text("echoed") });
    }
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: `no ${method}` } });
  }
});
