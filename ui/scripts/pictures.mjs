// The pictures of the README: a fresh host with the demo model, asked one thing, in light and dark.
//
//   CHATOS_BIN=…/chatos node scripts/pictures.mjs        writes docs/pictures/front-light.png and front-dark.png
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const root = path.resolve(import.meta.dirname, '../..');
const program = process.env.CHATOS_BIN ?? path.join(root, 'target/debug/chatos');
const browserPath = process.env.CHROMIUM ?? execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim();
const home = mkdtempSync(path.join(tmpdir(), 'chatos-pictures-'));

const env = { ...process.env, HOME: home, LANG: 'en_US.UTF-8' };
const host = spawn(program, ['serve', '--port', '0', '--no-open', '--ready-json', '--state-dir', path.join(home, 'state')], {
  cwd: home,
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const [line] = await new Promise((resolve) => createInterface(host.stdout).once('line', (...all) => resolve(all)));
  const ready = JSON.parse(line);
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ colorScheme, locale: 'en-US', viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const answer = await fetch(new URL('/api/v1/auth/link', ready.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${ready.token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    await page.goto((await answer.json()).signInUrl);
    const composer = page.getByRole('textbox').last();
    await composer.waitFor({ timeout: 60_000 });
    await composer.fill('What time is it?');
    await composer.press('Enter');
    await page.waitForTimeout(Number(process.env.PICTURE_WAIT_MS ?? 12_000));
    await page.screenshot({ path: path.join(root, `docs/pictures/front-${colorScheme}.png`) });
    await context.close();
  }
  await browser.close();
} finally {
  host.kill('SIGTERM');
  await new Promise((resolve) => host.once('exit', resolve));
  rmSync(home, { recursive: true, force: true });
}
