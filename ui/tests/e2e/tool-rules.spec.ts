// A tool of another server on its card (inbox §2.2): “Always…” with exactly these arguments or with any, in this folder
// only.

import { expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { parrot, say } from './parrot';
import { keep } from './pictures';
import { openPrompt } from './questions';

async function question(host: Host): Promise<string> {
  let found: string | undefined;
  await expect.poll(async () => (found = (await host.api<{ items: { requestId: string }[] }>('GET', 'prompts?view=needs_you')).items[0]?.requestId)).toBeTruthy();
  return found ?? '';
}

const ended = (host: Host, run: string) => expect.poll(async () => (await host.api<{ state: string }>('GET', `runs/${run}`)).state);

test('“Always…” on a tool approves it with these arguments, or with any, in this folder and nowhere else', async ({ ownHost, open }) => {
  const host = await ownHost();
  const chat = await parrot(host);
  const here = await chat('here');
  const first = await say(host, here, 'one');
  const page = await open({ host, at: '#/queue' });
  await openPrompt(page, await question(host));
  await page.getByRole('heading', { name: 'Let Helper use echo of parrot?' }).first().waitFor();
  await page.getByRole('button', { name: 'Always…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Always approve this?' });
  await dialog.getByText('text = "one"').waitFor();
  await dialog.getByRole('button', { name: 'Save rule and approve' }).waitFor();
  await keep(page, 'always-tool-exact');
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save rule and approve' }).click();
  await ended(host, first.runId).toBe('done');

  // The same words: nobody is asked. Others: asked, and from then on none of them.
  await ended(host, (await say(host, here, 'one')).runId).toBe('done');
  const other = await say(host, here, 'two');
  await openPrompt(page, await question(host));
  await page.getByRole('button', { name: 'Always…' }).click();
  await dialog.getByRole('radio', { name: /with any arguments/ }).check();
  await dialog.getByText('text = ').waitFor({ state: 'detached' });
  await keep(page, 'always-tool-any');
  await page.setViewportSize({ width: 400, height: 800 });
  await keep(page, 'always-tool-any-narrow');
  await page.setViewportSize({ width: 1280, height: 800 });
  await dialog.getByRole('button', { name: 'Save rule and approve' }).click();
  await ended(host, other.runId).toBe('done');
  await ended(host, (await say(host, here, 'three')).runId).toBe('done');

  // Another folder.
  await say(host, await chat('there'), 'one');
  await question(host);
});
