// Prints the gzip size of what the browser must load before the first view and fails above the
// limit. The first view is index.html, what it names with all static imports, and their styles.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const LIMIT = 250_000;
const dist = new URL('../dist/', import.meta.url);
const read = (file) => readFileSync(new URL(file, dist));
const manifest = JSON.parse(read('manifest.json'));

const named = [...read('index.html').toString().matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, file]) => file);
const entries = Object.keys(manifest).filter((key) => named.includes(manifest[key].file));
if (entries.length === 0) throw new Error('dist/index.html names nothing of dist/manifest.json; run `npm run build` first');

const files = new Set(['index.html', ...named]);
const seen = new Set();
const visit = (key) => {
  if (seen.has(key)) return;
  seen.add(key);
  const chunk = manifest[key];
  files.add(chunk.file);
  for (const css of chunk.css ?? []) files.add(css);
  for (const dep of chunk.imports ?? []) visit(dep);
};
entries.forEach(visit);

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
