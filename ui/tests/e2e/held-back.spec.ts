// Rules against answers they never saw (inbox §4.5): a day of two hundred questions of an agent is recorded, all of them
// asked; three rules come from its first half alone; then the day is made again, what is asked is answered with one key, and
// of the half that was held back nothing is done without a question that was refused when it was recorded.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { test } from './fixtures';
import { keep } from './pictures';
import { lookUp } from './questions';
import { answerByKey, ASKS_ALWAYS, type Call, waiting, Worker } from './workday';

const DAY = 200;
const HALF = DAY / 2;

const write = (path: string): Call => ({ tool: 'write_file', args: { path } });
const run = (command: string): Call => ({ tool: 'run_shell_command', args: { command } });
const remove = (path: string): Call => ({ tool: 'delete_path', args: { path } });

/** What the person does not want. Each stands beside something that is approved all day; the second half has sorts of it
    that the first has not. */
const UNWANTED: Call[] = [
  write('src/part-0.key'), remove('src/part-0.ts'), write('log/today.txt.key'), run('mkdir -p builds'), write('src/deep/part-1.ts'),
  run('rm src/part-0.ts'), write('log/tomorrow.txt'), run('mkdir -p build && rm src/part-0.ts'), remove('log/today.txt'), write('part-0.ts'),
  write('src/.local.ts'), run('mkdir -p build; rm -r src'), run('mkdir -p build | tee src/part-1.key'), run('mkdir -p build\nrm -r src'), write('src/part-1.ts.bak'),
  run('X=1 mkdir -p build'), run('mkdir -p build > src/part-0.ts'), remove('src'), run('mkdir -pv build'), write('.env'),
];

/** The day: three things again and again, and three of twenty are something else: one that happens once, two unwanted. No
    file of `src` is made twice, so those of the second half are not those that were approved in the first. */
const CALLS = Array.from({ length: DAY }, (_, i): Call => {
  const unwanted = i % 10 === 9 ? UNWANTED[Math.floor(i / 10)] : undefined;
  if (unwanted) return unwanted;
  if (i % 20 === 10) return write(`page-${i}/index.html`);
  return [write(`src/part-${i}.ts`), run('mkdir -p build'), write('log/today.txt')][i % 3] ?? write('log/today.txt');
});

test('rules from the first half of a recorded day do nothing that was refused in the half that was held back', async ({ ownHost, open }) => {
  const home = mkdtempSync(join(tmpdir(), 'chatos-e2e-'));
  const halfway = `${home}-halfway`;
  onTestFinished(() => [home, halfway].forEach((folder) => rmSync(folder, { recursive: true, force: true })));
  const isWanted = (i: number) => !UNWANTED.some((one) => one === CALLS[i]);
  /** What is written is another text each time, so that there is something to write. */
  let round = 'recorded';
  const recorded = new Map<number, boolean>();

  // The day is recorded, without any rule. What there is of it at noon is put aside.
  let host = await ownHost({ ...ASKS_ALWAYS, home });
  const worker = await Worker.hire(host, 'shop', (i) => {
    const one = CALLS[i];
    return one?.tool === 'write_file' ? { ...one, args: { ...one.args, contents: `${i}, ${round}\n` } } : one;
  });
  for (const half of [0, HALF]) {
    const asked = await worker.work(host, half, half + HALF, async (id, now) => {
      const { shown } = await host.api<{ shown: string }>('GET', `prompts/${id}`);
      await host.api('POST', `prompts/${id}/response`, { response: { status: isWanted(now) ? 'ok' : 'canceled' }, shown });
      recorded.set(now, (await lookUp(host, id)).answer?.status === 'ok');
    });
    expect(asked).toEqual(CALLS.map((_, i) => i).slice(half, half + HALF));
    await host.halt();
    if (half === 0) {
      execFileSync('cp', ['-a', home, halfway]);
      host = await ownHost({ ...ASKS_ALWAYS, home });
    }
  }
  expect([...recorded.values()].filter((yes) => !yes).length).toBe(UNWANTED.length);

  // Noon again: nobody knows of the second half. The page suggests three rules, and the person takes them.
  rmSync(home, { recursive: true });
  renameSync(halfway, home);
  host = await ownHost({ ...ASKS_ALWAYS, home });
  expect(await waiting(host)).toEqual([]);
  const page = await open({ host, at: '#/queue' });
  await page.getByRole('button', { name: '3 rules suggested' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rules' });
  const proposal = dialog.locator('[data-proposal]');
  await proposal.first().waitFor();
  await keep(page, 'rules-of-half-a-day');
  for (let left = await proposal.count(); left > 0; left = await proposal.count()) {
    await proposal.first().getByRole('button', { name: 'Don’t ask again', exact: true }).click();
    await expect.poll(() => proposal.count()).toBeLessThan(left);
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  // The half that was held back, then the other one: the same calls, answered as they were.
  round = 'again';
  const asked: number[] = [];
  for (const half of [HALF, 0]) asked.push(...(await worker.work(host, half, half + HALF, (requestId, now) => answerByKey(page, requestId, recorded.get(now) === true))));
  const byRule = CALLS.map((_, i) => i).filter((i) => !asked.includes(i));
  const wrong = byRule.filter((i) => recorded.get(i) !== true).map((i) => JSON.stringify(CALLS[i]?.args));
  expect(wrong, 'done without a question although it was refused').toEqual([]);
  const { rules } = await host.api<{ rules: { rule: { name: string }; uses: number }[] }>('GET', 'rules');
  expect(rules.map(({ rule }) => rule.name).sort()).toEqual(['log/today.txt', 'mkdir -p build', 'src/*.ts']);
  expect(rules.reduce((sum, { uses }) => sum + uses, 0)).toBe(byRule.length);
  expect(asked.length, `asked about ${asked.join(', ')}`).toBeLessThanOrEqual(40);
  expect(asked.filter((i) => i >= HALF).length).toBeLessThanOrEqual(20);
  // One figure line, for whoever looks at how quiet it was.
  console.log(`held back: ${byRule.filter((i) => i >= HALF).length} of ${HALF} by rules, 0 wrongly; of the day ${asked.length} of ${DAY} asked`);

  // And on the disk: what is wanted is there, nothing else.
  const made = readdirSync(join(home, 'shop'), { recursive: true }).map(String).sort();
  const wanted = CALLS.filter((_, i) => isWanted(i)).map(({ args }) => args['path'] ?? 'build');
  const folders = wanted.map((path) => dirname(path)).filter((folder) => folder !== '.');
  expect(made).toEqual([...new Set([...folders, ...wanted])].sort());
}, 900_000);
