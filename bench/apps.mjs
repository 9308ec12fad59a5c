// Apps in a real Chromium on a release binary: from click to mounted, over the bridge, to a backend and back,
// its cold start beside Node's own, and the page with twenty apps open (issue 8, "Speed").
//
//   node bench/apps.mjs [path of the chatos binary]
//
// Needs `npm ci` in ui/ and a Chromium (CHROMIUM names another than /usr/bin/chromium).

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const { chromium } = createRequire(join(root, 'ui/package.json'))('playwright-core');
const binary = process.argv[2] ?? join(root, 'target/release/chatos');
const PLUGIN = 'com.bench.echo';
const FILES = {
  'plugin.json': JSON.stringify({ manifestVersion: 1, id: PLUGIN, name: 'Echo', version: '1.0.0', backend: { entry: 'backend.mjs' }, apps: [{ id: 'app', name: 'Echo', entry: { type: 'module', path: 'app.mjs' } }] }),
  'app.mjs': 'export function mount({ container }) { container.textContent = "echo"; }',
  'backend.mjs': 'export const createUiAppsBackend = () => ({ methods: { echo: (value) => value } });',
};
const IDLE = 'export function mount({ container }) { let n = 0; const timer = setInterval(() => { container.textContent = String(++n); }, 500); return () => clearInterval(timer); }';

const sorted = (list) => [...list].sort((a, b) => a - b);
const at = (list, part) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * part))];
const rows = [];
function report(what, value, unit, goal, beside = '') {
  rows.push({ what, value: `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`, goal: goal === null ? '' : `≤ ${goal} ${unit}`, met: goal === null ? '' : value <= goal ? 'yes' : 'NO', beside });
}

