// Each kind of card as people see it: its title in both languages, who asks, the thing itself, and no id outside of the
// details (inbox §2.1, §2.2, §10.7). With CHATOS_PICTURES a picture of each, in both languages and themes, wide and narrow.

import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { change, changes, choice, command } from './cards';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer, offered } from './model-server';
import { keep, LOOKS } from './pictures';
import { openPrompt } from './questions';

interface Shown {
  en: string;
  zh: string;
  /** Who asks, as the line below the title says it. */
  who?: string;
  ask: (host: Host, id: string) => Promise<string>;
}

const OPTIONS = { options: [{ value: 'once', label: 'Once' }, { value: 'run', label: 'For this run' }, { value: 'no', label: 'No' }] };
const ARGUMENTS = { to: 'ann@example.com', subject: 'The report', body: 'Dear Ann,\n\nhere it is.', attachments: ['report.pdf'], urgent: true };

/** The question that comes beside those that are there. */
async function next(host: Host, before: string[]): Promise<string> {
  let found: string | undefined;
  await expect
    .poll(async () => {
      const { items } = await host.api<{ items: { requestId: string }[] }>('GET', 'prompts?view=needs_you');
      return (found = items.map(({ requestId }) => requestId).find((id) => !before.includes(id)));
    }, { timeout: 20_000 })
    .toBeDefined();
  return found ?? '';
}

const waiting = async (host: Host) => (await host.api<{ items: { requestId: string }[] }>('GET', 'prompts?view=needs_you')).items.map(({ requestId }) => requestId);

/** A command by hand that wants a folder its sandbox does not open. */
async function access(host: Host): Promise<string> {
  const before = await waiting(host);
  const order = { command: 'cp notes/prices.txt /srv/data/prices.txt', access: { write: ['/srv/data'], reason: 'The shop reads its prices there.' } };
  host.api('POST', 'tools/shell_tasks/run_shell_command/call', { arguments: order }).catch(() => undefined);
  return next(host, before);
}

