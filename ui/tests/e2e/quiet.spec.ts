// Few questions (inbox §3.1, §4.5): a day of two hundred ends with at most forty asked, by keys and three rules that the
// page proposes, and none of the rules allows what the person refuses; five files of one answer are one question.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import { lastOf, ModelServer } from './model-server';
import { keep } from './pictures';
import { openPrompt } from './questions';
import { answerByKey, ASKS_ALWAYS, type Call, waiting, Worker } from './workday';

interface Step extends Call {
  refused: boolean;
}

/** What the agent of a day does next: three things again and again, and every tenth time something of its own. What the
    person refuses is near to what is approved: a file beside it, the same file deleted, the same name in a folder below. */
function step(i: number): Step {
  const write = (path: string, refused = false): Step => ({ tool: 'write_file', args: { path, contents: `${i}\n` }, refused });
  if (i % 20 === 19) {
    const refused: Step[] = [write(`src/part-${i}.key`, true), { tool: 'delete_path', args: { path: 'notes.md' }, refused: true }, write('log/today.txt.key', true), write('src/deep/part-1.ts', true)];
    return refused[Math.floor(i / 20) % refused.length] ?? write('x.key', true);
  }
  if (i % 10 === 9) return write(`own/${i}.txt`);
  return [write('notes.md'), write(`src/part-${i % 4}.ts`), write('log/today.txt')][i % 3] ?? write('notes.md');
}

test('a day of two hundred questions of an agent in five chats ends with at most forty asked, and no rule allows what is refused', async ({ ownHost, open }) => {
  const DAY = 200;
  const host = await ownHost(ASKS_ALWAYS);
  const worker = await Worker.hire(host, 'shop', (i) => (i < DAY ? step(i) : undefined));
  const page = await open({ host, at: '#/queue' });
  const asked = await worker.work(host, 0, DAY, (requestId, now) => answerByKey(page, requestId, !step(now).refused), async (from) => {
    // After a while the page says that there is something to propose; the person takes it, for all chats of the folder.
    if (from !== 10) return;
    await page.getByRole('button', { name: /\d rules? suggested/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Rules' });
    const proposal = dialog.locator('[data-proposal]');
    await dialog.getByText(/Would have answered \d+ of your last \d+ the same way, 0 differently/).first().waitFor();
    await proposal.first().getByRole('button', { name: 'Don’t ask again in that chat' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await keep(page, 'rules-proposed');
    for (let left = await proposal.count(); left > 0; left = await proposal.count()) {
      await proposal.first().getByRole('button', { name: 'Don’t ask again in shop' }).click();
      await expect.poll(() => proposal.count()).toBeLessThan(left);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });
  const { rules } = await host.api<{ rules: { uses: number }[] }>('GET', 'rules');
  const used = rules.map(({ uses }) => uses);
  expect(rules.length, `${asked.length} asked, ${used.join(' + ')} by rules`).toBe(3);
  expect(asked.length, `${used.join(' + ')} by rules`).toBeLessThanOrEqual(40);
  expect(asked.length + used.reduce((sum, uses) => sum + uses, 0)).toBe(DAY);
  // The rules were made from the first twenty; of all the rest, nothing that the person refuses was done.
  const project = join(host.home, 'shop');
  expect(existsSync(join(project, 'notes.md'))).toBe(true);
  expect(readdirSync(project, { recursive: true }).map(String).filter((name) => name.endsWith('.key') || name.includes('deep'))).toEqual([]);
}, 400_000);

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
  await openPrompt(page, question ?? '');
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
