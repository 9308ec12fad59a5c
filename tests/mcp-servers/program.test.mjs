// Servers of other makers through the whole program: added with `chatos mcp servers add`, called with
// `chatos tools call`, by the running host.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { install, python } from './python.mjs';
import { entry, freePort, here, serve } from './support.mjs';
import { VENDORS } from './vendors.mjs';

const program = process.env.CHATOS_BIN ?? join(here, '../../target/debug/chatos');

/** As people write them: one file, no library, nothing but what it needs. */
const HAND_WRITTEN = `
import { createInterface } from 'node:readline';
const reply = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
const tool = (name) => ({ name, description: name, inputSchema: { type: 'object' } });
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    console.log(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/of/its/own' }));
    reply(id, { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'hand', version: '0' } });
  } else if (method === 'tools/list') {
    reply(id, { tools: [tool('notes.say.hello'), tool('notes.fail')] });
  } else if (method === 'tools/call' && params.name === 'notes.fail') {
    console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'no notes today' } }));
  } else if (method === 'tools/call') {
    reply(id, { content: [{ type: 'text', text: 'hello ' + params.arguments.name }] });
  }
});
`;

let folder;
let host;
let ready;

/** Runs a command to its end; `--` ends the flags, so the state directory comes first. */
function chatos(...args) {
  return new Promise((resolve) => {
    const all = ['--state-dir', join(folder, 'state'), '--json', ...args];
    execFile(program, all, { cwd: folder, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const value = stdout.trim() === '' ? undefined : JSON.parse(stdout);
      resolve({ code: error ? error.code : 0, value, stderr });
    });
  });
}

async function api(method, path, body) {
  const headers = { authorization: `Bearer ${ready.token}`, 'content-type': 'application/json' };
  const response = await fetch(`${ready.url}api/v1/${path}`, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

async function add(name, ...rest) {
  const added = await chatos('mcp', 'servers', 'add', name, ...rest);
  assert.equal(added.code, 0, JSON.stringify(added));
}

/** A large server on a busy machine may outlast a handshake; a person would try again, and so do we. */
async function call(server, tool, args = {}, tries = 6) {
  const done = await chatos('tools', 'call', server, tool, '--args', JSON.stringify(args));
  if (tries > 1 && /handshake within/.test(done.value?.error?.message ?? '')) return call(server, tool, args, tries - 1);
  return { ...done, text: done.value?.content?.map((block) => block.text ?? '').join('\n') };
}

/** Starts a large server once, however long that takes: from a cold disk it would outlast a handshake. */
async function warm(script, ...args) {
  const child = spawn('node', [script, ...args], { cwd: folder, env: { ...process.env, HOME: folder }, stdio: ['pipe', 'pipe', 'ignore'] });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const clientInfo = { name: 'warm', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => JSON.parse(line).id === 1 && resolve());
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
  child.kill('SIGKILL');
  await gone;
}

before(async () => {
  if (!existsSync(program)) {
    throw new Error(`no program at ${program}; build it with: cargo build -p chatos-cli`);
  }
  folder = await mkdtemp(join(tmpdir(), 'chatos-servers-'));
  const args = ['serve', '--no-open', '--ready-json', '--port', '0', '--state-dir', join(folder, 'state')];
  host = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  ready = await new Promise((resolve, reject) => {
    createInterface({ input: host.stdout }).once('line', (line) => resolve(JSON.parse(line)));
    host.once('exit', (code) => reject(new Error(`the host ended with ${code}`)));
  });
});

after(async () => {
  const gone = new Promise((resolve) => host.once('exit', resolve));
  host.kill('SIGTERM');
  await gone;
  await rm(folder, { recursive: true });
});

/** A model of a few lines that sees: it calls the tools one after the other, then it is done. Gives the pictures of its last request. */
async function seeing(t, name, calls, provider = 'openai_compatible') {
  const vendor = VENDORS[provider];
  const requests = [];
  const model = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const asked = request.method === 'POST' ? JSON.parse(body) : {};
    const offered = vendor.tools(asked);
    // What is asked about the model itself is answered by nobody.
    if (offered === undefined) return response.writeHead(404).end('{}');
    requests.push(asked);
    const done = vendor.answered(asked);
    const [tool, args] = calls[done] ?? [];
    const known = offered.find((one) => tool !== undefined && one.endsWith(tool));
    response.writeHead(200, { 'content-type': provider === 'ollama' ? 'application/x-ndjson' : 'text/event-stream' });
    response.end(vendor.answer(known && { name: known, args }, done + 1));
  });
  await new Promise((resolve) => model.listen(0, '127.0.0.1', resolve));
  t.after(() => model.close());
  const baseUrl = `http://127.0.0.1:${model.address().port}${vendor.base}`;
  const title = `${name} ${provider}`;
  const { id: modelId } = await api('POST', 'models', { name: title, provider, model: 'm', baseUrl, supportsVision: true });
  const { items } = await api('GET', 'mcp-servers');
  const mcpServers = [{ id: items.find((one) => one.name === name).id, tools: {} }];
  const land = await api('POST', 'land-configs', { name: title, main: { mcpServers }, sub: { mcpServers: [] } });
  const agent = await api('POST', 'agents', { name: title, mode: 'flow', landConfigId: land.id });
  const session = await api('POST', 'sessions', { agentId: agent.id, modelId });
  const { runId } = await api('POST', `sessions/${session.id}/send`, { text: 'show me' });
  let state;
  do {
    await new Promise((resolve) => setTimeout(resolve, 50));
    ({ state } = await api('GET', `runs/${runId}`));
    assert.ok(!['failed', 'aborted'].includes(state), state);
  } while (state !== 'done');
  assert.equal(requests.length, calls.length + 1, JSON.stringify(requests).slice(0, 3000));
  return vendor.pictures(requests.at(-1));
}