const home = mkdtempSync(join(tmpdir(), 'chatos-bench-'));
const state = join(home, 'state');
function place(id, files) {
  for (const [name, text] of Object.entries(files)) {
    const path = join(state, 'ui_apps', 'plugins', id, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
const env = { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8' };
const host = spawn(binary, ['serve', '--port', '0', '--no-open', '--ready-json', '--state-dir', state], { cwd: home, env, stdio: ['ignore', 'pipe', 'ignore'] });
const ready = JSON.parse(await new Promise((resolve, reject) => {
  createInterface({ input: host.stdout }).once('line', resolve);
  host.once('exit', (code) => reject(new Error(`chatos serve ended with ${code}`)));
}));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
function api(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${ready.token}`, 'Content-Type': 'application/json' };
    const sent = request(new URL(path, ready.url), { method, headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part) => (text += part));
      response.on('end', () => (response.statusCode < 300 ? resolve(text === '' ? null : JSON.parse(text)) : reject(new Error(`${path}: ${response.statusCode} ${text}`))));
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
async function trust(id) {
  const { digest } = await api('GET', `/api/v1/plugins/${id}`);
  await api('POST', `/api/v1/plugins/${id}/trust`, { digest, allowInsideNetwork: false });
}
async function times(count, work) {
  const taken = [];
  for (let n = 0; n < count; n += 1) {
    const started = performance.now();
    await work(n);
    taken.push(performance.now() - started);
  }
  return taken;
}
/** Node alone: started to do nothing; and a child that says every line again, over a pipe. */
const nodeStart = () => new Promise((resolve) => spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }).once('exit', resolve));
async function bareEcho() {
  const child = spawn(process.execPath, ['-e', "require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => process.stdout.write(JSON.stringify(JSON.parse(line)) + '\\n'))"], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout });
  const once = (n) => new Promise((resolve) => {
    lines.once('line', resolve);
    child.stdin.write(`${JSON.stringify({ id: n, params: { n } })}\n`);
  });
  await times(200, once);
  const taken = await times(1_000, once);
  child.kill();
  return at(taken, 0.5);
}

let browser;
try {
  place(PLUGIN, FILES);
  const twenty = Array.from({ length: 20 }, (_, n) => `com.bench.idle${n}`);
  for (const id of twenty) place(id, { 'plugin.json': JSON.stringify({ manifestVersion: 1, id, name: id, version: '1.0.0', apps: [{ id: 'app', name: id, entry: { type: 'module', path: 'app.mjs' } }] }), 'app.mjs': IDLE });
  await api('POST', '/api/v1/plugins/refresh', { deep: true });
  for (const id of [PLUGIN, ...twenty]) await trust(id);

  // The backend, without a page.
  const call = (n) => api('POST', `/api/v1/apps/${PLUGIN}/app/backend`, { method: 'echo', params: { n } });
  const cold = [];
  for (let n = 0; n < 5; n += 1) {
    const started = performance.now();
    await call(n);
    cold.push(performance.now() - started);
    const { pid } = await api('GET', `/api/v1/apps/${PLUGIN}/backend`);
    await api('POST', `/api/v1/plugins/${PLUGIN}/untrust`, {});
    while ((await api('GET', '/api/v1/apps/needed')) && alive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
    await trust(PLUGIN);
  }
  const node = at(await times(7, nodeStart), 0.5);
  report('backend, cold start', at(cold, 0.5), 'ms', null, `node -e 0: ${node.toFixed(0)} ms (× ${(at(cold, 0.5) / node).toFixed(2)})`);
  await times(300, call);
  const http = at(await times(2_000, () => api('GET', '/healthz').catch(() => null)), 0.5);
  const whole = await times(2_000, call);
  const bare = await bareEcho();
  const side = (at(whole, 0.5) - http - bare) * 1000;
  report('backend, there and back over HTTP, p50', at(whole, 0.5), 'ms', 2, `GET /healthz: ${http.toFixed(2)} ms, a bare Node echo: ${bare.toFixed(2)} ms`);
  report('… of that the host itself', Math.max(0, side), 'µs', 300, 'what HTTP and Node do not explain');

  // The page.
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'] });
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US' })).newPage();
  await page.goto(ready.signInUrl);
  await page.getByRole('navigation').first().waitFor();
  const go = (hash) => page.evaluate((to) => { location.hash = to; }, hash);
  const mounted = [];
  for (let n = 0; n < 11; n += 1) {
    await go('#/apps');
    await page.getByRole('link', { name: 'Open Notes' }).waitFor();
    mounted.push(await page.evaluate(async () => {
      const started = performance.now();
      document.querySelector('a[aria-label="Open Notes"]').click();
      while (!document.querySelector('[data-place="com.chatos.notes/notes full"][data-phase="mounted"]')) await new Promise((resolve) => setTimeout(resolve, 1));
      return performance.now() - started;
    }));
    await page.getByRole('button', { name: 'Close' }).click();
    await page.waitForFunction(() => !document.querySelector('iframe[data-app="com.chatos.notes/notes"]'));
  }
  report('click → notes mounted, first', mounted[0], 'ms', null);
  report('click → notes mounted, warm, p50', at(mounted.slice(1), 0.5), 'ms', 300, `slowest of ten: ${Math.max(...mounted.slice(1)).toFixed(0)} ms`);

  const openApp = async (id) => {
    await go(`#/apps/plugin/${id}/app`);
    await page.locator(`[data-place="${id}/app full"][data-phase="mounted"]`).waitFor();
    return (await page.locator(`iframe[data-app="${id}/app"]`).elementHandle()).contentFrame();
  };
  const frame = await openApp(PLUGIN);
  const inFrame = (real) => frame.evaluate(async (backend) => {
    const { invoke } = chatos.host.backend;
    const taken = [];
    for (let n = 0; n < 400; n += 1) {
      const started = performance.now();
      // Without a method the page refuses by itself: there and back over the bridge, nothing else.
      await (backend ? invoke('echo', { n }) : invoke('').catch(() => undefined));
      taken.push(performance.now() - started);
      // Within what a frame may ask per second.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return taken;
  }, real);
  await inFrame(true);
  report('bridge, there and back, p50', at(await inFrame(false), 0.5), 'ms', 2);
  report('backend, there and back from an app, p50', at(await inFrame(true), 0.5), 'ms', null, 'bridge, HTTP and backend together');

  for (const id of twenty) await openApp(id);
  const switching = await times(20, async (n) => {
    await go(n % 2 === 0 ? '#/tasks' : '#/apps');
    await page.getByRole('heading', { level: 1, name: n % 2 === 0 ? 'Tasks' : 'Apps' }).waitFor();
  });
  const drawn = await page.evaluate(async () => {
    let count = 0;
    const until = performance.now() + 2_000;
    while (performance.now() < until) {
      await new Promise(requestAnimationFrame);
      count += 1;
    }
    return count / 2;
  });
  report('20 open apps: another page of the host, p50', at(switching, 0.5), 'ms', null, `frames drawn per second: ${drawn.toFixed(0)}`);
} finally {
  await browser?.close();
  host.kill();
  await new Promise((resolve) => host.once('exit', resolve));
  rmSync(home, { recursive: true, force: true });
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

console.log(`${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model ?? 'cpu'}, Node ${process.version}`);
console.table(rows);
process.exitCode = rows.some(({ met }) => met === 'NO') ? 1 : 0;
