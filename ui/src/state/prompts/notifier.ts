// Desktop notifications of new prompts: few, and one instead of many (ui-prompts §13). The browser is
// reached through two functions, so that the rules can be tested without it.

export interface Note {
  id: string;
  title: string;
  body: string;
}

export interface Shown {
  close: () => void;
}

export interface NotifierOptions {
  /** Shows one note; null when the browser did not. */
  show: (note: Note) => Shown | null;
  /** Words for several at once. */
  several: (count: number) => { title: string; body: string };
  now?: () => number;
}

/** From the third within this time on, one note stands for all. */
const WINDOW_MS = 2_000;
const SEVERAL = 3;
export const SEVERAL_ID = 'chatos-several';

export class Notifier {
  readonly #options: NotifierOptions;
  #recent: { at: number; shown: Shown | null }[] = [];
  #several: Shown | null = null;
  #count = 0;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  add(note: Note): void {
    const now = (this.#options.now ?? Date.now)();
    this.#recent = this.#recent.filter(({ at }) => now - at < WINDOW_MS);
    if (this.#recent.length === 0) {
      this.#several = null;
      this.#count = 0;
    }
    if (this.#recent.length + 1 < SEVERAL && this.#count === 0) {
      this.#recent.push({ at: now, shown: this.#options.show(note) });
      return;
    }
    if (this.#count === 0) this.#count = this.#recent.length;
    this.#count += 1;
    this.#recent.forEach(({ shown }) => shown?.close());
    this.#recent.push({ at: now, shown: null });
    this.#several?.close();
    this.#several = this.#options.show({ id: SEVERAL_ID, ...this.#options.several(this.#count) });
  }
}
