// Ways out of a frame (inbox §8.2), each tried by an app's own code and watched by listeners on loopback: nothing
// arrives. The same code is run without the header, and without any policy, which proves that it would have.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { CONFINES, install, oneApp, openApp, pulse, without } from './app-plugins';
import { Ears } from './ears';
import { type OpenOptions, test } from './fixtures';
import type { Host } from './host';

/** Runs in the page of the app, and as text in pages it makes. */
const DIAL = `async function dial(Peer, { udp, tcp }, user) {
  const key = { username: user, credential: 'x' };
  const peer = new Peer({ iceServers: [
    { urls: 'turn:127.0.0.1:' + udp + '?transport=udp', ...key },
    { urls: 'turn:127.0.0.1:' + tcp + '?transport=tcp', ...key },
    { urls: 'stun:127.0.0.1:' + udp },
  ] });
  peer.createDataChannel('x');
  await peer.setLocalDescription(await peer.createOffer());
  await Promise.race([
    new Promise((resolve) => peer.addEventListener('icegatheringstatechange', () => peer.iceGatheringState === 'complete' && resolve())),
    new Promise((resolve) => setTimeout(resolve, 2000)),
  ]);
}`;

/** \`kept\` is what the test saved before the first script: the app's own realm has it no more. */
const APP = `
${DIAL}
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const add = (name, set) => { const made = document.createElement(name); set(made); document.body.append(made); return made; };
const link = (rel, href, as) => { const made = document.createElement('link'); made.rel = rel; made.href = href; if (as) made.as = as; document.head.append(made); };
const page = (to) => '<script>' + dial.toString() + '; dial(RTCPeerConnection, ' + JSON.stringify(to) + ', "from-a-child")<' + '/script>';
const away = (to, path) => 'http://127.0.0.1:' + to.tcp + '/' + path;
const ways = {
  webrtc: (to) => dial(kept.RTCPeerConnection, to, 'from-the-page'),
  fetch: (to) => fetch(away(to, 'fetch'), { mode: 'no-cors' }),
  beacon: async (to) => navigator.sendBeacon(away(to, 'beacon'), 'x'),
  socket: async (to) => new WebSocket(away(to, 'socket').replace('http', 'ws')),
  events: async (to) => new EventSource(away(to, 'events')),
  image: async (to) => add('img', (made) => { made.src = away(to, 'image'); }),
  font: (to) => new FontFace('x', 'url(' + away(to, 'font') + ')').load(),
  worker: async (to) => new Worker(URL.createObjectURL(new Blob(['fetch("' + away(to, 'worker') + '", { mode: "no-cors" })'], { type: 'text/javascript' }))),
  prefetch: async (to) => link('prefetch', away(to, 'prefetch')),
  preload: async (to) => link('preload', away(to, 'preload'), 'image'),
  hints: async (to) => { link('preconnect', away(to, '')); link('dns-prefetch', 'http://look-up.example.test/'); link('preconnect', 'http://connect-to.example.test/'); },
  blank: async (to) => { const child = add('iframe', () => undefined); await dial(child.contentWindow.RTCPeerConnection, to, 'from-a-child'); },
  srcdoc: async (to) => { add('iframe', (made) => { made.srcdoc = page(to); }); await wait(2000); },
  blob: async (to) => { add('iframe', (made) => { made.src = URL.createObjectURL(new Blob([page(to)], { type: 'text/html' })); }); await wait(2000); },
  data: async (to) => { add('iframe', (made) => { made.src = 'data:text/html,' + encodeURIComponent(page(to)); }); await wait(2000); },
  popup: async (to) => { kept.open(away(to, 'popup')); await wait(1000); },
  'popup with webrtc': async (to) => { const made = kept.open('about:blank'); if (made) await dial(made.RTCPeerConnection, to, 'from-a-popup'); },
  navigation: async (to) => { location.href = away(to, 'navigation'); await wait(1000); },
  form: async (to) => { const form = add('form', (made) => { made.action = away(to, 'form'); }); form.submit(); await wait(1000); },
};
export function mount({ container }) {
  globalThis.ways = Object.keys(ways);
  globalThis.take = async (names, to) => {
    const tried = {};
    for (const name of names) tried[name] = await Promise.race([ways[name](to), wait(3000)]).then(() => 'done', (error) => error.name);
    // As long as what was begun may still be on its way.
    await wait(500);
    return tried;
  };
  container.innerHTML = '<button>take it</button>';
  container.firstChild.onclick = () => { globalThis.taking = globalThis.take(globalThis.chosen, globalThis.to); };
}`;

