// Pictures of pages, kept small in `looks/` and compared with a tolerance. CHATOS_RECORD=1 records them anew; whoever
// changes how a page looks records it and looks at the difference.
//
// One sheet per page and language: three widths beside one another, light above dark, a quarter of their size. What is
// compared are squares of 16 pixels of the page: letters that are drawn a little otherwise, another minute or another
// folder change none of them much; a part that moved, vanished or lost its colours changes many.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { settled } from './pictures';
import { RESULTS } from './programs';

const KEPT = fileURLToPath(new URL('looks/', import.meta.url));
const RECORD = process.env['CHATOS_RECORD'] === '1';

const WIDTHS = [1440, 1024, 400];
const THEMES = ['light', 'dark'] as const;
const HEIGHT = 900;
const SCALE = 4;
const LEFT = WIDTHS.map((_, index) => WIDTHS.slice(0, index).reduce((sum, width) => sum + width, 0));
const SHEET = { width: WIDTHS.reduce((sum, width) => sum + width, 0) / SCALE, height: (HEIGHT * THEMES.length) / SCALE };

/** A square has changed when its colours did by this much on average, of 255. */
const CHANGED = 18;
/** So many of the squares of one view may have changed, of 1,000. */
const ALLOWED = 25;

interface Tile {
  url: string;
  x: number;
  y: number;
}

/** The page as it is now, at every width and in both themes; the browser itself makes the pictures small. */
async function tiles(page: Page, ready: () => Promise<void>): Promise<Tile[]> {
  const all: Tile[] = [];
  const tools = await page.context().newCDPSession(page);
  for (const [row, colorScheme] of THEMES.entries()) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // The browser paints what was there in the other theme a moment later.
    await page.waitForTimeout(200);
    for (const [column, width] of WIDTHS.entries()) {
      await page.setViewportSize({ width, height: HEIGHT });
      await ready();
      await page.evaluate(() => document.fonts.ready.then(() => new Promise(requestAnimationFrame)));
      await settled(page);
      const clip = { x: 0, y: 0, width, height: HEIGHT, scale: 1 / SCALE };
      const shot = async () => (await tools.send('Page.captureScreenshot', { format: 'png', clip, optimizeForSpeed: true })).data;
      // Colours of another theme arrive a frame later: what is seen twice is what there is.
      let [before, data] = ['', await shot()];
      for (let tries = 0; before !== data && tries < 20; tries += 1) [before, data] = [data, await shot()];
      all.push({ url: `data:image/png;base64,${data}`, x: (LEFT[column] ?? 0) / SCALE, y: (row * HEIGHT) / SCALE });
    }
  }
  await tools.detach();
  // The next page is drawn in this theme from its beginning.
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: WIDTHS[0] ?? 0, height: HEIGHT });
  return all;
}

/** Draws them into one small picture, and says per view how many of 1,000 squares differ from the kept one. */
async function drawn(desk: Page, views: Tile[], kept: string | null): Promise<{ sheet: string; differ: number[] }> {
  return desk.evaluate(
    async ({ views, kept, size, scale, changed }) => {
      const picture = async (url: string) => {
        const image = new Image();
        image.src = url;
        await image.decode();
        return image;
      };
      const canvas = () => Object.assign(document.createElement('canvas'), size).getContext('2d', { willReadFrequently: true }) ?? (() => { throw new Error('no canvas'); })();
      const now = canvas();
      const places: { x: number; y: number; width: number; height: number }[] = [];
      for (const { url, x, y } of views) {
        const image = await picture(url);
        places.push({ x, y, width: image.width, height: image.height });
        now.drawImage(image, x, y);
      }
      const sheet = now.canvas.toDataURL('image/webp', 0.9);
      if (kept === null) return { sheet, differ: [] };
      // Both have been through the same loss.
      const [one, other] = [canvas(), canvas()];
      one.drawImage(await picture(sheet), 0, 0);
      other.drawImage(await picture(kept), 0, 0);
      const side = 16 / scale;
      const differ = places.map(({ x, y, width, height }) => {
        const [a, b] = [one, other].map((from) => from.getImageData(x, y, width, height).data);
        if (!a || !b) return 1000;
        let [count, squares] = [0, 0];
        for (let top = 0; top + side <= height; top += side) {
          for (let left = 0; left + side <= width; left += side) {
            let sum = 0;
            for (let dy = 0; dy < side; dy += 1) {
              for (let dx = 0; dx < side; dx += 1) {
                const at = ((top + dy) * width + left + dx) * 4;
                for (const colour of [0, 1, 2]) sum += Math.abs((a[at + colour] ?? 0) - (b[at + colour] ?? 0));
              }
            }
            squares += 1;
            if (sum / (side * side * 3) > changed) count += 1;
          }
        }
        return Math.round((count * 1000) / squares);
      });
      return { sheet, differ };
    },
    { views, kept, size: SHEET, scale: SCALE, changed: CHANGED },
  );
}

/** How wide letters are here. Other fonts lay pages out otherwise, and pictures of them cannot be compared. */
export async function letters(page: Page): Promise<string> {
  return page.evaluate(() => {
    const ruler = document.createElement('canvas').getContext('2d');
    if (!ruler) throw new Error('no canvas');
    const style = getComputedStyle(document.body);
    return ['The quick brown fox, 0123456789', '敏捷的棕色狐狸，一二三四'].map((text) => ((ruler.font = `16px ${style.fontFamily}`), Math.round(ruler.measureText(text).width))).join(' ');
  });
}

/** The letters the kept pictures were drawn with. */
export const keptLetters = (now: string): string => keptNote('letters', now);

/** What a picture depends on, as it was when the picture was taken. */
export function keptNote(name: string, now: string): string {
  const path = join(KEPT, `${name}.txt`);
  if (RECORD || !existsSync(path)) {
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(path, `${now}\n`);
  }
  return readFileSync(path, 'utf8').trim();
}

/** Compares a page with its kept picture; what differs is said with where to look. `desk` is a page to draw on. */
export async function look(page: Page, desk: Page, name: string, ready: () => Promise<void>): Promise<string[]> {
  const path = join(KEPT, `${name}.webp`);
  const known = existsSync(path) ? `data:image/webp;base64,${readFileSync(path).toString('base64')}` : null;
  const { sheet, differ } = await drawn(desk, await tiles(page, ready), RECORD ? null : known);
  const bytes = Buffer.from(sheet.slice(sheet.indexOf(',') + 1), 'base64');
  if (RECORD) {
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(path, bytes);
    return [];
  }
  const wrong = known === null ? [`${name}: there is no picture of it yet`] : differ.flatMap((count, index) => (count > ALLOWED ? [`${name} at ${WIDTHS[index % WIDTHS.length]} px, ${THEMES[Math.floor(index / WIDTHS.length)]}: ${count} of 1,000 squares differ`] : []));
  if (wrong.length > 0) {
    mkdirSync(RESULTS, { recursive: true });
    writeFileSync(join(RESULTS, `looks-${name}.webp`), bytes);
  }
  return wrong;
}

/** Nothing differs; else it is said how to look and what to do. */
export function expectLooks(wrong: string[]): void {
  expect(wrong, `pages look otherwise than in tests/e2e/looks/; theirs are in ${RESULTS}. If that is meant: CHATOS_RECORD=1 records them, and the difference is part of the review`).toEqual([]);
}
