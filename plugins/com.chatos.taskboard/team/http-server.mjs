// The board for several agents of one machine: the same tools over MCP's streamable HTTP.
//
//   CHATOS_DATA_DIR=DIR node team/http-server.mjs --port 7979 --token-file FILE
//
// Loopback is not a boundary, so every request needs the token, a Host that is ours and no foreign Origin. The board
// is chosen by the header `X-Board`; each name has its own file. Stateless: no sessions, no server-sent events.

import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { dataDirOf } from '../lib/files.mjs';
import { MAX_LINE_BYTES, createServer } from '../lib/mcp.mjs';
import { boardTools } from '../board/tools.mjs';

const BOARD_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/u;
const MIN_TOKEN = 16;

/** @returns the listening server; `port` 0 takes any free one. */
export function startTeamServer({ port, token, dataDir, log = (line) => process.stderr.write(`${line}\n`) }) {
  const http = createHttpServer({ maxHeaderSize: 16 * 1024, requestTimeout: 30_000 }, (request, response) => {
    answer(request, response).catch((error) => {
      log(`request failed: ${error.message}`);
      if (!response.headersSent) send(response, 500, { error: { code: -32603, message: 'internal error' } });
    });
  });

  async function answer(request, response) {
    const refusal = refuse(request);
    if (refusal) return send(response, refusal.status, { error: refusal.message });
    if (request.url === '/healthz') return send(response, 200, { ok: true });
    if (request.url !== '/mcp') return send(response, 404, { error: 'not found' });
    if (!sameToken(request.headers.authorization)) return send(response, 401, { error: 'unauthorized' });
    if (request.method !== 'POST') return send(response, 405, { error: 'only POST is supported' }, { Allow: 'POST' });
    if (!/^application\/json\b/u.test(request.headers['content-type'] ?? '')) {
      return send(response, 415, { error: 'send application/json' });
    }
    const board = request.headers['x-board'] ?? 'team';
    if (!BOARD_NAME.test(board)) return send(response, 400, { error: 'X-Board: letters, digits and "-" only' });
    const body = await readBody(request);
    if (body === null) return send(response, 413, { error: 'the request is too large' });
    let message;
    try {
      message = JSON.parse(body);
    } catch {
      return send(response, 400, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Not JSON' } });
    }
    const reply = await serverFor(board).handle(message);
    return reply === null ? send(response, 202) : send(response, 200, reply);
  }

  const servers = new Map();
  function serverFor(board) {
    if (!servers.has(board)) {
      // The board follows the header alone: a caller's _meta must not choose a folder on this machine.
      const root = join(dataDir, 'boards', board);
      servers.set(board, createServer({
        name: 'com.chatos.taskboard.team',
        title: `Team board: ${board}`,
        version: '0.1.0',
        tools: boardTools({ rootFor: () => root }),
      }));
    }
    return servers.get(board);
  }

  function refuse(request) {
    const { port: bound } = http.address();
    const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${bound}`);
    if (!hosts.includes((request.headers.host ?? '').toLowerCase())) return { status: 403, message: 'wrong Host' };
    if (request.headers.origin !== undefined) return { status: 403, message: 'browsers are not served' };
    return null;
  }

  function sameToken(header) {
    const digest = (text) => createHash('sha256').update(text).digest();
    return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`));
  }

  return new Promise((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, '127.0.0.1', () => resolve(http));
  });
}

/** The whole body, or `null` when it is larger than a message may be. */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_LINE_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response, status, body, headers = {}) {
  const text = body === undefined ? '' : JSON.stringify(body);
  response.writeHead(status, {
    ...(text ? { 'Content-Type': 'application/json' } : {}),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  response.end(text);
}

async function main() {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '7979' }, 'token-file': { type: 'string' } },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port must be a port number');
  if (!values['token-file']) throw new Error('--token-file is required: a file with a secret of your own');
  const token = readFileSync(values['token-file'], 'utf8').trim();
  if (token.length < MIN_TOKEN) throw new Error(`the token needs at least ${MIN_TOKEN} characters`);
  const server = await startTeamServer({ port, token, dataDir: dataDirOf({}) });
  process.stderr.write(`team board on http://127.0.0.1:${server.address().port}/mcp\n`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => process.exit(0)));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main().catch((error) => {
    process.stderr.write(`error: ${error.message}\n`);
    process.exit(1);
  });
}
