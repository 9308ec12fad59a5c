// Many questions with one decision, a command written anew, what rules answered, and cards whose texts are hostile
// (inbox §2.2, §2.4, §3.3, §4.2).

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { violations } from './axe';
import { change, command } from './cards';
import { test } from './fixtures';
import type { Host } from './host';
import { keep } from './pictures';
import { answerOf, lookUp, openPrompt } from './questions';

interface Called {
  content: { text: string }[];
  structuredContent: { status: string };
}

const call = (host: Host, tool: string, args: object) => host.api<Called>('POST', `tools/${tool}/call`, { arguments: args });

async function question(host: Host): Promise<string> {
  for (;;) {
    const { items } = await host.api<{ items: { requestId: string }[] }>('GET', 'prompts?view=needs_you');
    if (items[0]) return items[0].requestId;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('two hundred are approved at once, by exactly what the sheet shows, and none when one of them changed', async ({ ownHost, open }) => {
  const host = await ownHost();
  const page = await open({ host, at: '#/queue', expectConsole: /status of 409/ });
  for (let index = 0; index < 200; index += 1) await change(host, `file-${index}.txt`, 'created', `bulk-${index}`);
  await page.getByRole('button', { name: 'Inbox: 200 things need you' }).waitFor();
  await page.locator('[data-list]').focus();
  await page.keyboard.press('*');
  await page.getByRole('button', { name: 'Answer 200…' }).waitFor();
  await page.keyboard.press('a');
  const sheet = page.getByRole('dialog', { name: 'Answer several questions' });
  const approve = sheet.getByRole('button', { name: 'Approve 200' });
  // It waits until the end of the list was on screen.
  await sheet.getByText('Scroll to the end of the list to approve.').waitFor();
  expect(await approve.isDisabled()).toBe(true);
  await sheet.locator('[data-bulk] li').last().scrollIntoViewIfNeeded();
  await sheet.getByLabel('Note', { exact: false }).first().scrollIntoViewIfNeeded();
  await expect.poll(() => approve.isDisabled()).toBe(false);
  await keep(page, 'bulk');

  // Answered elsewhere while the answer is on its way: the host's digest is another one, and nothing is answered.
  await page.route('**/api/v1/prompts/bulk', async (route) => {
    await host.api('POST', 'prompts/bulk-7/response', { response: { status: 'canceled' } });
    await route.continue();
  }, { times: 1 });
  await approve.click();
  await sheet.getByText('Some of these questions have changed.').waitFor();
  expect((await lookUp(host, 'bulk-0')).state).toBe('pending');
  expect((await lookUp(host, 'bulk-199')).state).toBe('pending');
  await sheet.locator('[data-bulk] li').last().scrollIntoViewIfNeeded();
  await sheet.getByRole('button', { name: 'Approve 199' }).click();
  await sheet.waitFor({ state: 'detached' });
  for (const index of [0, 6, 8, 199]) expect((await answerOf(host, `bulk-${index}`)).status).toBe('ok');
  expect((await answerOf(host, 'bulk-7')).status).toBe('canceled');
});

test('a command is written anew before it is approved, and that one runs', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('PUT', 'settings/shellConfirm', { value: 'always' });
  const page = await open({ host, at: '#/queue' });
  const first = call(host, 'shell_tasks/run_shell_command', { command: 'touch wrong.txt' });
  const id = await question(host);
  await openPrompt(page, id);
  await page.locator(`article[data-open="${id}"] [data-act="edit"]:not(:disabled)`).waitFor();
  await page.locator(`article[data-open="${id}"] h2`).focus();
  await page.keyboard.press('e');
  const sheet = page.getByRole('dialog', { name: 'Edit the command, then approve' });
  const field = sheet.locator('[data-edit]');
  await expect.poll(() => field.inputValue()).toBe('touch wrong.txt');
  await field.fill('  ');
  await sheet.getByRole('button', { name: 'Approve this' }).click();
  await sheet.getByText('Enter a command.').waitFor();
  expect((await lookUp(host, id)).state).toBe('pending');
  await field.fill('touch right.txt');
  expect(await violations(page)).toEqual([]);
  await keep(page, 'edit');
  await sheet.getByRole('button', { name: 'Approve this' }).click();
  // Where nothing confines commands, another text is another risk and is asked once more.
  let result: Called | null = null;
  void first.then((done) => (result = done));
  await expect.poll(async () => result !== null || ((await host.api<{ items: { requestId: string }[] }>('GET', 'prompts?view=needs_you')).items[0]?.requestId ?? id) !== id).toBe(true);
  if (result === null) {
    const next = await question(host);
    const { shown } = await host.api<{ shown: string }>('GET', `prompts/${next}`);
    await host.api('POST', `prompts/${next}/response`, { response: { status: 'ok' }, shown });
  }
  const said = (await first).content[0]?.text ?? '';
  expect(said).toMatch(/^The person changed the call to: touch right.txt/);
  expect(said).toContain('$ touch right.txt |');
  expect(said).not.toContain('wrong');
  await openPrompt(page, id, 'history');
  await page.getByText('You changed it to').waitFor();
});

test('what a rule answered is in the history, with the way to its change and to its end', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('PUT', 'settings/confirmFileChanges', { value: true });
  const first = call(host, 'code_maintainer/write_file', { path: 'notes.txt', contents: 'one\n' });
  const id = await question(host);
  const { shown } = await host.api<{ shown: string }>('GET', `prompts/${id}`);
  await host.api('POST', `prompts/${id}/response`, { response: { status: 'ok' }, shown, rule: { scope: 'project' } });
  await first;
  await call(host, 'code_maintainer/write_file', { path: 'notes.txt', contents: 'two\n' });

  const page = await open({ host, at: '#/queue/history' });
  await page.getByRole('button', { name: 'Answered by rules' }).click();
  const dialog = page.getByRole('dialog', { name: 'Answered by rules' });
  await dialog.getByText('Edit notes.txt?').waitFor();
  await dialog.getByText('Answered by rule “notes.txt”').waitFor();
  expect(await violations(page)).toEqual([]);
  await keep(page, 'uses');
  await dialog.getByRole('button', { name: 'Pause this rule' }).click();
  await dialog.getByRole('button', { name: 'Pause this rule' }).waitFor({ state: 'detached' });
  const { rules } = await host.api<{ rules: { rule: { paused: boolean } }[] }>('GET', 'rules');
  expect(rules[0]?.rule.paused).toBe(true);
  await dialog.getByRole('link', { name: 'Show change and undo' }).click();
  await page.getByRole('heading', { level: 1, name: 'Changes' }).waitFor();
  await page.locator('[data-change]').first().click();
  await page.getByRole('button', { name: 'Undo…' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undo 1 file' }).click();
  await expect.poll(() => readFileSync(join(host.home, 'notes.txt'), 'utf8')).toBe('one\n');
});

const HOSTILE = ['<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>', '\u202etxt.exe\u2066 \u200b', '\u001b[31mred\u001b[0m \u0007', 'line one\nline two\r\nline three\u2028four', '[x](javascript:window.hacked=1) ![y](http://127.0.0.1:9/z.png)'];

/** Signs that steer a terminal, turn the direction of text, or are not seen. */
const HIDDEN = ['\u0007', '\u001b', '\u200b', '\u202a', '\u202b', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'];

test('hostile texts of a card are letters: nothing runs, loads, moves or hides', async ({ ownHost, open }) => {
  const host = await ownHost();
  const page = await open({ host, at: '#/queue' });
  const loaded: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).port === '9') loaded.push(request.url());
  });
  const long = 'x'.repeat(1_000_000);
  const ids: string[] = [];
  for (const [index, text] of HOSTILE.entries()) {
    ids.push(await command(host, text, `hostile-command-${index}`, text));
    ids.push(await change(host, text.replaceAll('/', '_'), 'modified', `hostile-file-${index}`, `--- a\n+++ b\n@@ -1 +1 @@\n-${text}\n+${text}\n`));
  }
  ids.push(await command(host, `echo ${long}`, 'hostile-long'));
  for (const id of ids) {
    await openPrompt(page, id);
    expect(await page.evaluate(() => (window as { hacked?: number }).hacked), id).toBeUndefined();
    const article = page.locator(`article[data-open="${id}"]`);
    expect(await article.locator('img, script, iframe, a[href^="javascript"]').count(), id).toBe(0);
    const shown = await article.innerText();
    expect(HIDDEN.filter((sign) => shown.includes(sign)), id).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1), id).toBe(true);
    expect(await page.locator('*').count(), id).toBeLessThan(3_000);
  }
  await keep(page, 'hostile');
  // A megabyte is shown in part, and approved only after all of it was.
  const last = page.locator('article[data-open="hostile-long"]');
  expect(await last.locator('[data-act="approve"]').isDisabled()).toBe(true);
  await last.getByRole('button', { name: 'Show all' }).first().click();
  await expect.poll(() => last.locator('[data-act="approve"]').isDisabled()).toBe(false);
  expect(loaded).toEqual([]);
});

