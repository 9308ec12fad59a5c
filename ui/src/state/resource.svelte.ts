// One value read from the host, with its loading state and last error. `load` never rejects: the
// error is kept where the page shows it. Calls while a load is under way cause exactly one more.

import { type ApiError, toApiError } from '../api/error';

export class Resource<T> {
  data: T | null = $state.raw(null);
  error: ApiError | null = $state.raw(null);
  loading = $state(false);
  readonly #fetch: () => Promise<T>;
  #current: Promise<void> | null = null;
  #again = false;
  #generation = 0;

  constructor(fetch: () => Promise<T>) {
    this.#fetch = fetch;
  }

  load(): Promise<void> {
    if (this.#current) {
      this.#again = true;
      return this.#current;
    }
    return (this.#current = this.#run());
  }

  /** Loads again only if someone has looked at it before. A first load still under way counts: what it
      reads may be older than the news that led here. */
  refresh(): Promise<void> {
    return this.data !== null || this.error !== null || this.#current ? this.load() : Promise.resolve();
  }

  /** Takes a value that is newer than what a load under way may bring; that one reads once more. */
  put(value: T): void {
    this.#generation += 1;
    this.#again = this.#current !== null;
    this.data = value;
    this.error = null;
  }

  /** Forgets everything, also what is still on its way. */
  clear(): void {
    this.#generation += 1;
    this.#again = false;
    this.data = null;
    this.error = null;
  }

  async #run(): Promise<void> {
    this.loading = true;
    do {
      this.#again = false;
      const generation = this.#generation;
      try {
        const value = await this.#fetch();
        if (generation !== this.#generation) continue;
        this.data = value;
        this.error = null;
      } catch (thrown) {
        if (generation === this.#generation) this.error = toApiError(thrown);
      }
    } while (this.#again);
    this.loading = false;
    // At once, not when a promise settles: a call in between would be counted and never served.
    this.#current = null;
  }
}
