// Dialogues of several prompts (ui-prompts §11): after one step the panel waits a little for the next,
// and goes to it when it comes. Nothing else ever moves the person.

import type { PromptItem } from '../../state/prompts/item';

const WAIT_MS = 10_000;

export class Follow {
  /** The step after which the next one is awaited. */
  waiting: PromptItem | null = $state.raw(null);
  #last: PromptItem | null = null;
  #until = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #go: (item: PromptItem) => void;

  constructor(go: (item: PromptItem) => void) {
    this.#go = go;
  }

  /** A step was answered: its successor when that is there already, else begins to wait. */
  after(item: PromptItem, find: (test: (other: PromptItem) => boolean) => PromptItem | null): PromptItem | null {
    this.stop();
    this.#last = item;
    this.#until = Date.now() + WAIT_MS;
    const { chain } = item;
    if (!chain) return null;
    const next = find((other) => other.id !== item.id && other.chain?.id === chain.id && other.chain.step > chain.step);
    if (next || chain.of === chain.step) return next;
    this.waiting = item;
    this.#timer = setTimeout(() => (this.waiting = null), WAIT_MS);
    return null;
  }

  /** `free`: nothing is open that the person could be looking at. */
  arrived(items: PromptItem[], free: boolean): void {
    const last = this.#last;
    if (!free || !last || Date.now() > this.#until) return;
    const next = items.find((item) => item.needsYou && isNext(last, item));
    if (next) this.#go(next);
  }

  stopWaiting(): void {
    clearTimeout(this.#timer);
    this.waiting = null;
  }

  stop(): void {
    this.stopWaiting();
    this.#last = null;
  }
}

/** The same chain; or, without one, the same source and run. */
export function isNext(last: PromptItem, item: PromptItem): boolean {
  if (last.chain || item.chain) return last.chain !== null && last.chain.id === item.chain?.id;
  return last.source !== null && last.source === item.source && last.runId === item.runId;
}