type Mode = 'plugin' | 'fallback';
/** What stands between the app and the network: all of it; without the header; the header alone; nothing. */
type Guard = 'all' | 'no header' | 'header alone' | 'none';

const POLICY = ['content-security-policy', 'x-dns-prefetch-control'];

interface Global {
  take: (names: string[], to: unknown) => Promise<Record<string, string>>;
  taking?: Promise<Record<string, string>>;
  chosen: string[];
  to: unknown;
}

let ears: Ears;
beforeAll(async () => {
  ears = await Ears.open();
});
afterAll(() => ears.close());
beforeEach(() => ears.forget());

interface Lab {
  mode: Mode;
  guard: Guard;
  host: Host;
  open: (options?: OpenOptions) => Promise<Page>;
  more?: OpenOptions;
}

/** A page with the app open behind some of its guards. */
async function lab({ mode, guard, host, open, more = {} }: Lab): Promise<{ page: Page; frame: Frame; lives: () => Promise<boolean> }> {
  const id = await install(host, oneApp('com.lab.network', APP));
  // The policy of the page around it, which would keep the frame from leaving, goes with the frame's own.
  const bypass: BrowserContextOptions = guard === 'all' || guard === 'no header' ? {} : { bypassCSP: true };
  // A page that is answered anew comes from no known network, so the browser would guard this one from it.
  const local: OpenOptions = guard !== 'all' ? { lasting: true, featuresOff: ['LocalNetworkAccessChecks'] } : {};
  const page = await open({ at: '#/tasks', expectConsole: /./, ...bypass, ...more, ...local });
  await page.addInitScript((popups) => {
    if (top === self) {
      if (!popups) return;
      const set = Element.prototype.setAttribute;
      Element.prototype.setAttribute = function setAttribute(this: Element, name: string, value: string) {
        set.call(this, name, name === 'sandbox' ? `${value} allow-popups` : value);
      };
    } else if ('RTCPeerConnection' in globalThis) {
      (globalThis as unknown as { kept: unknown }).kept = { RTCPeerConnection, open: window.open.bind(window) };
    }
  }, bypass.bypassCSP === true);
  if (mode === 'fallback') await page.route('http://p-probe.localhost:*/**', (route) => route.abort());
  const gone = { all: [], 'no header': [CONFINES], 'header alone': POLICY, none: [CONFINES, ...POLICY] }[guard];
  await page.reload();
  await page.getByRole('navigation').first().waitFor();
  if (gone.length > 0) await without(page, gone);
  return { page, frame: await openApp(page, id), lives: await pulse(page) };
}

/** Takes ways by the app's own code. A frame that lost its process on the way has none to answer with. */
async function take(frame: Frame, names: string[]): Promise<void> {
  await frame.evaluate(({ names: given, to }) => (globalThis as unknown as Global).take(given, to), { names, to: ears.ports }).catch(() => undefined);
}

/** As \`take\`, by a click of the person. */
async function takeByClick(frame: Frame, names: string[]): Promise<void> {
  await frame.evaluate(({ names: given, to }) => Object.assign(globalThis, { chosen: given, to }), { names, to: ears.ports });
  await frame.getByRole('button', { name: 'take it' }).click();
  await frame.evaluate(() => (globalThis as unknown as Global).taking).catch(() => undefined);
}

const QUIET = ['webrtc', 'fetch', 'beacon', 'socket', 'events', 'image', 'font', 'worker', 'prefetch', 'preload'];
/** Each in a page of its own: a way of these can take the frame with it. */
const ALONE = ['blank', 'srcdoc', 'blob', 'data', 'navigation', 'form'];
const CLICKED = ['popup', 'popup with webrtc'];
const PATHS = ['fetch', 'beacon', 'socket', 'events', 'image', 'font', 'worker', 'prefetch', 'preload'];

