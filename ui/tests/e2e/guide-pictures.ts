// The pictures of the documents, in docs/pictures. CHATOS_RECORD=1 takes them anew; otherwise what is on the page is
// compared with what is kept, coarsely: another minute or folder is no difference, a part that moved or vanished is.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { keptLetters, letters } from './looks';
import { settled } from './pictures';

export const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));
export const RECORD = process.env['CHATOS_RECORD'] === '1';

/** Wide enough for the rail with its words, small enough to be read in a document. */
export const SIZE = { width: 1200, height: 750 };

/** The colours of squares of this many pixels are compared. */
const SIDE = 16;
/** A square has changed when its colour did by this much, of 255. */
const CHANGED = 12;
/** So many squares of a picture may have changed, of 1,000. */
const ALLOWED = 60;

/** For pictures, a home whose name is no riddle: one per file of tests, as two of them run at a time. */
export function homely(person: 'ada' | 'sam'): { home?: string } {
  if (!RECORD) return {};
  const home = join(tmpdir(), person);
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
  return { home };
}

/** Nothing moves, no message of the page is in the way, and the pointer points nowhere. */
async function calm(page: Page): Promise<void> {
  // Not where messages come: one that is pointed at stays.
  await page.mouse.move(1, SIZE.height - 1);
  await page.waitForFunction(() => document.querySelector('main .skeleton:not(details:not([open]) *), .toast') === null);
  await page.evaluate(() => document.fonts.ready.then(() => new Promise(requestAnimationFrame)));
  await settled(page);
}

/** The mean colours of the squares of a picture. */
function squares(desk: Page, url: string): Promise<number[]> {
  return desk.evaluate(
    async ({ url, side }) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const small = new OffscreenCanvas(Math.floor(image.width / side), Math.floor(image.height / side)).getContext('2d');
      if (!small) throw new Error('no canvas');
      small.imageSmoothingQuality = 'high';
      small.drawImage(image, 0, 0, small.canvas.width, small.canvas.height);
      return [...small.getImageData(0, 0, small.canvas.width, small.canvas.height).data];
    },
    { url, side: SIDE },
  );
}

/** How many of 1,000 squares differ. */
function differing(now: number[], kept: number[]): number {
  if (now.length !== kept.length) return 1000;
  let count = 0;
  for (let at = 0; at < now.length; at += 4) {
    const sum = [0, 1, 2].reduce((total, colour) => total + Math.abs((now[at + colour] ?? 0) - (kept[at + colour] ?? 0)), 0);
    if (sum / 3 > CHANGED) count += 1;
  }
  return Math.round((count * 4000) / now.length);
}

/** Takes pictures of a page, or compares it with them; what differs is gathered in `wrong`. */
export class Pictures {
  readonly wrong: string[] = [];

  private constructor(
    private readonly page: Page,
    private readonly desk: Page,
    /** Other letters than those of the kept pictures lay pages out otherwise. */
    private readonly comparable: boolean,
  ) {}

  static async of(page: Page): Promise<Pictures> {
    const desk = await page.context().newPage();
    await page.bringToFront();
    const here = await letters(page);
    return new Pictures(page, desk, RECORD || here === keptLetters(here));
  }

  async take(name: string): Promise<void> {
    await calm(this.page);
    const tools = await this.page.context().newCDPSession(this.page);
    const { data } = await tools.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
    await tools.detach();
    const path = join(DOCS, 'pictures', `${name}.webp`);
    if (RECORD) {
      writeFileSync(path, Buffer.from(data, 'base64'));
      return;
    }
    if (!existsSync(path)) {
      this.wrong.push(`${name}: there is no such picture`);
      return;
    }
    if (!this.comparable) return;
    const [now, kept] = await Promise.all([data, readFileSync(path).toString('base64')].map((each) => squares(this.desk, `data:image/webp;base64,${each}`)));
    const count = differing(now ?? [], kept ?? []);
    if (count > ALLOWED) this.wrong.push(`${name}: ${count} of 1,000 squares differ`);
  }
}
