// Every page in one language, both themes and three widths looks as it did (issue 21, acceptance 3).

import type { Page, Request } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { test } from './fixtures';
import type { Host } from './host';
import { change } from './cards';
import { expectLooks, keptLetters, keptNote, letters, look } from './looks';
import { lastOf, ModelServer } from './model-server';
import { endPrograms, hook } from './other-programs';
import { ask } from './questions';

/** Pages that show the same on every machine with nothing in them. */
const PAGES = [
  'apps', 'agents', 'agents/agents/new', 'agents/models', 'agents/models/new', 'agents/land-configs', 'agents/land-configs/lc_developer', 'agents/prompts', 'agents/sub-agents', 'agents/usage',
  'queue', 'queue/results', 'queue/history', 'tasks', 'runs', 'changes',
  'settings', 'settings/servers', 'settings/servers/new', 'settings/secrets', 'settings/commands', 'settings/tools', 'settings/browsers', 'settings/access', 'settings/host', 'settings/appearance', 'settings/help',
];

const SAYS = {
  en: { title: 'A list of birds', ask: 'Name three birds, and a table of them.', answer: '## Three birds\n\n- robin\n- wren\n- **heron**\n\n| bird | size |\n| --- | ---: |\n| robin | 14 cm |\n| wren | 10 cm |\n\n```python\nprint("birds")\n```\n', colour: 'Which colour?', red: 'Red', blue: 'Blue' },
  zh: { title: '鸟的列表', ask: '说出三种鸟，并列成表格。', answer: '## 三种鸟\n\n- 知更鸟\n- 鹪鹩\n- **苍鹭**\n\n| 鸟 | 体长 |\n| --- | ---: |\n| 知更鸟 | 14 厘米 |\n| 鹪鹩 | 10 厘米 |\n\n```python\nprint("birds")\n```\n', colour: '什么颜色？', red: '红', blue: '蓝' },
};

async function chatOn(host: Host, language: 'en' | 'zh'): Promise<string> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  const w = SAYS[language];
  models.decide = (body) => ({ text: lastOf(body).role === 'user' ? w.answer : '' });
  const model = await host.api<{ id: string }>('POST', 'models', { name: 'Tiny', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Writer', mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
  return (await host.api<{ id: string }>('POST', 'sessions', { title: w.title, agentId: agent.id })).id;
}

/** Pages that need something in them to be looked at. */
const FILLED = ['agents/programs', 'settings/notifications', 'settings/tool-log'];

/** Two more programs ask, a channel is set up, tools are called. */
async function filled(host: Host, language: string): Promise<void> {
  const waiting = async () => (await host.api<{ items: unknown[] }>('GET', 'prompts?view=needs_you')).items.length;
  for (const [index, [program, event]] of [['claude', 'PreToolUse'], ['codex', 'PermissionRequest']].entries()) {
    hook(host, program ?? '', 'shop', { hook_event_name: event, session_id: 's-1', tool_name: 'Bash', tool_input: { command: 'npm test' } }, language);
    // Two questions are there already.
    await expect.poll(waiting).toBe(index + 3);
  }
  await host.api('POST', 'channels', { type: 'ntfy', name: 'ntfy', url: 'http://127.0.0.1:9/birds', onMyNetwork: true });
  for (const path of ['.', 'not-there']) await host.api('POST', 'tools/project_files/list_directory/call', { arguments: { path } });
}

/** The doctor's findings are those of the machine. */
const DOCTOR = 'settings/doctor';

/** What the page has asked for and not got yet. */
function underWay(page: Page): Set<Request> {
  const open = new Set<Request>();
  page.on('request', (request) => open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  return open;
}

async function go(page: Page, open: Set<Request>, at: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = `#/${hash}`), at);
  await page.locator('main h1').first().waitFor({ state: 'attached' });
  await unchanged(page, open);
}

/** Waits until nothing is asked for and the page has stopped changing. */
async function unchanged(page: Page, open: Set<Request>): Promise<void> {
  do {
    await expect.poll(() => open.size).toBe(0);
    await page.evaluate(() => new Promise<void>((resolve) => {
      let timer = setTimeout(done, 300);
      const observer = new MutationObserver(() => {
        clearTimeout(timer);
        timer = setTimeout(done, 300);
      });
      function done(): void {
        observer.disconnect();
        resolve();
      }
      observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    }));
  } while (open.size > 0);
}

/** Nothing is on its way any more. */
const still = (page: Page) => async () => {
  await page.waitForFunction(() => document.querySelector('main .skeleton, main [aria-busy="true"]') === null);
};