describe.each(['plugin', 'fallback'] as const)('in the %s mode', (mode) => {
  test.for(['all', 'header alone'] as const)('no way out of the page itself with %s', async (guard, { host, open }) => {
    const { frame, lives } = await lab({ mode, guard, host, open });
    await take(frame, QUIET);
    expect(ears.all).toEqual([]);
    expect(await lives()).toBe(true);
  });

  test('without any guard each of these ways leads out, so the listeners hear what there is', async ({ host, open }) => {
    const { frame } = await lab({ mode, guard: 'none', host, open });
    await take(frame, QUIET);
    expect(ears.udp.some((line) => line.includes('from-the-page'))).toBe(true);
    expect(ears.tcp.some((line) => line !== '' && !line.includes('HTTP/'))).toBe(true);
    expect(PATHS.filter((path) => !ears.tcp.some((line) => line.includes(`/${path} `)))).toEqual([]);
  });

  test('without the header only WebRTC is open, as the trust sheet then says', async ({ host, open }) => {
    const { frame } = await lab({ mode, guard: 'no header', host, open });
    await take(frame, QUIET);
    expect(ears.udp.some((line) => line.includes('from-the-page'))).toBe(true);
    expect(ears.tcp.filter((line) => line.includes('HTTP/'))).toEqual([]);
  });

  test.for(ALONE)('no way out by %s, and without guards there is one', async (way, { host, open }) => {
    for (const guard of ['all', 'none'] as const) {
      const { page, frame, lives } = await lab({ mode, guard, host, open });
      await take(frame, [way]);
      // An opaque page cannot reach into a child; its code runs there only as the child's own.
      const closed = guard !== 'none' || (mode === 'fallback' && way === 'blank');
      if (closed) expect([guard, ears.all]).toEqual([guard, []]);
      else expect([guard, ears.all.length > 0]).toEqual([guard, true]);
      expect(await lives()).toBe(true);
      ears.forget();
      await page.context().close();
    }
  });

  test.for(CLICKED)('no way out by a %s a person clicked on, and without guards there is one', async (way, { host, open }) => {
    for (const guard of ['all', 'none'] as const) {
      const { page, frame } = await lab({ mode, guard, host, open });
      await takeByClick(frame, [way]);
      // The opener policy of the page leaves an app no hold of a window, whatever its guards: there is no code in it.
      const closed = guard !== 'none' || way === 'popup with webrtc';
      if (closed) expect([guard, ears.all]).toEqual([guard, []]);
      else expect([guard, ears.all.length > 0]).toEqual([guard, true]);
      if (guard === 'all') expect(page.context().pages().length).toBe(1);
      ears.forget();
      await page.context().close();
    }
  });

  test('hints connect to nothing and look up no name, and without guards they do', async ({ host, open }) => {
    for (const guard of ['all', 'header alone', 'none'] as const) {
      // An ordinary profile: a private one gives no hints to the network in any case.
      const log = join(host.home, `net-${mode}-${guard}.json`);
      const { page, frame } = await lab({ mode, guard, host, open, more: { lasting: true, flags: [`--log-net-log=${log}`] } });
      await take(frame, ['hints']);
      await page.context().close();
      const looked = ['look-up', 'connect-to'].filter((name) => readFileSync(log, 'utf8').includes(`${name}.example.test`));
      if (guard === 'none') expect([guard, ears.all.length > 0, looked]).toEqual([guard, true, ['look-up', 'connect-to']]);
      else expect([guard, ears.all, looked]).toEqual([guard, [], []]);
      ears.forget();
    }
  });

  test('what an app needs inside its own page works all the same', async ({ host, open }) => {
    const module = `
import { two } from './more/deep.mjs';
const settle = (target, good) => new Promise((resolve) => { target.addEventListener(good, () => resolve('ok')); target.addEventListener('error', () => resolve('error')); });
const image = (src) => { const made = new Image(); const done = settle(made, 'load'); made.src = src; return done; };
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';
const worker = (src, options) => new Promise((resolve) => { const made = new Worker(src, options); made.onmessage = ({ data }) => resolve(data); made.onerror = () => resolve('error'); });
export async function mount({ container, host }) {
  container.innerHTML = '<a download="notes.txt">Save</a> <a href="#here">Down</a>';
  container.querySelector('[download]').href = URL.createObjectURL(new Blob(['saved words']));
  globalThis.works = {
    static: two,
    lazy: (await import('./more/lazy.mjs')).three,
    shared: typeof (await import('../../common/ui/dom.mjs')),
    data: await image('data:image/svg+xml,' + encodeURIComponent(svg)),
    blob: await image(URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))),
    own: await image(new URL('./dot.svg', import.meta.url).href),
    text: await fetch(new URL('./words.txt', import.meta.url)).then((answer) => answer.text()),
    page: await fetch(new URL('./part.html', import.meta.url)).then((answer) => answer.text()),
    blobWorker: await worker(URL.createObjectURL(new Blob(['postMessage("from a blob")'], { type: 'text/javascript' }))),
    fileWorker: self.origin === 'null' ? 'from a file' : await worker(new URL('./worker.mjs', import.meta.url), { type: 'module' }),
    wasm: (await WebAssembly.instantiate(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))).instance instanceof WebAssembly.Instance,
    storage: (localStorage.setItem('a', 'b'), localStorage.getItem('a')),
    confinement: host.context.get().confinement,
    peer: typeof RTCPeerConnection,
  };
}`;
    const files = {
      'app/more/deep.mjs': 'export const two = 2;',
      'app/more/lazy.mjs': 'export const three = 3;',
      'app/dot.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
      'app/words.txt': 'words',
      'app/part.html': '<p>part</p>',
      'app/worker.mjs': 'postMessage("from a file");',
    };
    const id = await install(host, oneApp('com.lab.honest', module, { files }));
    const page = await open({ at: '#/tasks' });
    if (mode === 'fallback') await page.route('http://p-probe.localhost:*/**', (route) => route.abort());
    const frame = await openApp(page, id);
    expect(await frame.evaluate(() => (globalThis as unknown as { works: unknown }).works)).toEqual({
      static: 2, lazy: 3, shared: 'object', data: 'ok', blob: 'ok', own: 'ok', text: 'words', page: '<p>part</p>', blobWorker: 'from a blob', fileWorker: 'from a file', wasm: true, storage: 'b', confinement: 'full', peer: 'undefined',
    });
    const saved = page.waitForEvent('download');
    await frame.getByRole('link', { name: 'Save' }).click();
    expect((await saved).suggestedFilename()).toBe('notes.txt');
    await frame.getByRole('link', { name: 'Down' }).click();
    expect(await frame.evaluate(() => location.hash)).toBe('#here');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.locator('[data-failure]').count()).toBe(0);
  });
});

