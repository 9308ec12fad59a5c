// What a person does while an agent works and afterwards: queue, steer, replace; steer a subagent; look at
// a picture with it; summarise; branch and export a run.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer, type Script } from './model-server';

type Body = Parameters<typeof lastOf>[0];

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

async function idle(page: Page): Promise<void> {
  await page.locator('[data-row="assistant"]').first().waitFor();
  await expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);
}

/** A chat on a model that does what the test says. */
async function chatOn(host: Host, decide: (body: Body) => Script, more: object = {}): Promise<{ id: string; models: ModelServer }> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = decide;
  const name = `Scripted ${models.baseUrl}`;
  const model = await host.api<{ id: string }>('POST', 'models', { name, provider: 'openai', model: 'tiny', baseUrl: models.baseUrl, ...more });
  const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Working', modelId: model.id });
  return { id, models };
}

const counting = (body: Body): Script => {
  const { text } = lastOf(body);
  return text.startsWith('count') ? { countMs: 30 } : { text: `You said ${text}.` };
};

describe('while it works', () => {
  test('a message is queued, corrects the run, or takes its place', async ({ host, open }) => {
    const { id } = await chatOn(host, counting);
    const page = await open({ at: `#/chat/${id}` });
    const counted = page.locator('[data-row="assistant"]').getByText('1 2 3');
    await say(page, 'count');
    await counted.waitFor();
    await say(page, 'second');
    // What waits stands above the composer until its run begins, and can be taken back.
    await page.locator('[data-chip="queued"]').getByText('second').waitFor();
    await say(page, 'regretted');
    await page.getByRole('button', { name: 'Remove “regretted”' }).click();
    await expect.poll(() => page.locator('[data-chip]').count()).toBe(1);
    expect(await page.locator('[data-row="user"]').allInnerTexts()).toEqual([expect.stringContaining('count')]);

    await page.getByLabel('Message', { exact: true }).fill('be brief');
    await page.getByRole('button', { name: 'Steer now' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.locator('[data-row="user"]').getByText('steered').waitFor();
    // The correction is answered by the run under way; then the queued one has its turn.
    await page.locator('[data-row="assistant"]').getByText('You said be brief.').waitFor();
    await page.locator('[data-row="assistant"]').getByText('You said second.').waitFor();
    await idle(page);
    expect(await page.locator('[data-chip]').count()).toBe(0);
    const users = (await page.locator('[data-row="user"] .bubble').allInnerTexts()).map((text) => text.trim());
    expect(users).toEqual(['count', 'be brief', 'second']);

    await say(page, 'count again');
    await counted.nth(1).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('third');
    await page.getByRole('button', { name: 'Stop and send' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.locator('[data-row="assistant"]').getByText('You said third.').waitFor();
    await idle(page);
    await page.getByText('Stopped', { exact: true }).last().waitFor();
  });

  test('a subagent is steered in its card', async ({ host, open }) => {
    const { id } = await chatOn(host, (body) => {
      const { role, text } = lastOf(body);
      if (role === 'tool') return { text: `It reported: ${text.includes('shorter') ? 'shorter' : 'no'}` };
      if (body.tools?.some(({ function: { name } }) => name.endsWith('run_sub_agent'))) return { call: { tool: 'run_sub_agent', args: { task: 'count for me', agent_id: 'planner' } } };
      return text.includes('shorter') ? { text: 'A shorter plan.' } : { countMs: 30 };
    });
    const page = await open({ at: `#/chat/${id}` });
    await say(page, 'plan it');
    const card = page.locator('[data-tool="run_sub_agent"]');
    await card.getByRole('button', { name: 'Steer' }).click();
    await card.getByLabel('Steer the subagent').fill('shorter, please');
    await card.getByRole('button', { name: 'Send' }).click();
    await page.locator('[data-row="assistant"]').getByText('It reported: shorter').waitFor();
    await idle(page);
    expect(await card.getAttribute('data-state')).toBe('ok');
    await card.getByRole('link', { name: 'Open its run' }).first().click();
    await page.locator('[data-step][data-kind="correction"]').waitFor();
  });
});

test('a picture goes to a model that sees, and stays in the chat', async ({ host, open }) => {
  const { id, models } = await chatOn(host, () => ({ text: 'A red dot.' }), { supportsVision: true });
  const page = await open({ at: `#/chat/${id}` });
  const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await page.locator('[data-composer] input[type="file"]').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(data, 'base64') });
  await page.locator('[data-composer] img').waitFor();
  await say(page, 'What is this?');
  await page.locator('[data-row="assistant"]').getByText('A red dot.').waitFor();
  const sent = models.requests.at(-1)?.body.messages?.at(-1)?.content as { type: string; image_url?: { url: string } }[];
  expect(sent.find(({ type }) => type === 'image_url')?.image_url?.url).toBe(`data:image/png;base64,${data}`);
  await page.reload();
  const shown = page.locator('[data-row="user"] img');
  await shown.waitFor();
  await expect.poll(() => shown.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
});

test('a long chat is summarised by hand; every message stays, and the model gets less', async ({ host, open }) => {
  const { id, models } = await chatOn(host, (body) => (lastOf(body).text.includes('Summarise it for yourself') ? { text: 'They counted **parts**.' } : { text: 'Noted.' }));
  for (let part = 0; part < 6; part += 1) await host.api('POST', `sessions/${id}/send`, { text: `Part ${part} ${'word '.repeat(300)}` });
  await expect.poll(async () => (await host.api<{ running: boolean }>('GET', `sessions/${id}`)).running).toBe(false);
  const before = await host.api<{ messages: { id: string; content: string }[] }>('GET', `sessions/${id}/messages?limit=100`);
  const page = await open({ at: `#/chat/${id}` });
  await page.locator('[data-row="assistant"]').first().waitFor();
  await page.getByRole('button', { name: /^Actions for/ }).last().click();
  await page.getByRole('menuitem', { name: 'Compact context' }).click();
  const line = page.locator('[data-summary]');
  await line.getByRole('button').click();
  await line.locator('strong').getByText('parts').waitFor();
  const after = await host.api<{ messages: { id: string; content: string }[] }>('GET', `sessions/${id}/messages?limit=100`);
  expect(after.messages.map((one) => [one.id, one.content])).toEqual(before.messages.map((one) => [one.id, one.content]));
  await say(page, 'And now?');
  await expect.poll(() => models.requests.at(-1)?.body.messages?.at(-1)?.content).toBe('And now?');
  expect(JSON.stringify(models.requests.at(-1)?.body.messages)).toContain('They counted');
  expect(JSON.stringify(models.requests.at(-1)?.body.messages)).not.toContain('Part 0');
  await idle(page);
});

test('a run is exported in its three forms and branched from a step', async ({ host, open }) => {
  const { id } = await chatOn(host, (body) => (lastOf(body).role === 'tool' ? { text: 'It is late.' } : { call: { tool: 'get_current_time', args: {} } }));
  const page = await open({ at: `#/chat/${id}` });
  await say(page, 'What time is it?');
  await page.locator('[data-row="assistant"]').getByText('It is late.').waitFor();
  await idle(page);
  const runs = await host.api<{ items: { id: string }[] }>('GET', `runs?sessionId=${id}`);
  await page.evaluate((run) => (location.hash = `#/runs/${run}`), runs.items[0]?.id ?? '');
  await page.locator('[data-step]').first().waitFor();
  for (const [name, check] of [
    ['Whole run (.chatosrun)', (bytes: Buffer) => expect(bytes.subarray(0, 2).toString()).toBe('PK')],
    ['Steps as JSON Lines', (bytes: Buffer) => expect(bytes.toString().trim().split('\n').map((line) => JSON.parse(line) as object).length).toBeGreaterThan(4)],
    ['Trace as OTLP JSON', (bytes: Buffer) => expect(Object.keys(JSON.parse(bytes.toString()) as object)).toContain('resourceSpans')],
  ] as const) {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name }).click();
    check(readFileSync(await (await download).path()));
  }
  await page.locator('[data-step][data-kind="tool"]').getByRole('button').first().click();
  await page.getByRole('button', { name: 'New chat from here' }).click();
  await page.locator('[data-row="user"]').getByText('What time is it?').waitFor();
  expect(page.url()).not.toContain(id);
  await page.locator('[data-tool="get_current_time"]').waitFor();
});
