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

const LEAVES_AFTER_MS = 4_000;
/** A message with something to press has to be read, decided on and reached. */
const ACTION_LEAVES_AFTER_MS = 15_000;
/** More than this hides the page; the oldest go first. */
const MAX_TOASTS = 4;

export class Toasts {
  items: Toast[] = $state([]);
  #nextId = 1;

  success(message: string, action: ToastAction | null = null): void {
    this.#push({ kind: 'success', message, hint: null, action });
  }

  info(message: string, hint: string | null = null): void {
    this.#push({ kind: 'info', message, hint, action: null });
  }

  error(message: string, hint: string | null = null): void {
    // The same failure repeated by a loop is one message.
    if (this.items.some((item) => item.kind === 'error' && item.message === message)) return;
    this.#push({ kind: 'error', message, hint, action: null });
  }

  /** Shows anything that was thrown. A call that the person canceled is not news. */
  failure(thrown: unknown): void {
    const error = toApiError(thrown);
    if (error.code === 'page_canceled') return;
    const { message, hint } = describe(error);
    this.error(message, hint);
  }

  dismiss(id: number): void {
    this.items = this.items.filter((item) => item.id !== id);
  }

  #push(toast: Omit<Toast, 'id'>): void {
    const id = this.#nextId;
    this.#nextId += 1;
    this.items = [...this.items, { ...toast, id }].slice(-MAX_TOASTS);
    if (toast.kind !== 'error') setTimeout(() => this.dismiss(id), toast.action ? ACTION_LEAVES_AFTER_MS : LEAVES_AFTER_MS);
  }
}
