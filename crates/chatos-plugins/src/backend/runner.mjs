// Runs one plugin backend: the program between the host and `createUiAppsBackend`.
//
// Started as `node <this file>` with the host on descriptor 3: JSON-RPC 2.0, one object per line.
// Standard output and error belong to the plugin. It needs nothing but Node 20.

import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';

const LARGEST = 32 * 1024 * 1024;
const CODES = new Set([
  'invalid_argument', 'not_found', 'permission_denied', 'timeout', 'canceled', 'conflict', 'resource_exhausted',
  'unavailable', 'not_supported', 'rate_limited', 'needs_input', 'internal',
]);

// Elsewhere only where 3 was taken before the host itself began. The mark and this are no business of
// the plugin's own children's code, but the mark stays: it is how they are found when the host is gone.
const channel = Number(process.env.CHATOS_CHANNEL_FD ?? 3);
delete process.env.CHATOS_CHANNEL_FD;
const host = new Socket({ fd: channel, readable: true, writable: true });
/** What Node itself holds open, by name, before the plugin was loaded. */
let before = new Map();

/** A failure with one of the codes callers know. */
class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

let backend = null;
let shared = null;
let stopping = false;
let nextId = 1;
/** Calls of the host that are under way, by their id. */
const calls = new Map();
/** Requests of ours that the host has not answered yet, by their id. */
const asked = new Map();

function send(message) {
  host.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

/** A value as JSON text, or the reason why it is none. */
function asJson(value, what) {
  let text;
  try {
    text = JSON.stringify(value === undefined ? null : value);
  } catch {
    text = undefined;
  }
  if (text === undefined) throw new Failure('internal', `${what} is not JSON`);
  if (Buffer.byteLength(text) > LARGEST - 1024) throw new Failure('resource_exhausted', `${what} is larger than 32 MiB`);
  return text;
}

function reply(id, text) {
  host.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}\n`);
}

function refuse(id, error) {
  const message = error instanceof Error ? error.message : String(error);
  const code = CODES.has(error?.code) ? error.code : 'internal';
  send({ id, error: { code: -32000, message: message.slice(0, 8192), data: { code } } });
}

/** Asks the host; with the call that made it, so that both end together. */
function ask(method, params, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new Failure('canceled', 'the call was canceled'));
      return;
    }
    const id = `b${nextId}`;
    nextId += 1;
    asJson(params, `The payload of ${method}`);
    asked.set(id, { resolve, reject });
    signal?.addEventListener('abort', () => {
      if (!asked.delete(id)) return;
      send({ method: '$/cancel', params: { id } });
      reject(new Failure('canceled', 'the call was canceled'));
    });
    send({ id, method, params });
  });
}

function contextFor(values, signal, callId) {
  const context = { ...shared, ...values };
  const complete = (payload) => ask('llm.complete', { payload: payload ?? {}, callId }, signal);
  context.llm = context.llm ? { complete } : null;
  if (signal) context.signal = signal;
  if (callId !== undefined) context.callId = callId;
  return context;
}

function holdings() {
  const found = new Map();
  for (const name of process.getActiveResourcesInfo()) found.set(name, (found.get(name) ?? 0) + 1);
  return found;
}

async function init({ entry, ctx }) {
  shared = ctx;
  before = holdings();
  const module = await import(pathToFileURL(entry).href);
  const create = module.createUiAppsBackend ?? module.default?.createUiAppsBackend;
  if (typeof create !== 'function') throw new Failure('unavailable', 'Plugin backend must export createUiAppsBackend');
  const made = await create(contextFor({}, null, undefined));
  const methods = made?.methods;
  if (methods === null || (typeof methods !== 'object' && typeof methods !== 'function')) {
    throw new Failure('unavailable', 'createUiAppsBackend() must return { methods }');
  }
  backend = made;
  return { pid: process.pid, node: process.version };
}

async function invoke(id, { method, params, ctx }) {
  if (!backend) throw new Failure('unavailable', 'the backend has not started');
  const methods = backend.methods;
  // Only own members count: `constructor` and friends are nobody's methods.
  const own = methods !== null && methods !== undefined && Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (typeof own !== 'function') throw new Failure('not_found', `Method not found: ${method}`);
  const abort = new AbortController();
  calls.set(id, abort);
  try {
    const value = await own.call(methods, params ?? undefined, contextFor(ctx ?? {}, abort.signal, id));
    return asJson(value, `Result of "${method}"`);
  } catch (error) {
    if (!(error instanceof Failure)) console.error(error?.stack ?? String(error));
    throw error;
  } finally {
    calls.delete(id);
  }
}

async function dispose() {
  stopping = true;
  for (const abort of calls.values()) abort.abort();
  if (typeof backend?.dispose === 'function') {
    try {
      await backend.dispose();
    } catch (error) {
      console.error('dispose failed:', error?.stack ?? String(error));
    }
  }
}

/** What keeps the plugin busy besides our own channel: timers, servers, sockets, files. */
function busy() {
  let more = 0;
  for (const [name, count] of holdings()) {
    if (name !== 'Immediate') more += Math.max(0, count - (before.get(name) ?? 0));
  }
  return more;
}

async function handle(message) {
  const { id, method, params } = message;
  if (method === undefined) {
    const waiting = asked.get(id);
    if (!waiting) return;
    asked.delete(id);
    if (message.error) waiting.reject(new Failure(message.error.data?.code ?? 'internal', message.error.message ?? 'failed'));
    else waiting.resolve(message.result);
    return;
  }
  if (method === '$/cancel') {
    calls.get(params?.id)?.abort();
    return;
  }
  try {
    if (method === 'init') reply(id, asJson(await init(params), 'init'));
    else if (method === 'invoke') reply(id, await invoke(id, params));
    else if (method === 'ping') reply(id, JSON.stringify({ busy: busy(), calls: calls.size }));
    else if (method === 'dispose') {
      await dispose();
      host.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":null}\n`, () => process.exit(0));
    } else if (id !== undefined) refuse(id, new Failure('not_supported', `Unknown method: ${method}`));
  } catch (error) {
    if (id !== undefined) refuse(id, error);
  }
}

let pieces = [];
let length = 0;
host.on('data', (chunk) => {
  let rest = chunk;
  for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
    pieces.push(rest.subarray(0, end));
    const line = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    pieces = [];
    length = 0;
    rest = rest.subarray(end + 1);
    if (line.length > 0) handle(JSON.parse(line.toString('utf8')));
  }
  if (rest.length > 0) {
    pieces.push(rest);
    length += rest.length;
    if (length > LARGEST * 2) process.exit(70);
  }
});
// Without a host there is nobody to work for.
host.on('close', () => process.exit(stopping ? 0 : 71));
host.on('error', () => process.exit(71));
