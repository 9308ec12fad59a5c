// Ends a run with one line that scripts can read: `N passed, N failed`. Before it, what failed once more, and what
// passed only at its second try.

import type { Reporter, TestModule } from 'vitest/node';

export default class Totals implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandled.length;
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      passed += tests.filter((test) => test.result().state === 'passed').length;
      failed += tests.filter((test) => test.result().state === 'failed').length;
      // A file that could not even be collected has no failed test to count.
      if (module.errors().length > 0) failed += 1;
    }
    // Once more at the end, where a reader of a cut log finds it.
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const result = test.result();
        const again = (test.diagnostic()?.retryCount ?? 0) > 0;
        const word = result.state === 'failed' ? 'failed' : result.state === 'passed' && again ? 'passed at the second try' : null;
        if (word === null) continue;
        // Of a test that passed in the end these are the errors of its first try.
        const why = (result.errors?.[0]?.message ?? '').replaceAll(/\s*\n\s*/g, ' ').slice(0, 300);
        console.log(`${word}: ${module.relativeModuleId} > ${test.fullName}: ${why}`);
      }
    }
    console.log(`${passed} passed, ${failed} failed`);
  }
}
