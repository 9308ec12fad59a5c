// Forms with something typed that is not saved: an app that wants to leave the page has to wait for the
// person's word (host-api §7.2). People leave by themselves and know what they typed.

import { untrack } from 'svelte';

class Unsaved {
  #held = 0;
  /** An app wants to go elsewhere; the page asks. */
  question: { app: string; answer: (leave: boolean) => void } | null = $state.raw(null);

  /** A form is not saved until the answer is called. */
  hold(): () => void {
    this.#held += 1;
    return () => {
      this.#held -= 1;
    };
  }

  /** True when an app may leave the page. One question at a time: while it is open, nobody leaves. */
  mayLeave(app: string): Promise<boolean> {
    if (this.#held === 0) return Promise.resolve(true);
    if (this.question) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.question = {
        app,
        answer: (leave) => {
          this.question = null;
          resolve(leave);
        },
      };
    });
  }
}

export const unsaved = new Unsaved();

/** For a form that knows whether it differs from what is saved. */
export function unsavedWhile(dirty: () => boolean): void {
  $effect(() => (dirty() ? unsaved.hold() : undefined));
}

/** For a form that goes away when it is saved: it is unsaved as soon as it differs from how it began. */
export function unsavedDraft(draft: () => unknown): void {
  const text = () => JSON.stringify(draft());
  const first = untrack(text);
  unsavedWhile(() => text() !== first);
}
