// A small MCP server without dependencies: JSON-RPC 2.0, one object per line.
//
// `createServer` knows the protocol and no transport; `serveStdio` is the transport every host has.
// Rule of the transport: stdout carries protocol only, logs go to stderr.
// The same file is in every built-in plugin, because a plugin folder stands on its own; a test compares them.

import { check } from './schema.mjs';

/** Newest first. A client that asks for something else is offered the newest. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** A longer line is refused without being parsed; hosts frame at the same size. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

/** A failure the caller can act on. It becomes a result with `isError`, so that a model can read it. */
export class ToolError extends Error {
  constructor(code, message, details) {
    super(message);
    this.name = 'ToolError';
    this.code = code;
    this.details = details;
  }
}

/**
 * @param {{name: string, title?: string, version: string, instructions?: string,
 *   tools: Array<{name: string, title?: string, description: string, inputSchema: object, annotations?: object,
 *     run: (args: object, call: {meta: object, signal: AbortSignal}) => Promise<{text: string, data: object}>}>}} options
 */
export function createServer({ name, title, version, instructions, tools }) {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  /** Requests being worked on, by id, so that a cancellation finds them. */
  const running = new Map();

  const methods = {
    initialize(params) {
      const asked = params?.protocolVersion;
      return {
        protocolVersion: PROTOCOL_VERSIONS.includes(asked) ? asked : PROTOCOL_VERSIONS[0],
        capabilities: { tools: { listChanged: false } },
        serverInfo: { name, ...(title ? { title } : {}), version },
        ...(instructions ? { instructions } : {}),
      };
    },
    ping: () => ({}),
    'tools/list': () => ({
      tools: tools.map(({ run, ...described }) => described),
    }),
    'tools/call': callTool,
  };

  async function callTool(params, signal) {
    const tool = byName.get(params?.name);
    if (!tool) throw rpcError(INVALID_PARAMS, `Unknown tool: ${String(params?.name)}`);
    const args = params.arguments ?? {};
    const issues = check(tool.inputSchema, args);
    try {
      if (issues.length > 0) {
        const first = issues[0];
        throw new ToolError('invalid_argument', `${first.path || '/'}: ${first.message}`, { issues });
      }
      const { text, data } = await tool.run(args, { meta: asObject(params._meta), signal });
      return { content: [{ type: 'text', text }], structuredContent: data, isError: false };
    } catch (error) {
      return failure(error);
    }
  }

  /** Answers one message; `null` when there is nothing to answer (a notification, or a cancelled request). */
  async function handle(message) {
    if (Array.isArray(message)) {
      // Batches exist in 2025-03-26 only; answering them always harms nobody.
      if (message.length === 0) return errorReply(null, INVALID_REQUEST, 'An empty batch is not a request');
      const replies = (await Promise.all(message.map(handle))).filter((reply) => reply !== null);
      return replies.length > 0 ? replies : null;
    }
    if (message === null || typeof message !== 'object' || message.jsonrpc !== '2.0') {
      return errorReply(null, INVALID_REQUEST, 'Not a JSON-RPC 2.0 message');
    }
    const { id, method, params } = message;
    const isRequest = typeof id === 'string' || typeof id === 'number';
    if (typeof method !== 'string') {
      // Without a method it is a reply to something we never asked.
      return isRequest && !('result' in message) && !('error' in message)
        ? errorReply(id, INVALID_REQUEST, 'A request needs a method')
        : null;
    }
    if (!isRequest) {
      if (method === 'notifications/cancelled') running.get(params?.requestId)?.abort();
      return null;
    }
    if (!Object.hasOwn(methods, method)) return errorReply(id, METHOD_NOT_FOUND, `Method not found: ${method}`);
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const result = await methods[method](params, controller.signal);
      return controller.signal.aborted ? null : { jsonrpc: '2.0', id, result };
    } catch (error) {
      return errorReply(id, error.rpcCode ?? INTERNAL_ERROR, error.message);
    } finally {
      if (running.get(id) === controller) running.delete(id);
    }
  }

  return { handle };
}

/** Speaks over stdin and stdout until stdin ends; resolves when the last answer is written. */
export function serveStdio(server, { input = process.stdin, output = process.stdout } = {}) {
  const pending = new Set();
  let parts = [];
  let size = 0;
  let tooLong = false;

  const send = (reply) => {
    if (reply !== null) output.write(`${JSON.stringify(reply)}\n`);
  };

  const take = (line) => {
    // Decoded per complete line: a character split over two reads is whole again here.
    const text = line.toString('utf8').trim();
    if (text === '') return;
    let message;
    try {
      message = JSON.parse(text);
    } catch (error) {
      send(errorReply(null, PARSE_ERROR, `Not JSON: ${error.message}`));
      return;
    }
    const work = server
      .handle(message)
      .then(send, (error) => send(errorReply(null, INTERNAL_ERROR, error.message)))
      .finally(() => pending.delete(work));
    pending.add(work);
  };

  input.on('data', (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end));
      if (tooLong) send(errorReply(null, INVALID_REQUEST, `A message may have at most ${MAX_LINE_BYTES} bytes`));
      else take(Buffer.concat(parts));
      parts = [];
      size = 0;
      tooLong = false;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    size += rest.length;
    if (size > MAX_LINE_BYTES) {
      parts = [];
      tooLong = true;
    } else if (rest.length > 0) {
      parts.push(rest);
    }
  });

  // A host that went away closes our stdout; there is nobody left to tell.
  output.on('error', () => process.exit(0));

  return new Promise((resolve) => {
    const finish = () => Promise.allSettled([...pending]).then(() => resolve());
    input.on('end', finish);
    input.on('close', finish);
  });
}

function failure(error) {
  const known = error instanceof ToolError || typeof error.code === 'string';
  const code = error instanceof ToolError ? error.code : systemCode(error.code);
  if (!known) process.stderr.write(`internal error: ${error.stack ?? error}\n`);
  const message = known ? error.message : 'internal error; see the server log';
  return {
    content: [{ type: 'text', text: `✗ [${code}] ${message}` }],
    structuredContent: { error: { code, message, ...(error.details ? { details: error.details } : {}) } },
    isError: true,
  };
}

/** What an operating system error means to the caller. */
function systemCode(code) {
  if (code === 'ENOENT') return 'not_found';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ELOOP') return 'permission_denied';
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EMFILE' || code === 'ENFILE') return 'resource_exhausted';
  if (code === 'EEXIST') return 'conflict';
  return 'internal';
}

function rpcError(code, message) {
  return Object.assign(new Error(message), { rpcCode: code });
}

function errorReply(id, code, message) {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function asObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}
