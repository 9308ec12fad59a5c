// Writes crates/chatos-cli/link/start.ld: which functions run until a built-in server has told its tools, and
// which ones run in its everyday calls.
//
//   cargo rustc --release -p chatos-cli --bin chatos -- -C link-arg=-Wl,-Map=/tmp/chatos.map
//   node bench/start-order.mjs target/release/chatos /tmp/chatos.map
//
// Every server is started under callgrind (of valgrind). The linker then puts these functions side by side:
// the kernel maps a program in pieces of 64 KB, so a function here and a function there cost one each; and a
// call that comes after a pause finds its functions in a few places instead of thousands.
// Names are kept without their hashes, with the crate they were compiled in: the list stays true while the
// code changes, and a name that is gone does no harm.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const FILE = 'line one of a file\nline two of a file\n';
/** Servers with everyday calls: tool and arguments. */
const SERVERS = {
  project_files: [
    ['read_file', { path: 'file.txt' }],
    ['list_directory', {}],
    ['stat_path', { path: 'file.txt' }],
    ['find_files', { pattern: '*.txt' }],
    ['search_text', { query: 'two' }],
  ],
  code_writer: [
    ['edit_file', { path: 'file.txt', old_string: 'line two', new_string: 'line 2' }],
    ['write_file', { path: 'new.txt', contents: FILE }],
  ],
  code_maintainer: [
    ['read_file_range', { path: 'file.txt', start_line: 1, end_line: 2 }],
    ['read_file_raw', { path: 'file.txt' }],
  ],
  shell_tasks: [['run_shell_command', { command: 'ls -l' }]],
  task_manager: [
    ['add_task', { title: 'a task', details: 'what is to be done', dedupe_key: 'one' }],
    ['list_tasks', {}],
  ],
  project_journal: [
    ['add_exec_log', { summary: 'did something', tags: ['one'] }],
    ['list_exec_logs', {}],
  ],
  ui_prompter: [],
  subagent_router: [],
};
// A name whose copies together are so much larger than those that run would only spread the others.
const LEAST = 0.03;
// A command is not started under valgrind: what follows its start is named here.
const SHELL = ['run', 'pool', 'wire', 'output', 'sandbox', 'supervisor'];
// Where valgrind puts a program. Of its code it knows the section `.text`; what a list has put elsewhere has an
// address and no name.
const BASE = 0x108000;

const [program, map] = process.argv.slice(2).map((path) => resolve(path));
if (!program || !map) throw new Error('usage: node bench/start-order.mjs PROGRAM MAP');
const folder = mkdtempSync(join(tmpdir(), 'start-order-'));
const sections = readMap();
const all = new Map();
for (const section of sections) add(all, section);
const placed = new Set();
const lines = ['/* Written by bench/start-order.mjs: what runs when a built-in server starts, and in its calls. */', 'SECTIONS {'];
for (const [part, servers] of [
  ['start', Object.keys(SERVERS).map((server) => [server, []])],
  ['calls', Object.entries(SERVERS).filter(([, calls]) => calls.length > 0)],
]) {
  const ran = new Set();
  for (const [server, calls] of servers) for (const address of await record(server, calls)) ran.add(find(address));
  ran.delete(undefined);
  lines.push(`  .text.${part} : {`, ...order(ran, part));
  if (part === 'calls') lines.push(...SHELL.map((name) => `    *(.text.*14chatos_builtin5shell${name.length}${name}*)`));
  lines.push('  }');
}
rmSync(folder, { recursive: true });
lines.push('}', 'INSERT BEFORE .text;', '');
writeFileSync(new URL('../crates/chatos-cli/link/start.ld', import.meta.url), lines.join('\n'));

/** The names of these functions that have no place yet, by crate. */
function order(ran, part) {
  const hot = new Map();
  for (const section of ran) add(hot, section);
  const crates = new Map();
  for (const [key, size] of hot) {
    const [crate, name] = key.split(' ');
    if (placed.has(key) || size / all.get(key) < LEAST) continue;
    placed.add(key);
    if (!crates.has(crate)) crates.set(crate, []);
    crates.get(crate).push(name);
  }
  const count = [...crates.values()].reduce((sum, names) => sum + names.length, 0);
  console.log(`${part}: ${ran.size} functions, ${count} new names of ${crates.size} crates`);
  return [...crates].sort().flatMap(([crate, names]) => [`    ${crate}(`, ...names.sort().map((name) => `      ${name}`), '    )']);
}

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

/** The addresses that run while a server starts, tells its tools and answers these calls. */
async function record(server, calls) {
  const place = mkdtempSync(join(folder, `${server}-`));
  const [state, root] = [join(place, 'state'), join(place, 'root')];
  mkdirSync(root);
  writeFileSync(join(root, 'file.txt'), FILE);
  const args = ['--tool=callgrind', '--dump-instr=yes', '--trace-children=yes', '--trace-children-skip=/bin/*,/usr/*'];
  args.push(`--callgrind-out-file=${join(place, 'out.%p')}`, program, 'mcp', server, '--root', root, '--state-dir', state);
  args.push('--confirm-file-changes=false', '--confirm-shell=never', '--confirm-main-tasks=false');
  if (server.startsWith('code_')) args.push('--write');
  // Valgrind does not survive filters of system calls.
  if (server === 'shell_tasks') args.push('--sandbox', 'off');
  const child = spawn('valgrind', args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (id, method, params) => {
    say({ id, method, params });
    const { value, done } = await replies.next();
    const reply = done ? { error: 'the end' } : JSON.parse(value);
    const lost = reply.result?.structuredContent?.error?.details?.what === 'process';
    if (reply.error || (reply.result.isError && !lost)) throw new Error(`${server} does not answer ${method} ${JSON.stringify(params)}: ${value}`);
  };
  const clientInfo = { name: 'start-order', version: '1' };
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  say({ method: 'notifications/initialized' });
  await ask(2, 'tools/list', {});
  await ask(3, 'ping');
  for (const [n, [name, given]] of calls.entries()) await ask(4 + n, 'tools/call', { name, arguments: given });
  child.stdin.end();
  await new Promise((done) => child.once('exit', done));
  return readdirSync(place).filter((name) => name.startsWith('out.')).flatMap((name) => addressesIn(join(place, name)));
}

function addressesIn(file) {
  const objects = new Map();
  const addresses = [];
  let [object, address] = ['', 0];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
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
    else if (object === '???') addresses.push(address - BASE);
  }
  return addresses;
}
