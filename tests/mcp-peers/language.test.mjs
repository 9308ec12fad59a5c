// A rename over files by a real language server, made with the Inspector: the change applies and still compiles.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FLAGS } from './calls.mjs';
import { home, inspect, run, target } from './support.mjs';

const PACKAGES = fileURLToPath(new URL('../mcp-servers/node_modules', import.meta.url));
const SERVER = join(PACKAGES, 'typescript-language-server/lib/cli.mjs');

test('a rename in TypeScript, in the Inspector', async (t) => {
  assert.ok(existsSync(SERVER), 'typescript-language-server is not installed; run: cargo xtask ci --only packages');
  const place = home(t);
  const file = (name) => join(place.project, name);
  const tsserver = { path: join(PACKAGES, 'typescript/lib') };
  // As a person would: only where the program lies, and what their project does not bring.
  const preferences = { providePrefixAndSuffixTextForRename: false };
  const typescript = { command: SERVER, args: ['--stdio'], initializationOptions: { tsserver, preferences } };
  writeFileSync(join(place.state, 'lsp-servers.json'), JSON.stringify({ servers: { typescript } }));
  mkdirSync(file('src'));
  writeFileSync(file('package.json'), '{"type":"module"}');
  writeFileSync(file('tsconfig.json'), '{"compilerOptions":{"strict":true,"module":"nodenext","target":"es2022","noEmit":true},"include":["src"]}');
  writeFileSync(file('src/shape.ts'), 'export function area(side: number): number {\n  return side * side;\n}\n');
  writeFileSync(file('src/main.ts'), "import { area } from './shape.js';\n\nexport const total: number = area(2) + area(3);\n");
  const to = await target(t, place, 'lsp_bridge', 'http', FLAGS.lsp_bridge);
  const ask = async (tool, args) => {
    const flags = [...to.flags, '--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
    // Again while the language server has not looked at everything: a busy machine only takes longer.
    for (let tries = 0; ; tries++) {
      const done = await inspect(place, to.at, 'modern', flags);
      const envelope = (done.json?.result ?? done.json)?.structuredContent;
      if (tries < 5 && ((envelope?.data?.analysing && !args.apply) || envelope?.code === 'timeout')) continue;
      assert.equal(envelope?.status, 'ok', done.say());
      return envelope.data.result;
    }
  };
  const [definition] = await ask('lsp_definition', { path: 'src/main.ts', line: 3, symbol: 'area' });
  assert.deepEqual([definition.path, definition.range.start], ['src/shape.ts', { line: 1, character: 17 }]);
  const renamed = await ask('lsp_rename', { path: 'src/main.ts', line: 3, symbol: 'area', new_name: 'surface', apply: true });
  assert.deepEqual(renamed.files.map(({ path }) => path), ['src/main.ts', 'src/shape.ts']);
  assert.match(readFileSync(file('src/main.ts'), 'utf8'), /import \{ surface \}[\s\S]*surface\(2\) \+ surface\(3\)/);
  const compiled = await run(process.execPath, [join(PACKAGES, 'typescript/bin/tsc'), '-p', place.project]);
  assert.equal(compiled.status, 0, compiled.stdout);
});
