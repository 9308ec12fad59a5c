// Accessibility check of what is on screen. The script runs in the page's own context, so the context
// must be opened with `bypassCSP: true`; nothing else in the tests does that.

import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { settled } from './pictures';

/** Serious and critical violations as readable lines. */
export async function violations(page: Page): Promise<string[]> {
  await settled(page);
  await page.evaluate(axe.source);
  const results = await page.evaluate(async () => {
    const runner = (globalThis as unknown as { axe: { run: (options: object) => Promise<AxeResults> } }).axe;
    return runner.run({ resultTypes: ['violations'] });
  });
  return results.violations
    .filter((violation) => violation.impact === 'serious' || violation.impact === 'critical')
    .map((violation) => `${violation.id}: ${violation.help}\n  ${violation.nodes.map((node) => node.html).join('\n  ')}`);
}
