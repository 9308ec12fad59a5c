// A server of MCP's older era with prompts and resources: it lists them, fills them, completes their arguments, and has
// another one after it was told to. What it says about itself is its first argument.
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

const resources = () => [
  { uri: "memo://plan", name: "plan", title: "Weekly plan", description: "What is\nto do\u202e", mimeType: "text/markdown" },
  { uri: "memo://dot", name: "dot", mimeType: "image/png" },
  { uri: "memo://sheet", name: "sheet", mimeType: "application/zip" },
  { uri: "memo://with space", name: "cannot be typed" },
  ...(grown ? [{ uri: "memo://grown", name: "grown" }] : []),
];
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const content = (uri) => {
  if (uri === "memo://plan") return { mimeType: "text/markdown", text: "# Plan\n```\nrest\u202e\n```\n" };
  if (uri === "memo://dot") return { mimeType: "image/png", blob: DOT };
  if (uri === "memo://sheet") return { mimeType: "application/zip", blob: "UEsDBAD/" };
  const day = /^memo:\/\/days\/(.+)$/.exec(uri);
  return day && { mimeType: "text/plain", text: `the day ${decodeURIComponent(day[1])}` };
};

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
      send({ method: "notifications/resources/list_changed" });
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
      capabilities: { prompts: { listChanged: true }, resources: { listChanged: true }, completions: {}, tools: {} },
      serverInfo: { name: "guide", version: "1" },
      ...(process.argv[2] ? { instructions: process.argv[2] } : {}),
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
    const known = name === "language" ? languages : name === "day" && params.ref.uri === "memo://days/{day}" ? ["monday", "tuesday"] : [];
    const values = known.filter((one) => one.startsWith(value));
    reply({ completion: { values, hasMore: false } });
  } else if (method === "resources/list") {
    reply({ resources: resources() });
  } else if (method === "resources/templates/list") {
    reply({ resourceTemplates: [{ uriTemplate: "memo://days/{day}", name: "day", title: "A day", description: "One day of the week" }] });
  } else if (method === "resources/read") {
    const found = content(params.uri);
    if (found) reply({ contents: [{ uri: params.uri, ...found }] });
    else send({ id, error: { code: -32002, message: `nothing at ${params.uri}` } });
  } else if (method === "tools/list") {
    reply({ tools: [{ name: "link", description: "Links to the plan", inputSchema: { type: "object" } }] });
  } else if (method === "tools/call") {
    reply({ content: [{ type: "resource_link", uri: "memo://plan", name: "plan" }] });
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: `no ${method}` } });
  }
});
