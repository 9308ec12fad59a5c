// By keyboard: the palette, the list of shortcuts, jumps, the cursor where one writes, the list of chats as one stop;
// and forms that are not left unsaved by accident (issue 21, faults 13, 18, 30).

import { describe, expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';

test('everything is found and reached from the keys', async ({ ownHost, open }) => {
  const host = await ownHost();
  const ids: string[] = [];
  for (const title of ['Alpha', 'Beta', 'Gamma']) ids.push((await host.api<{ id: string }>('POST', 'sessions', { title })).id);
  const page = await open({ host, at: '#/chat', bypassCSP: true });
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim() ?? '');
  const hash = () => page.evaluate(() => location.hash);
  // One writes at once.
  await expect.poll(focused).toBe('Message');

  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Go to or run' });
  await palette.getByRole('combobox').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.type('beta');
  await palette.getByRole('option', { name: 'Beta', selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(hash).toBe(`#/chat/${ids[1]}`);
  await page.getByRole('heading', { level: 1, name: 'Beta' }).waitFor();

  await page.keyboard.press('Control+k');
  await palette.getByRole('combobox').fill('theme: dark');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');

  // Letters are letters where one writes, and lead somewhere elsewhere.
  await page.locator('[data-composer] textarea').fill('g t?');
  expect(await page.locator('[data-composer] textarea').inputValue()).toBe('g t?');
  await page.locator('[data-transcript], .middle').first().click({ position: { x: 5, y: 5 } });
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.type('gt');
  await expect.poll(hash).toBe('#/tasks');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');

  // The chats are one stop; arrows move in them, right to the menu of one.
  await page.keyboard.type('gc');
  await page.locator('nav [data-session]').nth(2).waitFor();
  expect(await page.locator('nav [data-session] [tabindex="0"]').count()).toBe(1);
  await page.locator('nav [data-session] [tabindex="0"]').focus();
  const names = await page.locator('nav [data-session] a').allInnerTexts();
  await page.keyboard.press('ArrowDown');
  await expect.poll(focused).toBe(names[1]);
  await page.keyboard.press('End');
  await expect.poll(focused).toBe(names[2]);
  await page.keyboard.press('ArrowRight');
  await expect.poll(focused).toBe(`Actions for ${names[2]}`);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: names[2] ?? '' }).waitFor();

  // A card that takes the place of what had the cursor gets it, on its heading.
  await page.evaluate(() => (location.hash = '#/chat'));
  await page.getByRole('button', { name: 'Ask me something' }).click();
  await page.locator('[data-dock] article[data-ready="true"]').waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest('[data-dock]') !== null && document.activeElement?.tagName)).toBe('H2');
});

test('a form that is not saved is not left by accident', async ({ ownHost, open }) => {
  const host = await ownHost();
  const page = await open({ host, at: '#/agents/agents/new' });
  const name = page.getByLabel(/^Name/).first();
  await name.fill('Half an agent');
  const nav = page.getByRole('navigation', { name: 'Main' });
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await nav.getByRole('link', { name: 'Tasks' }).click();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  expect([await name.inputValue(), await page.evaluate(() => location.hash)]).toEqual(['Half an agent', '#/agents/agents/new']);
  // The browser's own buttons are no way around it.
  await page.goBack();
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await name.inputValue()).toBe('Half an agent');
  // Closing the tab: the browser asks.
  const asked = page.waitForEvent('dialog').then(async (dialog) => {
    const type = dialog.type();
    await dialog.dismiss();
    return type;
  });
  await page.close({ runBeforeUnload: true });
  expect(await asked).toBe('beforeunload');

  await nav.getByRole('link', { name: 'Tasks' }).click();
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();

  // What is saved is left without a word.
  await page.evaluate(() => (location.hash = '#/agents/agents/new'));
  await name.fill('A whole agent');
  await page.getByRole('button', { name: /^(Save|Create)/ }).click();
  await page.getByText('A whole agent').first().waitFor();
  expect(await question.count()).toBe(0);
});

describe('a dialog with something typed in it asks before it closes', () => {
  const FORMS = [
    { at: '#/settings/commands', open: /^New command|^Add/, field: 'Name' },
    { at: '#/settings/secrets', open: /^Add/, field: 'Description' },
    { at: '#/settings/notifications', open: /^Add/, field: 'Name' },
  ];

  test.for(FORMS)('$at', async ({ at, open: button, field }, { host, open }) => {
    const page = await open({ host, at });
    await page.locator('main').getByRole('button', { name: button }).first().click();
    const form = page.getByRole('dialog');
    await form.getByLabel(field).first().waitFor();
    // Nothing was typed: it closes.
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await page.locator('main').getByRole('button', { name: button }).first().click();
    await form.getByLabel(field).first().fill('half');
    await page.keyboard.press('Escape');
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await form.getByLabel(field).first().inputValue()).toBe('half');
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Leave' }).click();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });
});
