// The real program in a home of its own, and the real MCP client that drives it.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const project = join(here, '..', '..');

export const CHATOS = process.env.CHATOS_BIN ?? join(project, 'target/debug/chatos');
export const ERAS = ['legacy', 'modern'];

const INSPECTOR = join(here, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const NODE = process.env.PEER_NODE ?? process.execPath;
const PAGE = join(project, 'ui/dist');

/** A home with nothing in it; removed at the end of the test. */
export function home(t) {
  const root = mkdtempSync(join(tmpdir(), 'chatos-peers-'));
  for (const name of ['home', 'project', 'state']) mkdirSync(join(root, name), { mode: 0o700 });
  const remove = () => rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  t.after(() => {
    try {
      remove();
    } catch {
      // A program that was ended a moment ago still wrote; by then it is gone.
      process.once('exit', remove);
    }
  });
  return { root, home: join(root, 'home'), project: join(root, 'project'), state: join(root, 'state') };
}

/** A program's end: what it printed and its status. */
export function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const out = { status: null, stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (out.stdout += chunk));
    child.stderr.on('data', (chunk) => (out.stderr += chunk));
    child.once('error', reject);
    child.once('close', (status) => resolve({ ...out, status }));
  });
}

/** `path` of a home is what is found there instead of this machine's programs. */
const environment = (place) => ({ PATH: place.path ?? process.env.PATH, HOME: place.home, LANG: 'C.UTF-8', MCP_AUTO_OPEN_ENABLED: 'false' });

/** `chatos …` on this home's state. */
export function chatos(place, args) {
  return run(CHATOS, [...args, '--state-dir', place.state], { cwd: place.project, env: environment(place) });
}

/** One run of the Inspector in CLI mode against a server on stdio or at an address. */
export async function inspect(place, target, era, flags) {
  const args = [INSPECTOR, '--cli', ...target, '--protocol-era', era, '--format', 'json', ...flags];
  const done = await run(NODE, args, { cwd: place.project, env: environment(place) });
  let json = null;
  try {
    json = JSON.parse(done.stdout);
  } catch {
    // Told by the caller, with everything that was printed.
  }
  return { ...done, json, say: () => `status ${done.status}\nstdout: ${done.stdout}\nstderr: ${done.stderr}` };
}

/** How a client on stdio starts a server. */
export const stdio = (place, server, more = []) => [CHATOS, 'mcp', server, '--state-dir', place.state, '--lang', 'en', ...more];

/** What the Inspector connects to: a process of its own each time, or one address. */
export async function target(t, place, server, road, flags = []) {
  if (road === 'stdio') return { at: stdio(place, server, flags), flags: [] };
  const args = ['mcp', server, '--state-dir', place.state, '--lang', 'en', '--http', '127.0.0.1:0', ...flags];
  const ready = await start(t, args, place, 'stderr');
  const url = /http:\/\/\S+\/mcp/.exec(ready)?.[0];
  if (!url) throw new Error(ready);
  const token = readFileSync(join(place.state, 'mcp-token'), 'utf8').trim();
  return { at: [url], flags: ['--header', `Authorization: Bearer ${token}`] };
}

/** A running host; stopped at the end of the test. */
export async function serve(t, place) {
  const args = ['serve', '--port', '0', '--no-open', '--ready-json', '--state-dir', place.state];
  if (existsSync(PAGE)) args.push('--ui-dir', PAGE);
  const ready = await start(t, args, place);
  const host = JSON.parse(ready);
  const api = async (method, path, body) => {
    const response = await fetch(new URL(`/api/v1/${path}`, host.url), {
      method,
      headers: { Authorization: `Bearer ${host.token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  return { ...host, api };
}

/** Starts `chatos` and gives its first line; `from` says on which stream. What it complains about is kept in the home. */
export function start(t, args, place, from = 'stdout') {
  const child = spawn(CHATOS, args, { cwd: place.project, env: environment(place), stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    place.stderr = (place.stderr ?? '') + chunk;
  });
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  });
  return new Promise((resolve, reject) => {
    createInterface({ input: child[from] }).once('line', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`chatos ${args.join(' ')} ended with ${code}\n${stderr}`)));
  });
}

/** Waits for something that is due. */
export async function eventually(what, look) {
  const until = Date.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (Date.now() > until) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export const CHROMIUM = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);

/** The browser library of the page's own tests. */
export async function browser(t) {
  const { chromium } = await import(join(project, 'ui/node_modules/playwright-core/index.mjs'));
  if (CHROMIUM === undefined) throw new Error('no Chromium; install it or set CHROMIUM');
  const flags = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
  const opened = await chromium.launch({ executablePath: CHROMIUM, args: flags });
  t.after(() => opened.close());
  return opened;
}
