// An app that brings no style, and one that fails after it was mounted: both are still an app one can use (pages §1, 29).

import { expect } from 'vitest';
import { install, oneApp, openApp } from './app-plugins';
import { violations } from './axe';
import { test } from './fixtures';

const PLAIN = `export function mount({ container }) {
  container.innerHTML = '<h2>Plain</h2><button>Press</button>';
  container.querySelector('button').onclick = () => { throw new Error('the button broke'); };
}`;
const STYLED = `export function mount({ container }) {
  const style = document.createElement('style');
  style.textContent = 'h2 { color: green }';
  document.head.append(style);
  container.innerHTML = '<h2>Styled</h2>';
}`;

test('a plain app has room and readable controls, one with styles of its own is left alone', async ({ host, open }) => {
  await install(host, oneApp('plain.app', PLAIN));
  await install(host, oneApp('styled.app', STYLED));
  const page = await open();
  const plain = await openApp(page, 'plain.app');
  const padding = () => getComputedStyle(document.querySelector('h2')?.parentElement ?? document.body).padding;
  expect(await plain.evaluate(padding)).toBe('24px');
  expect(await plain.evaluate(() => getComputedStyle(document.querySelector('button') ?? document.body).borderRadius)).not.toBe('0px');
  const styled = await openApp(page, 'styled.app');
  expect(await styled.evaluate(padding)).toBe('0px');
});

test('an error after the start is said above the app, with a way to load it again', async ({ host, open }) => {
  await install(host, oneApp('breaking.app', PLAIN));
  const page = await open({ expectConsole: /the button broke/ });
  const frame = await openApp(page, 'breaking.app');
  await frame.getByRole('button', { name: 'Press' }).click();
  const line = page.locator('[data-app-error]');
  await line.getByText('the button broke').waitFor();
  expect(await violations(page)).toEqual([]);
  await line.getByRole('button', { name: 'Reload' }).click();
  await expect.poll(() => line.count()).toBe(0);
  await (await openApp(page, 'breaking.app')).getByRole('heading', { name: 'Plain' }).waitFor();
});
