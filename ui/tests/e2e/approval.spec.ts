// Approving a change that is longer than its question: nothing can be approved before all of it was shown, and
// what was approved is what is written (security T24).

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from './fixtures';
import type { Host } from './host';
import { openPrompt } from './questions';

interface Called {
  structuredContent: { status: string };
}

/** Has a file written, which a person has to agree to; gives the question and the end of the call. */
async function write(host: Host, path: string, contents: string): Promise<{ id: string; done: Promise<Called> }> {
  await host.api('PUT', 'settings/confirmFileChanges', { value: true });
  const done = host.api<Called>('POST', 'tools/code_maintainer/write_file/call', { arguments: { path, contents } });
  for (;;) {
    const { items } = await host.api<{ items: { requestId: string }[] }>('GET', 'prompts?view=needs_you');
    const id = items[0]?.requestId;
    if (id !== undefined) return { id, done };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a change longer than its question', () => {
  test('"Show all" loads the rest, and only then Approve works', async ({ host, open }) => {
    const contents = `${'a line of a long file, with something in it\n'.repeat(4_000)}the very end\n`;
    const { id, done } = await write(host, 'long.txt', contents);
    const { shown } = await host.api<{ shown: string }>('GET', `prompts/${id}`);
    const blind = host.api('POST', `prompts/${id}/response`, { response: { status: 'ok' }, shown });
    await expect(blind).rejects.toThrow(/409|not_shown/);

    const page = await open();
    await openPrompt(page, id);
    const confirm = page.getByRole('button', { name: 'Approve', exact: true });
    await page.getByText('Show the remaining').waitFor();
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole('button', { name: /^Show all 40\d\d lines$/ }).last().click();
    await page.getByText('Show everything before you approve.').waitFor({ state: 'detached' });
    await confirm.click();
    expect((await done).structuredContent.status).toBe('ok');
    expect(readFileSync(join(host.home, 'long.txt'), 'utf8')).toBe(contents);
  });

  test('content that cannot be shown needs a tick', async ({ host, open }) => {
    writeFileSync(join(host.home, 'a.bin'), Buffer.from([0, 1, 2, 3]));
    const { id, done } = await write(host, 'a.bin', 'text now\n');
    const page = await open();
    await openPrompt(page, id);
    await page.getByText('This content can’t be shown.').waitFor();
    const confirm = page.getByRole('button', { name: 'Approve', exact: true });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole('checkbox', { name: 'Approve without seeing it' }).check();
    await confirm.click();
    expect((await done).structuredContent.status).toBe('ok');
    expect(readFileSync(join(host.home, 'a.bin'), 'utf8')).toBe('text now\n');
  });
});