test('server-everything: a model sees the picture its tool returns, in each protocol', async (t) => {
  await add('pictures', '--', 'node', entry('server-everything'), 'stdio');
  // It changes its list of tools once it has begun; a call by hand waits until it has settled.
  const byHand = await call('pictures', 'get-tiny-image');
  assert.equal(byHand.code, 0, JSON.stringify(byHand));
  const seen = [];
  for (const provider of Object.keys(VENDORS)) {
    const pictures = await seeing(t, 'pictures', [['get-tiny-image', {}]], provider);
    assert.equal(pictures.length, 1, `${provider}: ${JSON.stringify(pictures).slice(0, 500)}`);
    seen.push(pictures[0]);
  }
  // The server's own square of 20 pixels, the same for each of them.
  assert.equal(new Set(seen).size, 1, JSON.stringify(seen));
  assert.ok(seen[0].startsWith('data:image/png;base64,'), seen[0]);
  const bytes = Buffer.from(seen[0].split(',')[1], 'base64');
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [20, 20]);
});

test('@playwright/mcp: a model sees the screenshot of a page', async (t) => {
  const chromium = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => path && existsSync(path));
  assert.ok(chromium !== undefined, 'install Chromium (Debian: `apt install chromium`), or set CHROMIUM');
  const site = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Seen</title><body style="background:#0a7"><h1>A page to look at</h1>'));
  await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.after(() => site.close());
  const flags = ['--headless', '--isolated', '--no-sandbox', '--executable-path', chromium, '--output-dir', join(folder, 'shots')];
  const script = join(here, 'node_modules/@playwright/mcp/cli.js');
  await warm(script, ...flags);
  await add('browser', '--', 'node', script, ...flags);
  const opened = await call('browser', 'browser_navigate', { url: `http://127.0.0.1:${site.address().port}/` });
  assert.equal(opened.code, 0, JSON.stringify(opened));
  const url = `http://127.0.0.1:${site.address().port}/`;
  const seen = await seeing(t, 'browser', [['browser_navigate', { url }], ['browser_take_screenshot', {}]]);
  assert.equal(seen.length, 1, JSON.stringify(seen).slice(0, 3000));
  const bytes = Buffer.from(seen[0].split(',')[1], 'base64');
  // A whole window of a browser, not an icon.
  assert.ok(bytes.length > 2000, `${bytes.length} bytes`);
});

