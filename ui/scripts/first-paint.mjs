// Measures how long a chat takes from being chosen to being painted, in a real Chromium: each time in a page
// that has just been loaded and has not read the chat. Called by `cargo xtask bench chat`; asserts nothing.
//
// node scripts/first-paint.mjs SIGN_IN_URL SESSION_ID [TIMES]

import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [, , signIn, session, times = '25'] = process.argv;
if (!signIn || !session) throw new Error('usage: first-paint.mjs SIGN_IN_URL SESSION_ID [TIMES]');
const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = places.find((path) => path && existsSync(path));
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--no-first-run'] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(signIn);
  await page.getByRole('navigation').first().waitFor();
  const taken = [];
  for (let at = 0; at < Number(times); at += 1) {
    await page.evaluate(() => (location.hash = '#/chat'));
    await page.reload();
    await page.locator('[data-composer]').waitFor();
    await page.locator('nav [data-session]').first().waitFor();
    const took = await page.evaluate(async (id) => {
      const painted = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const chosen = performance.now();
      location.hash = `#/chat/${id}`;
      await new Promise((resolve) => {
        const seen = () => document.querySelector('[data-row]') !== null;
        const watch = new MutationObserver(() => {
          if (!seen()) return;
          watch.disconnect();
          resolve();
        });
        watch.observe(document.body, { childList: true, subtree: true });
      });
      // The second frame begins when the first one with messages in it was drawn.
      await painted();
      return { ms: performance.now() - chosen, rows: document.querySelectorAll('[data-row]').length };
    }, session);
    if (took.rows === 0) throw new Error('no message was shown');
    taken.push(took.ms);
  }
  taken.sort((one, other) => one - other);
  const part = (share) => taken[Math.min(taken.length - 1, Math.floor(taken.length * share))].toFixed(1);
  process.stdout.write(`${JSON.stringify({ p50: Number(part(0.5)), p99: Number(part(0.99)), times: taken.length })}\n`);
} finally {
  await browser.close();
}