test('files of a plugin are no pages: neither in a window nor in a frame, and without code where a browser shows them', async ({ host, open }) => {
  const files = { 'app/page.html': '<script>document.title = "ran"</script>', 'app/page.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "ran"</script></svg>' };
  const id = await install(host, oneApp('com.lab.pages', 'export function mount({ container }) { container.textContent = import.meta.url; }', { files }));
  const page = await open({ at: '#/tasks', expectConsole: /./ });
  const frame = await openApp(page, id);
  const base = new URL('./', (await frame.locator('#chatos-body').textContent()) ?? '').href;
  const window = await page.context().newPage();
  for (const name of ['page.html', 'page.svg', 'index.mjs']) {
    const answer = await window.goto(`${base}${name}`);
    expect([name, answer?.status(), await window.title()]).toEqual([name, 403, '']);
  }
  const policies = await frame.evaluate(async (from) => Promise.all(['page.html', 'page.svg', 'index.mjs'].map(async (name) => (await fetch(`${from}${name}`)).headers.get('content-security-policy') ?? '')), base);
  expect(policies.map((policy) => / sandbox$/.test(policy))).toEqual([true, true, false]);
  await frame.evaluate((to) => { location.href = `${to}page.html`; }, base).catch(() => undefined);
  await page.locator('[data-failure="navigated"]').waitFor();
});
