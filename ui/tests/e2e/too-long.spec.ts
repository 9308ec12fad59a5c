// A chat that grows too long for its model: what the header says of it, a summary by hand, and a failed run that goes on
// behind one.

import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer, type Script } from './model-server';
import { keep } from './pictures';

type Body = Parameters<ModelServer['decide']>[0];

/** Stands before what was summarized. */
const SUMMARIZED = 'The beginning of this conversation was summarized';

/** What a vendor says that names no other window than the one everybody knows of. */
const TOO_LONG: Script = {
  refuse: { status: 400, error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Range of input length should be [1, 64000]' } },
};

async function chatOn(host: Host, decide: (body: Body) => Script): Promise<string> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = decide;
  const model = await host.api<{ id: string }>('POST', 'models', { name: 'Narrow', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl, contextTokens: 64_000 });
  const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Long', modelId: model.id });
  return id;
}

async function say(page: Page, text: string): Promise<void> {
  await page.locator('[data-composer] textarea').fill(text);
  await page.keyboard.press('Enter');
}

const answers = (page: Page) => page.locator('[data-row="assistant"]');
const ring = (page: Page) => page.locator('[data-context]');
const card = (page: Page) => page.locator('[data-class="context_length"]');

describe('a chat too long for its model', () => {
  test('“Compact and continue” lets the run go on behind a summary, and nothing is asked twice', async ({ ownHost, open }) => {
    const host = await ownHost();
    let asked = 0;
    const decide = (body: Body): Script => {
      if (!body.tools) return { text: 'Her name is Ada.' };
      if (JSON.stringify(body.messages).includes(SUMMARIZED)) return { text: 'You are Ada.' };
      const { role, text } = lastOf(body);
      if (text.endsWith('My name is Ada.')) return { text: 'Noted.' };
      if (role === 'tool' || asked > 0) return TOO_LONG;
      asked += 1;
      return { call: { tool: 'get_current_time', args: {} } };
    };
    const page = await open({ host, at: `#/chat/${await chatOn(host, decide)}` });
    await say(page, 'My name is Ada.');
    await answers(page).getByText('Noted.').waitFor();
    await say(page, 'What is my name?');
    await card(page).waitFor();
    await keep(page, 'too-long-card');
    const tools = page.locator('[data-tool]');
    expect(await tools.count()).toBe(1);
    await card(page).getByRole('button', { name: 'Compact and continue' }).click();
    await answers(page).getByText('You are Ada.').waitFor();
    await expect.poll(() => card(page).count()).toBe(0);
    await expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);
    expect([await tools.count(), await page.locator('[data-row="user"]').count(), asked]).toEqual([1, 2, 1]);
    await keep(page, 'too-long-went-on');
    await page.reload();
    await answers(page).getByText('You are Ada.').waitFor();
    expect([await card(page).count(), await page.locator('[data-row="user"]').count()]).toEqual([0, 2]);
  });

  test('a chat too short for a summary points to a larger model, and its card stays', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: `#/chat/${await chatOn(host, () => TOO_LONG)}`, expectConsole: /status of 409/ });
    await say(page, 'All of it at once');
    await card(page).getByRole('button', { name: 'Compact and continue' }).click();
    const toast = page.getByRole('alert').filter({ hasText: 'too short to summarize' });
    await toast.waitFor();
    await card(page).getByRole('button', { name: 'Compact and continue' }).waitFor();
    // A summary that was asked for in the box says the same, and the card is still that of the last run.
    const said = page.waitForResponse((response) => response.url().endsWith('/compact'));
    await say(page, '/compact');
    expect((await said).status()).toBe(409);
    await page.reload();
    await card(page).getByRole('button', { name: 'Compact and continue' }).click();
    await toast.getByRole('button', { name: 'Choose a larger model' }).click();
    await expect.poll(() => page.url()).toContain('#/agents/models');
  });

  test('the ring says how full the window is, orange from 80 %, and /compact keeps what it is told to', async ({ ownHost, open }) => {
    const host = await ownHost();
    let wish = '';
    const decide = (body: Body): Script => {
      const { text } = lastOf(body);
      if (!body.tools) wish = text;
      if (!body.tools) return { text: 'Ada and Grace.' };
      return { text: 'Noted.', tokens: text.endsWith('Grace.') ? 51_199 : 19_199 };
    };
    const page = await open({ host, at: `#/chat/${await chatOn(host, decide)}` });
    await say(page, 'One is called Ada.');
    await expect.poll(() => ring(page).getAttribute('data-context')).toBe('30');
    expect(await ring(page).innerText()).toContain('30%');
    expect(await ring(page).getAttribute('title')).toMatch(/19\.?2?\d*k of 64k tokens[\s\S]*\n\d+ tools loaded$/i);
    const colour = () => ring(page).evaluate((element) => getComputedStyle(element).color);
    const before = await colour();
    await say(page, 'The other is called Grace.');
    await expect.poll(() => ring(page).getAttribute('data-context')).toBe('80');
    const orange = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = 'var(--ds-warning-text)';
      return getComputedStyle(probe).color;
    });
    expect([await colour(), before === orange]).toEqual([orange, false]);
    await say(page, '/compact keep the names');
    await page.getByText('Context compacted: the model now sees a summary').waitFor();
    expect(wish).toContain('keep the names');
    await page.locator('[data-row="summary"]').waitFor();
  });
});
