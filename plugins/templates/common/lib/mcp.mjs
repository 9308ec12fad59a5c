//zh 一个没有依赖的小型 MCP 服务器：标准输入输出上的 JSON-RPC 2.0，每行一个对象。
//zh 规则：stdout 只能是协议内容，日志请写到 stderr（console.error）。
//en A small MCP server without dependencies: JSON-RPC 2.0 on standard input and output, one object per line.
//en The rule: stdout carries protocol only, so log with console.error.

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

//zh 调用者能处理的失败；模型会读到它的文字。
//en A failure the caller can act on; the model reads its words.
export class ToolError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

//zh 数据目录由宿主给出：先看这次调用的 _meta，再看环境变量。绝不猜测。
//en The host names the data directory: in `_meta` of the call, else in the environment. It is never guessed.
export function dataDirOf(meta) {
  const dir = meta?.chatos?.uiApp?.dataDir ?? process.env.CHATOS_DATA_DIR;
  if (!dir) throw new ToolError('unavailable', 'no data directory was given; start this server from ChatOS or set CHATOS_DATA_DIR');
  return dir;
}

/**
 * @param {{name: string, version: string, tools: Array<{name: string, description: string, inputSchema: object,
 *   run: (args: object, call: {meta: object, signal: AbortSignal}) => unknown}>}} options
 */
export function createServer({ name, version, tools }) {
  const running = new Map();
  const methods = {
    initialize: (params) => ({
      protocolVersion: VERSIONS.includes(params?.protocolVersion) ? params.protocolVersion : VERSIONS[0],
      capabilities: { tools: {} },
      serverInfo: { name, version },
    }),
    ping: () => ({}),
    'tools/list': () => ({ tools: tools.map(({ run, ...tool }) => tool) }),
    'tools/call': callTool,
  };

  async function callTool(params, signal) {
    const tool = tools.find((known) => known.name === params?.name);
    if (!tool) throw Object.assign(new Error(`Unknown tool: ${params?.name}`), { rpc: -32602 });
    try {
      const args = params.arguments ?? {};
      checkArguments(tool.inputSchema, args);
      const result = await tool.run(args, { meta: params._meta ?? {}, signal });
      const data = typeof result === 'string' ? { text: result } : result;
      const text = typeof result === 'string' ? result : JSON.stringify(result, null, 2);
      return { content: [{ type: 'text', text }], structuredContent: data, isError: false };
    } catch (error) {
      if (!(error instanceof ToolError)) console.error(error);
      const message = error instanceof ToolError ? error.message : 'internal error; see the log of the server';
      return { content: [{ type: 'text', text: `[${error.code ?? 'internal'}] ${message}` }], isError: true };
    }
  }

  async function handle({ id, method, params }) {
    if (id === undefined || id === null) {
      if (method === 'notifications/cancelled') running.get(params?.requestId)?.abort();
      return null;
    }
    if (!Object.hasOwn(methods, method)) return { id, error: { code: -32601, message: `Method not found: ${method}` } };
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const result = await methods[method](params, controller.signal);
      return controller.signal.aborted ? null : { id, result };
    } catch (error) {
      return { id, error: { code: error.rpc ?? -32603, message: error.message } };
    } finally {
      running.delete(id);
    }
  }
  return { handle };
}

//zh 顶层字段：必填的要有，类型要对。够用了；嵌套的结构由工具自己检查。
//en The top level: what is required is there and has its type. Deeper shapes are for the tool itself to check.
function checkArguments(schema, args) {
  for (const key of schema.required ?? []) {
    if (args[key] === undefined) throw new ToolError('invalid_argument', `"${key}" is required`);
  }
  for (const [key, value] of Object.entries(args)) {
    const type = schema.properties?.[key]?.type;
    const found = Array.isArray(value) ? 'array' : typeof value;
    if (type && type !== found && !(type === 'integer' && Number.isInteger(value))) {
      throw new ToolError('invalid_argument', `"${key}" must be ${type}, not ${found}`);
    }
  }
}

export function serveStdio(server, input = process.stdin, output = process.stdout) {
  let rest = '';
  input.setEncoding('utf8');
  input.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== '') void answer(line);
  });
  async function answer(line) {
    let reply;
    try {
      reply = await server.handle(JSON.parse(line));
    } catch (error) {
      reply = { id: null, error: { code: -32700, message: `Not a message: ${error.message}` } };
    }
    if (reply) output.write(`${JSON.stringify({ jsonrpc: '2.0', ...reply })}\n`);
  }
}
