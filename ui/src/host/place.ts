// Keeps a frame over the place on the page that shows it. A frame must stay where it is in the document,
// because a moved iframe is loaded again; so it lies in a layer of its own and follows the place's rectangle.

/** Scrolling and resizing are heard; anything else that moves a place is seen this much later. */
const LOOK_AGAIN_MS = 400;

export class Follower {
  #place: HTMLElement | null = null;
  #frame: HTMLElement | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #observer: ResizeObserver | null = null;
  #last = '';
  readonly #update = () => this.update();

  /** Shows `frame` over `place` until told otherwise. */
  follow(frame: HTMLElement, place: HTMLElement): void {
    if (this.#frame === frame && this.#place === place) return;
    this.stop();
    this.#frame = frame;
    this.#place = place;
    this.#observer = new ResizeObserver(this.#update);
    this.#observer.observe(place);
    this.#observer.observe(document.documentElement);
    addEventListener('scroll', this.#update, { capture: true, passive: true });
    addEventListener('resize', this.#update, { passive: true });
    addEventListener('transitionend', this.#update, { capture: true, passive: true });
    this.#timer = setInterval(this.#update, LOOK_AGAIN_MS);
    frame.inert = false;
    frame.removeAttribute('aria-hidden');
    this.update();
  }

  /** Takes the frame out of sight; it stays alive and keeps its size. */
  stop(): void {
    this.#observer?.disconnect();
    clearInterval(this.#timer);
    removeEventListener('scroll', this.#update, { capture: true });
    removeEventListener('resize', this.#update);
    removeEventListener('transitionend', this.#update, { capture: true });
    if (this.#frame) hide(this.#frame);
    this.#frame = null;
    this.#place = null;
    this.#last = '';
  }

  update(): void {
    const { style } = this.#frame ?? {};
    if (!style || !this.#place) return;
    const { left, top, width, height } = this.#place.getBoundingClientRect();
    const now = [left, top, width, height].map((value) => Math.round(value * 100) / 100).join(' ');
    if (now === this.#last) return;
    this.#last = now;
    Object.assign(style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${width}px`,
      height: `${height}px`,
      zIndex: this.#place.dataset['layer'] ?? '',
      visibility: 'visible',
      pointerEvents: 'auto',
    });
  }
}

/** Not `display: none`, which would stop its timers from being on time and forget its scroll position. */
export function hide(frame: HTMLElement): void {
  Object.assign(frame.style, { visibility: 'hidden', pointerEvents: 'none' });
  frame.inert = true;
  frame.setAttribute('aria-hidden', 'true');
}
