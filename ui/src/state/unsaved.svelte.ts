// Forms with something typed that is not saved: whoever would leave them, a person by a link or the browser's
// buttons as well as an app (host-api §7.2), is asked first.

import { untrack } from 'svelte';
import { type Route, router } from '../router';

interface Question {
  /** The app that wants to go elsewhere; null: the person does. */
  app: string | null;
  answer: (leave: boolean) => void;
}

/** Browsers tell of a new address a moment after it was set. */
const YES_MS = 500;

class Unsaved {
  #held = 0;
  /** Until then the person has said yes already. */
  #yesUntil = 0;
  /** Somebody wants to go elsewhere; the page asks. */
  question: Question | null = $state.raw(null);

  get any(): boolean {
    return this.#held > 0;
  }

  /** A form is not saved until the answer is called. */
  hold(): () => void {
    this.#held += 1;
    return () => {
      this.#held -= 1;
    };
  }

  /** True when the page may be left. One question at a time: while it is open, nobody leaves. */
  mayLeave(app: string | null): Promise<boolean> {
    if (!this.any || performance.now() < this.#yesUntil) return Promise.resolve(true);
    if (this.question) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.question = {
        app,
        answer: (leave) => {
          this.question = null;
          // What an app does next is what was asked about; it is not asked about twice.
          if (leave && app !== null) this.#yesUntil = performance.now() + YES_MS;
          resolve(leave);
        },
      };
    });
  }
}

export const unsaved = new Unsaved();

const placeOf = (route: Route) => JSON.stringify([route.page, route.rest]);

// Another place on the page: asked, and gone to after all when the person says so. What only narrows a list stays.
router.guard((from, to) => !unsaved.any || placeOf(from) === placeOf(to) || unsaved.mayLeave(null));

// Away from the page as a whole the browser asks, in its own words.
addEventListener('beforeunload', (event) => {
  if (unsaved.any) event.preventDefault();
});

/** For a form that knows whether it differs from what is saved. */
export function unsavedWhile(dirty: () => boolean): void {
  $effect(() => (dirty() ? unsaved.hold() : undefined));
}

/** For a form that goes away when it is saved: it is unsaved as soon as it differs from how it began. Gives what a
    dialog asks before it closes. */
export function unsavedDraft(draft: () => unknown): () => Promise<boolean> {
  const text = () => JSON.stringify(draft());
  const first = untrack(text);
  unsavedWhile(() => text() !== first);
  return () => (text() === first ? Promise.resolve(true) : unsaved.mayLeave(null));
}
