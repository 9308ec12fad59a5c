// Firefox ESR as Debian has it (inbox §10.13): a person signs in, an app runs in a frame of its own that cannot reach the
// page around it nor, as far as this browser goes, the network; the page says that this browser keeps it only in part; and
// a question is answered. FIREFOX names another program than `firefox-esr`.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';

import puppeteer from 'puppeteer-core';

import { eventually, home, serve } from '../mcp-peers/support.mjs';

const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
/** Nothing of the browser's own leaves this computer. */
const QUIET = { 'app.update.disabledForTesting': true, 'datareporting.policy.dataSubmissionEnabled': false, 'network.captive-portal-service.enabled': false, 'network.connectivity-service.enabled': false, 'browser.safebrowsing.malware.enabled': false, 'browser.safebrowsing.phishing.enabled': false, 'extensions.getAddons.cache.enabled': false };

/** An app that tries every way out that a policy of the page closes, and to look at what is around it. */
const APP = `
const away = (to, path) => 'http://127.0.0.1:' + to + '/' + path;
const ways = {
  fetch: (to) => fetch(away(to, 'fetch'), { mode: 'no-cors' }),
  beacon: async (to) => navigator.sendBeacon(away(to, 'beacon'), 'x'),
  socket: async (to) => new WebSocket(away(to, 'socket').replace('http', 'ws')),
  events: async (to) => new EventSource(away(to, 'events')),
  image: async (to) => { const made = document.createElement('img'); made.src = away(to, 'image'); document.body.append(made); },
  font: (to) => new FontFace('x', 'url(' + away(to, 'font') + ')').load(),
  worker: async (to) => new Worker(URL.createObjectURL(new Blob(['fetch("' + away(to, 'worker') + '", { mode: "no-cors" })'], { type: 'text/javascript' }))),
  popup: async (to) => { window.open(away(to, 'popup')); },
};
const reach = {
  parent: () => parent.document.title,
  top: () => top.document.title,
  storage: () => parent.localStorage.length,
};
export function mount({ container }) {
  container.innerHTML = '<button>take it</button><output></output>';
  container.firstChild.onclick = async () => {
    const said = {};
    for (const [name, way] of Object.entries(ways)) said[name] = await Promise.race([way(PORT), new Promise((resolve) => setTimeout(resolve, 1500))]).then(() => 'done', (error) => error.name);
    for (const [name, way] of Object.entries(reach)) try { said[name] = 'reached ' + way(); } catch (error) { said[name] = error.name; }
    said.webrtc = typeof RTCPeerConnection;
    said.origin = location.origin;
    container.lastChild.textContent = JSON.stringify(said);
  };
}`;

/** A listener that writes down what reaches it. */
async function listener(t) {
  const heard = [];
  const server = createServer((peer) => {
    peer.on('data', (data) => heard.push(data.toString('latin1').split('\r', 1)[0]));
    peer.on('error', () => undefined);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { heard, port: server.address().port };
}

async function firefox(t, host) {
  const browser = await puppeteer.launch({ browser: 'firefox', executablePath: FIREFOX, headless: true, extraPrefsFirefox: QUIET });
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 800 });
  await page.goto(host.signInUrl);
  await page.waitForSelector('nav');
  return { browser, page };
}

const go = (page, hash) => page.evaluate((to) => { location.hash = to; }, hash);

test('a person signs in once, an app is kept in its frame and the page says how far, and a question is answered', { timeout: 240_000 }, async (t) => {
  const place = home(t);
  const host = await serve(t, place);
  const ears = await listener(t);
  const id = 'com.example.out';
  const folder = join(place.state, 'ui_apps/plugins', id);
  mkdirSync(join(folder, 'app'), { recursive: true });
  const manifest = { manifestVersion: 1, id, name: 'Out', version: '1.0.0', apps: [{ id: 'app', name: 'Out', entry: { type: 'module', path: 'app/index.mjs' } }] };
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'app/index.mjs'), APP.replace('PORT', String(ears.port)));
  await host.api('POST', 'plugins/refresh', { deep: true });

  const { browser, page } = await firefox(t, host);
  // A second tab is signed in too, and neither has anything of the sign-in left in its address.
  const second = await browser.newPage();
  await second.goto(host.url);
  await second.waitForSelector('nav');
  assert.doesNotMatch(await second.url(), /token|code/);
  await second.close();

  // What the sheet says before it is trusted: this browser does not keep it wholly.
  await go(page, `#/apps/trust/${id}`);
  await page.waitForFunction(() => /can’t fully keep its pages off the network/.test(document.body.textContent), { timeout: 60_000 });
  const { digest } = await host.api('GET', `plugins/${id}`);
  await host.api('POST', `plugins/${id}/trust`, { digest, allowInsideNetwork: false });

  await go(page, `#/apps/plugin/${id}/app`);
  await page.waitForSelector(`[data-place="${id}/app full"][data-phase="mounted"]`, { timeout: 60_000 });
  const element = await page.waitForSelector(`iframe[data-app="${id}/app"]`);
  const sandbox = await element.evaluate((frame) => frame.getAttribute('sandbox'));
  assert.doesNotMatch(sandbox, /allow-popups|allow-top-navigation/);
  const frame = await element.contentFrame();
  await (await frame.waitForSelector('button')).click();
  const said = JSON.parse(await eventually('the app has tried all of it', async () => (await frame.$eval('output', (output) => output.textContent)) || undefined));
  for (const name of ['parent', 'top', 'storage']) assert.doesNotMatch(said[name], /^reached/, name);
  assert.equal(said.webrtc, 'undefined', 'the frame has no WebRTC of its own');
  assert.notEqual(said.origin, new URL(host.url).origin);
  assert.deepEqual(ears.heard, [], JSON.stringify(said));
  assert.equal((await browser.pages()).length <= 2, true, 'no window was opened');

  // And a question.
  const { requestId } = await host.api('POST', 'prompts', { prompt: { kind: 'choice', title: 'Blue or green?', options: [{ value: 'blue', label: 'Blue' }, { value: 'green', label: 'Green' }] } });
  await go(page, `#/queue/needsYou/${requestId}`);
  const article = `article[data-open="${requestId}"]`;
  await page.waitForSelector(`${article}[data-ready="true"]`);
  await page.$$eval(`${article} input`, (inputs) => inputs.find(({ value }) => value === 'green')?.click());
  // In the first moment a press counts for nothing; a person presses again.
  const submit = `${article} .actions button.primary:not([disabled])`;
  const closed = await eventually('it is answered', async () => {
    const item = await host.api('GET', `prompts/${requestId}`);
    if (item.state === 'closed') return item;
    await page.evaluate((at) => document.querySelector(at)?.click(), submit);
    await new Promise((resolve) => setTimeout(resolve, 500));
    return undefined;
  });
  assert.equal(closed.answer.by, 'person:ui');
  assert.equal(closed.answer.status, 'ok');
  assert.equal(closed.answer.response.selection, 'green');
});
