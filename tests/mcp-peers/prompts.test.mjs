// A real MCP client asks, a person answers on the real page or over the API, the client gets the answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browser, chatos, ERAS, eventually, home, inspect, serve, stdio } from './support.mjs';

const QUESTION = {
  title: 'Which road?',
  message: 'Choose **one**.',
  options: [{ value: 'north', label: 'To the north' }, { value: 'south', label: 'To the south' }],
};

const call = (place, era, question) =>
  inspect(place, stdio(place, 'ui_prompter'), era, [
    '--method', 'tools/call', '--tool-name', 'prompt_choices', '--tool-args-json', JSON.stringify(question),
  ]);

const waiting = (host) =>
  eventually('a question', async () => (await host.api('GET', 'prompts')).items[0]?.requestId);

const result = (done) => done.json?.result ?? done.json;

for (const era of ERAS) {
  test(`${era}: the answer given on the page comes back to the Inspector`, async (t) => {
    const place = home(t);
    const host = await serve(t, place);
    const chromium = await browser(t);
    const asked = call(place, era, QUESTION);
    const id = await waiting(host);

    const page = await (await chromium.newContext({ locale: 'en-US' })).newPage();
    await page.goto(JSON.parse((await chatos(place, ['open', '--no-open', '--json'])).stdout).signInUrl);
    await page.getByRole('navigation').first().waitFor();
    await page.evaluate((hash) => (location.hash = hash), `#/queue/needsYou/${id}`);
    await page.getByRole('heading', { level: 2, name: 'Which road?' }).waitFor();
    await page.getByRole('radio', { name: 'To the south' }).check();
    await page.getByRole('button', { name: 'Submit' }).click();

    const done = await asked;
    assert.equal(done.status, 0, done.say());
    const envelope = result(done).structuredContent;
    assert.deepEqual([envelope.status, envelope.data.selection, envelope.data.request_id], ['ok', 'south', id]);
    const item = await host.api('GET', `prompts/${id}`);
    assert.equal(item.answer.by, 'person:ui');
  });

  test(`${era}: the answer given over the API comes back to the Inspector`, async (t) => {
    const place = home(t);
    const host = await serve(t, place);
    const several = { ...QUESTION, multiple: true, max_selections: 2 };
    const asked = call(place, era, several);
    const id = await waiting(host);
    await host.api('POST', `prompts/${id}/response`, { response: { status: 'ok', selection: ['south', 'north'] } });
    const done = await asked;
    assert.equal(done.status, 0, done.say());
    assert.deepEqual(result(done).structuredContent.data.selection, ['north', 'south']);
  });
}
