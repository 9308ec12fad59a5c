// A language server for tests. `node fixture.mjs <mode>` speaks the protocol well in mode `good` and badly on demand
// otherwise; every message it gets is a line in `.seen` beside it.
import { appendFileSync, existsSync, writeFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from 'node:child_process';

const mode = process.argv[2] ?? 'good';
const here = dirname(fileURLToPath(import.meta.url));
const docs = new Map();
const asked = new Map();
let next = 1000;

function send(message) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
}
const reply = (id, result) => send({ id, result });
const refuse = (id, code, message) => send({ id, error: { code, message } });
const tell = (method, params) => send({ method, params });
function ask(method, params) {
  const id = next++;
  send({ id, method, params });
  return new Promise((done) => asked.set(id, done));
}
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const at = (line, from, to) => ({ start: { line, character: from }, end: { line, character: to } });

function width(text) {
  return mode === 'utf8' ? Buffer.byteLength(text) : text.length;
}
function slice(line, column) {
  return mode === 'utf8' ? Buffer.from(line).subarray(0, column).toString() : line.slice(0, column);
}
function wordAt(doc, place) {
  const line = doc.text.split('\n')[place.line] ?? '';
  const before = slice(line, place.character);
  const start = before.match(/\w*$/)[0];
  const end = line.slice(before.length).match(/^\w*/)[0];
  return start + end;
}
/** Every place of a word in every open text. */
function uses(word) {
  const found = [];
  for (const [uri, doc] of docs) {
    doc.text.split('\n').forEach((line, number) => {
      for (const hit of line.matchAll(new RegExp(`\\b${word}\\b`, 'g'))) {
        const from = width(line.slice(0, hit.index));
        found.push({ uri, range: at(number, from, from + width(word)) });
      }
    });
  }
  return found;
}
function publish(uri) {
  const doc = docs.get(uri);
  const diagnostics = [];
  doc.text.split('\n').forEach((line, number) => {
    const from = line.indexOf('BAD');
    if (from >= 0) {
      diagnostics.push({ range: at(number, from, from + 3), severity: 1, code: 'E1', source: 'fake', message: `bad word in line ${number + 1}` });
    }
  });
  tell('textDocument/publishDiagnostics', { uri, version: mode === 'unversioned' ? undefined : doc.version, diagnostics });
}

