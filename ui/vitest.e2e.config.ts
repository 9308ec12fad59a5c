// Browser tests: the real `chatos` binary and a real Chromium, two files at a time: each has a host, a home and a
// browser of its own, and waits more than it works. CHATOS_BIN and CHROMIUM name the programs; CHATOS_RETRY=0 gives
// every test one try. A test that needed more is named at the end of the run: it is a defect to look into.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/e2e/**/*.spec.ts'],
    globalSetup: ['tests/e2e/programs.ts'],
    reporters: ['default', './tests/e2e/reporter.ts'],
    testTimeout: 120_000,
    // One unlucky moment of a browser does not hide the result of the whole run. Every further try has a host of its
    // own (tests/e2e/fixtures.ts).
    retry: process.env['CHATOS_RETRY'] === '0' ? 0 : 2,
    hookTimeout: 60_000,
    // A condition is waited for, however slow the machine; one second, the default, would be a time limit.
    expect: { poll: { timeout: 30_000, interval: 50 } },
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
  },
});
