// Answering prompts on the page: one of each kind, every refusal, drafts, two pages at once, forged
// lines, and the rules of the hub (issue 4, acceptance 4; ui-prompts §13).

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { test } from './fixtures';
import { answerOf, append, ask, lookUp, openEagerly, openPrompt, request, response } from './questions';

const REFUSED = /status of 4\d\d/;
const YES_NO = { kind: 'choice', source: 'test', options: [{ value: 'y', label: 'Yes' }, { value: 'n', label: 'No' }] };

test('a question that nobody waits for says so, and is never shown as answered', async ({ host, open }) => {
  const asker = spawn('sleep', ['1000']);
  const ended = new Promise((resolve) => asker.once('exit', resolve));
  const pid = asker.pid ?? 0;
  const pidStart = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19]);
  const prompt = { kind: 'file_change_confirm', source: 'test', path: 'a.txt', diff: '+a' };
  const { requestId: id } = await host.api<{ requestId: string }>('POST', 'prompts', { prompt, origin: { pid, pidStart } });
  const page = await open({ expectConsole: REFUSED });
  await openPrompt(page, id);
  await page.waitForFunction(() => !document.querySelector<HTMLButtonElement>('article .actions button')?.disabled);
  asker.kill('SIGKILL');
  await ended;
  // The host may have closed it before the button is pressed; either way nothing is approved.
  await page.evaluate(() => document.querySelector<HTMLButtonElement>('article .actions button')?.click());
  await page.getByText('Nobody was waiting for this anymore, so nothing was done.').first().waitFor();
  expect(await page.locator('article').getByText('Answered', { exact: true }).count()).toBe(0);
  expect(await answerOf(host, id)).toMatchObject({ status: 'canceled', by: 'host:orphan', response: { code: 'asker_gone' } });
});