const handlers = {
  initialize: async (id, params) => {
    if (mode === 'silent') return;
    if (mode === 'refuses') return refuse(id, -32002, 'not today');
    writeFileSync(join(here, '.env'), JSON.stringify(process.env));
    reply(id, {
      serverInfo: { name: 'fake', version: '1.2' },
      capabilities: {
        positionEncoding: mode === 'utf8' ? 'utf-8' : undefined,
        textDocumentSync: { openClose: true, change: mode === 'full' ? 1 : 2, save: true },
        hoverProvider: true, definitionProvider: true, referencesProvider: true, completionProvider: {},
        documentSymbolProvider: true, workspaceSymbolProvider: true, renameProvider: true,
        documentFormattingProvider: true, callHierarchyProvider: mode !== 'poor',
        codeActionProvider: { resolveProvider: true },
        executeCommandProvider: { commands: ['fake.apply'] },
        diagnosticProvider: mode === 'pull' ? { interFileDependencies: false, workspaceDiagnostics: false } : undefined,
      },
    });
  },
  'textDocument/hover': async (id, params) => {
    const doc = docs.get(params.textDocument.uri);
    const word = wordAt(doc, params.position);
    if (mode === 'hang') return;
    if (mode === 'die-always') process.exit(9);
    if (mode === 'die-once' && !existsSync(join(here, '.died'))) {
      writeFileSync(join(here, '.died'), '');
      process.kill(process.pid, 'SIGKILL');
    }
    if (mode === 'garbage-later') return process.stdout.write('this is no protocol\n\n');
    if (mode === 'huge') return process.stdout.write('Content-Length: 99999999999\r\n\r\n');
    if (mode === 'flood') {
      for (let n = 0; n < 20000; n++) {
        tell('window/logMessage', { type: 3, message: `line ${n} ${'x'.repeat(50)}` });
        tell('textDocument/publishDiagnostics', { uri: `file:///flood/${n}`, diagnostics: [] });
        send({ id: 500000 + n, result: 'nobody asked' });
      }
      process.stderr.write('e'.repeat(3_000_000));
    }
    if (mode === 'asks') {
      const unknown = await ask('fake/unknown', {});
      const settings = await ask('workspace/configuration', { items: [{}, {}] });
      const edit = await ask('workspace/applyEdit', { edit: { changes: {} } });
      const text = `${unknown.error.code} ${JSON.stringify(settings.result)} ${edit.result.applied}`;
      return reply(id, { contents: text });
    }
    if (mode === 'modified' && !existsSync(join(here, '.again'))) {
      writeFileSync(join(here, '.again'), '');
      return refuse(id, -32801, 'content modified');
    }
    if (mode === 'slow') await wait(400);
    if (mode === 'busy') {
      tell('$/progress', { token: 'x', value: { kind: 'begin', title: 'Indexing', percentage: 10 } });
      if (!handlers.ready) {
        setTimeout(() => { handlers.ready = true; tell('$/progress', { token: 'x', value: { kind: 'end' } }); }, 600);
        return reply(id, null);
      }
      tell('$/progress', { token: 'x', value: { kind: 'end' } });
    }
    reply(id, word ? { contents: { kind: 'markdown', value: `**${word}** of ${process.pid}` } } : null);
  },
  'textDocument/definition': async (id, params) => {
    const word = wordAt(docs.get(params.textDocument.uri), params.position);
    if (mode === 'elsewhere') return reply(id, { uri: 'file:///etc/hostname', range: at(0, 0, 1) });
    reply(id, uses(word).slice(0, 1));
  },
  'textDocument/references': async (id, params) => reply(id, uses(wordAt(docs.get(params.textDocument.uri), params.position))),
  'textDocument/completion': async (id) => reply(id, { isIncomplete: true, items: [
    { label: 'beta', kind: 3, detail: 'fn beta()', sortText: '2' }, { label: 'alpha', kind: 6, insertText: 'alpha()', sortText: '1' }, 7,
  ] }),
  'textDocument/documentSymbol': async (id) => reply(id, [
    { name: 'outer', kind: 5, range: at(0, 0, 3), selectionRange: at(0, 0, 3), children: [
      { name: 'inner', kind: 6, detail: 'fn', range: at(1, 0, 3), selectionRange: at(1, 0, 3) }] }]),
  'workspace/symbol': async (id, params) => reply(id, [...docs.keys()].map((uri) => ({ name: params.query, kind: 12, location: { uri, range: at(0, 0, 1) } }))),
  'textDocument/diagnostic': async (id, params) => {
    const bad = docs.get(params.textDocument.uri).text.includes('BAD');
    reply(id, { kind: 'full', items: bad ? [{ range: at(0, 0, 3), severity: 2, message: 'pulled' }] : [] });
  },
  'textDocument/prepareCallHierarchy': async (id, params) => reply(id, [{ name: wordAt(docs.get(params.textDocument.uri), params.position), kind: 12, uri: params.textDocument.uri, range: at(0, 0, 3), selectionRange: at(0, 0, 3) }]),
  'callHierarchy/incomingCalls': async (id, params) => reply(id, [{ from: { ...params.item, name: 'caller' }, fromRanges: [at(1, 0, 3)] }]),
  'callHierarchy/outgoingCalls': async (id, params) => reply(id, [{ to: { ...params.item, name: 'callee' }, fromRanges: [] }]),
  'textDocument/formatting': async (id, params) => {
    const doc = docs.get(params.textDocument.uri);
    const made = doc.text.split('\n').map((line) => line.trimEnd()).join('\n');
    const lines = doc.text.split('\n');
    reply(id, made === doc.text ? [] : [{ range: { start: { line: 0, character: 0 }, end: { line: lines.length - 1, character: lines.at(-1).length } }, newText: made }]);
  },
  'textDocument/rename': async (id, params) => {
    const uri = params.textDocument.uri;
    const doc = docs.get(uri);
    const word = wordAt(doc, params.position);
    if (!word) return reply(id, null);
    if (params.newName === 'taken') return refuse(id, -32803, 'the name is taken');
    const edits = (file) => uses(word).filter((use) => use.uri === file).map((use) => ({ range: use.range, newText: params.newName }));
    if (mode === 'outside') return reply(id, { changes: { [uri]: edits(uri), 'file:///etc/passwd': [{ range: at(0, 0, 0), newText: 'x' }] } });
    if (mode === 'overlap') return reply(id, { changes: { [uri]: [...edits(uri), { range: at(0, 0, 9), newText: 'x' }] } });
    if (mode === 'older') return reply(id, { documentChanges: [{ textDocument: { uri, version: doc.version - 1 }, edits: edits(uri) }] });
    if (mode === 'nonsense') return reply(id, { documentChanges: [{ kind: 'explode', uri }] });
    if (mode === 'files') {
      return reply(id, { documentChanges: [
        { textDocument: { uri, version: doc.version }, edits: edits(uri) },
        { kind: 'rename', oldUri: uri, newUri: uri.replace('one.fk', 'deep/renamed.fk') },
        { kind: 'create', uri: uri.replace('one.fk', 'made.fk') },
        { textDocument: { uri: uri.replace('one.fk', 'made.fk'), version: null }, edits: [{ range: at(0, 0, 0), newText: 'made\n' }] },
        { kind: 'delete', uri: uri.replace('one.fk', 'two.fk') },
      ] });
    }
    const changes = {};
    for (const use of uses(word)) (changes[use.uri] ??= []).push({ range: use.range, newText: params.newName });
    reply(id, { changes });
  },
  'textDocument/codeAction': async (id, params) => {
    const uri = params.textDocument.uri;
    reply(id, [
      ...params.context.diagnostics.map((one) => ({ title: 'Fix the bad word', kind: 'quickfix', isPreferred: true, data: { uri, range: one.range } })),
      { title: 'Run a command', kind: 'refactor', command: { title: 'x', command: 'fake.apply', arguments: [uri] } },
      { title: 'Only in an editor', command: { title: 'x', command: 'editor.fold' } },
      { title: 'Not now', disabled: { reason: 'too early' } },
    ]);
  },
  'codeAction/resolve': async (id, action) => {
    if (!action.data) return reply(id, action);
    reply(id, { ...action, edit: { changes: { [action.data.uri]: [{ range: action.data.range, newText: 'good' }] } } });
  },
  'workspace/executeCommand': async (id, params) => {
    const [uri] = params.arguments;
    const answer = await ask('workspace/applyEdit', { edit: { changes: { [uri]: [{ range: at(0, 0, 0), newText: '// by command\n' }] } } });
    reply(id, answer.result);
  },
  shutdown: async (id) => {
    if (mode !== 'stubborn') reply(id, null);
  },
};

