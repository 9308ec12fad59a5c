// Each kind of card as people see it: its title in both languages, who asks, the thing itself, and no id outside of the
// details (inbox §2.1, §2.2, §10.7). With CHATOS_PICTURES a picture of each, in both languages and themes, wide and narrow.

import { describe, expect } from 'vitest';
import { violations } from './axe';
import { change, changes, choice, command } from './cards';
import { test } from './fixtures';
import type { Host } from './host';
import { keep } from './pictures';
import { openPrompt } from './questions';

interface Shown {
  en: string;
  zh: string;
  ask: (host: Host, id: string) => Promise<string>;
}

const OPTIONS = { options: [{ value: 'once', label: 'Once' }, { value: 'run', label: 'For this run' }, { value: 'no', label: 'No' }] };
const ARGUMENTS = { to: 'ann@example.com', subject: 'The report', body: 'Dear Ann,\n\nhere it is.', attachments: ['report.pdf'], urgent: true };

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
  tasks: { en: 'Add 2 tasks?', zh: '添加 2 个任务？', ask: async (host, id) => (await host.api<{ requestId: string }>('POST', 'prompts', { requestId: id, prompt: { kind: 'task_confirm', source: 'planner', tasks: [{ draftId: '1', title: 'Write it down' }, { draftId: '2', title: 'Tell everybody' }] } })).requestId },
};

describe.each([
  ['en', 'light', 1440],
  ['en', 'dark', 400],
  ['zh', 'dark', 1440],
  ['zh', 'light', 400],
] as const)('%s, %s, %i px', (language, theme, width) => {
  test('each kind of card says what would be done, has room, and can be read by everybody', async ({ ownHost, open }) => {
    const host = await ownHost();
    const page = await open({ host, language, theme, viewport: { width, height: 844 }, at: '#/queue' });
    const found: string[] = [];
    for (const [name, card] of Object.entries(CARDS)) {
      const id = await card.ask(host, `card-${name}`);
      await openPrompt(page, id);
      await page.waitForFunction(() => document.querySelector('article .skeleton') === null);
      const article = page.locator(`article[data-open="${id}"]`);
      const title = language === 'zh' && card.zh !== '' ? card.zh : card.en;
      expect(await article.locator('h2').innerText(), name).toBe(title);
      // Names that only programs know stand in the details.
      expect(await article.innerText(), name).not.toContain(`card-${name}`);
      if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth + 1)) found.push(`${name} is too wide`);
      found.push(...(await violations(page)).map((line) => `${name}: ${line}`));
      await keep(page, `card-${name}-${language}-${theme}-${width}`);
    }
    expect(found).toEqual([]);
  });
});
