// What commands may use beyond their sandbox (working-day §1.6): listed by folder, and taken back.

import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import { keep } from './pictures';

describe('what commands may use', () => {
  test('is listed by folder and taken back', async ({ ownHost, open }) => {
    const host = await ownHost();
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'shop-')));
    for (const [kind, value] of [['host', 'Packages.example.org'], ['read', '/srv/data'], ['write', '/srv/out']]) {
      await host.api('POST', 'access', { root, kind, value });
    }
    const page = await open({ host, at: '#/settings/access' });
    await page.getByRole('heading', { name: root }).waitFor();
    const rows = page.locator('[data-access]');
    expect(await rows.count()).toBe(3);
    expect(await violations(page)).toEqual([]);
    await keep(page, 'access');
    await page.getByRole('button', { name: 'Revoke packages.example.org' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    const { items } = await host.api<{ items: { value: string }[] }>('GET', 'access');
    expect(items.map((item) => item.value)).toEqual(['/srv/data', '/srv/out']);

    const small = await open({ host, at: '#/settings/access', language: 'zh', theme: 'dark', viewport: { width: 400, height: 800 } });
    await small.getByRole('heading', { name: root }).waitFor();
    expect(await violations(small)).toEqual([]);
    await keep(small, 'access-zh-dark-400');
  });
});