const notes = {
  initialized: () => { if (mode === 'loading') tell('$/progress', { token: 'load', value: { kind: 'begin', title: 'Loading' } }); },
  'textDocument/didOpen': ({ textDocument: { uri, version, text } }) => { docs.set(uri, { version, text }); publish(uri); },
  'textDocument/didChange': ({ textDocument: { uri, version }, contentChanges }) => {
    const doc = docs.get(uri);
    for (const change of contentChanges) {
      if (!change.range) { doc.text = change.text; continue; }
      const offset = (place) => {
        const lines = doc.text.split('\n');
        return lines.slice(0, place.line).reduce((sum, line) => sum + line.length + 1, 0) + slice(lines[place.line], place.character).length;
      };
      doc.text = doc.text.slice(0, offset(change.range.start)) + change.text + doc.text.slice(offset(change.range.end));
    }
    doc.version = version;
    if (mode !== 'late') publish(uri);
  },
  'textDocument/didClose': ({ textDocument: { uri } }) => docs.delete(uri),
  exit: () => { if (mode !== 'stubborn') process.exit(0); },
};

if (mode === 'exits') { process.stderr.write('fake: this version is too old\n'); process.exit(3); }
if (mode === 'garbage') process.stdout.write('Welcome to the fake server!\n');
if (mode === 'family') spawn('sleep', ['1000'], { detached: true, stdio: 'ignore', argv0: `sleep-of-${here}` });
if (mode === 'stubborn') process.on('SIGTERM', () => {});

let buffer = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(buffer.subarray(0, end).toString().match(/Content-Length: (\d+)/)[1]);
    if (buffer.length < end + 4 + length) return;
    const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString());
    buffer = buffer.subarray(end + 4 + length);
    appendFileSync(join(here, '.seen'), `${message.method ?? 'answer'} ${message.params?.textDocument?.uri ?? ''}\n`);
    if (message.method === undefined) {
      asked.get(message.id)?.(message);
      asked.delete(message.id);
    } else if (message.id === undefined) {
      notes[message.method]?.(message.params);
    } else if (handlers[message.method]) {
      handlers[message.method](message.id, message.params);
    } else {
      refuse(message.id, -32601, 'no such method');
    }
  }
});
process.stdin.on('end', () => { if (mode !== 'stubborn') process.exit(0); });
