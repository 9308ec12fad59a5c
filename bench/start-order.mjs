// Writes crates/chatos-cli/link/start.ld: which functions run until a built-in server has told its tools.
//
//   cargo rustc --release -p chatos-cli --bin chatos -- -C link-arg=-Wl,-Map=/tmp/chatos.map
//   node bench/start-order.mjs target/release/chatos /tmp/chatos.map
//
// Every server is started under callgrind (of valgrind). The linker then puts these functions side by side:
// the kernel maps a program in pieces of 64 KB, so a function here and a function there cost one each.
// Names are kept without their hashes, with the crate they were compiled in: the list stays true while the
// code changes, and a name that is gone does no harm.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const SERVERS = [
  'project_files', 'code_writer', 'code_maintainer', 'shell_tasks', 'task_manager', 'project_journal',
  'ui_prompter', 'subagent_router',
];
// A name whose copies together are so much larger than those that run would only spread the others.
const LEAST = 0.03;

const [program, map] = process.argv.slice(2).map((path) => resolve(path));
if (!program || !map) throw new Error('usage: node bench/start-order.mjs PROGRAM MAP');
const folder = mkdtempSync(join(tmpdir(), 'start-order-'));
const sections = readMap();
const ran = new Set();
for (const server of SERVERS) for (const address of await record(server)) ran.add(find(address));
ran.delete(undefined);
rmSync(folder, { recursive: true });

const all = new Map();
const hot = new Map();
for (const section of sections) add(all, section);
for (const section of ran) add(hot, section);
const crates = new Map();
for (const [key, size] of hot) {
  const [crate, name] = key.split(' ');
  if (size / all.get(key) < LEAST) continue;
  if (!crates.has(crate)) crates.set(crate, []);
  crates.get(crate).push(name);
}
const lines = ['/* Written by bench/start-order.mjs: what runs when a built-in server starts. */', 'SECTIONS {', '  .text.start : {'];
for (const [crate, names] of [...crates].sort()) {
  lines.push(`    ${crate}(`, ...names.sort().map((name) => `      ${name}`), '    )');
}
lines.push('  }', '}', 'INSERT BEFORE .text;', '');
writeFileSync(new URL('../crates/chatos-cli/link/start.ld', import.meta.url), lines.join('\n'));
const count = [...crates.values()].reduce((sum, names) => sum + names.length, 0);
console.log(`${ran.size} functions under ${count} names of ${crates.size} crates`);

function add(sizes, { key, size }) {
  if (key) sizes.set(key, (sizes.get(key) ?? 0) + size);
}

/** The functions of the program in the order of their addresses. */
function readMap() {
  const found = [];
  for (const line of readFileSync(map, 'utf8').split('\n')) {
    const parts = /^\s*([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+\s+(\S+):\((\.text[^)]*)\)/.exec(line);
    if (!parts) continue;
    const [, address, size, file, section] = parts;
    const name = section.replace(/\.llvm\.\d+$/, '').replace(/17h[0-9a-f]{16}E$/, '17h*');
    const crate = /\/lib([A-Za-z0-9_]+)-[0-9a-f]+\.rlib/.exec(file)?.[1];
    const own = crate ? `*lib${crate}-*` : /\.chatos\.[0-9a-f]+-cgu\.\d+\.rcgu\.o$/.test(file) && '*.chatos.*-cgu.*.rcgu.o';
    // What is neither a crate nor this program belongs to the C compiler, and stays.
    const key = own && name.startsWith('.text.') ? `${own} ${name}` : undefined;
    found.push({ address: parseInt(address, 16), size: parseInt(size, 16), key });
  }
  return found.sort((one, other) => one.address - other.address);
}

function find(address) {
  let [low, high] = [0, sections.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sections[middle].address <= address) low = middle + 1;
    else high = middle;
  }
  const section = sections[low - 1];
  return section && address < section.address + section.size ? section : undefined;
}

/** The addresses that run while a server starts and tells its tools. */
async function record(server) {
  const out = join(folder, `${server}.out`);
  const state = mkdtempSync(join(folder, 'state-'));
  const args = ['--tool=callgrind', '--dump-instr=yes', `--callgrind-out-file=${out}`, program, 'mcp', server];
  args.push('--root', folder, '--state-dir', state);
  if (server.startsWith('code_')) args.push('--write');
  const child = spawn('valgrind', args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (id, method, params) => {
    say({ id, method, params });
    const { value, done } = await replies.next();
    if (done || JSON.parse(value).error) throw new Error(`${server} does not answer ${method}: ${value}`);
  };
  const clientInfo = { name: 'start-order', version: '1' };
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  say({ method: 'notifications/initialized' });
  await ask(2, 'tools/list', {});
  await ask(3, 'ping');
  child.stdin.end();
  await new Promise((done) => child.once('exit', done));
  const objects = new Map();
  const addresses = [];
  let [object, address] = ['', 0];
  for (const line of readFileSync(out, 'utf8').split('\n')) {
    const named = /^(c?ob)=\((\d+)\)(?: (.*))?$/.exec(line);
    if (named) {
      if (named[3]) objects.set(named[2], named[3]);
      if (named[1] === 'ob') object = objects.get(named[2]) ?? '';
      continue;
    }
    const at = /^(0x[0-9a-f]+|[+-]\d+|\*) /.exec(line)?.[1];
    if (!at) continue;
    if (at.startsWith('0x')) address = parseInt(at, 16);
    else if (at !== '*') address += Number(at);
    if (basename(object) === basename(program)) addresses.push(address);
  }
  return addresses;
}
