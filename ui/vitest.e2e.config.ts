// Browser tests: the real `chatos` binary and a real Chromium, one file after the other because the
// machine that runs them is small. CHATOS_BIN and CHROMIUM name the programs.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/e2e/**/*.spec.ts'],
    globalSetup: ['tests/e2e/programs.ts'],
    reporters: ['default', './tests/e2e/reporter.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // A condition is waited for, however slow the machine; one second, the default, would be a time limit.
    expect: { poll: { timeout: 30_000, interval: 50 } },
    fileParallelism: false,
    isolate: false,
  },
});
