// Finds the two programs the browser tests drive, and says plainly when one is missing.

import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ui = fileURLToPath(new URL('../../', import.meta.url));

/** Screenshots and traces of failed tests; emptied at each run. */
export const RESULTS = `${ui}test-results`;

/** The page as built last; a host that was compiled with an older one serves this instead. */
export const builtPage = `${ui}dist`;

export function chatosBinary(): string {
  return process.env['CHATOS_BIN'] ?? fileURLToPath(new URL('../target/debug/chatos', `file://${ui}`));
}

export function chromiumBinary(): string {
  const candidates = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  return candidates.find((path) => path !== undefined && existsSync(path)) ?? '/usr/bin/chromium';
}

/** Runs once before all files (vitest globalSetup). */
export default function setup(): void {
  if (!existsSync(chatosBinary())) {
    throw new Error(`no chatos binary at ${chatosBinary()}\nhint: build it with \`cargo build -p chatos-cli\`, or set CHATOS_BIN`);
  }
  if (!existsSync(chromiumBinary())) {
    throw new Error(`no Chromium at ${chromiumBinary()}\nhint: install it (Debian: \`apt install chromium\`), or set CHROMIUM`);
  }
  rmSync(RESULTS, { recursive: true, force: true });
}
