// Few questions (inbox §3.1, §4.5): a day of two hundred ends with at most forty asked, by keys and three rules that the
// page proposes, and none of the rules allows what the person refuses; five files of one answer are one question.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';
import { keep } from './pictures';
import { openPrompt } from './questions';

interface Waiting {
  requestId: string;
  card: { object: string } | null;
}

const waiting = async (host: Host): Promise<Waiting[]> => (await host.api<{ items: Waiting[] }>('GET', 'prompts?view=needs_you')).items;

test('a day of two hundred questions ends with at most forty asked, and no rule allows what is refused', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('PUT', 'settings/confirmFileChanges', { value: true });
  const page = await open({ host, at: '#/queue' });

  // Three things again and again, and every tenth time something of its own; what ends in .key is refused.
  const paths = Array.from({ length: 200 }, (_, i) => {
    if (i % 10 === 9) return i % 20 === 19 ? `own/${i}.key` : `own/${i}.txt`;
    return ['notes.md', `src/part-${i % 4}.ts`, 'log/today.txt'][i % 3] ?? '';
  });
  const refused = (path: string) => path.endsWith('.key');
  let asked = 0;
  const wrong: string[] = [];

  for (const [i, path] of paths.entries()) {
    let status: string | null = null;
    const call = host
      .api<{ structuredContent: { status: string } }>('POST', 'tools/code_maintainer/write_file/call', { arguments: { path, contents: `${i}\n` } })
      .then(({ structuredContent }) => (status = structuredContent.status));
    let question: Waiting | undefined;
    await expect.poll(async () => status !== null || (question = (await waiting(host))[0]) !== undefined).toBe(true);
    if (question) {
      asked += 1;
      expect(question.card?.object).toBe(path);
      await openPrompt(page, question.requestId);
      await page.locator(`article[data-open="${question.requestId}"] .actions button:not(:disabled)`).first().waitFor();
      await page.locator(`article[data-open="${question.requestId}"] h2`).focus();
      await page.keyboard.press(refused(path) ? 'r' : 'a');
    }
    await call;
    if (refused(path) && existsSync(join(host.home, path))) wrong.push(path);
    if (!refused(path)) expect(status).toBe('ok');

    // After a while the person looks at what the page proposes, and takes it.
    if (i === 19 || i === 24) {
      await page.getByRole('button', { name: 'Rules', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Rules' });
      const proposal = dialog.locator('[data-proposal]');
      if (i === 19) {
        await proposal.first().waitFor();
        await dialog.getByText(/Would have answered \d+ of your last \d+ the same way, 0 differently/).first().waitFor();
        expect(await violations(page)).toEqual([]);
        await keep(page, 'rules-proposed');
      }
      await dialog.locator('ul').first().waitFor({ state: 'attached' });
      while ((await proposal.count()) > 0) {
        const before = await proposal.count();
        await proposal.first().getByRole('button', { name: 'Don’t ask again' }).click();
        await expect.poll(() => proposal.count()).toBeLessThan(before);
      }
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
  }
  const { rules } = await host.api<{ rules: { uses: number }[] }>('GET', 'rules');
  expect(rules.length).toBeLessThanOrEqual(3);
  expect(wrong).toEqual([]);
  expect(asked).toBeLessThanOrEqual(40);
  expect(asked + rules.reduce((sum, { uses }) => sum + uses, 0)).toBe(200);
}, 240_000);

test('five files of one answer are one question; what is left out is told', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('PUT', 'settings/confirmFileChanges', { value: true });
  const files = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt'];
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = (body) => (lastOf(body).role === 'tool' ? { text: 'Done.' } : { calls: files.map((path) => ({ tool: 'write_file', args: { path, contents: `${path}\n` } })) });
  const model = await host.api<{ id: string }>('POST', 'models', { name: 'Writes', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl, priceInput: 200_000, priceOutput: 100_000, currency: 'USD' });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Writer', mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
  const chat = await host.api<{ id: string }>('POST', 'sessions', { title: 'Five', agentId: agent.id, workspaceRoot: host.home });
  await host.api('POST', `sessions/${chat.id}/send`, { text: 'write them' });
  await expect.poll(async () => (await waiting(host)).length).toBe(1);
  const [question] = await waiting(host);

  const page = await open({ host, at: '#/queue' });
  await openPrompt(page, question?.requestId ?? '');
  await page.getByRole('heading', { name: 'Change 5 files?' }).first().waitFor();
  await expect.poll(() => page.locator('[data-member]').count()).toBe(5);
  await page.locator('[role="option"]').first().waitFor();
  expect(await page.locator('[role="option"]').count()).toBe(1);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('checkbox', { name: 'Create c.txt?' }).uncheck();
  await page.getByRole('button', { name: 'Approve 4 of 5' }).waitFor();
  await keep(page, 'five-files');
  await page.setViewportSize({ width: 400, height: 850 });
  await keep(page, 'five-files-narrow');
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.locator('article h2').focus();
  await page.keyboard.press('a');
  await expect.poll(() => files.map((path) => existsSync(join(host.home, path)))).toEqual([true, true, false, true, true]);
  await expect.poll(async () => (await waiting(host)).length).toBe(0);
  // The model was told, in the order of its calls.
  await expect.poll(() => models.requests.at(-1)?.body.messages?.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content).includes('declined'))).toEqual([false, false, true, false, false]);

  // The tool card says why it was asked about.
  await page.evaluate((id) => (location.hash = `#/chat/${id}`), chat.id);
  const card = page.locator('[data-tool="write_file"]').first();
  await card.locator('button.line').click();
  await card.getByText('Why was I asked?').click();
  await card.getByRole('link', { name: 'Show the question' }).waitFor();
  await keep(page, 'why-asked');
  // What it has cost: two requests of three tokens there and one back.
  await page.getByText(/8 tokens · \$1\.40/).first().waitFor();
});
