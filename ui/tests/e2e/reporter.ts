// Ends a run with one line that scripts can read: `N passed, N failed`.

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
        if (result.state !== 'failed') continue;
        const [first = ''] = (result.errors[0]?.message ?? '').split('\n');
        console.log(`failed: ${module.relativeModuleId} > ${test.fullName}: ${first.slice(0, 300)}`);
      }
    }
    console.log(`${passed} passed, ${failed} failed`);
  }
}
