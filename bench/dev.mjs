// What a plugin author waits for (issue 17, "Speed"): `validate`, the start of `chatos dev`, and a saved file until
// the app on screen is the new one, in a real Chromium.
//
//   node bench/dev.mjs [path of the chatos binary]
//
// Needs `npm ci` in ui/ and a Chromium (CHROMIUM names another than /usr/bin/chromium).

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const { chromium } = createRequire(join(root, 'ui/package.json'))('playwright-core');
const binary = process.argv[2] ? resolve(process.argv[2]) : join(root, 'target/release/chatos');
const ROUNDS = 10;

const home = mkdtempSync(join(tmpdir(), 'chatos-bench-'));
const env = { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8' };
const dir = join(home, 'notes');
const chatos = (...args) => execFileSync(binary, args, { cwd: home, env, stdio: 'pipe' });
const at = (list, part) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))];
const row = (what, times, goal) => console.log(`| ${what} | ${at(times, 0.5).toFixed(0)} ms | ${Math.max(...times).toFixed(0)} ms | ≤ ${goal} ms | ${(at(times, 0.5) / goal).toFixed(2)}× | ${at(times, 0.5) <= goal ? 'yes' : 'NO'} |`);
function start() {
  const began = performance.now();
  const child = spawn(binary, ['dev', dir, '--no-open', '--ready-json', '--port', '0'], { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((ready, reject) => {
    createInterface({ input: child.stdout }).once('line', (line) => ready({ child, ready: JSON.parse(line), ms: performance.now() - began }));
    child.once('exit', (code) => reject(new Error(`chatos dev ended with ${code}`)));
  });
}
function stop(child) {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.removeAllListeners('exit');
  child.once('exit', () => undefined);
  child.kill('SIGINT');
  return Promise.race([gone, new Promise((resolve) => child.once('exit', resolve))]);
}

chatos('plugin', 'init', dir, '-t', 'notepad', '--id', 'com.bench.notes', '--name', 'Notes');
console.log('| measured | p50 | slowest | goal | p50 / goal | met |\n|---|---|---|---|---|---|');
const checks = Array.from({ length: ROUNDS }, () => {
  const began = performance.now();
  chatos('plugin', 'validate', dir, '--json');
  return performance.now() - began;
});
row('`chatos plugin validate`, with Node looking at every module', checks, 50);
// What of it is Node's own start: the least any check by Node can take.
const nodes = Array.from({ length: ROUNDS }, () => {
  const began = performance.now();
  execFileSync('node', ['-e', '0'], { cwd: home, env, stdio: 'pipe' });
  return performance.now() - began;
});
console.log(`| of which a start of Node | ${at(nodes, 0.5).toFixed(0)} ms | ${Math.max(...nodes).toFixed(0)} ms | | | |`);
const starts = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const { child, ms } = await start();
  starts.push(ms);
  await stop(child);
}
row('`chatos dev` → ready', starts, 500);

const { child, ready } = await start();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(ready.signInUrl);
  const app = page.frameLocator('.app-frames iframe:not([aria-hidden])');
  const entry = join(dir, 'apps/app/index.mjs');
  const source = readFileSync(entry, 'utf8');
  await page.locator('[data-phase="mounted"]').waitFor();
  const saves = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const mark = `saved-${round}`;
    const began = performance.now();
    writeFileSync(entry, `${source}\nglobalThis.document.documentElement.dataset.mark = '${mark}';\n`);
    await app.locator(`html[data-mark="${mark}"]`).waitFor({ state: 'attached' });
    await page.locator('[data-phase="mounted"]').waitFor();
    saves.push(performance.now() - began);
  }
  row('a saved file → the new app on screen', saves, 700);
} finally {
  await browser.close();
  await stop(child);
  rmSync(home, { recursive: true, force: true });
}
