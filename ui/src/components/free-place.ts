// Where a message may lie without covering anything that can be pressed or written in.

/** What a person acts on. */
const ACTIONS = 'button, a[href], input, select, textarea, summary, [role="button"], [role="tab"], [role="menuitem"], [contenteditable="true"]';
const STEP = 8;

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The boxes of all that can be acted on now, but for what is inside `except`. */
export function actionBoxes(except: Element | null, root: ParentNode = document): Box[] {
  const boxes: Box[] = [];
  for (const element of root.querySelectorAll(ACTIONS)) {
    if (except?.contains(element)) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && box.height > 0) boxes.push(box);
  }
  return boxes;
}

/** The highest place from `from` on where nothing of `taken` is covered; `from` itself if there is none above `limit`. */
export function freeTop(across: { left: number; right: number }, height: number, taken: readonly Box[], from: number, limit: number): number {
  const near = taken.filter((box) => box.left < across.right && box.right > across.left);
  for (let top = from; top + height <= limit; top += STEP) {
    if (!near.some((box) => box.top < top + height && box.bottom > top)) return top;
  }
  return from;
}