describe('one of each kind', () => {
  test('a form: single line, several lines, password', async ({ host, open }) => {
    const id = await ask(host, {
      kind: 'kv',
      title: 'About the release',
      message: 'Fill in **all** of it.',
      source: 'test',
      fields: [
        { key: 'name', label: 'Name', required: true },
        { key: 'notes', label: 'Notes', multiline: true, default: 'none' },
        { key: 'pin', label: 'PIN', secret: true, required: true },
      ],
    });
    const page = await open();
    await openPrompt(page, id);
    await page.getByLabel('Name').fill('小明');
    await page.getByLabel('Notes').fill('one\ntwo');
    const pin = page.getByLabel('PIN');
    expect(await pin.getAttribute('type')).toBe('password');
    await pin.fill('hunter2');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await expect.poll(() => pin.getAttribute('type')).toBe('text');
    await page.getByRole('button', { name: 'Submit' }).click();
    const answer = await answerOf(host, id);
    expect(answer).toMatchObject({ status: 'ok', by: 'person:ui', response: { values: { name: '小明', notes: 'one\ntwo', pin: '******' } } });
    await openPrompt(page, id, 'history');
    await page.getByText('in the browser').waitFor();
    expect(await page.getByText('hunter2').count()).toBe(0);
  });

  test('a single choice, by digit and by Ctrl+Enter', async ({ host, open }) => {
    const id = await ask(host, YES_NO);
    const page = await open();
    await openPrompt(page, id);
    await page.getByRole('heading', { level: 2, name: 'Make a choice' }).focus();
    await page.keyboard.press('2');
    await expect.poll(() => page.getByRole('radio', { name: 'No' }).isChecked()).toBe(true);
    await page.waitForFunction(() => !document.querySelector<HTMLButtonElement>('article .actions button')?.disabled);
    await page.keyboard.press('Control+Enter');
    expect(await answerOf(host, id)).toMatchObject({ status: 'ok', response: { selection: 'n' } });
  });

  test('a multiple choice: over the limit, boxes are disabled', async ({ host, open }) => {
    const options = ['a', 'b', 'c'].map((value) => ({ value, label: `Option ${value}` }));
    const id = await ask(host, { kind: 'choice', source: 'test', multiple: true, minSelections: 1, maxSelections: 2, options });
    const page = await open();
    await openPrompt(page, id);
    await page.getByText('Choose 1–2').first().waitFor();
    await page.getByRole('checkbox', { name: 'Option c' }).check();
    await page.getByRole('checkbox', { name: 'Option a' }).check();
    await page.getByText('2 of 2 selected').waitFor();
    await expect.poll(() => page.getByRole('checkbox', { name: 'Option b' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Submit' }).click();
    expect(await answerOf(host, id)).toMatchObject({ response: { selection: ['a', 'c'] } });
  });

  test('many options can be searched', async ({ host, open }) => {
    const options = Array.from({ length: 60 }, (_, index) => ({ value: `v${index}`, label: `Zone ${index}` }));
    const id = await ask(host, { kind: 'choice', source: 'test', options });
    const page = await open();
    await openPrompt(page, id);
    await page.getByLabel('Search options').fill('zone 42');
    await expect.poll(() => page.getByRole('radio').count()).toBe(1);
    await page.getByRole('radio', { name: 'Zone 42' }).check();
    await page.getByRole('button', { name: 'Submit' }).click();
    expect(await answerOf(host, id)).toMatchObject({ response: { selection: 'v42' } });
  });

  test('tasks: edit, add, delete with undo, move by keys, by buttons and by dragging, remark', async ({ host, open }) => {
    const tasks = ['One', 'Two', 'Three'].map((title, index) => ({ draftId: `t${index + 1}`, title, priority: 'low', tags: ['x'] }));
    const id = await ask(host, { kind: 'task_confirm', source: 'test', tasks });
    // Cards that are still gliding to their place cannot be aimed at.
    const page = await open({ reducedMotion: 'reduce' });
    await openPrompt(page, id);
    const cards = page.locator('[data-task]');
    const order = () => cards.evaluateAll((all) => all.map((card) => card.getAttribute('data-task')));
    await page.getByText('as proposed').waitFor();

    const title = cards.nth(0).getByLabel('Title');
    await title.fill('One, edited');
    await title.press('Alt+ArrowDown');
    await expect.poll(order).toEqual(['t2', 't1', 't3']);
    await expect.poll(() => cards.nth(1).getByLabel('Title').evaluate((element) => element === document.activeElement)).toBe(true);
    await page.getByRole('button', { name: 'Move task 3 up' }).click();
    await expect.poll(order).toEqual(['t2', 't3', 't1']);

    const grip = cards.nth(2).locator('.grip');
    const from = await grip.boundingBox();
    const to = await cards.nth(0).boundingBox();
    if (!from || !to) throw new Error('nothing to drag');
    await page.mouse.move(from.x + 5, from.y + 5);
    await page.mouse.down();
    await page.mouse.move(to.x + 20, to.y + 20, { steps: 5 });
    await page.mouse.move(to.x + 20, to.y + 4, { steps: 2 });
    await page.mouse.up();
    await expect.poll(order).toEqual(['t1', 't2', 't3']);

    await page.getByRole('button', { name: 'Delete task 2' }).click();
    await page.getByText('Deleted: Two', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Delete task 3' }).click();
    await page.getByRole('button', { name: 'Add a task' }).click();
    await page.getByRole('group', { name: 'Task 3' }).getByLabel('Title').fill('Four');
    await page.getByRole('group', { name: 'Task 3' }).getByLabel('Priority').selectOption('high');
    const tag = page.getByRole('group', { name: 'Task 3' }).getByLabel('Add a tag');
    await tag.fill('new');
    await tag.press('Enter');
    await page.getByText('1 new, 1 deleted, 1 edited').waitFor();
    await page.getByLabel('Note to the agent').fill('as discussed');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    const answer = await answerOf(host, id);
    expect(answer.response).toMatchObject({
      remark: 'as discussed',
      tasks: [
        { draftId: 't1', title: 'One, edited', tags: ['x'] },
        { draftId: 't2', title: 'Two' },
        { title: 'Four', priority: 'high', tags: ['new'] },
      ],
    });
  });

  test('a file change: everything is there to see, Approve is not focused and waits a moment', async ({ host, open }) => {
    const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new \u202Ehidden\n';
    const other = await ask(host, YES_NO);
    const id = await ask(host, { kind: 'file_change_confirm', source: 'test', path: 'src/x', command: 'make', cwd: '/tmp', diff });
    const page = await open({ at: '#/settings' });
    await page.keyboard.press('Control+j');
    const hub = page.getByRole('dialog', { name: 'Inbox' });
    const confirm = hub.getByRole('button', { name: 'Approve', exact: true });
    await hub.locator('article').waitFor();
    expect(await openEagerly(page, id)).toEqual([
      { disabled: true, early: true },
      { disabled: false, early: false },
    ]);
    expect((await lookUp(host, id)).state).toBe('pending');
    expect(await confirm.evaluate((element) => element === document.activeElement)).toBe(false);
    for (const text of ['src/x', 'make', '/tmp', 'U+202E']) await hub.getByText(text, { exact: true }).first().waitFor();
    await hub.getByRole('button', { name: 'Side by side' }).click();
    await hub.getByText('old', { exact: true }).waitFor();
    await confirm.click();
    expect(await answerOf(host, id)).toMatchObject({ status: 'ok', response: { status: 'ok' } });
    await host.api('POST', `prompts/${other}/response`, { response: { status: 'canceled' } });
  });

  test('a long diff must be shown whole before Approve works', async ({ host, open }) => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `+line ${index}`).join('\n');
    const id = await ask(host, { kind: 'file_change_confirm', source: 'test', path: 'big', diff: `@@ -0,0 +1,3000 @@\n${lines}\n` });
    const page = await open();
    await openPrompt(page, id);
    await page.getByText('Show everything before you approve.').waitFor();
    const confirm = page.getByRole('button', { name: 'Approve', exact: true });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show all 3001 lines' }).click();
    await page.getByText('Show everything before you approve.').waitFor({ state: 'detached' });
    expect(await page.locator('article .row').count()).toBeLessThan(200);
    await confirm.click();
    expect((await answerOf(host, id)).status).toBe('ok');
  });

  test('a result: rendered, harmless, to be got', async ({ host, open }) => {
    const id = await ask(host, { kind: 'result', title: 'Done', source: 'test', markdown: '# Heading\n\n<img src=x onerror=alert(1)> [a link](https://example.com)' });
    const page = await open();
    await openPrompt(page, id, 'results');
    await page.getByRole('heading', { name: 'Heading' }).waitFor();
    expect(await page.locator('article img').count()).toBe(0);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as…' }).click();
    expect((await download).suggestedFilename()).toBe('Done.md');
    await page.getByRole('button', { name: 'OK', exact: true }).click();
    expect((await answerOf(host, id)).status).toBe('ok');
  });

  test('fields of an elicitation: number, date, switch, select, several; declined', async ({ host, open }) => {
    const properties = {
      guests: { type: 'integer', minimum: 1, maximum: 12 },
      day: { type: 'string', format: 'date' },
      when: { type: 'string', format: 'date-time' },
      outside: { type: 'boolean' },
      menu: { type: 'string', enum: ['fish', 'none'] },
      extras: { type: 'array', items: { type: 'string', enum: ['wine', 'bread'] } },
    };
    const fields = Object.keys(properties).map((key) => ({ key, label: key, required: key === 'guests' }));
    const form = { kind: 'kv', source: 'mcp:test', fields, requestedSchema: { type: 'object', properties, required: ['guests'] } };
    const id = await ask(host, form);
    const page = await open({ timezoneId: 'Asia/Shanghai' });
    await openPrompt(page, id);
    await page.getByLabel('guests').fill('99');
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByText('Enter at most 12.').waitFor();
    await page.getByLabel('guests').fill('3');
    await page.getByLabel('day').fill('2026-02-28');
    await page.getByLabel('when').fill('2026-02-28T20:15');
    await page.getByRole('switch', { name: 'outside' }).check();
    await page.getByLabel('menu').selectOption('fish');
    await page.getByRole('checkbox', { name: 'wine' }).check();
    await page.getByRole('button', { name: 'Submit' }).click();
    const { values } = (await answerOf(host, id)).response as { values: Record<string, string> };
    expect(values).toEqual({ guests: '3', day: '2026-02-28', when: '2026-02-28T12:15:00Z', outside: 'true', menu: 'fish', extras: '["wine"]' });

    const second = await ask(host, form);
    await openPrompt(page, second);
    await page.getByRole('button', { name: 'Decline' }).click();
    expect(await answerOf(host, second)).toMatchObject({ status: 'canceled', response: { declined: true } });
  });

  test('what cannot be drawn is a card that can be dismissed', async ({ host, open }) => {
    append(host, request('weird', { kind: 'rating', title: 'Rate this', stars: 5 }));
    const page = await open();
    await openPrompt(page, 'weird');
    await page.getByText('"stars": 5').waitFor();
    await page.getByText('From another program').first().waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    expect((await answerOf(host, 'weird')).status).toBe('canceled');
  });
});

describe('refusals', () => {
  test('every check of the page is shown at its place', async ({ host, open }) => {
    const page = await open();
    const kv = await ask(host, {
      kind: 'kv',
      source: 'test',
      fields: [{ key: 'a', label: 'Alpha', required: true }, { key: 'b', label: 'Beta' }, { key: 'c', label: 'Gamma' }],
      requestedSchema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string', format: 'email' }, c: { type: 'string', minLength: 3 } } },
    });
    await openPrompt(page, kv);
    await page.getByLabel('Beta').fill('nobody');
    await page.getByLabel('Gamma').fill('xy');
    await page.getByRole('button', { name: 'Submit' }).click();
    for (const text of ['Required', 'Enter an email address.', 'Enter at least 3 characters.', '3 fields need attention']) {
      await page.getByText(text, { exact: true }).waitFor();
    }
    await expect.poll(() => page.getByLabel('Alpha').evaluate((element) => element === document.activeElement)).toBe(true);

    const one = await ask(host, YES_NO);
    await openPrompt(page, one);
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByText('Choose one.').waitFor();

    const some = await ask(host, { ...YES_NO, multiple: true, minSelections: 2 });
    await openPrompt(page, some);
    await page.getByRole('checkbox', { name: 'Yes' }).check();
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByText('Choose at least 2 (1 selected).').waitFor();

    const tasks = await ask(host, { kind: 'task_confirm', source: 'test', tasks: [{ draftId: '1', title: 'T' }] });
    await openPrompt(page, tasks);
    await page.getByLabel('Title').fill(' ');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('Give this task a title, or delete it.').waitFor();
    await page.getByRole('button', { name: 'Delete task 1' }).click();
    await page.getByText('No tasks left.').first().waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Approve', exact: true }).isDisabled()).toBe(true);
    for (const id of [kv, one, some, tasks]) expect((await lookUp(host, id)).state).toBe('pending');
  });

  test("the host's own refusal is shown at the field, in its words", async ({ host, open }) => {
    const id = await ask(host, { kind: 'kv', source: 'test', fields: [{ key: 'a', label: 'Alpha', required: true }] });
    const page = await open({ expectConsole: REFUSED });
    await page.route('**/response', async (route) => {
      const body = route.request().postDataJSON() as { response: { values: Record<string, string> } };
      body.response.values['a'] = ' ';
      await route.continue({ postData: JSON.stringify(body) });
    });
    await openPrompt(page, id);
    await page.getByLabel('Alpha').fill('x');
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('alert').filter({ hasText: 'must be filled in' }).waitFor();
    expect(await page.getByLabel('Alpha').getAttribute('aria-invalid')).toBe('true');
    await page.unroute('**/response');
    await page.getByRole('button', { name: 'Submit' }).click();
    expect((await answerOf(host, id)).status).toBe('ok');
  });

  test('another digest than the one that was shown: nothing is recorded, the question is shown again', async ({ host, open }) => {
    const id = await ask(host, { kind: 'file_change_confirm', source: 'test', path: 'x', diff: '+a' });
    const page = await open({ expectConsole: REFUSED });
    await page.route('**/response', async (route) => {
      const body = route.request().postDataJSON() as { shown: string };
      await route.continue({ postData: JSON.stringify({ ...body, shown: `sha256:${'0'.repeat(64)}` }) });
    });
    await openPrompt(page, id);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('This question changed while you were looking at it.').waitFor();
    expect((await lookUp(host, id)).state).toBe('pending');
  });

  test('cancel is there only where it is allowed', async ({ host, open }) => {
    const page = await open();
    const strict = await ask(host, { ...YES_NO, title: 'Strict', allowCancel: false });
    await openPrompt(page, strict);
    await page.getByRole('button', { name: 'Submit' }).waitFor();
    expect(await page.locator('article').getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    const lax = await ask(host, YES_NO);
    await openPrompt(page, lax);
    await page.locator('article').getByRole('button', { name: 'Cancel' }).click();
    expect(await answerOf(host, lax)).toMatchObject({ status: 'canceled', by: 'person:ui' });
  });
});

test('a draft survives switching, leaving and reloading; a secret does not', async ({ host, open }) => {
  const id = await ask(host, { kind: 'kv', source: 'test', fields: [{ key: 'a', label: 'Alpha' }, { key: 's', label: 'Secret', secret: true }] });
  const other = await ask(host, YES_NO);
  const page = await open();
  await openPrompt(page, id);
  await page.getByLabel('Alpha').fill('half a sen');
  await page.getByLabel('Secret').fill('hunter2');
  await openPrompt(page, other);
  await openPrompt(page, id);
  expect(await page.getByLabel('Alpha').inputValue()).toBe('half a sen');
  await page.getByLabel('Alpha').fill('half a sentence');
  await page.reload();
  await page.locator(`article[data-open="${id}"][data-ready="true"]`).waitFor();
  expect(await page.getByLabel('Alpha').inputValue()).toBe('half a sentence');
  expect(await page.getByLabel('Secret').inputValue()).toBe('');

  await page.getByRole('heading', { level: 2 }).first().focus();
  await page.keyboard.press('Control+j');
  const hub = page.getByRole('dialog', { name: 'Inbox' });
  await hub.locator(`[data-prompt="${id}"]`).click();
  await hub.locator(`article[data-open="${id}"]`).waitFor();
  expect(await hub.getByLabel('Alpha').inputValue()).toBe('half a sentence');
  await hub.getByRole('button', { name: 'Submit' }).click();
  await answerOf(host, id);
});

describe('two pages', () => {
  const submit = 'article .actions button';

  test('answer at once: one wins, the other shows what won', async ({ host, open }) => {
    const pages = [await open({ expectConsole: REFUSED }), await open({ expectConsole: REFUSED })] as const;
    for (let round = 0; round < 5; round += 1) {
      const id = await ask(host, { ...YES_NO, title: `Race ${round}` });
      for (const [index, page] of pages.entries()) {
        await openPrompt(page, id);
        await page.getByRole('radio', { name: index === 0 ? 'Yes' : 'No' }).check();
        await page.waitForFunction((button) => !document.querySelector<HTMLButtonElement>(button)?.disabled, submit);
      }
      await Promise.all(pages.map((page) => page.evaluate((button) => document.querySelector<HTMLButtonElement>(button)?.click(), submit)));
      const { response: won } = await answerOf(host, id);
      const [winner, loser] = won['selection'] === 'y' ? pages : [pages[1], pages[0]];
      const lost = loser.locator(`article[data-open="${id}"]`);
      await lost.locator('section[aria-label="Answer"]').getByText(won['selection'] === 'y' ? 'Yes' : 'No', { exact: true }).waitFor();
      await winner.locator(`article[data-open="${id}"]`).waitFor({ state: 'detached' });
    }
  });

  test('the one whose answer arrives later is told', async ({ host, open }) => {
    const id = await ask(host, YES_NO);
    const late = await open({ expectConsole: REFUSED });
    await late.route('**/response', async (route) => {
      await host.api('POST', `prompts/${id}/response`, { response: { status: 'ok', selection: 'n' }, by: 'cli' });
      await route.continue();
    });
    await openPrompt(late, id);
    await late.getByRole('radio', { name: 'Yes' }).check();
    await late.getByRole('button', { name: 'Submit' }).click();
    await late.getByText('This was already answered somewhere else.').waitFor();
    await late.getByText('in the terminal').waitFor();
    expect(await answerOf(host, id)).toMatchObject({ by: 'person:cli', response: { selection: 'n' } });
  });
});

test('a forged line does not answer: it is shown, and the form stays open', async ({ host, open }) => {
  const id = await ask(host, { kind: 'file_change_confirm', source: 'test', title: 'Real question', diff: '+a' });
  const page = await open();
  await openPrompt(page, id);
  append(host, response(id, { status: 'ok' }));
  await page.locator('[data-note="forged"]').getByText('Another program tried to answer for you.').waitFor();
  await page.locator('[data-note="forged"] summary').click();
  await page.locator('[data-note="forged"]').getByText('"action":"response"').waitFor();
  expect((await lookUp(host, id)).state).toBe('pending');
  await page.locator('article').getByRole('button', { name: 'Reject' }).click();
  expect((await answerOf(host, id)).status).toBe('canceled');
});

test('a program that reads the file gets its secret in plain text, and the form says so first', async ({ host, open }) => {
  append(host, request('plain-secret', { kind: 'kv', title: 'From a script', fields: [{ key: 'p', label: 'Password', secret: true }] }));
  const page = await open();
  await openPrompt(page, 'plain-secret');
  await page.getByText('the secret will be stored in plain text').waitFor();
  expect(await page.getByLabel('Password').evaluate((element) => element === document.activeElement)).toBe(false);
  await page.locator('article').getByRole('button', { name: 'Cancel' }).click();
  await answerOf(host, 'plain-secret');
});

test('a prompt another program answers turns into that answer, under the eyes of the reader', async ({ host, open }) => {
  append(host, request('elsewhere', { ...YES_NO, title: 'Asked in the file' }));
  const page = await open();
  await openPrompt(page, 'elsewhere');
  append(host, response('elsewhere', { status: 'ok', selection: 'n' }));
  await page.getByText('Answered by another program').waitFor();
});

test('ids of any shape can be opened and answered', async ({ host, open }) => {
  const ids = ['..', '.', 'a/b ?#%25&"\'<x>', '编号 1', 'mcp-task:x'];
  append(host, ...ids.map((id) => request(id, { ...YES_NO, title: `Odd ${id}`, default: 'y' })));
  const page = await open({ at: '#/queue' });
  for (const id of ids) {
    const row = page.getByRole('option').filter({ hasText: `Odd ${id}` });
    await row.click();
    await page.getByRole('heading', { level: 2, name: `Odd ${id}`, exact: true }).waitFor();
    await page.getByRole('button', { name: 'Submit' }).click();
    await row.waitFor({ state: 'detached' });
  }
});

test('the address of a prompt is gone to, though the list arrives at that very moment; also when it is closed', async ({ host, open }) => {
  await ask(host, { ...YES_NO, title: 'First in the list' });
  const id = await ask(host, { ...YES_NO, title: 'Sent as a link' });
  const page = await open({ at: '#/settings' });
  // The list is held back until the address has changed and the browser has not yet told anybody.
  await page.evaluate(() => {
    const real = globalThis.fetch;
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    globalThis.fetch = async (...args) => {
      const answer = await real(...args);
      if (!String(args[0]).includes('view=needs_you')) return answer;
      const text = await answer.text();
      (globalThis as unknown as { listIsHere: boolean }).listIsHere = true;
      await held;
      return { ok: answer.ok, status: answer.status, headers: answer.headers, text: () => Promise.resolve(text) } as Response;
    };
    (globalThis as unknown as { release: (hash: string) => void }).release = (hash) => {
      location.hash = hash;
      letGo();
    };
    location.hash = '#/queue';
  });
  await page.waitForFunction(() => (globalThis as unknown as { listIsHere?: boolean }).listIsHere === true);
  const hash = `#/queue/needsYou/${id}`;
  await page.evaluate((to) => (globalThis as unknown as { release: (hash: string) => void }).release(to), hash);
  await page.getByRole('heading', { level: 2, name: 'Sent as a link' }).waitFor();
  await page.getByRole('option', { name: 'First in the list' }).waitFor();
  expect(await page.evaluate(() => location.hash)).toBe(hash);

  await host.api('POST', `prompts/${id}/response`, { response: { status: 'ok', selection: 'n' } });
  await page.reload();
  await page.locator(`article[data-open="${id}"] section[aria-label="Answer"]`).getByText('No', { exact: true }).waitFor();
});

test('an answer still on its way does not lead away from where the person has gone', async ({ host, open }) => {
  const id = await ask(host, { ...YES_NO, title: 'Answered and looked up', default: 'y' });
  const page = await open();
  await page.route('**/response', async (route) => {
    const answer = await route.fetch();
    await page.evaluate((hash) => (location.hash = hash), `#/queue/history/${id}`);
    await page.getByRole('tab', { name: 'History', selected: true }).waitFor();
    await page.locator(`article[data-open="${id}"]`).waitFor();
    await route.fulfill({ response: answer });
  });
  await openPrompt(page, id);
  const answered = page.waitForResponse('**/response');
  await page.getByRole('button', { name: 'Submit' }).click();
  await (await answered).finished();
  await page.locator(`article[data-open="${id}"] section[aria-label="Answer"]`).waitFor();
  await page.getByRole('option', { name: 'Answered and looked up', selected: true }).waitFor();
  expect(await page.evaluate(() => location.hash)).toBe(`#/queue/history/${id}`);
});

test('a prompt that expires turns into that, with a countdown before', async ({ host, open }) => {
  const page = await open({ at: '#/queue' });
  const id = await ask(host, { ...YES_NO, title: 'Hurry', timeoutMs: 8_000 });
  await openPrompt(page, id);
  await page.locator('article').getByText(/expires in \d s/).waitFor();
  await page.getByText('because it timed out').waitFor();
  expect(await page.getByRole('button', { name: 'Submit' }).count()).toBe(0);
});

test('minimal log mode: answerable, and afterwards only that it happened', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('PUT', 'settings/uiPromptLogMode', { value: 'minimal' });
  const id = await ask(host, { kind: 'kv', title: 'Short memory', source: 'test', fields: [{ key: 'a', label: 'Alpha' }] });
  const page = await open({ host });
  await openPrompt(page, id);
  await page.getByLabel('Alpha').fill('unforgettable');
  await page.getByRole('button', { name: 'Submit' }).click();
  await answerOf(host, id);
  await openPrompt(page, id, 'history');
  await page.getByText('The content wasn’t kept').waitFor();
  expect(await page.getByText('unforgettable').count()).toBe(0);
});

describe('the hub', () => {
  test('counts in badge, label and title; a new prompt opens nothing and moves nothing', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: '#/settings' });
    await page.getByRole('button', { name: 'Inbox: nothing needs you' }).waitFor();
    const first = await ask(host, { kind: 'kv', source: 'test', title: 'First', fields: [{ key: 'a', label: 'Alpha' }] });
    await page.getByRole('button', { name: 'Inbox: 1 thing needs you' }).waitFor();
    await page.waitForFunction(() => document.title.startsWith('(1) ChatOS'));
    await page.locator('[data-live]', { hasText: 'New question: First' }).waitFor({ state: 'attached' });
    expect(await page.getByRole('dialog').count()).toBe(0);

    await page.getByLabel('Search settings').focus();
    await page.keyboard.press('Control+j');
    const hub = page.getByRole('dialog', { name: 'Inbox' });
    await hub.locator(`article[data-open="${first}"][data-ready="true"]`).waitFor();
    const alpha = hub.getByLabel('Alpha');
    await page.waitForFunction(() => document.activeElement?.tagName === 'INPUT');
    await page.keyboard.type('typing');
    await ask(host, { ...YES_NO, title: 'Second' }, 'second');
    await hub.locator('[data-prompt="second"]').waitFor();
    expect(await alpha.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await alpha.inputValue()).toBe('typing');
    await hub.getByText('1 / 2').waitFor();

    // Once inside, the focus stays inside.
    for (let press = 0; press < 40; press += 1) {
      await page.keyboard.press(press % 3 === 0 ? 'Shift+Tab' : 'Tab');
      expect(await page.evaluate(() => document.activeElement?.closest('[data-hub]') !== null)).toBe(true);
    }
    await page.keyboard.press('Escape');
    await hub.waitFor({ state: 'detached' });
    await expect.poll(() => page.getByLabel('Search settings').evaluate((element) => element === document.activeElement)).toBe(true);
    expect((await lookUp(host, first)).state).toBe('pending');
    await ask(host, { kind: 'result', source: 'test', markdown: 'done' });
    await page.getByRole('button', { name: 'Inbox: 2 things need you, 1 unread result' }).waitFor();
  });

  test('after an answer the next one is open; then it is all done', async ({ ownHost, open }) => {
    const host = await ownHost();
    const ids = [];
    for (const title of ['One', 'Two', 'Three']) ids.push(await ask(host, { ...YES_NO, title, default: 'y' }));
    const page = await open({ host, at: '#/queue' });
    for (const [index, title] of ['One', 'Two', 'Three'].entries()) {
      await page.getByRole('heading', { level: 2, name: title, exact: true }).waitFor();
      await page.getByText(`1 / ${3 - index}`).waitFor();
      await page.getByRole('button', { name: 'Submit' }).click();
      await answerOf(host, ids[index] ?? '');
    }
    await page.getByText('Nothing else needs you.').waitFor();
  });

  test('j and k go through the list, Enter goes to the form, an unknown id is said', async ({ ownHost, open }) => {
    const host = await ownHost();
    for (const title of ['One', 'Two', 'Three']) await ask(host, { ...YES_NO, title });
    const page = await open({ host, at: '#/queue', expectConsole: REFUSED });
    await page.getByRole('heading', { level: 2, name: 'One', exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { level: 2, name: 'Two', exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.getByRole('heading', { level: 2, name: 'Three', exact: true }).waitFor();
    await page.keyboard.press('k');
    await page.getByText('2 / 3').waitFor();
    const list = page.getByRole('listbox');
    await list.focus();
    await page.keyboard.press('Home');
    await page.getByText('1 / 3').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
    await page.evaluate(() => (location.hash = '#/queue/needsYou/nobody-asked-this'));
    await page.getByRole('alert').filter({ hasText: 'nobody-asked-this' }).waitFor();
  });

  test('steps of a chain: the panel waits for the next and goes to it', async ({ ownHost, open }) => {
    const host = await ownHost();
    const step = (n: number) => ({ ...YES_NO, title: `Step ${n}`, default: 'y', chain: { id: 'setup', step: n, of: 2 } });
    await ask(host, step(1), 's1');
    await ask(host, { ...YES_NO, title: 'Unrelated' });
    const page = await open({ host, at: '#/queue/needsYou/s1' });
    await page.getByText('step 1 of 2').first().waitFor();
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByText('Waiting for the next question…').waitFor();
    await ask(host, step(2), 's2');
    await page.getByRole('heading', { level: 2, name: 'Step 2' }).waitFor();
    await page.getByRole('button', { name: 'Submit' }).click();
    await answerOf(host, 's2');
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('2 steps').waitFor();
  });

  test('desktop notifications: asked for by a button, few, and one instead of many', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, at: false });
    await page.addInitScript(() => {
      const shown: string[] = [];
      class Fake {
        static permission = 'default';
        static requestPermission() {
          Fake.permission = 'granted';
          return Promise.resolve('granted');
        }
        constructor(title: string, options: { body: string }) {
          shown.push(`${title}: ${options.body}`);
        }
        close() {
          shown.push('closed');
        }
      }
      Object.assign(globalThis, { Notification: Fake, shown });
      document.hasFocus = () => false;
    });
    await page.goto(await host.signInLink());
    await page.evaluate(() => (location.hash = '#/queue'));
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'Notify me' }).waitFor({ state: 'detached' });
    const shown = () => page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
    await ask(host, { ...YES_NO, title: 'A question' });
    await expect.poll(shown).toEqual(['Choice: A question (test)']);
    append(host, ...['a', 'b', 'c', 'd'].map((id) => request(`burst-${id}`, YES_NO)));
    await expect.poll(async () => (await shown()).at(-1)).toMatch(/^\d new questions: /);
  });
});

