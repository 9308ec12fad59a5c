// Pictures of the stops of a walk, kept when somebody wants to look at them: CHATOS_PICTURES=<folder>.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const FOLDER = process.env['CHATOS_PICTURES'];

/** What is still fading in has not its colours yet; what turns for ever is not waited for. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter((animation) => animation.playState === 'running' && Number.isFinite(animation.effect?.getComputedTiming().endTime));
    await Promise.allSettled(ending.map((animation) => animation.finished));
  });
}

export async function keep(page: Page, name: string): Promise<void> {
  if (!FOLDER) return;
  await settled(page);
  mkdirSync(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
}
