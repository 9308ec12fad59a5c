// A server of MCP's older era with prompts: it lists them, fills them, completes their arguments, and has another one
// after it was told to.
const lines = require("node:readline").createInterface({ input: process.stdin });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const languages = ["python", "perl", "rust"];
let lists = 0;
let grown = false;

const prompts = () => [
  { name: "review", title: "Review code", description: "Reviews\na file\u202e.", arguments: [
    { name: "language", description: "What it is written in", required: true },
    { name: "depth", description: "How thorough" },
  ] },
  { name: "one word", arguments: [{ name: "word", required: true }] },
  { name: "help", description: "A name of the chat itself" },
  { name: "listed", description: `listed ${lists} times` },
  ...(grown ? [{ name: "grown" }] : []),
];

const said = (name, given) => {
  switch (name) {
    case "review":
      return [
        { role: "user", content: { type: "text", text: `Review ${given.language} at depth ${given.depth ?? "any"}:` } },
        { role: "user", content: { type: "resource", resource: { uri: "file:///style.md", text: "Use ``` fences." } } },
        { role: "user", content: { type: "image", data: "AAAA", mimeType: "image/png" } },
        { role: "assistant", content: { type: "text", text: "I will." } },
      ];
    case "one word":
      return [{ role: "user", content: { type: "text", text: `The word is <${given.word}>.` } }];
    case "listed":
      grown = true;
      send({ method: "notifications/prompts/list_changed" });
      return [{ role: "user", content: { type: "text", text: "listed" } }];
    default:
      return [{ role: "user", content: { type: "text", text: name } }];
  }
};

lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const reply = (result) => send({ id, result });
  if (method === "initialize") {
    reply({
      protocolVersion: "2025-06-18",
      capabilities: { prompts: { listChanged: true }, completions: {}, tools: {} },
      serverInfo: { name: "guide", version: "1" },
    });
  } else if (method === "prompts/list") {
    lists += 1;
    // Two pages, so that both are read.
    if (params?.cursor) reply({ prompts: prompts().slice(2) });
    else reply({ prompts: prompts().slice(0, 2), nextCursor: "2" });
  } else if (method === "prompts/get") {
    if (params.arguments?.language === "fails") send({ id, error: { code: -32602, message: "no such language" } });
    else reply({ messages: said(params.name, params.arguments ?? {}) });
  } else if (method === "completion/complete") {
    const { name, value } = params.argument;
    const values = name === "language" ? languages.filter((one) => one.startsWith(value)) : [];
    reply({ completion: { values, hasMore: false } });
  } else if (method === "tools/list") {
    reply({ tools: [] });
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: `no ${method}` } });
  }
});
