// Which chunks of a long chat are drawn: those in view, some way around it, and those somebody works in. What is
// looked at stays where it is while chunks around it are drawn, let go, or read from older pages.

import { flushSync } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';

/** Drawn so far beyond what is in view: about two turns of a wheel's flick, and what a screen reader reads ahead. */
const AROUND_PX = 1_500;
/** Chunks are drawn for so long before the next frame gets its turn. */
const BUDGET_MS = 8;
/** A row that was never drawn is taken for so high. */
const ROW_PX = 150;
/** Below the upper edge, places to look for what the person looks at; gaps between rows are in none of all. */
const PROBES = [4, 24, 64, 120, 200, 320, 460, 620];

/** Somebody works here, or a frame lives here: drawn anew it would have forgotten it. */
const HELD = 'iframe, textarea, [aria-expanded="true"], details[open]';

export class ChunkWindow {
  readonly #drawn = new SvelteSet<number>();
  readonly #heights = new Map<number, number>();
  readonly #chunks = new Map<Element, number>();
  readonly #wanted = new Map<Element, number>();
  #box: HTMLElement | null = null;
  #near: IntersectionObserver | null = null;
  #planned = 0;
  #anchor: { element: Element; top: number } | null = null;
  readonly #settle: () => void;

  /** `settle` brings what is looked at back into its place. It is called right after chunks were drawn: they are of
      another height than they were taken for, and until the next frame everything below would stand elsewhere for
      whoever asks, such as the next turn of the wheel. */
  constructor(settle: () => void) {
    this.#settle = settle;
  }

  /** Watches what is near the view of `box`. */
  readonly box = (box: HTMLElement): (() => void) => {
    this.#box = box;
    this.#near = new IntersectionObserver((entries) => this.#moved(entries), { root: box, rootMargin: `${AROUND_PX}px 0px` });
    for (const element of this.#chunks.keys()) this.#near.observe(element);
    return () => {
      cancelAnimationFrame(this.#planned);
      this.#near?.disconnect();
      this.#near = null;
      this.#box = null;
    };
  };

  /** Watches the element of a chunk, which says its id. One function for all: a new one would let go of a chunk whose
      rows changed and watch it anew. */
  readonly chunk = (element: HTMLElement): (() => void) => {
    const id = Number(element.dataset['chunk']);
    this.#chunks.set(element, id);
    this.#near?.observe(element);
    return () => {
      this.#near?.unobserve(element);
      this.#chunks.delete(element);
      this.#wanted.delete(element);
      this.#drawn.delete(id);
    };
  };

  has(id: number): boolean {
    return this.#drawn.has(id);
  }

  /** How high a chunk is taken for while it is not drawn. */
  height(id: number, rows: number): number {
    return this.#heights.get(id) ?? rows * ROW_PX;
  }

  draw(...ids: number[]): void {
    for (const id of ids) this.#drawn.add(id);
  }

  /** Remembers what is looked at: the first row in view, or where none is drawn yet the chunk. A chunk that reaches
      above the view is no good: once drawn it is of another height, and pushes the rows below it away. */
  remember(): void {
    const box = this.#box;
    if (!box) return;
    const { top, left, width, height } = box.getBoundingClientRect();
    const found = PROBES.filter((down) => down < height).flatMap((down) => {
      const element = document.elementFromPoint(left + width / 2, top + down)?.closest('[data-row], [data-chunk]');
      return element && box.contains(element) ? [element] : [];
    });
    const element = found.find((one) => one.hasAttribute('data-row')) ?? found[0];
    this.#anchor = element ? { element, top: element.getBoundingClientRect().top - top + box.scrollTop } : null;
  }

  /** Brings back what is looked at after something above it grew, shrank, came or went. */
  keep(): void {
    const [box, anchor] = [this.#box, this.#anchor];
    if (!box || !anchor?.element.isConnected) return;
    const top = anchor.element.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
    const moved = top - anchor.top;
    if (Math.abs(moved) < 1) return;
    anchor.top = top;
    box.scrollTop += moved;
  }

  #moved(entries: IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      const id = this.#chunks.get(target);
      if (id === undefined) continue;
      if (isIntersecting) {
        if (!this.#drawn.has(id)) this.#wanted.set(target, id);
        continue;
      }
      this.#wanted.delete(target);
      if (!this.#drawn.has(id) || held(target)) continue;
      this.#heights.set(id, boundingClientRect.height);
      this.#drawn.delete(id);
    }
    this.#work();
  }

  /** Draws what is wanted, what is in view first, without keeping a frame waiting. */
  #work(): void {
    cancelAnimationFrame(this.#planned);
    const box = this.#box;
    if (!box || this.#wanted.size === 0) return;
    const began = performance.now();
    const view = box.getBoundingClientRect();
    const away = (element: Element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return Math.max(0, view.top - bottom, top - view.bottom);
    };
    for (const [element, id] of [...this.#wanted].map((one) => ({ one, far: away(one[0]) })).sort((a, b) => a.far - b.far).map(({ one }) => one)) {
      this.#wanted.delete(element);
      this.#drawn.add(id);
      flushSync();
      if (performance.now() - began > BUDGET_MS) break;
    }
    this.#settle();
    if (this.#wanted.size > 0) this.#planned = requestAnimationFrame(() => this.#work());
  }
}

function held(element: Element): boolean {
  const selection = getSelection();
  const selected = selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
  return selected || element.contains(document.activeElement) || element.querySelector(HELD) !== null;
}
