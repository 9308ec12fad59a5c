// A coding agent for tests that speaks ACP over its standard streams and does what the last line of a message says:
//   hello | write FILE TEXT | run COMMAND | plan | flood N | pace RATE N (so many updates a second) | and, before any of them, one word of misbehaviour:
//   change, twice, lie, nothing, quiet, die-before, die-asked, die-answered, die-done, bare, and for acts of its client:
//   approved (asks first for the same), other (asks first for something else)
//   ours TOOL JSON: a tool of the gateway it was given; `quiet` does not connect to it, `lie-done` and `lie-failed` ask
//   for it and run "echo x >> count" instead.
//   pour N KB words|calls|dense|sessions: so many pieces of this size in one turn, as fast as they are taken: words, calls
//   that begin and never end, such calls of a list of zeros, words of a session with such a name.
//   large MB: asks about an edit of that size with 200 options, each named twice.
//   mutate SEED N: N messages that are wrong in some way, always the same for a seed; every fifth turn ends wrongly too.
//   put FILE TEXT | get FILE [LINE LIMIT] | term COMMAND | form | sleeper: through the tools of its client.
// Else it touches files and runs commands itself. What it was told is in HOME/scripted.jsonl; sessions
// are kept in files beside it, so that a new process can load them.

import { execSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const home = process.env.HOME;
const flags = process.argv.slice(2);
const keep = (id) => join(home, `scripted-${id}.json`);
const waiting = new Map();
let next = 1;
let cancelled = false;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tell = (sessionId, update) => send({ method: 'session/update', params: { sessionId, update } });
const say = (sessionId, text, kind = 'agent_message_chunk') => tell(sessionId, { sessionUpdate: kind, content: { type: 'text', text } });
const ask = (method, params, id = `q${process.pid}-${next++}`) =>
  new Promise((resolve) => {
    waiting.set(id, resolve);
    appendFileSync(join(home, 'scripted.jsonl'), `${JSON.stringify({ asked: method, id })}\n`);
    send({ id, method, params });
  });
const session = (id) => JSON.parse(readFileSync(keep(id), 'utf8'));
const die = () => process.kill(process.pid, 'SIGKILL');

const OPTIONS = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

/** What it lets its client do; gives what the client answered. */
async function through(sessionId, cwd, odd, verb, rest) {
  const path = join(cwd, rest[0] ?? '');
  const text = `${rest.slice(1).join(' ')}\n`;
  const command = rest.join(' ');
  const toolCallId = `t${process.pid}-${next++}`;
  if (odd === 'approved' || odd === 'other') {
    const shown = odd === 'other' ? 'echo something else' : command;
    const call = verb === 'put'
      ? { toolCallId, title: 'Write', kind: 'edit', status: 'pending', content: [{ type: 'diff', path, oldText: existsSync(path) ? readFileSync(path, 'utf8') : null, newText: odd === 'other' ? 'other\n' : text }] }
      : { toolCallId, title: shown, kind: 'execute', status: 'pending', rawInput: { command: shown } };
    tell(sessionId, { sessionUpdate: 'tool_call', ...call });
    const { outcome } = await ask('session/request_permission', { sessionId, toolCall: call, options: OPTIONS });
    if (outcome.optionId !== 'yes') return outcome;
    tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
  }
  const end = (more = {}) => odd && tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', ...more });
  if (verb === 'get') return ask('fs/read_text_file', { sessionId, path: rest[0]?.startsWith('/') ? rest[0] : path, ...(rest[1] ? { line: Number(rest[1]), limit: Number(rest[2]) } : {}) });
  if (verb === 'put') {
    const said = await ask('fs/write_text_file', { sessionId, path, content: text });
    // Some write the same once more.
    const again = odd === 'approved' ? await ask('fs/write_text_file', { sessionId, path, content: text }) : {};
    end();
    return { ...said, again };
  }
  if (verb === 'many') {
    const all = await Promise.all(Array.from({ length: Number(rest[0]) }, () => ask('fs/read_text_file', { sessionId, path: join(cwd, rest[1]) })));
    return { answered: all.length, ok: all.filter(({ content }) => content !== undefined).length };
  }
  if (verb === 'form') {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string', title: 'Name' } }, required: ['name'] };
    return ask('elicitation/create', { sessionId, mode: 'form', message: 'Who is it for?', requestedSchema });
  }
  const created = await ask('terminal/create', { sessionId, command: 'sh', args: ['-c', command], outputByteLimit: 100 });
  if (created.error) return created;
  const { terminalId } = created;
  if (verb === 'sleeper') await ask('terminal/kill', { sessionId, terminalId });
  const exit = await ask('terminal/wait_for_exit', { sessionId, terminalId });
  const output = await ask('terminal/output', { sessionId, terminalId });
  end({ content: [{ type: 'terminal', terminalId }] });
  await ask('terminal/release', { sessionId, terminalId });
  const after = await ask('terminal/output', { sessionId, terminalId });
  return { exit, output, after };
}

/** Numbers that look random and are the same each time. */
function numbers(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Changes one place of a message: another value, another name, gone, twice, or deep in itself. */
function mutated(message, below) {
  const places = [];
  const walk = (value) => {
    if (value === null || typeof value !== 'object') return;
    for (const key of Object.keys(value)) {
      places.push([value, key]);
      walk(value[key]);
    }
  };
  const copy = structuredClone(message);
  walk(copy);
  const [holder, key] = places[below(places.length)];
  const deep = (depth) => (depth === 0 ? 'x' : [deep(depth - 1)]);
  const junk = [null, true, -1, 1e308, '', 'x'.repeat(70_000), '\u0000\u202e\ud800', [], {}, deep(60), [[{ type: 'diff' }]], { __proto__: 1, '': {} }];
  const change = below(5);
  if (change === 0) delete holder[key];
  else if (change === 1 && !Array.isArray(holder)) holder[`${key}${key}`] = holder[key];
  else if (change === 2) holder[key] = [holder[key], holder[key]];
  else holder[key] = junk[below(junk.length)];
  return copy;
}

/** Sends so many messages that are wrong in some way, each followed by one that is not. */
async function mutate(sessionId, cwd, seed, count) {
  const below = numbers(seed);
  const update = (more) => ({ method: 'session/update', params: { sessionId, update: more } });
  const call = { toolCallId: `m${seed}`, title: 'echo', kind: 'execute', status: 'pending', rawInput: { command: 'echo x >> mutated' }, locations: [{ path: join(cwd, 'a'), line: 3 }] };
  const id = () => `w${seed}-${below(1e9)}`;
  const bases = [
    () => update({ sessionUpdate: 'agent_message_chunk', messageId: 'a', content: { type: 'text', text: 'words' } }),
    () => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: 'aGk=', mimeType: 'image/png' } }),
    () => update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'thoughts' } }),
    () => update({ sessionUpdate: 'tool_call', ...call }),
    () => update({ sessionUpdate: 'tool_call_update', toolCallId: call.toolCallId, status: 'in_progress', content: [{ type: 'content', content: { type: 'text', text: 'out' } }, { type: 'diff', path: join(cwd, 'b'), oldText: 'a', newText: 'b' }, { type: 'terminal', terminalId: 't' }] }),
    () => update({ sessionUpdate: 'plan', entries: [{ content: 'look', status: 'pending', priority: 'low' }] }),
    () => update({ sessionUpdate: 'usage_update', used: 5, size: 10, cost: { amount: 1, currency: 'USD' } }),
    () => update({ sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'review', description: 'd', input: { hint: 'h' } }] }),
    () => update({ sessionUpdate: 'current_mode_update', currentModeId: 'plan' }),
    () => update({ sessionUpdate: 'config_option_update', configOptions: chosen().configOptions }),
    () => ({ id: id(), method: 'session/request_permission', params: { sessionId, toolCall: call, options: OPTIONS } }),
    () => ({ id: id(), method: 'fs/read_text_file', params: { sessionId, path: join(cwd, 'none'), line: 1, limit: 2 } }),
    () => ({ id: id(), method: 'fs/write_text_file', params: { sessionId, path: join(cwd, 'mutated'), content: 'x' } }),
    () => ({ id: id(), method: 'terminal/create', params: { sessionId, command: 'sh', args: ['-c', 'echo x >> mutated'], env: [{ name: 'A', value: 'b' }], outputByteLimit: 10 } }),
    () => ({ id: id(), method: 'terminal/output', params: { sessionId, terminalId: 'none' } }),
    () => ({ id: id(), method: 'elicitation/create', params: { sessionId, mode: 'form', message: 'who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } } }),
    () => ({ id: 1, result: { stopReason: 'nothing' } }),
    () => ({ id: id(), error: { code: -1, message: 'no', data: {} } }),
  ];
  for (let n = 0; n < count; n += 1) {
    const base = { jsonrpc: '2.0', ...bases[below(bases.length)]() };
    const cut = below(12) === 0;
    const text = JSON.stringify(cut ? base : mutated(base, below));
    process.stdout.write(`${cut ? text.slice(0, 1 + below(text.length - 1)) : text}\n`);
    say(sessionId, '.');
    if (below(8) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const ends = ['end_turn', 7, null, { a: 1 }, 'no such reason'];
  return ends[seed % 5];
}

let gateway;
/** Asks whether it may use a tool of its client's server, and uses it, or something else. */
async function useOurs(sessionId, known, odd, tool, input) {
  if (odd !== 'quiet' && !gateway) {
    const [server] = known.mcpServers;
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    gateway = new Client({ name: 'scripted', version: '1' });
    await gateway.connect(new StdioClientTransport({ command: server.command, args: server.args, env: { PATH: process.env.PATH, HOME: home }, stderr: 'ignore' }));
    await gateway.listTools();
  }
  const toolCallId = `o${process.pid}-${next++}`;
  const call = { toolCallId, title: `mcp__chatos__${tool}`, kind: 'other', status: 'pending', rawInput: input };
  tell(sessionId, { sessionUpdate: 'tool_call', ...call });
  const { outcome } = await ask('session/request_permission', { sessionId, toolCall: call, options: OPTIONS });
  const end = (status) => tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status });
  if (outcome.optionId !== 'yes') {
    end('failed');
    return say(sessionId, 'not done');
  }
  tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
  if (odd === '') {
    const done = await gateway.callTool({ name: tool, arguments: input });
    say(sessionId, done.content[0].text);
    return end('completed');
  }
  execSync('echo x >> count', { cwd: known.cwd });
  end(odd === 'lie-failed' ? 'failed' : 'completed');
  return say(sessionId, 'done');
}

async function work(sessionId, line) {
  const words = line.split(' ');
  const ODD = ['approved', 'other', 'change', 'twice', 'lie', 'nothing', 'quiet', 'die-before', 'die-asked', 'die-answered', 'die-done', 'bare', 'lie-done', 'lie-failed'];
  const odd = ODD.includes(words[0]) ? words.shift() : '';
  const known = session(sessionId);
  // A second life behaves.
  const died = join(home, 'scripted-died');
  const lives = odd.startsWith('die') && !existsSync(died);
  if (lives) writeFileSync(died, '');
  const [verb, ...rest] = words;
  if (verb === 'hello') {
    say(sessionId, 'Let me think.', 'agent_thought_chunk');
    say(sessionId, 'Hello ');
    say(sessionId, 'there.');
    return 'end_turn';
  }
  if (verb === 'ours') {
    await useOurs(sessionId, known, odd, rest[0], JSON.parse(rest.slice(1).join(' ')));
    return 'end_turn';
  }
  if (verb === 'mutate') return mutate(sessionId, known.cwd, Number(rest[0]), Number(rest[1]));
  if (verb === 'plan') {
    tell(sessionId, { sessionUpdate: 'plan', entries: [{ content: 'look', status: 'completed', priority: 'low' }, { content: 'act', status: 'pending', priority: 'low' }] });
    say(sessionId, 'planned');
    return 'end_turn';
  }
  if (verb === 'flood') {
    for (let n = 0; n < Number(rest[0]); n += 1) say(sessionId, `${n} `);
    return 'end_turn';
  }
  if (verb === 'pour') {
    const [count, kilobytes, what = 'words'] = [Number(rest[0]), Number(rest[1] ?? 1000), rest[2]];
    const piece = `${'x'.repeat(99)}\n`.repeat(kilobytes * 10);
    const zeros = Array.from({ length: what === 'dense' ? kilobytes * 500 : 0 }, () => 0);
    const begun = (n, rawInput) => tell(sessionId, { sessionUpdate: 'tool_call', toolCallId: `p${n}`, title: 'Write', kind: 'edit', status: 'in_progress', rawInput });
    const pours = {
      words: () => say(sessionId, piece),
      calls: (n) => begun(n, { file_path: `${n}.txt`, content: piece }),
      dense: (n) => begun(n, { file_path: `${n}.txt`, zeros }),
      sessions: () => say(piece, 'x'),
    };
    for (let n = 0; n < count; n += 1) {
      pours[what](n);
      // A pipe that is full holds it up, as it would any program.
      if (process.stdout.writableNeedDrain) await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
    return 'end_turn';
  }
  if (verb === 'large') {
    const path = join(known.cwd, 'large.txt');
    const newText = `${'y'.repeat(99)}\n`.repeat(Number(rest[0]) * 10_000);
    const call = { toolCallId: `l${next++}`, title: 'Write large.txt', kind: 'edit', status: 'pending', rawInput: { file_path: path }, content: [{ type: 'diff', path, oldText: null, newText }], locations: [{ path }] };
    const options = [...OPTIONS, ...Array.from({ length: 197 }, (_, n) => ({ optionId: `o${n}`, name: `Option ${n}`, kind: 'allow_once' }))];
    tell(sessionId, { sessionUpdate: 'tool_call', ...call, content: [] });
    const { outcome } = await ask('session/request_permission', { sessionId, toolCall: call, options: [...options, ...options] });
    if (outcome.optionId === 'yes') writeFileSync(path, newText);
    say(sessionId, outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome);
    return 'end_turn';
  }
  if (verb === 'pace') {
    const [rate, count] = rest.map(Number);
    const began = performance.now();
    for (let n = 0; n < count; n += 1) {
      const due = began + (n * 1000) / rate;
      if (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
      say(sessionId, `${n} `);
    }
    return 'end_turn';
  }
  if (verb === 'wait') {
    await new Promise((resolve) => waiting.set('cancel', resolve));
    return 'cancelled';
  }
  if (verb === 'work') {
    // A turn as a person sees one: a plan, an edit, a command.
    const step = (content, status) => ({ content, status, priority: 'medium' });
    const plan = (...states) => tell(sessionId, { sessionUpdate: 'plan', entries: ['Read the notes', 'Write the summary', 'Run the tests'].map((content, at) => step(content, states[at])) });
    plan('completed', 'in_progress', 'pending');
    tell(sessionId, { sessionUpdate: 'usage_update', used: 12_000, size: 200_000, cost: { amount: 0.12, currency: 'USD' } });
    const path = join(known.cwd, 'summary.md');
    const text = '# Summary\n\n- the notes are read\n- the tests pass\n';
    const old = existsSync(path) ? readFileSync(path, 'utf8') : null;
    const edit = { toolCallId: `e${next++}`, title: 'Write summary.md', kind: 'edit', status: 'pending', rawInput: { file_path: path }, content: [{ type: 'diff', path, oldText: old, newText: text }], locations: [{ path }] };
    tell(sessionId, { sessionUpdate: 'tool_call', ...edit });
    const { outcome: written } = await ask('session/request_permission', { sessionId, toolCall: edit, options: OPTIONS });
    if (written.optionId === 'yes') await ask('fs/write_text_file', { sessionId, path, content: text });
    tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId: edit.toolCallId, status: written.optionId === 'yes' ? 'completed' : 'failed' });
    plan('completed', 'completed', 'in_progress');
    const command = 'ls -l && cat summary.md';
    const run = { toolCallId: `r${next++}`, title: command, kind: 'execute', status: 'pending', rawInput: { command } };
    tell(sessionId, { sessionUpdate: 'tool_call', ...run });
    const { outcome: allowed } = await ask('session/request_permission', { sessionId, toolCall: run, options: OPTIONS });
    if (allowed.optionId === 'yes') {
      const { terminalId } = await ask('terminal/create', { sessionId, command: 'sh', args: ['-c', command] });
      tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId: run.toolCallId, status: 'in_progress', content: [{ type: 'terminal', terminalId }] });
      await ask('terminal/wait_for_exit', { sessionId, terminalId });
      tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId: run.toolCallId, status: 'completed' });
    }
    plan('completed', 'completed', 'completed');
    say(sessionId, 'The summary is written and the tests pass.');
    return 'end_turn';
  }
  if (['put', 'get', 'term', 'form', 'sleeper', 'many'].includes(verb)) {
    say(sessionId, JSON.stringify(await through(sessionId, known.cwd, odd, verb, rest)));
    return 'end_turn';
  }
  if (verb === 'note') {
    say(sessionId, `noted: ${rest.join(' ')}`);
    return 'end_turn';
  }
  const toolCallId = `t${process.pid}-${next++}`;
  const edit = verb === 'write';
  const path = join(known.cwd, rest[0] ?? '');
  const text = `${rest.slice(1).join(' ')}\n`;
  const command = rest.join(' ');
  const before = edit && existsSync(path) ? readFileSync(path, 'utf8') : null;
  const diff = { type: 'diff', path, oldText: before, newText: text };
  const call = edit
    ? { toolCallId, title: `Write ${rest[0]}`, kind: 'edit', status: 'pending', rawInput: { file_path: path, content: text }, content: [diff], locations: [{ path }] }
    : { toolCallId, title: command, kind: 'execute', status: 'pending', rawInput: { command } };
  tell(sessionId, { sessionUpdate: 'tool_call', ...call });
  if (lives && odd === 'die-before') return die();
  const options = odd === 'nothing' ? [] : odd === 'bare' ? OPTIONS.slice(0, 1) : OPTIONS;
  const params = { sessionId: odd === 'lie' ? 'another' : sessionId, toolCall: call, options };
  const id = `p${process.pid}-${next++}`;
  const asked = ask('session/request_permission', params, id);
  if (odd === 'twice') send({ id, method: 'session/request_permission', params: { ...params, toolCall: { ...call, rawInput: { command: 'other' } } } });
  if (lives && odd === 'die-asked') {
    setTimeout(die, 400);
    await new Promise(() => {});
  }
  const { outcome } = await asked;
  if (lives && odd === 'die-answered') return die();
  if (cancelled) return 'cancelled';
  if (outcome.outcome !== 'selected' || outcome.optionId === 'no') {
    tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' });
    say(sessionId, 'not done');
    return 'end_turn';
  }
  if (odd === 'change') {
    tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', rawInput: { command: 'rm -r .' } });
    await new Promise((resolve) => setTimeout(resolve, 3000));
  } else {
    tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
  }
  let output = '';
  if (edit) writeFileSync(path, text);
  else output = execSync(command, { cwd: known.cwd, encoding: 'utf8' });
  if (lives && odd === 'die-done') return die();
  writeFileSync(keep(sessionId), JSON.stringify({ ...session(sessionId), done: [...(session(sessionId).done ?? []), toolCallId] }));
  const content = output ? [{ type: 'content', content: { type: 'text', text: output } }] : edit ? [diff] : [];
  tell(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', content });
  say(sessionId, 'done');
  return 'end_turn';
}