test('server-everything: its prompts are commands of an agent it was given to, with completed arguments', async () => {
  await add('asked', '--grant', 'default', '--', 'node', entry('server-everything'), 'stdio');
  assert.equal((await call('asked', 'echo', { message: 'up' })).code, 0);
  const found = async (name) => (await api('GET', 'commands?waitMs=2000')).items.find(({ key }) => key === `asked:${name}`);
  const plain = await found('simple-prompt');
  assert.equal(plain?.kind, 'prompt', JSON.stringify(await api('GET', 'commands')));
  assert.match((await api('POST', 'commands/fill', { text: '/asked:simple-prompt' })).text, /simple prompt/i);
  const filled = await api('POST', 'commands/fill', { text: '/asked:args-prompt city=Aachen' });
  assert.match(filled.text, /Aachen/);
  const { values } = await api('POST', 'commands/complete', { key: 'asked:completable-prompt', argument: 'department', value: 'E' });
  assert.ok(values.includes('Engineering'), JSON.stringify(values));
  // It is nobody else's.
  const land = await api('POST', 'land-configs', { name: 'nothing', main: {}, sub: {} });
  const agent = await api('POST', 'agents', { name: 'bare', mode: 'flow', landConfigId: land.id });
  assert.ok(!(await api('GET', `commands?agent=${agent.id}`)).items.some(({ kind }) => kind === 'prompt'));
});

test('server-everything: its resources behind @, with completed places, and its instructions for models', async () => {
  await add('papers', '--grant', 'default', '--', 'node', entry('server-everything'), 'stdio');
  assert.equal((await call('papers', 'echo', { message: 'up' })).code, 0);
  const { items } = await api('GET', 'mentions?q=papers:demo&waitMs=2000');
  const resource = items.find(({ kind }) => kind === 'resource');
  assert.ok(resource?.path.startsWith('papers:demo://'), JSON.stringify(items));
  const template = items.find(({ kind, path }) => kind === 'template' && path.includes('/text/'));
  assert.match(template?.path ?? '', /\{resourceId\}$/, JSON.stringify(items));
  const { values } = await api('POST', 'commands/complete', { key: `@${template.path}`, argument: 'resourceId', value: '1' });
  assert.deepEqual(values, ['1']);
  const filled = template.path.replace('{resourceId}', '1');
  const { files } = await api('POST', 'mentions/read', { paths: [resource.path, filled] });
  assert.equal(files.length, 2, JSON.stringify(files));
  assert.ok(files.every(({ origin, mime }) => origin === 'papers' && mime.startsWith('text/')), JSON.stringify(files));
  assert.match(Buffer.from(files[1].data, 'base64').toString(), /Resource 1/);
  const pins = await api('GET', 'tool-pins?server=papers&state=all');
  const said = pins.items.find(({ tool }) => tool === '#instructions');
  assert.equal(said?.state, 'approved', JSON.stringify(pins.items.map(({ tool }) => tool)));
  assert.match(said.now.instructions, /Everything Server/);
});