test('ten megabytes of hostile text are cut with a word, opened as a whole, shown as they are, and the page stays usable', async ({ ownHost, open }) => {
  const host = await ownHost();
  await host.api('PUT', 'settings/confirmFileChanges', { value: true });
  // A thousand lines of almost five kilobytes, each of them before and after: ten megabytes.
  const LINES = 1_000;
  const odd = '\u202etxt.exe\u2066\u200b \u001b[31mred\u001b[0m\u0007 <img src=x onerror="window.hacked=1">';
  const line = (word: string, n: number) => `${word} ${n} ${odd} ${'y'.repeat(4_750)} end-${n}`;
  const file = (word: string) => Array.from({ length: LINES }, (_, n) => line(word, n)).join('\n');
  writeFileSync(join(host.home, 'big.txt'), file('before'));
  const change = call(host, 'code_maintainer/edit_file', { path: 'big.txt', old_string: 'before', new_string: 'after', expected_replacements: LINES });
  const id = await question(host);
  const page = await open({ host, at: '#/queue' });
  await openPrompt(page, id);
  const article = page.locator(`article[data-open="${id}"]`);
  const { diffRef } = (await host.api<{ prompt: { diffRef: { bytes: number; lines: number; shownLines: number } } }>('GET', `prompts/${encodeURIComponent(id)}`)).prompt;
  expect(diffRef.bytes).toBeGreaterThan(9_500_000);
  expect(diffRef.shownLines).toBeLessThan(diffRef.lines);

  // In part, and it says so; nobody approves what was not on the screen.
  await article.locator('[data-show-all]').getByText(/Show the remaining [\d,]+ lines before you approve/).waitFor();
  expect(await article.locator('[data-act="approve"]').isDisabled()).toBe(true);
  await keep(page, 'ten-megabytes');
  await article.locator('[data-show-all] button').click();
  await expect.poll(() => article.locator('[data-act="approve"]').isDisabled(), { timeout: 60_000 }).toBe(false);

  // What nobody would see is there in letters, to the last line.
  const toTheEnd = (last: string) => article.evaluate((element, wanted) => {
    for (const box of element.querySelectorAll('.patch, .patch *')) if (box.scrollHeight > box.clientHeight + 1) box.scrollTop = box.scrollHeight;
    return element.textContent.includes(wanted);
  }, last);
  await expect.poll(() => toTheEnd(`end-${LINES - 1}`)).toBe(true);
  const shown = await article.evaluate((element) => element.textContent);
  expect(HIDDEN.filter((sign) => shown.includes(sign))).toEqual([]);
  expect(shown).toMatch(/U\+202E|202e/i);
  expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();
  expect(await article.locator('img, script, iframe').count()).toBe(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1)).toBe(true);

  // The page goes on: another page, back, a note, and the answer.
  await page.evaluate(() => (location.hash = '#/tasks'));
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
  await openPrompt(page, id);
  await article.getByLabel('Note', { exact: false }).first().fill('not all of this');
  await article.locator('[data-act="reject"]').click();
  expect((await change).content[0]?.text).toContain('not all of this');
  expect(readFileSync(join(host.home, 'big.txt'), 'utf8').startsWith('before')).toBe(true);
}, 180_000);
