// A person's path (other-agents §9.6): opencode is on this machine and nobody has a key. ChatOS is opened, opencode is
// chosen, written to, and its question answered in the inbox: at most six actions, within a minute.
// With `CHATOS_SHOTS=FOLDER` each stop is kept as a picture.

import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { browser, CHROMIUM, chatos, eventually, home, serve } from '../mcp-peers/support.mjs';
import { put } from './agents.mjs';
import { model } from './model.mjs';
import { PEERS, lines } from './peers.mjs';

const SHOTS = process.env.CHATOS_SHOTS;
const [MOST_ACTIONS, MOST_MS] = [6, 60_000];
const WORDS = {
  'en-US': { found: 'opencode (found)', add: 'Add', approve: 'Approve', inbox: /^Inbox/ },
  'zh-CN': { found: 'opencode（已找到）', add: '添加', approve: '同意', inbox: /^待办/ },
};

const peer = PEERS.find(({ word }) => word === 'opencode');
if (process.env.AGENT_PEERS === 'all' && CHROMIUM === undefined) throw new Error('no Chromium; install it or set CHROMIUM');
const skip = peer === undefined ? 'opencode is one of the agents of `npm run all`' : peer.skip || (CHROMIUM === undefined ? 'no Chromium' : false);

/** opencode as it is found: by its name, where this machine's programs are. */
function install(place, env) {
  const bin = join(place.home, 'bin');
  const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
  const names = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`);
  put(join(bin, 'opencode'), `#!/bin/sh\n${names.join('\n')}\nexec ${quoted(peer.program)} "$@"\n`);
  chmodSync(join(bin, 'opencode'), 0o755);
  return `${bin}:${process.env.PATH}`;
}

for (const [locale, words] of Object.entries(WORDS)) {
  test(`${locale}: opencode is chosen, written to and answered in six actions and a minute`, { timeout: 240_000, skip }, async (t) => {
    const place = home(t);
    const call = peer.shell('echo x >> count');
    const scripted = await model(t, (names) => (names.includes(call.name) ? call : undefined));
    const env = peer.configure(place, scripted);
    peer.ask(place);
    place.path = install(place, env);
    await serve(t, place);
    const chromium = await browser(t);
    const page = await (await chromium.newContext({ locale, viewport: { width: 1440, height: 900 } })).newPage();
    const link = JSON.parse((await chatos(place, ['open', '--no-open', '--json'])).stdout).signInUrl;
    let actions = 0;
    let shot = 0;
    /** One thing a person does. */
    const act = async (work) => {
      if (SHOTS) await page.screenshot({ path: join(SHOTS, `person-${locale}-${++shot}.png`) });
      actions += 1;
      await work();
    };
    const began = Date.now();
    await page.goto(link);
    const found = page.getByRole('button', { name: words.found });
    await found.waitFor();
    await act(() => found.click());
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: words.add }).waitFor();
    await act(() => dialog.getByRole('button', { name: words.add }).click());
    await dialog.waitFor({ state: 'detached' });
    const box = page.locator('[data-composer] textarea');
    await act(() => box.fill('count once'));
    await act(() => box.press('Enter'));
    const inbox = page.getByRole('navigation').first().getByRole('link', { name: words.inbox });
    await eventually('the inbox counts it', async () => /\d/.test((await inbox.first().innerText()) + ((await inbox.first().getAttribute('aria-label')) ?? '')));
    await act(() => inbox.first().click());
    const approve = page.getByRole('button', { name: words.approve, exact: true });
    await approve.waitFor();
    await page.getByText('echo x >> count').first().waitFor();
    assert.equal(lines(place, 'count'), 0, 'nothing before the answer');
    await act(() => approve.click());
    await eventually('the command ran', () => lines(place, 'count') === 1);
    const took = Date.now() - began;
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `person-${locale}-${++shot}.png`) });
    t.diagnostic(`${actions} actions, ${took} ms`);
    assert.ok(actions <= MOST_ACTIONS, `${actions} actions`);
    // The one limit of time that is promised to a person; a program that takes seconds to start fits into it many times.
    assert.ok(took <= MOST_MS, `${took} ms`);
    await eventually('the model saw the result', () => scripted.seen.length >= 2);
    assert.equal(lines(place, 'count'), 1, 'once');
  });
}
