// Prints the gzip size of what the browser must load before the first view and fails above the
// limit. The first view is index.html, its entry script with all static imports, and their styles.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const LIMIT = 250_000;
const dist = new URL('../dist/', import.meta.url);
const read = (file) => readFileSync(new URL(file, dist));
const manifest = JSON.parse(read('manifest.json'));

const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
if (!entry) throw new Error('dist/manifest.json names no entry; run `npm run build` first');

const files = new Set(['index.html']);
const seen = new Set();
const visit = (key) => {
  if (seen.has(key)) return;
  seen.add(key);
  const chunk = manifest[key];
  files.add(chunk.file);
  for (const css of chunk.css ?? []) files.add(css);
  for (const dep of chunk.imports ?? []) visit(dep);
};
visit(entry);

let total = 0;
for (const file of files) {
  const size = gzipSync(read(file), { level: 9 }).length;
  total += size;
  console.log(`${String(size).padStart(8)}  ${file}`);
}
console.log(`${String(total).padStart(8)}  first view, gzip (limit ${LIMIT})`);
if (total > LIMIT) {
  console.error(`first view is ${total - LIMIT} bytes over the limit`);
  process.exit(1);
}
