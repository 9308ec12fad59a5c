// Text areas as high as their text. A page may show dozens at once, and each look at a height after a change makes the
// browser lay out the whole page again (measured: a second for the settings); so all that want it in one moment are
// changed together, read together, and set together, before anything is painted.

const waiting = new Map<HTMLTextAreaElement, number>();

/** Gives the area the height of its text, wrapped lines included, up to `maxRows` lines. */
export function grow(area: HTMLTextAreaElement, maxRows: number): void {
  if (waiting.size === 0) queueMicrotask(all);
  waiting.set(area, maxRows);
}

function all(): void {
  const areas = [...waiting].filter(([area]) => area.isConnected);
  waiting.clear();
  for (const [area] of areas) area.style.height = 'auto';
  const heights = areas.map(([area, maxRows]) => {
    const line = Number.parseFloat(getComputedStyle(area).lineHeight) || 20;
    const frame = area.offsetHeight - area.clientHeight + 12;
    return Math.min(area.scrollHeight + 2, line * maxRows + frame);
  });
  for (const [index, [area]] of areas.entries()) area.style.height = `${heights[index]}px`;
}
