// A server that misbehaves in the way its first word says (security §4 E). Everything else about it works.
import { createInterface } from "node:readline";
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";

const fault = process.argv[2];
const raw = (bytes, stream = 1) => {
  let left = Buffer.from(bytes);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(stream, left));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
};
const send = (message) => raw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const die = (words) => {
  console.error(words);
  process.exit(7);
};

if (fault === "crash-start") die("dies at once");
if (fault === "ignores-term") {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
}
if (fault === "grandchildren") {
  // One of its own session, one that leaves it.
  for (const detached of [false, true]) {
    spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore", detached }).unref();
  }
}
if (fault === "garbage-start") raw("Welcome!\n{\"half\": \n[1,2]\n\n");

let inner = { type: "object" };
if (fault === "deep-schema") for (let n = 0; n < 40; n += 1) inner = { type: "object", properties: { a: inner } };
const echo = { name: "echo", description: "says it", inputSchema: { type: "object" } };

function list(id, cursor) {
  switch (fault) {
    case "hang-list":
      return;
    case "crash-list":
      die("dies in the listing");
      return;
    case "endless-cursors":
      send({ id, result: { tools: cursor ? [] : [echo], nextCursor: String(Number(cursor ?? 0) + 1) } });
      return;
    case "100000-tools": {
      const more = Array.from({ length: 99_999 }, (_, n) => ({ name: `t${n}`, inputSchema: { type: "object" } }));
      send({ id, result: { tools: [echo, ...more] } });
      return;
    }
    case "deep-schema":
      send({ id, result: { tools: [echo, { name: "deep", inputSchema: inner }] } });
      return;
    case "deeper-schema":
      raw(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[${JSON.stringify(echo)},{"name":"deep","inputSchema":${'{"a":'.repeat(5000)}{}${"}".repeat(5000)}}]}}\n`);
      return;
    case "not-a-list":
      send({ id, result: { tools: { echo } } });
      return;
    default:
      send({ id, result: { tools: [echo] } });
  }
}

async function call(id) {
  switch (fault) {
    case "hang-call":
      return;
    case "crash-call":
      die("dies in the call");
      return;
    case "garbage":
      raw("no JSON\n\n[1,\n{}\nnull\n");
      break;
    case "binary":
      raw(Buffer.from(Array.from({ length: 4096 }, (_, n) => (n * 7) % 256)));
      raw("\n");
      break;
    case "gigabyte-line": {
      const piece = Buffer.alloc(1 << 20, 120);
      for (let n = 0; n < 1024; n += 1) raw(piece);
      raw("\n");
      break;
    }
    case "wrong-ids":
      for (const other of [id + 1000, String(id), null, -1, { id }]) send({ id: other, result: text("wrong") });
      break;
    case "twice":
      send({ id, result: text("right") });
      send({ id, result: text("again") });
      return;
    case "notifications":
      for (let n = 0; n < 20_000; n += 1) {
        send({ method: n % 2 ? "notifications/message" : "notifications/of/nobody", params: { level: "info", data: n } });
      }
      break;
    case "requests":
      for (let n = 0; n < 2_000; n += 1) send({ id: `p${n}`, method: n % 2 ? "ping" : "sampling/createMessage", params: {} });
      break;
    case "stderr":
      for (let n = 0; n < 200; n += 1) raw(`${"e".repeat(100_000)}\n`, 2);
      break;
    case "slow-drip":
      for (const byte of Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, result: text("right") })}\n`)) {
        raw(Buffer.from([byte]));
        await new Promise((wake) => setTimeout(wake, 2));
      }
      return;
    case "invalid-utf8":
      raw(Buffer.concat([
        Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"right `),
        Buffer.from([0xff, 0xc3]),
        Buffer.from(`"}]}}\n`),
      ]));
      return;
    case "null-result":
      send({ id, result: null });
      return;
    case "deep-result":
      raw(`{"jsonrpc":"2.0","id":${id},"result":${"[".repeat(100_000)}${"]".repeat(100_000)}}\n`);
      return;
    case "stops-reading":
      process.stdin.pause();
      return;
  }
  send({ id, result: text("right") });
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined || method === undefined || fault === "hang-start") return;
    if (method === "initialize") {
      if (fault === "crash-initialize") die("dies in the handshake");
      const serverInfo = { name: "faulty", version: "1" };
      send({ id, result: { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo } });
    } else if (method === "tools/list") {
      list(id, params?.cursor);
    } else if (method === "tools/call") {
      void call(id);
    } else {
      send({ id, error: { code: -32601, message: "no such method" } });
    }
  })
  .on("close", () => {
    if (fault !== "ignores-term") process.exit(0);
  });
