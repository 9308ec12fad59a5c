// Short messages at the edge of the page. Good news leaves by itself; an error stays until it is
// dismissed, because it may be the only trace of what went wrong.

import { toApiError } from '../api/error';
import { describe } from './describe';

export type ToastKind = 'success' | 'info' | 'error';

export interface Toast {
  id: number;
  kind: ToastKind;
  message: string;
  hint: string | null;
  action: ToastAction | null;
}

/** Something the person may do about the message; the message leaves with it. */
export interface ToastAction {
  label: string;
  run: () => void;
}

const LEAVES_AFTER_MS = 5_000;
/** A message with something to press has to be read, decided on and reached. */
const ACTION_LEAVES_AFTER_MS = 10_000;
/** More at once hide the page; the others wait their turn. */
const MAX_SHOWN = 3;
/** More than this in the line is a loop that went wrong; the oldest of them are dropped. */
const MAX_WAITING = 20;

export class Toasts {
  /** On the page now, oldest first. */
  items: Toast[] = $state([]);
  #waiting: Toast[] = [];
  #nextId = 1;
  #held = false;
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();

  success(message: string, action: ToastAction | null = null): void {
    this.#push({ kind: 'success', message, hint: null, action });
  }

  info(message: string, hint: string | null = null): void {
    this.#push({ kind: 'info', message, hint, action: null });
  }

  error(message: string, hint: string | null = null, action: ToastAction | null = null): void {
    // The same failure repeated by a loop is one message.
    if ([...this.items, ...this.#waiting].some((item) => item.kind === 'error' && item.message === message)) return;
    this.#push({ kind: 'error', message, hint, action });
  }

  /** Shows anything that was thrown. A call that the person canceled is not news. */
  failure(thrown: unknown): void {
    const error = toApiError(thrown);
    if (error.code === 'page_canceled') return;
    const { message, hint } = describe(error);
    this.error(message, hint);
  }

  dismiss(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.items = this.items.filter((item) => item.id !== id);
    this.#next();
  }

  /** While somebody points at the messages or is inside them, none leaves; afterwards each has its whole time again. */
  hold(held: boolean): void {
    if (this.#held === held) return;
    this.#held = held;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    if (!held) for (const item of this.items) this.#count(item);
  }

  #push(toast: Omit<Toast, 'id'>): void {
    this.#waiting = [...this.#waiting, { ...toast, id: this.#nextId }].slice(-MAX_WAITING);
    this.#nextId += 1;
    this.#next();
  }

  #next(): void {
    for (;;) {
      // Errors that nobody dismisses do not keep the rest from being said: the oldest gives way.
      const full = this.items.length >= MAX_SHOWN;
      if (full && this.items.some((item) => item.kind !== 'error')) return;
      const next = this.#waiting.shift();
      if (!next) return;
      if (full) this.items = this.items.slice(1);
      this.items = [...this.items, next];
      if (!this.#held) this.#count(next);
    }
  }

  /** An error stays until it is dismissed. */
  #count(item: Toast): void {
    if (item.kind === 'error') return;
    this.#timers.set(item.id, setTimeout(() => this.dismiss(item.id), item.action ? ACTION_LEAVES_AFTER_MS : LEAVES_AFTER_MS));
  }
}