let mode = 'default';
let model = 'small';
const chosen = () => ({
  modes: { currentModeId: mode, availableModes: [{ id: 'default', name: 'Default', description: 'Asks' }, { id: 'plan', name: 'Plan' }, { id: 'yolo', name: 'YOLO', description: 'Never asks' }] },
  configOptions: [{ id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: model, options: [{ value: 'small', name: 'Small' }, { value: 'large', name: 'Large' }] }],
});

const methods = {
  initialize: () => ({
    protocolVersion: flags.includes('--version-2') ? 2 : 1,
    agentInfo: { name: 'scripted', version: '1.0' },
    agentCapabilities: { loadSession: !flags.includes('--no-load'), promptCapabilities: { image: false }, sessionCapabilities: { close: {} } },
    authMethods: [{ id: 'login', name: 'Log in with Scripted' }],
    ...(flags.some((flag) => flag.startsWith('--steers')) ? { _meta: { steering: { supported: true } } } : {}),
  }),
  '_session/steering': ({ sessionId, prompt }) => {
    if (flags.includes('--steers-not')) return { outcome: 'promptRequired', reason: 'noRunningTurn' };
    say(sessionId, `taken: ${prompt.at(-1).text}`);
    return { outcome: 'injected' };
  },
  'session/new': ({ cwd, mcpServers }) => {
    if (flags.includes('--auth')) throw Object.assign(new Error('Authentication required'), { code: -32000 });
    const sessionId = `s${process.pid}-${Date.now()}`;
    writeFileSync(keep(sessionId), JSON.stringify({ cwd, mcpServers, done: [] }));
    const availableCommands = [{ name: 'review', description: 'Look at the changes', input: { hint: '[file]' } }, { name: 'help', description: 'One of ours has this name' }];
    tell(sessionId, { sessionUpdate: 'available_commands_update', availableCommands });
    return { sessionId, ...chosen() };
  },
  'session/load': ({ sessionId }) => {
    if (!existsSync(keep(sessionId))) throw new Error('no such session');
    for (const toolCallId of session(sessionId).done) tell(sessionId, { sessionUpdate: 'tool_call', toolCallId, title: 'before', kind: 'execute', status: 'completed' });
    say(sessionId, 'REPLAYED');
    return chosen();
  },
  'session/set_mode': ({ modeId }) => {
    mode = modeId;
    return {};
  },
  'session/set_config_option': ({ value }) => {
    model = value;
    return { configOptions: chosen().configOptions };
  },
  'session/close': () => ({}),
  'session/prompt': async ({ sessionId, prompt }) => {
    cancelled = false;
    const line = prompt.at(-1).text.trim().split('\n').at(-1);
    return { stopReason: await work(sessionId, line), usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 } };
  },
};

if (flags.includes('--garbage')) setInterval(() => process.stdout.write('welcome to the agent\n'), 1);
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const message = JSON.parse(line);
    appendFileSync(join(home, 'scripted.jsonl'), `${line}\n`);
    if (message.method === undefined) {
      waiting.get(message.id)?.(message.result ?? (message.error ? { error: message.error } : {}));
      waiting.delete(message.id);
    } else if (message.method === 'session/cancel') {
      cancelled = true;
      waiting.get('cancel')?.();
    } else if (methods[message.method]) {
      if (flags.includes('--silent') || flags.includes('--garbage')) return;
      try {
        send({ id: message.id, result: await methods[message.method](message.params) });
      } catch (error) {
        send({ id: message.id, error: { code: error.code ?? -32603, message: error.message } });
      }
    } else if (message.id !== undefined) {
      send({ id: message.id, error: { code: -32601, message: 'unknown' } });
    }
  })
  .on('close', () => process.exit(0));
