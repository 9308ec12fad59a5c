// Settings, host status and doctor against the real host.

import { describe, expect } from 'vitest';
import { test } from './fixtures';

interface Setting {
  key: string;
  value: unknown;
  default: unknown;
  source: string;
}

describe('settings', () => {
  test('a change is stored, and another page sees it without asking', async ({ host, open }) => {
    const first = await open({ at: '#/settings?q=toolMaxConcurrent' });
    const second = await open({ at: '#/settings?q=toolMaxConcurrent', language: 'zh' });
    const input = first.locator('[data-setting="toolMaxConcurrent"] input');
    const mirror = second.locator('[data-setting="toolMaxConcurrent"] input');
    await mirror.waitFor();
    await input.fill('33');
    await first.getByRole('button', { name: 'Save' }).click();
    await first.getByText('Changed by you').waitFor();
    await expect.poll(() => mirror.inputValue()).toBe('33');
    await expect.poll(() => host.api<Setting>('GET', 'settings/toolMaxConcurrent')).toMatchObject({ value: 33, source: 'setting' });

    await second.getByRole('button', { name: /恢复为/ }).click();
    await expect.poll(() => input.inputValue()).toBe('16');
    expect(await host.api<Setting>('GET', 'settings/toolMaxConcurrent')).toMatchObject({ value: 16, source: 'default' });
  });

  test('a value out of range is refused by the host and explained at the field', async ({ host, open }) => {
    const page = await open({ at: '#/settings?q=toolMaxConcurrent', expectConsole: /422/ });
    const row = page.locator('[data-setting="toolMaxConcurrent"]');
    await row.locator('input').fill('100000');
    await row.locator('input').press('Enter');
    await row.getByRole('alert').filter({ hasText: '128' }).waitFor();
    expect(await row.locator('input').getAttribute('aria-invalid')).toBe('true');
    expect(await row.locator('input').inputValue()).toBe('100000');
    await row.locator('input').fill('many');
    await row.locator('input').press('Enter');
    await row.getByText('Enter a whole number.').waitFor();
    await row.locator('input').press('Escape');
    await expect.poll(() => row.locator('input').inputValue()).toBe('16');
    expect(await host.api<Setting>('GET', 'settings/toolMaxConcurrent')).toMatchObject({ value: 16 });
  });

  test('switches, lists of options and text lists round-trip', async ({ host, open }) => {
    const page = await open({ at: '#/settings' });
    const row = (key: string) => page.locator(`[data-setting="${key}"]`);
    await row('promptNotifications').getByRole('switch').uncheck();
    await expect.poll(async () => (await host.api<Setting>('GET', 'settings/promptNotifications')).value).toBe(false);
    await row('logLevel').getByRole('combobox').selectOption('debug');
    await expect.poll(async () => (await host.api<Setting>('GET', 'settings/logLevel')).value).toBe('debug');
    await row('shellReadPaths').getByRole('textbox').fill('/usr/share\n/opt');
    await row('shellReadPaths').getByRole('button', { name: 'Save' }).click();
    await row('shellReadPaths').getByText('Less safe than the default').waitFor();
    expect((await host.api<Setting>('GET', 'settings/shellReadPaths')).value).toEqual(['/usr/share', '/opt']);

    await page.getByRole('checkbox', { name: 'Only changed' }).check();
    // The environment of these tests sets one more: hosts wait longer for servers here.
    await expect.poll(() => page.locator('[data-setting]:not([data-setting="mcpFirstWaitMs"])').count()).toBe(3);
    for (const key of ['promptNotifications', 'logLevel', 'shellReadPaths']) {
      await row(key).getByRole('button', { name: /Reset to/ }).click();
      await row(key).waitFor({ state: 'detached' });
    }
  });

  test('search finds by key and by either language, and lives in the address', async ({ open }) => {
    const page = await open({ at: '#/settings' });
    const search = page.getByRole('textbox', { name: 'Search settings' });
    // Drawn in steps; the count beside the search says how many there are.
    const all = Number.parseInt(await page.getByText(/^\d+ settings$/).innerText(), 10);
    expect(all).toBeGreaterThan(50);
    await expect.poll(() => page.locator('[data-setting]').count()).toBe(all);
    await search.fill('shelltimeout');
    await expect.poll(() => page.locator('[data-setting]').count()).toBe(1);
    await search.fill('zzzz');
    await page.getByText('No settings match “zzzz”').waitFor();
    await search.fill('');
    await expect.poll(() => page.locator('[data-setting]').count()).toBe(all);
    await page.goto(page.url().replace(/#.*/, '#/settings?q=backupKeep'));
    await expect.poll(() => page.locator('[data-setting]').count()).toBe(1);
  });

  test('a value that the environment decides says so and cannot be edited', async ({ ownHost, open }) => {
    const host = await ownHost({ env: { CHATOS_SET_TOOLMAXCONCURRENT: '9', MODEL_CLI_PROMPT_LANGUAGE: 'en' } });
    const page = await open({ host, at: '#/settings?q=promptLanguage' });
    const row = page.locator('[data-setting="promptLanguage"]');
    await row.getByText('MODEL_CLI_PROMPT_LANGUAGE').first().waitFor();
    expect(await row.getByRole('combobox').isDisabled()).toBe(true);
    expect(await row.getByRole('combobox').inputValue()).toBe('en');
  });
});

test('host status shows what the host says', async ({ host, open }) => {
  const page = await open({ at: '#/settings/host' });
  await page.getByText(host.ready.stateDir).first().waitFor();
  await page.getByText(host.ready.version, { exact: true }).first().waitFor();
  await page.getByText(String(host.ready.pid), { exact: true }).waitFor();
});

test('the doctor reports, checks again and fixes', async ({ host, open }) => {
  const page = await open({ at: '#/settings/doctor' });
  const report = await host.api<{ findings: { code: string }[] }>('GET', 'doctor');
  await page.locator('[data-finding]').first().waitFor();
  await expect.poll(() => page.locator('[data-finding]').count()).toBe(report.findings.length);
  await page.getByRole('button', { name: 'Check again' }).click();
  await page.getByText('just now').waitFor();
});
