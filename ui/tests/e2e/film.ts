// Short animated pictures for the README: still pictures of the page with a line of words above each. They are put
// together by `img2webp` of Debian's package `webp`, which only CHATOS_RECORD=1 needs.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { DOCS, RECORD } from './guide-pictures';
import { settled } from './pictures';

export const FRAME = { width: 960, height: 600 };
const CAPTION_PX = 44;
const SHOWN_MS = 2_600;
const LAST_MS = 4_000;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export class Film {
  readonly #frames: Buffer[] = [];

  private constructor(
    private readonly page: Page,
    private readonly desk: Page | null,
  ) {}

  static async of(page: Page): Promise<Film> {
    const desk = RECORD ? await page.context().newPage() : null;
    await desk?.setViewportSize({ width: FRAME.width, height: FRAME.height + CAPTION_PX });
    await page.bringToFront();
    return new Film(page, desk);
  }

  /** The page as it is now, with these words above and a ring around what is meant. */
  async show(words: string, around?: Locator): Promise<void> {
    await around?.waitFor();
    if (!this.desk) return;
    // Not where messages come: one that is pointed at stays.
    await this.page.mouse.move(1, FRAME.height - 1);
    await this.page.waitForFunction(() => document.querySelector('main .skeleton:not(details:not([open]) *), .toast') === null);
    await settled(this.page);
    const box = await around?.boundingBox();
    const picture = (await this.page.screenshot()).toString('base64');
    const ring = box ? `<div class="ring" style="left:${box.x - 6}px;top:${box.y - 6 + CAPTION_PX}px;width:${box.width + 6}px;height:${box.height + 6}px"></div>` : '';
    await this.desk.setContent(`<style>body{margin:0;font:500 17px/${CAPTION_PX}px 'DejaVu Sans','Noto Sans CJK SC',sans-serif}p{height:${CAPTION_PX}px;margin:0;padding:0 16px;background:#1e293b;color:#fff}img{display:block}.ring{position:absolute;border:3px solid #f59e0b;border-radius:10px}</style><p>${this.#frames.length + 1}. ${escaped(words)}</p><img src="data:image/png;base64,${picture}">${ring}`);
    await this.desk.waitForFunction(() => document.images[0]?.complete);
    this.#frames.push(await this.desk.screenshot());
    await this.page.bringToFront();
  }

  /** Puts them together. */
  async end(name: string): Promise<void> {
    if (this.desk) {
      const path = join(DOCS, 'pictures', `${name}.webp`);
      const folder = mkdtempSync(join(tmpdir(), 'chatos-film-'));
      const parts = this.#frames.flatMap((frame, index) => {
        const file = join(folder, `${index}.png`);
        writeFileSync(file, frame);
        return ['-d', String(index === this.#frames.length - 1 ? LAST_MS : SHOWN_MS), file];
      });
      execFileSync('img2webp', ['-loop', '0', '-lossy', '-q', '70', '-m', '6', ...parts, '-o', path], { stdio: 'pipe' });
      rmSync(folder, { recursive: true });
      await this.desk.close();
    }
  }
}
