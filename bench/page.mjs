// The page in a real Chromium: its first view and the first visit of each page, a chat of 10,000 messages opened and
// scrolled, an answer that streams fast, an Inbox of 3,000 questions visited fifty times, 200 questions approved at once,
// a tool log of 20,000 lines read, searched and flooded, minutes over all pages. Prints what was measured beside the bar;
// ends with 1 when a bar was missed.
//
//   node bench/page.mjs [path of the chatos binary] [first|scroll|stream|inbox|bulk|log|walk …]
//
// Needs `npm ci` and `npm run build` in ui/, a Chromium (CHROMIUM names another than /usr/bin/chromium), and for the
// long chat the program `sqlite3`, which puts its messages into the state before the host is there.

import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { cpus, tmpdir } from 'node:os';
import { join, resolve as absolute } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const { chromium } = createRequire(join(root, 'ui/package.json'))('playwright-core');
const PARTS = ['first', 'scroll', 'stream', 'inbox', 'bulk', 'log', 'walk'];
const chosen = process.argv.slice(2).filter((word) => PARTS.includes(word));
const wants = (part) => chosen.length === 0 || chosen.includes(part);
const binary = absolute(process.argv.slice(2).find((word) => !PARTS.includes(word)) ?? join(root, 'target/release/chatos'));
const MESSAGES = 10_000;
const QUESTIONS = 3_000;
const VISITS = 50;
const LINES = 20_000;
/** How many more lines come while the log is looked at, and for how long. */
const FLOOD = 5_000;
const FLOOD_MS = 10_000;
/** Characters per second of the answer that streams, and for how long. */
const RATE = 800;
const STREAM_MS = 15_000;
/** How long one goes over all pages; issue 21 says ten minutes. */
const WALK_MS = Number(process.env.CHATOS_WALK_SECONDS ?? 600) * 1000;
const ADDRESSES = ['chat', 'queue', 'apps', 'agents', 'agents/models', 'agents/land-configs', 'agents/programs', 'tasks', 'runs', 'changes', 'settings/servers', 'settings/tools', 'settings/tool-log', 'settings', 'settings/notifications', 'settings/doctor', 'settings/help'];

const rows = [];
function report(what, value, unit, goal, beside = '') {
  rows.push({ what, value: `${value.toFixed(Number.isInteger(value) || value >= 10 ? 0 : 1)} ${unit}`, goal: goal === null ? '' : `≤ ${goal} ${unit}`, met: goal === null ? '' : value <= goal ? 'yes' : 'NO', beside });
}
const at = (list, part) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const home = mkdtempSync(join(tmpdir(), 'chatos-bench-'));
const state = join(home, 'state');