test('the gateway passes on prompts, resources and instructions of server-everything, in both eras', async (t) => {
  await add('given', '--grant', 'default', '--', 'node', entry('server-everything'), 'stdio');
  assert.equal((await call('given', 'echo', { message: 'up' })).code, 0);
  const args = ['--state-dir', join(folder, 'state'), 'gateway', '--agent', 'default'];
  const client = new Client({ name: 'sdk', version: '1' });
  await client.connect(new StdioClientTransport({ command: program, args, cwd: folder, stderr: 'ignore' }));
  t.after(() => client.close());
  assert.match(client.getInstructions(), /## given/);
  const { prompts } = await client.listPrompts();
  const name = prompts.map((prompt) => prompt.name).find((one) => /^mcp_given_args-prompt$/.test(one));
  assert.ok(name, JSON.stringify(prompts.map((prompt) => prompt.name)));
  const filled = await client.getPrompt({ name, arguments: { city: 'Aachen' } });
  assert.match(JSON.stringify(filled.messages), /Aachen/);
  await assert.rejects(client.getPrompt({ name: 'mcp_given_nothing' }), /unknown prompt/);
  const { resources } = await client.listResources();
  const resource = resources.find(({ uri }) => uri.includes('demo://'));
  const { contents } = await client.readResource({ uri: resource.uri });
  assert.ok(contents[0].text.length > 0);
  const { resourceTemplates } = await client.listResourceTemplates();
  const template = resourceTemplates.find(({ uriTemplate }) => uriTemplate.includes('/text/'));
  const { completion } = await client.complete({ ref: { type: 'ref/resource', uri: template.uriTemplate }, argument: { name: 'resourceId', value: '7' } });
  assert.deepEqual(completion.values, ['7']);
  const dynamic = await client.readResource({ uri: template.uriTemplate.replace('{resourceId}', '7') });
  assert.match(dynamic.contents[0].text, /Resource 7/);
  await assert.rejects(client.readResource({ uri: 'nobody://1' }), /unknown resource/);

  // The newer era has no handshake: every request says who asks.
  const modern = spawn(program, args, { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const gone = new Promise((resolve) => modern.once('exit', resolve));
  const answers = new Map();
  createInterface({ input: modern.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    answers.get(message.id)?.(message);
  });
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const ask = (method, params = {}) =>
    new Promise((resolve) => {
      answers.set(answers.size, resolve);
      modern.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: answers.size - 1, method, params: { ...params, _meta } })}\n`);
    });
  const found = await ask('server/discover');
  assert.ok(found.result.capabilities.prompts && found.result.capabilities.resources && found.result.capabilities.completions, JSON.stringify(found));
  assert.match(found.result.instructions, /## given/);
  const listed = await ask('resources/list');
  assert.ok(listed.result.resources.some(({ uri }) => uri === resource.uri), JSON.stringify(listed).slice(0, 500));
  const read = await ask('resources/read', { uri: resource.uri });
  assert.equal(read.result.resultType, 'complete', JSON.stringify(read).slice(0, 500));
  const got = await ask('prompts/get', { name, arguments: { city: 'Aachen' } });
  assert.equal(got.result.resultType, 'complete', JSON.stringify(got).slice(0, 500));
  modern.stdin.end();
  await gone;
});

test('server-everything: text, image, structured content, progress, and a question in the queue', async () => {
  await add('everything', '--', 'node', entry('server-everything'), 'stdio');
  const echo = await call('everything', 'echo', { message: '你好, server' });
  assert.match(echo.text ?? JSON.stringify(echo), /你好, server/);
  const image = await call('everything', 'get-tiny-image');
  assert.ok(image.value.content.some((block) => block.type === 'image'), JSON.stringify(image));
  const structured = await call('everything', 'get-structured-content', { location: 'New York' });
  assert.equal(typeof structured.value.structuredContent, 'object', JSON.stringify(structured));
  const long = await call('everything', 'trigger-long-running-operation', { duration: 1, steps: 4 });
  assert.equal(long.code, 0, JSON.stringify(long));
  const asking = call('everything', 'trigger-elicitation-request');
  let id;
  while (id === undefined) {
    const list = await chatos('prompts', 'list');
    id = list.value.items[0]?.requestId;
  }
  const declined = await chatos('prompts', 'answer', id, '--decline');
  assert.equal(declined.code, 0, JSON.stringify(declined));
  const asked = await asking;
  assert.match(asked.text ?? JSON.stringify(asked), /declin/i);
});

test('server-everything over HTTP on this machine, once that is allowed', async () => {
  const port = await freePort();
  const server = await serve('node', [entry('server-everything'), 'streamableHttp'], port, { PORT: String(port) });
  try {
    await add('web', `http://127.0.0.1:${port}/mcp`);
    const refused = await call('web', 'echo', { message: 'x' });
    assert.equal(refused.value.error.code, 'address_refused', JSON.stringify(refused));
    const allowed = await chatos('mcp', 'servers', 'edit', 'web', '--allow-private');
    assert.equal(allowed.code, 0, JSON.stringify(allowed));
    const echo = await call('web', 'echo', { message: 'over http' });
    assert.match(echo.text ?? JSON.stringify(echo), /over http/);
  } finally {
    server.kill('SIGKILL');
  }
});

test('server-filesystem and server-memory', async () => {
  await writeFile(join(folder, 'a.txt'), 'first\n');
  await add('files', '--', 'node', entry('server-filesystem'), folder);
  const read = await call('files', 'read_text_file', { path: join(folder, 'a.txt') });
  assert.equal(read.text, 'first\n', JSON.stringify(read));
  const outside = await call('files', 'read_text_file', { path: '/etc/passwd' });
  assert.equal(outside.code, 1, JSON.stringify(outside));
  const file = join(folder, 'memory.jsonl');
  await add('memory', '--env', `MEMORY_FILE_PATH=${file}`, '--', 'node', entry('server-memory'));
  const entities = [{ name: '甲', entityType: 'person', observations: ['likes tea'] }];
  const made = await call('memory', 'create_entities', { entities });
  assert.equal(made.code, 0, JSON.stringify(made));
  assert.match(await readFile(file, 'utf8'), /likes tea/);
});

test('server-filesystem stays in the folder it was given, until a person names another for it', async () => {
  const given = join(folder, 'given');
  const other = join(folder, 'other');
  await mkdir(given);
  await mkdir(other);
  await writeFile(join(given, 'in.txt'), 'inside\n');
  await writeFile(join(other, 'out.txt'), 'outside\n');
  await writeFile(join(folder, 'key.txt'), 'secret\n');
  // The project of the host is `folder`, which holds all three.
  await add('narrow', '--', 'node', entry('server-filesystem'), given);
  const read = async (path) => (await call('narrow', 'read_text_file', { path })).text;
  assert.equal(await read(join(given, 'in.txt')), 'inside\n');
  assert.match((await read(join(folder, 'key.txt'))) ?? '', /denied|outside/i);
  const allowed = await call('narrow', 'list_allowed_directories');
  assert.match(allowed.text ?? '', /given$/, JSON.stringify(allowed));
  const set = await chatos('mcp', 'servers', 'edit', 'narrow', '--root', other);
  assert.equal(set.code, 0, JSON.stringify(set));
  // It asks for its roots after it is connected; its own answer says when it has taken them over.
  let text;
  do text = (await call('narrow', 'list_allowed_directories')).text;
  while (!/other$/.test(text ?? ''));
  assert.equal(await read(join(other, 'out.txt')), 'outside\n');
  assert.match((await read(join(folder, 'key.txt'))) ?? '', /denied|outside/i);
});

test('desktop-commander: files and a process of its own', async () => {
  const start = join(here, 'node_modules/@wonderwhy-er/desktop-commander/dist/index.js');
  await warm(start, '--no-onboarding');
  await add('commander', '--env', `HOME=${folder}`, '--', 'node', start, '--no-onboarding');
  await writeFile(join(folder, 'b.txt'), 'second\n');
  const read = await call('commander', 'read_file', { path: join(folder, 'b.txt') });
  assert.match(read.text ?? '', /second/, JSON.stringify(read));
  const echo = await call('commander', 'start_process', { command: 'echo from-a-shell', timeout_ms: 20_000 });
  assert.match(echo.text ?? '', /from-a-shell/, JSON.stringify(echo));
});

const noPython = install();
test('a server from PyPI: mcp-server-time', { skip: noPython ?? false }, async () => {
  await add('time', '--', python, '-m', 'mcp_server_time', '--local-timezone', 'UTC');
  const args = { source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Shanghai' };
  const converted = await call('time', 'convert_time', args);
  assert.match(converted.text ?? '', /T20:00:00\+08:00/, JSON.stringify(converted));
  const wrong = await call('time', 'get_current_time', { timezone: 'Nowhere/City' });
  assert.notEqual(wrong.code, 0, JSON.stringify(wrong));
});

test('a hand-written server of 2024-11-05 without ping and with dotted names', async () => {
  const script = join(folder, 'hand.mjs');
  await writeFile(script, HAND_WRITTEN);
  await add('hand', '--', 'node', script);
  const said = await call('hand', 'notes.say.hello', { name: '世界' });
  assert.equal(said.text, 'hello 世界', JSON.stringify(said));
  const shown = await chatos('mcp', 'servers', 'show', 'hand');
  assert.equal(shown.value.state.protocolVersion, '2024-11-05');
  const failed = await call('hand', 'notes.fail');
  assert.equal(failed.code, 1, JSON.stringify(failed));
});

test('all of them are shown as ready, with their era and tools', async () => {
  const list = await chatos('mcp', 'servers');
  const ready = list.value.items.filter((server) => server.source === 'user');
  for (const server of ready.filter((server) => server.name !== 'web')) {
    assert.equal(server.state.phase, 'ready', JSON.stringify(server));
    assert.ok(server.state.era && server.state.tools > 0, JSON.stringify(server));
  }
});
