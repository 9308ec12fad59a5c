//zh 打包：`npm install` 之后，`npm run build` 会生成 out/plugin——同一个插件，但工具服务器和后端各成一个文件，
//zh 连同它们从 npm 导入的内容。没有 npm 依赖时不需要这一步：直接打包本目录即可。
//en Bundling: after `npm install`, `npm run build` makes out/plugin, the same plugin with its tool servers and its
//en backend as one file each, together with whatever they import from npm. Without npm dependencies you do not need
//en this: the folder can be packed as it is.

import { cp, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const OUT = join('out', 'plugin');
const LEFT_OUT = new Set(['node_modules', 'out', 'dist', 'tests', 'types', 'build.mjs', 'package.json', 'package-lock.json', '.git', '.gitignore', '.chatosignore']);

const manifest = JSON.parse(await readFile('plugin.json', 'utf8'));
const entries = [manifest.backend?.entry, ...manifest.apps.map((app) => app.ai?.mcp?.entry)].filter(Boolean);

await rm('out', { recursive: true, force: true });
for (const name of await readdir('.')) {
  if (!LEFT_OUT.has(name)) await cp(name, join(OUT, name), { recursive: true });
}
for (const entry of entries) {
  await build({
    entryPoints: [entry],
    outfile: join(OUT, entry),
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: entry.endsWith('.cjs') ? 'cjs' : 'esm',
    //zh 打包进 ES 模块的 CommonJS 依赖仍需要 require。
    //en CommonJS dependencies inside an ES module still want `require`.
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
}
console.log(`out/plugin: ${entries.length} bundled`);