test('history: found again, filtered, with who answered', async ({ host, open }) => {
  const id = await ask(host, { ...YES_NO, title: 'Zebra crossing', source: 'zoo' });
  await host.api('POST', `prompts/${id}/response`, { response: { status: 'ok', selection: 'y' } });
  const page = await open({ at: '#/queue/history' });
  await page.getByLabel('Search history').fill('zebra');
  await page.locator('[data-prompt]').first().waitFor();
  await expect.poll(() => page.locator('[data-prompt]').count()).toBe(1);
  await page.locator('[data-prompt]').click();
  await page.getByText('through the API').waitFor();
  await page.getByRole('button', { name: /Filters/ }).click();
  await page.getByLabel('Outcome').selectOption('canceled');
  await page.getByText('No matches in the history').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('button', { name: 'Archive…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Archive old questions' });
  await dialog.getByLabel('Older than (days)').fill('x');
  await dialog.getByRole('button', { name: 'Archive', exact: true }).click();
  await dialog.getByText('Enter a whole number').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('unreadable lines are counted and explained', async ({ ownHost, open }) => {
  const host = await ownHost();
  await ask(host, YES_NO);
  append(host, 'this is no JSON', '{"type":"ui_prompt",');
  const page = await open({ host, at: '#/queue' });
  await page.getByRole('button', { name: '2 unreadable lines' }).click();
  await page.getByRole('dialog', { name: 'Unreadable lines' }).getByText('bad_json').waitFor();
});