async function start() {
  const args = ['serve', '--port', '0', '--no-open', '--ready-json', '--state-dir', state, '--ui-dir', join(root, 'ui/dist')];
  const child = spawn(binary, args, { cwd: home, env: { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8' }, stdio: ['ignore', 'pipe', 'ignore'] });
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`chatos serve ended with ${code}`)));
  });
  const ready = JSON.parse(line);
  const api = async (method, path, body) => {
    const headers = { Authorization: `Bearer ${ready.token}`, 'Content-Type': 'application/json' };
    const response = await fetch(new URL(`/api/v1/${path}`, ready.url), { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const stop = async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await gone;
  };
  return { ready, api, stop };
}

/** What people and models say to one another: prose, lists, code, a table. */
const PROSE = 'The parser keeps a window of the file in memory and reads ahead only as far as the longest token it knows. ';
const KINDS = [
  `${PROSE}${PROSE}\n\n- first, the **lexer** is asked\n- then the \`cache\` of [positions](https://example.org/positions)\n- last, the file itself\n\n${PROSE}`,
  `${PROSE}\n\n\`\`\`rust\nfn next(&mut self) -> Option<Token> {\n    let start = self.at;\n    while self.peek().is_some_and(|c| c.is_alphanumeric()) {\n        self.at += 1;\n    }\n    (self.at > start).then(|| Token::word(start..self.at))\n}\n\`\`\`\n\n${PROSE}`,
  `### What was measured\n\n| size | before | after |\n|---|---:|---:|\n| 10 KB | 12 ms | 3 ms |\n| 1 MB | 890 ms | 41 ms |\n| 100 MB | 96 s | 3.8 s |\n\n${PROSE}`,
  `${PROSE}${PROSE}\n\n> It is slower only where the file is smaller than the window.\n\n1. Read.\n2. Measure.\n3. Read again.\n\n${PROSE}`,
];
const answerOf = (index) => KINDS[index % KINDS.length];

/** A chat with very many messages, put into the database while no host is there. */
function fill() {
  const now = Date.now();
  const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
  const lines = ['PRAGMA foreign_keys = ON;', 'BEGIN;', `INSERT INTO sessions (id, title, created_at, updated_at, last_message_at) VALUES ('bench-long', 'Ten thousand', ${now}, ${now}, ${now});`];
  for (let n = 0; n < MESSAGES; n += 1) {
    const text = n % 2 === 0 ? `Question ${n}: why is this faster for large files, and where would it be slower?` : `Answer ${n}. ${answerOf((n - 1) / 2)}`;
    lines.push(`INSERT INTO messages (id, session_id, seq, role, content, created_at) VALUES ('m${n}', 'bench-long', ${n + 1}, '${n % 2 === 0 ? 'user' : 'assistant'}', ${quoted(text)}, ${now - (MESSAGES - n) * 1000});`);
  }
  execFileSync('sqlite3', [join(state, 'state.db')], { input: [...lines, 'COMMIT;'].join('\n'), stdio: ['pipe', 'ignore', 'inherit'] });
}

/** A model that says a long text at `RATE`. */
function model() {
  const text = Array.from({ length: 80 }, (_, index) => answerOf(index)).join('\n\n').slice(0, (RATE * STREAM_MS) / 1000);
  const EVERY_MS = 25;
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const send = (delta, finish = null) => response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
      const began = performance.now();
      let said = 0;
      const timer = setInterval(() => {
        const due = Math.min(text.length, Math.floor(((performance.now() - began) * RATE) / 1000));
        if (due > said) send({ content: text.slice(said, due) });
        said = due;
        if (said < text.length) return;
        clearInterval(timer);
        send({}, 'stop');
        response.end('data: [DONE]\n\n');
      }, EVERY_MS);
      response.once('close', () => clearInterval(timer));
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** What the page does with its main thread while `work` goes on. Counting frames asks for one every time, so it is done
    only where frames are what is measured. */
async function watch(page, work, frames) {
  await page.evaluate((counting) => {
    const told = { frames: [], tasks: [], on: true };
    globalThis.benchWatch = told;
    new PerformanceObserver((list) => told.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
    let last = performance.now();
    const frame = (now) => {
      told.frames.push(now - last);
      last = now;
      if (told.on) requestAnimationFrame(frame);
    };
    if (counting) requestAnimationFrame(frame);
  }, frames);
  await work();
  return page.evaluate(() => {
    globalThis.benchWatch.on = false;
    return globalThis.benchWatch;
  });
}

async function scroll(open) {
  const { page, api } = open;
  const chat = page.locator('[data-transcript="bench-long"]');
  const opened = [];
  for (let n = 0; n < 12; n += 1) {
    await page.goto(`${open.url}#/chat`);
    await page.reload();
    await page.locator('[data-composer]').waitFor();
    await page.locator('nav [data-session]').first().waitFor();
    opened.push(await page.evaluate(async (wanted) => {
      const chosenAt = performance.now();
      location.hash = '#/chat/bench-long';
      await new Promise((resolve) => {
        const look = new MutationObserver(() => {
          if (!document.querySelector('[data-row]')) return;
          look.disconnect();
          resolve();
        });
        look.observe(document.body, { childList: true, subtree: true });
      });
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const end = performance.now();
      if (!document.body.textContent.includes(wanted)) throw new Error('the newest message is not shown');
      return end - chosenAt;
    }, `Answer ${MESSAGES - 1}.`));
  }
  report('a chat of 10,000 messages, chosen → painted, p50', at(opened, 0.5), 'ms', 150, `slowest of ${opened.length}: ${Math.max(...opened).toFixed(0)} ms`);

  const box = await chat.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const STEPS = 600;
  const told = await watch(page, async () => {
    for (let n = 0; n < STEPS; n += 1) await page.mouse.wheel(0, -240);
    await pause(500);
  }, true);
  const frames = told.frames.slice(1);
  const slow = frames.filter((ms) => ms > 50).length;
  report(`scrolling up through it, frames over 50 ms`, slow, `of ${frames.length}`, 0, `p50 ${at(frames, 0.5).toFixed(0)} ms, p99 ${at(frames, 0.99).toFixed(0)} ms, longest ${Math.max(...frames).toFixed(0)} ms`);
  report('… tasks of the main thread over 50 ms', told.tasks.length, 'tasks', 0, told.tasks.length > 0 ? `longest ${Math.max(...told.tasks).toFixed(0)} ms` : '');
  const seen = await chat.evaluate((element) => ({ rows: element.querySelectorAll('[data-row]').length, nodes: element.querySelectorAll('*').length, height: element.scrollHeight, top: element.scrollTop }));
  report('… elements in the chat then', seen.nodes, 'elements', null, `${seen.rows} rows drawn, ${Math.round((seen.height - seen.top) / 1000)} thousand pixels from the end`);
  const newest = await api('GET', 'sessions/bench-long/messages?limit=1');
  if (newest.messages.length !== 1) throw new Error('the chat is not there');
}

async function stream({ page, api, cdp, url }) {
  const server = await model();
  try {
    const made = await api('POST', 'models', { name: 'Fast', provider: 'openai', model: 'fast', baseUrl: `http://127.0.0.1:${server.address().port}/v1`, apiKeyName: '' });
    const session = await api('POST', 'sessions', { title: 'Streaming', modelId: made.id });
    await page.goto(`${url}#/chat/${session.id}`);
    await page.locator('[data-composer]').waitFor();
    await pause(1_500);
    const busy = async () => Object.fromEntries((await cdp.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));
    await cdp.send('Performance.enable');
    const idle = await busy();
    await pause(2_000);
    const rest = await busy();
    await api('POST', `sessions/${session.id}/send`, { text: 'Tell me all of it.' });
    await page.locator('[data-row="assistant"]').waitFor();
    const before = await busy();
    const told = await watch(page, () => pause(STREAM_MS - 2_000), false);
    const after = await busy();
    const share = (one, other) => (100 * (other.TaskDuration - one.TaskDuration)) / (other.Timestamp - one.Timestamp);
    const part = (name) => `${((100 * (after[name] - before[name])) / (after.Timestamp - before.Timestamp)).toFixed(0)} %`;
    const shown = await page.locator('[data-row="assistant"]').last().evaluate((row) => row.textContent.length);
    if (shown < RATE * 6) throw new Error(`only ${shown} characters were shown`);
    report(`streaming ${RATE} characters per second: main thread busy`, share(before, after), '%', 30, `script ${part('ScriptDuration')}, layout ${part('LayoutDuration')}, style ${part('RecalcStyleDuration')}; at rest ${share(idle, rest).toFixed(0)} %; ${told.tasks.length} tasks over 50 ms`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function inbox({ page, cdp, url }) {
  const began = Date.now() - QUESTIONS * 1000;
  const lines = Array.from({ length: QUESTIONS }, (_, n) => JSON.stringify({ ts: new Date(began + n * 1000).toISOString(), type: 'ui_prompt', action: 'request', requestId: `bench-${n}`, prompt: { kind: 'choice', title: `Question ${n}`, source: 'bench', options: [{ value: 'y', label: 'Yes' }], default: 'y' } }));
  appendFileSync(join(state, 'ui-prompts.jsonl'), `${lines.join('\n')}\n`);
  await page.goto(`${url}#/queue`);
  await page.getByRole('heading', { level: 2, name: 'Question 0', exact: true }).waitFor();
  const opened = [];
  for (let n = 0; n < 9; n += 1) {
    await page.goto(`${url}#/tasks`);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
    await pause(1_500);
    opened.push(await page.evaluate(async () => {
      const chosenAt = performance.now();
      location.hash = '#/queue';
      while (!document.querySelector('[data-list] [role="option"]')) await new Promise(requestAnimationFrame);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      return performance.now() - chosenAt;
    }));
  }
  report(`an Inbox of ${QUESTIONS} questions, chosen → first rows painted, p50`, at(opened, 0.5), 'ms', 150, `slowest of ${opened.length}: ${Math.max(...opened).toFixed(0)} ms`);
  const box = await page.locator('[data-list]').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const told = await watch(page, async () => {
    for (let n = 0; n < 600; n += 1) await page.mouse.wheel(0, 240);
    await pause(500);
  }, true);
  const frames = told.frames.slice(1);
  report('… scrolling down through it, the longest frame', Math.max(...frames), 'ms', 50, `p50 ${at(frames, 0.5).toFixed(0)} ms, p99 ${at(frames, 0.99).toFixed(0)} ms, ${frames.filter((ms) => ms > 50).length} of ${frames.length} over 50 ms`);
  const count = async () => {
    for (let n = 0; n < 3; n += 1) {
      await cdp.send('HeapProfiler.collectGarbage');
      await pause(150);
    }
    return cdp.send('Memory.getDOMCounters');
  };
  const visit = async () => {
    await page.evaluate(() => (location.hash = '#/tasks'));
    await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
    await page.evaluate(() => (location.hash = '#/queue'));
    await page.getByRole('heading', { level: 2, name: 'Question 0', exact: true }).waitFor();
  };
  for (let n = 0; n < 5; n += 1) await visit();
  const first = await count();
  for (let n = 0; n < VISITS; n += 1) await visit();
  const last = await count();
  report(`an Inbox of ${QUESTIONS} questions: DOM nodes left behind by each of ${VISITS} visits`, Math.max(0, (last.nodes - first.nodes) / VISITS), 'nodes', 1, `${first.nodes} → ${last.nodes} nodes, ${first.jsEventListeners} → ${last.jsEventListeners} listeners`);
}

/** A tool log of very many lines: opened, read back page by page, searched, and followed while it is flooded. */
async function log({ page, cdp, url }) {
  const began = Date.now() - LINES * 1000;
  const lines = (from, count) => Array.from({ length: count / 2 }, (_, index) => {
    const n = from + index;
    const common = { v: 1, callId: `bench-call-${n}`, runId: 'bench', server: 'project_files', toolName: 'read_file' };
    const ts = (more) => new Date(began + n * 2_000 + more).toISOString();
    return `${JSON.stringify({ ...common, ts: ts(0), type: 'tool_call', args: { path: `src/module_${n}/file.rs`, start_line: n } })}\n${JSON.stringify({ ...common, ts: ts(1), type: 'tool_result', status: 'ok', code: 'ok', isError: false, elapsedMs: 3, queuedMs: 0, waitedMs: 0, size: 4_000 })}\n`;
  }).join('');
  appendFileSync(join(state, 'tool-log.jsonl'), lines(0, LINES));
  const rows = page.locator('main ol > li[data-call]');
  const opened = [];
  for (let n = 0; n < 7; n += 1) {
    await page.goto(`${url}#/settings/servers`);
    await page.reload();
    await page.locator('main h1').waitFor();
    await pause(1_500);
    opened.push(await page.evaluate(async () => {
      const chosenAt = performance.now();
      location.hash = '#/settings/tool-log';
      while (!document.querySelector('main li[data-call]')) await new Promise(requestAnimationFrame);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      return performance.now() - chosenAt;
    }));
  }
  report(`a tool log of ${LINES.toLocaleString('en')} lines, chosen → painted, p50`, at(opened, 0.5), 'ms', 150, `slowest of ${opened.length}: ${Math.max(...opened).toFixed(0)} ms`);
  const more = page.locator('main .more button');
  const told = await watch(page, async () => {
    for (let n = 0; n < 15; n += 1) {
      const before = await rows.count();
      await more.click();
      await page.waitForFunction((count) => document.querySelectorAll('main li[data-call]').length > count, before);
    }
  }, true);
  report('… read back by 15 pages: the longest task of the main thread', Math.max(0, ...told.tasks), 'ms', null, `${await rows.count()} calls shown, ${await page.locator('main *').count()} elements`);
  const search = await page.evaluate(async () => {
    const box = document.querySelector('main input[type="search"], main input');
    const began = performance.now();
    box.value = 'module_17/';
    box.dispatchEvent(new Event('input', { bubbles: true }));
    while (document.querySelectorAll('main li[data-call]').length !== 1) await new Promise(requestAnimationFrame);
    box.value = '';
    const ms = performance.now() - began;
    box.dispatchEvent(new Event('input', { bubbles: true }));
    return ms;
  });
  report('… searched: typed → the one call painted', search, 'ms', null, 'a quarter of a second of it is the pause after the last letter');
  await page.waitForFunction(() => document.querySelectorAll('main li[data-call]').length > 10);
  await cdp.send('Performance.enable');
  const busy = async () => Object.fromEntries((await cdp.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));
  const before = await busy();
  const flooded = await watch(page, async () => {
    const step = FLOOD / 100;
    for (let n = 0; n < 100; n += 1) {
      appendFileSync(join(state, 'tool-log.jsonl'), lines(LINES / 2 + (n * step) / 2, step));
      await pause(FLOOD_MS / 100);
    }
    await pause(1_000);
  }, false);
  const after = await busy();
  const share = (100 * (after.TaskDuration - before.TaskDuration)) / (after.Timestamp - before.Timestamp);
  report(`… ${FLOOD.toLocaleString('en')} more lines in ${FLOOD_MS / 1000} s while it is looked at: main thread busy`, share, '%', null, `${flooded.tasks.length} tasks over 50 ms, longest ${Math.max(0, ...flooded.tasks).toFixed(0)} ms; ${await rows.count()} calls shown`);
}

/** Two hundred changes approved with the keyboard, from the first key until the last of them is answered; once by keys and
    once by the mouse. */
async function bulk({ page, api, url }) {
  const BULK = 200;
  const LIMIT_S = 20;
  for (const way of ['keys', 'mouse']) {
    for (let n = 0; n < BULK; n += 1) {
      const path = `${way}-${n}.txt`;
      const prompt = { kind: 'file_change_confirm', path, diff: '--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n' };
      const material = { identity: 'builtin:code_writer', tool: 'write_file', root: { path: home }, files: [{ path, change: 'created' }] };
      await api('POST', 'prompts', { prompt, requestId: `bulk-${way}-${n}`, owner: 'host:code_writer', effect: { name: 'file_change', material } });
    }
    await page.goto(`${url}#/queue?q=${way}-`);
    await page.locator('[role="option"]').first().waitFor();
    const sheet = page.getByRole('dialog', { name: 'Answer several questions' });
    const approve = sheet.getByRole('button', { name: `Approve ${BULK}` });
    const began = performance.now();
    await page.locator('[data-list]').focus();
    await page.keyboard.press('*');
    if (way === 'keys') await page.keyboard.press('a');
    else await page.getByRole('button', { name: `Answer ${BULK}…` }).click();
    await sheet.locator('[data-bulk] li').last().scrollIntoViewIfNeeded();
    await sheet.getByLabel('Note', { exact: false }).first().scrollIntoViewIfNeeded();
    if (way === 'keys') {
      await page.waitForFunction((name) => [...document.querySelectorAll('[role="dialog"] button')].some((button) => button.textContent.trim() === name && !button.disabled), `Approve ${BULK}`);
      await approve.focus();
      await page.keyboard.press('Enter');
    } else await approve.click();
    await sheet.waitFor({ state: 'detached' });
    for (;;) {
      const { state: last } = await api('GET', `prompts/bulk-${way}-${BULK - 1}`);
      if (last === 'closed') break;
      await pause(20);
    }
    const ms = performance.now() - began;
    const open = await api('GET', `prompts?view=needs_you&q=${way}-`);
    if (open.items.length > 0) throw new Error(`${open.items.length} of ${BULK} are still open`);
    report(`${BULK} changes approved at once by ${way}, first key → all answered`, ms / 1000, 's', LIMIT_S);
  }
}

/** The first view with nothing cached, and every page the first time it is gone to. */
async function first({ page, cdp, url }) {
  await cdp.send('Network.enable');
  const [painted, sizes, counts, later] = [[], [], [], []];
  const fresh = async () => {
    await cdp.send('Network.clearBrowserCache');
    await page.goto('about:blank');
    await page.goto(`${url}#/chat`);
    await page.locator('[data-composer]').waitFor();
  };
  for (let n = 0; n < 9; n += 1) {
    const seen = new Map();
    const asked = ({ requestId, wallTime }) => seen.set(requestId, { at: wallTime * 1000, bytes: 0 });
    const done = ({ requestId, encodedDataLength }) => {
      if (seen.has(requestId)) seen.get(requestId).bytes = encodedDataLength;
    };
    cdp.on('Network.requestWillBeSent', asked);
    cdp.on('Network.loadingFinished', done);
    await fresh();
    painted.push(await page.evaluate(() => new Promise((resolve) => {
      new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? 0)).observe({ type: 'largest-contentful-paint', buffered: true });
    })));
    // What was asked for until the page says that its first view stands; the code of other pages comes after it.
    const until = await (await page.waitForFunction(() => {
      const mark = performance.getEntriesByName('chatos-first-view')[0];
      return mark ? performance.timeOrigin + mark.startTime : null;
    })).jsonValue();
    await pause(2_500);
    cdp.off('Network.requestWillBeSent', asked);
    cdp.off('Network.loadingFinished', done);
    const bytes = (list) => list.reduce((sum, one) => sum + one.bytes, 0) / 1000;
    const before = [...seen.values()].filter((one) => one.at <= until);
    sizes.push(bytes(before));
    counts.push(before.length);
    later.push(bytes([...seen.values()].filter((one) => one.at > until)));
  }
  report('first view, nothing cached: largest contentful paint, p50', at(painted, 0.5), 'ms', 800, `slowest of ${painted.length}: ${Math.max(...painted).toFixed(0)} ms`);
  report('… bytes on the wire with the answers of the API', at(sizes, 0.5), 'kB', 250, `in ${at(counts, 0.5)} requests; ${at(later, 0.5).toFixed(0)} kB more when nothing is to be done`);

  /** From the press to the frame on screen that has the page's own heading (with its content, or grey lines where that
      will be), and to the one that has its data. */
  const watching = () => page.evaluate(() => {
    const before = document.querySelector('main h1')?.textContent;
    const told = { began: null, drawn: null, whole: null };
    globalThis.benchVisit = new Promise((resolve) => {
      const look = () => {
        const title = document.querySelector('main h1');
        if (told.began === null || !title || title.textContent === before) return void requestAnimationFrame(look);
        const whole = !document.querySelector('main .skeleton');
        // A message comes after the frame was painted.
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
          told.drawn ??= performance.now() - told.began;
          if (whole) resolve({ drawn: told.drawn, whole: performance.now() - told.began });
        };
        port2.postMessage(null);
        if (!whole) requestAnimationFrame(look);
      };
      addEventListener('pointerdown', () => (told.began = performance.now()), { once: true, capture: true });
      addEventListener('hashchange', () => (told.began ??= performance.now()), { once: true, capture: true });
      look();
    });
  });
  const visits = [];
  for (const address of ADDRESSES.slice(1)) {
    const times = [];
    for (let n = 0; n < 3; n += 1) {
      await fresh();
      await pause(2_000);
      await watching();
      const link = page.locator(`nav a[href="#/${address}"]`);
      // A place of the rail is pressed; a part of a page is gone to as the palette goes.
      if ((await link.count()) > 0) await link.first().click();
      else await page.evaluate((hash) => (location.hash = `#/${hash}`), address);
      times.push(await page.evaluate(() => globalThis.benchVisit));
    }
    visits.push({ address, drawn: at(times.map(({ drawn }) => drawn), 0.5), whole: at(times.map(({ whole }) => whole), 0.5) });
  }
  const worst = (key) => visits.toSorted((a, b) => b[key] - a[key]);
  const beside = (key) => worst(key).slice(0, 5).map((one) => `${one.address} ${one[key].toFixed(0)}`).join(', ');
  report('first visit of a page, pressed → painted with its heading, the slowest', worst('drawn')[0].drawn, 'ms', 100, beside('drawn'));
  report('… with its data', worst('whole')[0].whole, 'ms', 100, beside('whole'));
}

/** What the heap holds, in MB: what the engine compiled, and what the page keeps. Nodes of the document are counted
    elsewhere, and the engine's own lists of them are left out. */
async function kept(cdp) {
  const pieces = [];
  const take = ({ chunk }) => pieces.push(chunk);
  cdp.on('HeapProfiler.addHeapSnapshotChunk', take);
  await cdp.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  cdp.off('HeapProfiler.addHeapSnapshotChunk', take);
  const { snapshot: { meta }, nodes } = JSON.parse(pieces.join(''));
  const [type, size] = ['type', 'self_size'].map((name) => meta.node_fields.indexOf(name));
  const bytes = { code: 0, data: 0 };
  for (let at = 0; at < nodes.length; at += meta.node_fields.length) {
    const kind = meta.node_types[type][nodes[at + type]];
    if (kind === 'code' || kind === 'hidden' || kind === 'object shape') bytes.code += nodes[at + size];
    else if (kind !== 'native' && kind !== 'synthetic') bytes.data += nodes[at + size];
  }
  return { code: bytes.code / 1e6, data: bytes.data / 1e6 };
}

/** Minutes over all pages: elements and memory stay. */
async function walk({ page, cdp, url }) {
  await page.goto(`${url}#/chat`);
  const round = async () => {
    for (const address of ADDRESSES) {
      await page.evaluate((hash) => (location.hash = `#/${hash}`), address);
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      await page.waitForFunction(() => document.querySelector('main .skeleton') === null);
    }
  };
  const count = async () => {
    for (let n = 0; n < 3; n += 1) {
      await cdp.send('HeapProfiler.collectGarbage');
      await pause(150);
    }
    const { usedSize } = await cdp.send('Runtime.getHeapUsage');
    return { ...(await cdp.send('Memory.getDOMCounters')), heap: usedSize / 1e6, ...(await kept(cdp)) };
  };
  for (let n = 0; n < 3; n += 1) await round();
  const before = await count();
  const began = performance.now();
  let rounds = 0;
  while (performance.now() - began < WALK_MS) {
    await round();
    rounds += 1;
  }
  const after = await count();
  report(`${(WALK_MS / 60_000).toFixed(1)} minutes over all pages: DOM nodes each of ${rounds} rounds leaves behind`, Math.max(0, (after.nodes - before.nodes) / rounds), 'nodes', 1, `${before.nodes} → ${after.nodes} nodes, ${before.jsEventListeners} → ${after.jsEventListeners} listeners`);
  report('… growth of the heap', Math.max(0, after.heap - before.heap), 'MB', 3, `${before.heap.toFixed(1)} → ${after.heap.toFixed(1)} MB, of it compiled code ${before.code.toFixed(1)} → ${after.code.toFixed(1)} MB`);
  report('… growth of what the page keeps, without compiled code', Math.max(0, after.data - before.data) * 1000, 'kB', 300, `${before.data.toFixed(2)} → ${after.data.toFixed(2)} MB`);
}

let host = await start();
let browser;
try {
  if (wants('scroll')) {
    await host.stop();
    fill();
    host = await start();
  }
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'] });
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' })).newPage();
  const cdp = await page.context().newCDPSession(page);
  await page.goto(host.ready.signInUrl);
  await page.getByRole('navigation').first().waitFor();
  const open = { page, cdp, api: host.api, url: host.ready.url };
  if (wants('first')) await first(open);
  if (wants('scroll')) await scroll(open);
  if (wants('stream')) await stream(open);
  if (wants('inbox')) await inbox(open);
  if (wants('bulk')) await bulk(open);
  if (wants('log')) await log(open);
  if (wants('walk')) await walk(open);
} finally {
  await browser?.close();
  await host.stop();
  rmSync(home, { recursive: true, force: true });
}

console.log(`${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model ?? 'cpu'}, Node ${process.version}`);
console.table(rows);
process.exitCode = rows.some(({ met }) => met === 'NO') ? 1 : 0;
