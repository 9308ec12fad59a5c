// Long work on the host: follows an operation by its events, and asks now and then in case an event
// was missed.

import type { Client } from '../api/client';
import type { EventFrame, Operation } from '../protocol';

type Watcher = (operation: Operation) => void;

/** Events usually arrive first; this is only the net below them. */
const ASK_EVERY_MS = 1_000;

export class Operations {
  readonly #client: Client;
  readonly #watchers = new Map<string, Set<Watcher>>();

  constructor(client: Client) {
    this.#client = client;
  }

  onEvent(frame: EventFrame): void {
    if (frame.type !== 'operation_changed') return;
    const operation = frame.data as Operation | null;
    if (typeof operation?.id === 'string') this.#tell(operation);
  }

  /** Resolves with the operation once it no longer runs; `onChange` hears of each step before. */
  follow<T>(first: Operation<T>, onChange: (operation: Operation<T>) => void): Promise<Operation<T>> {
    onChange(first);
    if (first.state !== 'running') return Promise.resolve(first);
    return new Promise((resolve, reject) => {
      // An answer that is older than the end must not tell of a step after it.
      let over = false;
      const finish = (settle: () => void) => {
        over = true;
        clearInterval(timer);
        this.#watchers.get(first.id)?.delete(watcher);
        settle();
      };
      const ended = (operation: Operation<T>) => finish(() => resolve(operation));
      const watcher: Watcher = (event) => {
        const operation = event as Operation<T>;
        if (over) return;
        onChange(operation);
        if (operation.state === 'running') return;
        over = true;
        clearInterval(timer);
        // An event speaks the host's language, an answer speaks the page's; the outcome is read, so ask.
        this.#client.operation<T>(first.id).then(ended, () => ended(operation));
      };
      const timer = setInterval(() => {
        this.#client.operation<T>(first.id).then(
          (operation) => {
            if (over) return;
            onChange(operation);
            if (operation.state !== 'running') ended(operation);
          },
          (error: { status?: number }) => {
            // A host that is away for a moment comes back; one that forgot the operation does not.
            if (!over && error.status !== 0) finish(() => reject(error));
          },
        );
      }, ASK_EVERY_MS);
      const watchers = this.#watchers.get(first.id) ?? new Set();
      watchers.add(watcher);
      this.#watchers.set(first.id, watchers);
    });
  }

  #tell(operation: Operation): void {
    this.#watchers.get(operation.id)?.forEach((watcher) => watcher(operation));
  }
}
