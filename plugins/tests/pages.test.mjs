// The pages in a DOM: they draw, they save, they survive refusals, and they leave nothing behind.
//
// The host is a stand-in with the real backends behind it, so what a click does ends in a real file.

import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { Window } from 'happy-dom';

import { pluginPath, tempDir } from './support.mjs';

let window;

before(() => {
  window = new Window({ url: 'http://p-test.localhost/' });
  Object.assign(globalThis, { window, document: window.document });
});

after(() => window.happyDOM.close());

/** What the frame gives a page, with the plugin's own backend called directly. */
async function hostFor(pluginId, appId, dataDir, { lang = 'en', tasks = [], answer } = {}) {
  const { createUiAppsBackend } = await import(pluginPath(pluginId, 'backend', 'index.mjs'));
  const backend = await createUiAppsBackend({ pluginId, pluginDir: pluginPath(pluginId), dataDir, llm: null });
  const log = [];
  const listeners = new Set();
  const record = (name, result) => async (...args) => {
    log.push([name, ...args]);
    return typeof result === 'function' ? result(...args) : result;
  };
  const host = {
    context: { get: () => ({ pluginId, appId, lang, theme: 'light', surface: 'full', storage: 'persistent' }) },
    backend: {
      invoke: async (method, params) => {
        log.push(['invoke', method]);
        if (!Object.hasOwn(backend.methods, method)) throw Object.assign(new Error(`Method not found: ${method}`), { code: 'not_found' });
        return JSON.parse(JSON.stringify((await backend.methods[method](params, {})) ?? null));
      },
    },
    admin: {
      state: async () => ({ data: { tasks } }),
      onUpdate: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    uiPrompts: { request: record('request', { ok: true, requestId: 'r1' }), open: record('open'), wait: record('wait', () => answer) },
    chat: {
      agents: { createForApp: record('createForApp', { ok: true, agent: { id: 'ag_1' } }) },
      sessions: { create: record('createSession', { ok: true, session: { id: 'ses_1' } }) },
      send: record('send', { ok: true }),
    },
    ui: { navigate: record('navigate', { ok: true }) },
  };
  return { host, log, listeners, backend };
}

async function mountApp(t, path, host) {
  const module = await import(path);
  const mount = module.mount ?? module.default.mount ?? module.default;
  const container = document.createElement('div');
  const header = document.createElement('div');
  document.body.append(header, container);
  const disposer = await mount({ container, host, slots: { header } });
  const dispose = typeof disposer === 'function' ? disposer : () => disposer.dispose();
  let disposed = false;
  const once = async () => {
    if (!disposed) await dispose();
    disposed = true;
  };
  t.after(once);
  return { container, header, dispose: once };
}

/** Waits for the page to reach a state; the failure says what it shows instead. */
async function until(page, condition) {
  for (let i = 0; i < 300; i += 1) {
    const value = await condition();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`the page never got there; it shows: ${page.textContent}`);
}

function buttonOf(page, text) {
  const found = [...page.querySelectorAll('button')].find((button) => button.textContent.includes(text));
  assert.ok(found, `no button "${text}" in: ${page.textContent}`);
  return found;
}

function type(element, text) {
  element.value = text;
  element.dispatchEvent(new window.Event('input', { bubbles: true }));
}

const NOTES = ['com.chatos.notes', 'notes'];

test('notes: write, leave, come back', async (t) => {
  const dataDir = await tempDir(t);
  const { host } = await hostFor(...NOTES, dataDir);
  const first = await mountApp(t, pluginPath('com.chatos.notes', 'notes', 'index.mjs'), host);
  assert.equal(first.container.textContent.split('No notes yet').length, 2, 'it is said once');
  buttonOf(first.container, 'Write a note').click();
  await until(first.container, () => first.container.querySelector('textarea'));
  type(first.container.querySelector('textarea'), '# Shopping #home\n\n- [x] milk\n- [ ] <img src=x onerror=alert(1)>');
  await first.dispose();
  assert.equal(first.container.children.length, 0);
  assert.match(await readFile(join(dataDir, 'notes', 'shopping.md'), 'utf8'), /milk/u);

  const { container } = await mountApp(t, pluginPath('com.chatos.notes', 'notes', 'index.mjs'), host);
  buttonOf(container, 'Shopping').click();
  await until(container, () => container.querySelector('textarea'));
  buttonOf(container, 'Preview').click();
  const page = container.querySelector('article');
  assert.equal(page.querySelector('h1').textContent, 'Shopping #home');
  assert.equal(page.querySelectorAll('input[type=checkbox]').length, 2);
  assert.equal(page.querySelector('img'), null);
  assert.match(page.textContent, /<img src=x onerror=alert\(1\)>/u);
});

test('notes: a change made elsewhere is a question, not a loss', async (t) => {
  const dataDir = await tempDir(t);
  const { host, backend } = await hostFor(...NOTES, dataDir);
  await backend.methods['notes.write']({ id: 'plan', text: 'first' });
  const { container } = await mountApp(t, pluginPath('com.chatos.notes', 'notes', 'index.mjs'), host);
  buttonOf(container, 'first').click();
  const area = await until(container, () => container.querySelector('textarea'));
  await backend.methods['notes.write']({ id: 'plan', text: 'theirs' });
  type(area, 'mine');
  await until(container, () => container.textContent.includes('changed elsewhere'));
  assert.equal(container.querySelector('textarea').value, 'mine');
  assert.equal((await backend.methods['notes.read']({ id: 'plan' })).text, 'theirs\n');
  buttonOf(container, 'Overwrite with mine').click();
  await until(container, async () => (await backend.methods['notes.read']({ id: 'plan' })).text === 'mine\n');
});

test('notes: deleting is asked in the queue and obeyed only on yes', async (t) => {
  for (const [answer, expected] of [[{ status: 'canceled' }, 1], [{ status: 'ok', selection: 'keep' }, 1], [{ status: 'ok', selection: 'delete' }, 0]]) {
    const { host, log, backend } = await hostFor(...NOTES, await tempDir(t), { answer });
    await backend.methods['notes.write']({ id: 'plan', text: '# Plan' });
    const { container, dispose } = await mountApp(t, pluginPath('com.chatos.notes', 'notes', 'index.mjs'), host);
    buttonOf(container, 'Plan').click();
    await until(container, () => container.querySelector('textarea'));
    buttonOf(container, 'Delete').click();
    await until(container, () => log.some(([name]) => name === 'wait') && !container.textContent.includes('Answer the question'));
    assert.equal((await backend.methods['notes.list']()).total, expected);
    const asked = log.find(([name]) => name === 'request')[1].prompt;
    assert.deepEqual([asked.kind, asked.default], ['choice', 'keep']);
    await dispose();
  }
});

test('notes compact: one line in, one note out, in Chinese', async (t) => {
  const dataDir = await tempDir(t);
  const { host, log } = await hostFor(...NOTES, dataDir, { lang: 'zh' });
  const { container } = await mountApp(t, pluginPath('com.chatos.notes', 'notes', 'compact.mjs'), host);
  assert.match(container.textContent, /还没有笔记/u);
  const field = container.querySelector('input');
  field.value = '买牛奶';
  container.querySelector('form').dispatchEvent(new window.Event('submit', { bubbles: true, cancelable: true }));
  await until(container, () => container.querySelector('.name'));
  assert.deepEqual(await readdir(join(dataDir, 'notes')), ['买牛奶.md']);
  buttonOf(container, '打开笔记').click();
  assert.deepEqual(log.at(-1), ['navigate', 'apps/plugin/com.chatos.notes/notes']);
});

test('daily: each day has its page, and the agent is asked about the right one', async (t) => {
  const dataDir = await tempDir(t);
  const { host, log } = await hostFor('com.chatos.notes', 'daily', dataDir);
  const { container, dispose } = await mountApp(t, pluginPath('com.chatos.notes', 'daily', 'index.mjs'), host);
  type(container.querySelector('textarea'), 'walked');
  buttonOf(container, 'Previous day').click();
  await until(container, () => container.querySelector('textarea').value === '');
  const [name] = await readdir(join(dataDir, 'notes'));
  assert.match(name, /^daily-\d{4}-\d{2}-\d{2}\.md$/u);
  assert.match(await readFile(join(dataDir, 'notes', name), 'utf8'), /^# \d{4}-\d{2}-\d{2}\n\nwalked\n$/u);
  buttonOf(container, 'Today').click();
  await until(container, () => container.querySelector('textarea').value.includes('walked'));
  buttonOf(container, 'Ask the agent').click();
  await until(container, () => log.some(([entry]) => entry === 'send'));
  const sent = log.find(([entry]) => entry === 'send')[1];
  assert.equal(sent.sessionId, 'ses_1');
  assert.ok(sent.text.includes(name.replace('.md', '')), sent.text);
  await dispose();
});

const TASKS = [
  { id: 't1', title: 'Write <b>docs</b>', details: 'all of them', status: 'doing', priority: 'high', tags: ['docs'], updatedAt: '2026-01-02T00:00:00.000Z' },
  { id: 't2', title: 'Ship', details: '', status: 'todo', priority: 'low', tags: [], updatedAt: '2026-01-01T00:00:00.000Z' },
];

test('board: columns, pins, a saved view, and a move that asks the agent', async (t) => {
  const dataDir = await tempDir(t);
  const { host, log, listeners, backend } = await hostFor('com.chatos.taskboard', 'board', dataDir, { tasks: TASKS });
  const { container, dispose } = await mountApp(t, pluginPath('com.chatos.taskboard', 'board', 'index.mjs'), host);
  const column = (key) => container.querySelector(`[data-column="${key}"]`);
  assert.match(column('doing').textContent, /Write <b>docs<\/b>/u);
  assert.equal(container.querySelector('b'), null);
  buttonOf(column('todo'), 'Pin').click();
  await until(container, () => column('todo').textContent.includes('Unpin'));
  assert.deepEqual((await backend.methods['board.read']()).pins.map((pin) => pin.taskId), ['t2']);

  const move = column('todo').querySelector('select');
  move.value = 'doing';
  move.dispatchEvent(new window.Event('change', { bubbles: true }));
  await until(container, () => log.some(([name]) => name === 'send'));
  assert.match(log.find(([name]) => name === 'send')[1].text, /t2.*doing.*update_task/u);

  buttonOf(container, 'Save as view').click();
  container.querySelector('.notice input').value = 'Mine';
  buttonOf(container.querySelector('.notice'), 'Save').click();
  await until(container, () => container.textContent.includes('Delete view'));
  assert.deepEqual((await backend.methods['board.read']()).views.map((view) => view.name), ['All tasks', 'Mine']);

  buttonOf(container, 'Stand-up').click();
  await until(container, () => container.textContent.includes('## doing: 1 / 3'));

  for (const listener of listeners) listener({ data: { tasks: [{ ...TASKS[1], status: 'done' }] } });
  await until(container, () => column('done').textContent.includes('Ship'));
  await dispose();
  assert.equal(listeners.size, 0);
  assert.equal(container.children.length, 0);
});

test('focus: pinned and running tasks only; a broken store is told, not hidden', async (t) => {
  const dataDir = await tempDir(t);
  const { host, backend } = await hostFor('com.chatos.taskboard', 'focus', dataDir, { tasks: TASKS });
  const { container, dispose } = await mountApp(t, pluginPath('com.chatos.taskboard', 'focus', 'compact.mjs'), host);
  assert.equal(container.querySelectorAll('[data-task]').length, 1);
  await dispose();
  await backend.methods['pins.add']({ taskId: 't2' });
  await writeFile(join(dataDir, 'board', 'board.json'), 'not json');
  const again = await mountApp(t, pluginPath('com.chatos.taskboard', 'focus', 'index.mjs'), host);
  assert.match(again.container.textContent, /board\.json is not valid JSON/u);
});

test('team: says that its server is not there and how to start it', async (t) => {
  const dataDir = await tempDir(t);
  const { host } = await hostFor('com.chatos.taskboard', 'team', dataDir);
  const { container } = await mountApp(t, pluginPath('com.chatos.taskboard', 'team', 'index.mjs'), host);
  assert.match(container.textContent, /is not running/u);
  assert.ok(container.querySelector('pre').textContent.includes(dataDir));
});
