// The page of a running host in Chromium: signed in by the link, its main view is there, nothing failed on the way.
// Run in `ui/`, which has the driver: node ../packaging/page.mjs SIGN-IN-LINK
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import path from 'node:path';

const { chromium } = createRequire(path.join(process.cwd(), 'package.json'))('playwright-core');
const found = process.env.CHROMIUM ?? execFileSync('sh', ['-c', 'command -v chromium || command -v google-chrome'], { encoding: 'utf8' }).trim();
const browser = await chromium.launch({ executablePath: found, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage();
  const failures = [];
  page.on('pageerror', (error) => failures.push(error.message));
  await page.goto(process.argv[2]);
  await page.getByRole('navigation').first().waitFor({ timeout: 20_000 });
  if (failures.length > 0) throw new Error(failures.join('\n'));
} finally {
  await browser.close();
}