/** The languages are files of their own, so that they run beside one another. */
export function looksAsItDid(language: 'en' | 'zh'): void {
  test('every page looks as it did, at three widths, light and dark', async ({ ownHost, open: opened, skip }) => {
    const host = await ownHost({ env: { LANG: language === 'zh' ? 'zh_CN.UTF-8' : 'en_US.UTF-8' } });
    const page = await opened({ host, language, at: '#/apps' });
    const desk = await page.context().newPage();
    const open = underWay(page);
    // A page in the back draws once a second.
    await page.bringToFront();
    const here = await letters(page);
    const kept = keptLetters(here);
    const others = `other fonts than those of the kept pictures: letters are ${here} wide, not ${kept}`;
    // Where tests are run for everybody, the fonts are those that scripts/setup installs.
    if (process.env['CI']) expect(here, others).toBe(kept);
    skip(here !== kept, others);
    const wrong: string[] = [];
    const seen = async (name: string, of = page) => wrong.push(...(await look(of, desk, `${name}.${language}`, still(of))));
    // Before anything was done: the first screen, an address that leads nowhere, and a browser nobody signed in.
    await go(page, open, 'chat');
    await page.locator('[data-first-minute]').waitFor();
    await unchanged(page, open);
    await seen('first');
    await go(page, open, 'nowhere');
    await seen('not-found');
    const stranger = await opened({ host, language, at: false, expectConsole: /401/ });
    await stranger.goto(host.url);
    await stranger.getByRole('heading', { level: 1 }).waitFor();
    await seen('sign-in', stranger);
    await stranger.close();
    await page.bringToFront();
    for (const at of PAGES) {
      await go(page, open, at);
      wrong.push(...(await look(page, desk, `${at.replaceAll('/', '-')}.${language}`, still(page))));
    }
    // With something in them.
    const w = SAYS[language];
    const chat = await chatOn(host, language);
    await ask(host, { kind: 'choice', title: w.colour, options: [{ value: 'r', label: w.red }, { value: 'b', label: w.blue }], source: 'paint' });
    await go(page, open, 'queue');
    await page.getByText(w.colour).first().waitFor();
    await unchanged(page, open);
    wrong.push(...(await look(page, desk, `queue-open.${language}`, still(page))));
    await go(page, open, `chat/${chat}`);
    await page.locator('[data-composer] textarea').fill(w.ask);
    await page.keyboard.press('Enter');
    await page.getByText('print').first().waitFor();
    await unchanged(page, open);
    wrong.push(...(await look(page, desk, `chat.${language}`, still(page))));
    // What it was, step by step; a change and a question about another; a rule; an app.
    await go(page, open, 'runs');
    await page.locator('[data-run-view]').waitFor();
    await unchanged(page, open);
    await seen('runs-open');
    await host.api('PUT', 'settings/confirmFileChanges', { value: false });
    await host.api('POST', 'tools/code_writer/write_file/call', { arguments: { path: 'birds.md', contents: w.answer } });
    await host.api('DELETE', 'settings/confirmFileChanges');
    await go(page, open, 'changes');
    await page.locator('li[data-kind="created"]').getByRole('link').first().click();
    await page.locator('[data-change-view]').waitFor();
    await unchanged(page, open);
    await seen('changes-open');
    await change(host, 'birds.md', 'modified', 'birds', '--- a/birds.md\n+++ b/birds.md\n@@ -3,2 +3,2 @@\n - robin\n-- wren\n+- kingfisher\n');
    await go(page, open, 'queue/needsYou/birds');
    await page.locator('article[data-open="birds"][data-ready="true"]').waitFor();
    await unchanged(page, open);
    await seen('queue-approve');
    await go(page, open, 'apps/plugin/com.chatos.notes/notes');
    await page.locator('[data-place="com.chatos.notes/notes full"][data-phase="mounted"]').waitFor();
    await unchanged(page, open);
    await seen('apps-notes');
    onTestFinished(endPrograms);
    await filled(host, language);
    for (const at of FILLED) {
      await go(page, open, at);
      wrong.push(...(await look(page, desk, `${at.replaceAll('/', '-')}.${language}`, still(page))));
    }
    await endPrograms();
    expectLooks(wrong);
  }, 600_000);

  test('the doctor looks as it did, where it finds the same', async ({ ownHost, open: opened, skip }) => {
    const host = await ownHost({ env: { LANG: language === 'zh' ? 'zh_CN.UTF-8' : 'en_US.UTF-8' } });
    const page = await opened({ host, language, at: '#/apps' });
    const desk = await page.context().newPage();
    const open = underWay(page);
    await page.bringToFront();
    const found = async () => (await host.api<{ findings: { code: string; severity: string }[] }>('GET', 'doctor')).findings;
    // The page tells it a moment later whether this browser keeps apps off the network.
    let findings = await found();
    for (let tries = 0; tries < 20 && findings.some(({ code }) => code === 'app_pages_unknown'); tries += 1) {
      await page.waitForTimeout(500);
      findings = await found();
    }
    const here = [await letters(page), ...findings.map(({ code, severity }) => `${severity} ${code}`).sort()].join('; ');
    const kept = keptNote('doctor', here);
    skip(here !== kept, `the doctor finds something else here than on the kept picture: ${here}`);
    await go(page, open, DOCTOR);
    expectLooks(await look(page, desk, `settings-doctor.${language}`, still(page)));
  }, 300_000);
}
