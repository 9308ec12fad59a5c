// The smile is the count everywhere (ui-prompts §13, issue 20): in its own corner, in the rail, in the title and the icon
// of the tab, and in the bar of a phone.

import { expect } from 'vitest';
import { test } from './fixtures';
import { keep } from './pictures';
import { answerOf, ask } from './questions';

const YES_NO = { kind: 'choice', source: 'test', options: [{ value: 'y', label: 'Yes' }, { value: 'n', label: 'No' }] };
const icon = () => decodeURIComponent(document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? '');

test('the number of questions is on the smile, in the rail, in the title and on the icon, wide and on a phone', async ({ ownHost, open }) => {
  const host = await ownHost();
  const wide = await open({ host, at: '#/chat' });
  const phone = await open({ host, at: '#/chat', viewport: { width: 400, height: 860 }, theme: 'dark' });
  const badge = '.hub .badge';
  const counts = async (page: typeof wide) => ({
    smile: await page.locator(badge).allInnerTexts(),
    title: (/^\((\d+)\)/.exec(await page.title()) ?? [])[1] ?? null,
    icon: (/>(\d+\+?)<\/text>/.exec(await page.evaluate(icon)) ?? [])[1] ?? null,
  });
  const none = { smile: [], title: null, icon: null };
  for (const page of [wide, phone]) {
    await expect.poll(() => page.locator('[data-connection="open"]').count()).toBeGreaterThan(0);
    expect(await counts(page)).toEqual(none);
    expect(await page.evaluate(icon)).toContain('/favicon.svg');
  }
  const ids = [await ask(host, { ...YES_NO, title: 'One' }), await ask(host, { ...YES_NO, title: 'Two' })];
  for (const page of [wide, phone]) await expect.poll(() => counts(page)).toEqual({ smile: ['2'], title: '2', icon: '2' });
  // In its own corner; on a phone in the middle of the bar, where the count of the rail is the smile itself.
  const box = await wide.locator('.hub').boundingBox();
  expect([(box?.x ?? 0) > 1440 - 100, (box?.y ?? 0) > 900 - 100]).toEqual([true, true]);
  expect(await wide.getByRole('link', { name: /Inbox/ }).first().locator('.count').innerText()).toBe('2');
  const middle = await phone.locator('.hub').boundingBox();
  expect(Math.round((middle?.x ?? 0) + (middle?.width ?? 0) / 2)).toBe(200);
  expect(await phone.locator('.hub').getAttribute('aria-label')).toContain('2');
  await keep(wide, 'smile');
  await keep(phone, 'smile-400');
  // The picture can be drawn: a browser refuses a broken one.
  expect(await wide.evaluate(() => new Promise((resolve) => {
    const picture = new Image();
    picture.onload = () => resolve(picture.naturalWidth > 0);
    picture.onerror = () => resolve(false);
    picture.src = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? '';
  }))).toBe(true);

  for (let more = 0; more < 10; more += 1) ids.push(await ask(host, { ...YES_NO, title: `More ${more}` }));
  await expect.poll(() => counts(wide)).toEqual({ smile: ['12'], title: '12', icon: '9+' });
  for (const id of ids) {
    await host.api('POST', `prompts/${id}/response`, { response: { status: 'ok', selection: 'y' } });
    await answerOf(host, id);
  }
  for (const page of [wide, phone]) await expect.poll(() => counts(page)).toEqual(none);
});