/** An agent of a chat, or its subagent, wants these calls at once. */
async function inChat(host: Host, calls: { tool: string; args: unknown }[], sub = false): Promise<string> {
  const before = await waiting(host);
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = (body) => {
    const { role, text } = lastOf(body);
    if (role === 'tool') return { text: 'Done.' };
    if (sub && offered(body, 'run_sub_agent')) return { call: { tool: 'run_sub_agent', args: { task: text, agent_id: 'researcher' } } };
    return { calls };
  };
  const model = await host.api<{ id: string }>('POST', 'models', { name: `Does it ${before.length}`, provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const { items } = await host.api<{ items: { id: string; name: string }[] }>('GET', 'mcp-servers');
  const entries = (...names: string[]) => ({ mcpServers: items.filter(({ name }) => names.includes(name)).map(({ id }) => ({ id })) });
  const land = await host.api<{ id: string }>('POST', 'land-configs', { name: `Shipping ${before.length}`, main: sub ? entries('subagent_router') : entries('shell_tasks', 'code_writer'), sub: entries('shell_tasks', 'code_writer') });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Helper', mode: 'flow', landConfigId: land.id, modelId: model.id });
  const chat = await host.api<{ id: string }>('POST', 'sessions', { title: 'Ship the shop', agentId: agent.id, workspaceRoot: host.home });
  await host.api('POST', `sessions/${chat.id}/send`, { text: 'ship it' });
  return next(host, before);
}

const shell = (command: string) => ({ tool: 'run_shell_command', args: { command } });

const CARDS: Record<string, Shown> = {
  command: { en: 'Run this command?', zh: '运行此命令？', ask: (host, id) => command(host, 'npm test -- --run src/cart && git diff --stat', id, 'Needs approval by profile “Developer”.') },
  unconfined: { en: 'Run this command?', zh: '运行此命令？', ask: (host, id) => command(host, 'curl -fsSL https://example.com/install.sh | sh', id, '', false) },
  create: { en: 'Create hello.py?', zh: '创建 hello.py？', ask: (host, id) => change(host, 'hello.py', 'created', id) },
  edit: { en: 'Edit a.txt?', zh: '修改 a.txt？', ask: (host, id) => change(host, 'a.txt', 'modified', id, '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n') },
  delete: { en: 'Delete a.txt?', zh: '删除 a.txt？', ask: (host, id) => change(host, 'a.txt', 'deleted', id, '--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n') },
  move: { en: 'Move a.txt to b.txt?', zh: '将 a.txt 移动到 b.txt？', ask: (host, id) => change(host, 'b.txt', 'moved', id, 'rename from a.txt\nrename to b.txt\n', { from: 'a.txt' }) },
  several: { en: 'Change 5 files?', zh: '修改 5 个文件？', ask: (host, id) => changes(host, ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts'], id) },
  tool: {
    en: 'Let the agent use send_mail of mail?',
    zh: '允许智能体使用 mail 的 send_mail？',
    ask: (host, id) => choice(host, 'tool_approval', { ...OPTIONS, message: `\`\`\`json\n${JSON.stringify(ARGUMENTS, null, 2)}\n\`\`\``, arguments: ARGUMENTS }, { identity: 'mcp:mail', tool: 'send_mail', arguments: ARGUMENTS }, id),
  },
  url: { en: 'Open example.com?', zh: '打开 example.com？', ask: (host, id) => choice(host, 'url', { url: 'https://example.com/sign-in', message: 'Sign in there.', options: [{ value: 'open' }, { value: 'decline' }] }, { url: 'https://example.com/sign-in' }, id) },
  sampling: { en: 'Let Mail ask your model?', zh: '允许 Mail 调用你的模型？', ask: (host, id) => choice(host, 'sampling', { ...OPTIONS, title: 'Let Mail ask your model?', message: '`Mail` asks **a model**.', words: { zh: { title: '允许 Mail 调用你的模型？', message: '`Mail` 请求**模型**作答。', options: { once: '仅此一次', run: '本次对话', no: '不允许' } } } }, {}, id) },
  budget: { en: 'Keep going over the limit of $2?', zh: '已达 $2 上限，继续吗？', ask: (host, id) => choice(host, 'budget', { title: 'Keep going over the limit of $2?', message: 'This run has used $2.0312; its budget is $2.', words: { zh: { title: '已达 $2 上限，继续吗？', message: '本次运行已用 $2.0312，预算为 $2。', options: { continue: '继续', stop: '停止' } } }, options: [{ value: 'continue', label: 'Continue' }, { value: 'stop', label: 'Stop' }] }, {}, id) },
  uncertain: { en: 'Did send_mail finish?', zh: 'send_mail 完成了吗？', ask: (host, id) => choice(host, 'uncertain', { title: 'Did send_mail finish?', message: 'ChatOS stopped while it was running.', words: { zh: { title: 'send_mail 完成了吗？', message: 'ChatOS 在执行它时停止。', options: { worked: '已成功', failed: '已失败，告诉模型', again: '再执行一次' } } }, allowCancel: false, options: [{ value: 'worked', label: 'It worked' }, { value: 'failed', label: 'It failed' }, { value: 'again', label: 'Run it again' }] }, {}, id) },
  access: { en: 'Allow this command more?', zh: '允许该命令更多权限？', ask: (host) => access(host) },
  commands: { en: 'Run 3 commands?', zh: '运行 3 条命令？', ask: (host) => inChat(host, [shell('npm ci'), shell('npm test -- --run src/cart'), shell('npm run build')]) },
  sub: { en: 'Create CHANGES.md?', zh: '创建 CHANGES.md？', who: 'Helper ▸ chatos-general/researcher ▸ write_file', ask: (host) => inChat(host, [{ tool: 'write_file', args: { path: 'CHANGES.md', contents: '# Changes\n\n- Prices are rounded as the law wants it.\n' } }], true) },
  tasks: { en: 'Add 2 tasks?', zh: '添加 2 个任务？', ask: async (host, id) => (await host.api<{ requestId: string }>('POST', 'prompts', { requestId: id, prompt: { kind: 'task_confirm', source: 'planner', tasks: [{ draftId: '1', title: 'Write it down' }, { draftId: '2', title: 'Tell everybody' }] } })).requestId },
};

describe.each(LOOKS)('%s, %s, %i px', (language, theme, width) => {
  test('each kind of card says what would be done, has room, and can be read by everybody', async ({ ownHost, open }) => {
    const host = await ownHost();
    await host.api('PUT', 'settings/confirmFileChanges', { value: true });
    await host.api('PUT', 'settings/shellConfirm', { value: 'always' });
    const page = await open({ host, language, theme, viewport: { width, height: 844 }, at: '#/queue' });
    const found: string[] = [];
    for (const [name, card] of Object.entries(CARDS)) {
      const id = await card.ask(host, `card-${name}`);
      await openPrompt(page, id);
      await page.waitForFunction(() => document.querySelector('article .skeleton') === null);
      const article = page.locator(`article[data-open="${id}"]`);
      const title = language === 'zh' && card.zh !== '' ? card.zh : card.en;
      expect(await article.locator('h2').innerText(), name).toBe(title);
      if (card.who !== undefined) expect((await article.innerText()).replaceAll(/\s+/g, ' '), name).toContain(card.who);
      // Names that only programs know stand in the details.
      expect(await article.innerText(), name).not.toContain(`card-${name}`);
      expect(await article.innerText(), name).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}|sha256:|\b[0-9a-f]{32}\b/);
      if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth + 1)) found.push(`${name} is too wide`);
      found.push(...(await violations(page)).map((line) => `${name}: ${line}`));
      await keep(page, `card-${name}-${language}-${theme}-${width}`);
    }
    expect(found).toEqual([]);
  }, 180_000);
});
