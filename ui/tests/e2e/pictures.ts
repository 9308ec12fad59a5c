// Pictures of the stops of a walk, kept when somebody wants to look at them: CHATOS_PICTURES=<folder>.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const FOLDER = process.env['CHATOS_PICTURES'];

/** Languages, themes and widths in which something is looked at: each with each where pictures are kept, else every one of
    them with some other. */
export const LOOKS = (['en', 'zh'] as const)
  .flatMap((language) => (['light', 'dark'] as const).flatMap((theme) => ([1440, 390] as const).map((width) => [language, theme, width] as const)))
  .filter(([language, theme, width]) => FOLDER !== undefined || ((language === 'zh') === (theme === 'dark')) === (width === 1440));

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
