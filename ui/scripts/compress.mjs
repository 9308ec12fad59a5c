// Leaves a compressed copy (`<name>.gz`) beside every file of the build that shrinks by it. The program embeds the
// copies and hands them to browsers as they are. Gzip and not Brotli: browsers take Brotli over plain HTTP only from
// some names of this machine, gzip from everywhere, and one form is enough.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url);
const TEXT = /\.(js|css|html|svg|json)$/;
/** Below this the head of an answer weighs more than what is saved. */
const WORTH = 512;

let [before, after] = [0, 0];
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !TEXT.test(entry.name)) continue;
  const path = `${entry.parentPath}/${entry.name}`;
  const plain = readFileSync(path);
  const packed = gzipSync(plain, { level: 9 });
  if (plain.length < WORTH || packed.length >= plain.length) continue;
  writeFileSync(`${path}.gz`, packed);
  before += plain.length;
  after += packed.length;
}
console.log(`compressed ${before} to ${after} bytes`);
