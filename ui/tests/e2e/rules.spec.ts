// The card and the rules: what a question says about itself, a rule made from it that answers the next one alike and
// nothing else, and the rule paused again (inbox §2, §4).

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from './fixtures';
import type { Host } from './host';
import { openPrompt } from './questions';

interface Called {
  structuredContent: { status: string };
}

interface Asked {
  requestId: string;
  card: { verb: string; object: string; risk: string };
}

function write(host: Host, path: string, contents: string): Promise<Called> {
  return host.api<Called>('POST', 'tools/code_maintainer/write_file/call', { arguments: { path, contents } });
}

async function question(host: Host): Promise<Asked> {
  for (;;) {
    const { items } = await host.api<{ items: Asked[] }>('GET', 'prompts?view=needs_you');
    if (items[0]) return items[0];
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a card and the rule made from it', () => {
  test('“Always…” approves, answers the same question from then on, and no other', async ({ host, open }) => {
    await host.api('PUT', 'settings/confirmFileChanges', { value: true });
    const first = write(host, 'notes.txt', 'one\n');
    const asked = await question(host);
    expect(asked.card).toMatchObject({ verb: 'create_file', object: 'notes.txt', risk: 'medium' });

    const page = await open();
    await openPrompt(page, asked.requestId);
    await page.getByRole('heading', { name: 'Create notes.txt?' }).first().waitFor();
    await page.getByText('Medium risk').first().waitFor();
    await page.getByRole('button', { name: 'Always…' }).click();
    await page.getByRole('dialog', { name: 'Always approve this?' }).getByText('notes.txt').waitFor();
    expect(existsSync(join(host.home, 'notes.txt'))).toBe(false);
    await page.getByRole('button', { name: 'Save rule and approve' }).click();
    expect((await first).structuredContent.status).toBe('ok');

    // The same file: nobody is asked.
    expect((await write(host, 'notes.txt', 'two\n')).structuredContent.status).toBe('ok');
    expect(readFileSync(join(host.home, 'notes.txt'), 'utf8')).toBe('two\n');
    const { rules } = await host.api<{ rules: { id: string; uses: number; ours: boolean }[] }>('GET', 'rules');
    expect(rules).toMatchObject([{ uses: 1, ours: true }]);

    // Another file, and one that decides what a shell runs: asked, whatever the rule says.
    for (const other of ['notes.txt.bak', '.bashrc']) {
      const call = write(host, other, 'x\n');
      const { requestId, card } = await question(host);
      expect(card.object).toBe(other);
      await host.api('POST', `prompts/${requestId}/response`, { response: { status: 'canceled', remark: 'not this one' } });
      expect((await call).structuredContent.status).not.toBe('ok');
      expect(existsSync(join(host.home, other))).toBe(false);
    }

    // Paused, it answers nothing.
    await host.api('PATCH', `rules/${rules[0]?.id ?? ''}`, { paused: true });
    const third = write(host, 'notes.txt', 'three\n');
    const { requestId } = await question(host);
    await host.api('POST', `prompts/${requestId}/response`, { response: { status: 'canceled' } });
    await third;
    expect(readFileSync(join(host.home, 'notes.txt'), 'utf8')).toBe('two\n');
  });

  test('a rule that would be wider than allowed is refused with what is wrong', async ({ host }) => {
    const base = { name: 'x', effect: 'allow', scope: { kind: 'everywhere' }, server: 'builtin:shell_tasks', tool: 'run_shell_command' };
    const until = Date.now() + 86_400_000;
    const shell = (program: string, more: string) => ({ commands: [{ program, argv: [], more }] });
    for (const [rule, why] of [
      [{ ...base, shell: shell('ls', 'paths') }, /until_required|end/],
      [{ ...base, until: until * 2, shell: shell('ls', 'paths') }, /until_too_far|days/],
      [{ ...base, until, shell: shell('bash', 'words') }, /carrier_open|runs others/],
      [{ ...base, until, scope: { kind: 'chat' }, shell: shell('ls', 'paths') }, /scope_unknown|run, chat/],
      [{ ...base, until, surprise: 1 }, /rule_invalid|no rule/],
    ] as const) {
      await expect(host.api('POST', 'rules', { rule })).rejects.toThrow(why);
    }
    await host.api('POST', 'rules', { rule: { ...base, until, shell: shell('ls', 'paths') } });
    const tried = (command: string) => host.api<{ decision: string }>('POST', 'rules/decide', { command, project: host.home });
    expect(await tried('ls src')).toMatchObject({ decision: 'allow' });
    for (const trick of ['ls; rm x', 'ls $(rm x)', 'ls > x', 'ls -la', './ls', 'ls /etc']) expect(await tried(trick)).toMatchObject({ decision: 'ask' });
  });
});
