// Messages that were said and have not reached the host, kept by the browser: a host that stops, a page that is
// reloaded or closed loses none. Each has the id it will have on the host, so that sending it again is no second one.
// Answers to questions are never kept here: what they answer may be another question by then (inbox §7).

import type { Attachment, SendMode } from '../../protocol/wire';

export interface Unsent {
  /** The id of the message, on the host as well. */
  id: string;
  sessionId: string;
  text: string;
  attachments: Attachment[];
  mode: SendMode;
  /** The model that answers this one message. */
  answerBy?: string;
  /** When it was said; they are sent in this order. */
  at: number;
}

export interface Outbox {
  put: (item: Unsent) => Promise<void>;
  remove: (id: string) => Promise<void>;
  /** All of them, in the order they were said. */
  all: () => Promise<Unsent[]>;
}

const [DATABASE, STORE] = ['chatos', 'outbox'];
let lastAt = 0;

/** Now, and later than whatever was said before. */
export function moment(): number {
  lastAt = Math.max(Date.now(), lastAt + 1);
  return lastAt;
}

/** A UUID of version 7: in the order of time, as the host makes its own. */
export function messageId(now = Date.now()): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  for (let index = 0; index < 6; index += 1) bytes[index] = Math.floor(now / 2 ** (8 * (5 - index))) & 0xff;
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The outbox of this browser profile, shared by its tabs. */
export class BrowserOutbox implements Outbox {
  #opened: Promise<IDBDatabase> | null = null;

  async put(item: Unsent): Promise<void> {
    await this.#work('readwrite', (store) => store.put(item));
  }

  async remove(id: string): Promise<void> {
    await this.#work('readwrite', (store) => store.delete(id));
  }

  async all(): Promise<Unsent[]> {
    const items = (await this.#work('readonly', (store) => store.getAll())) as Unsent[];
    return items.sort((one, other) => one.at - other.at);
  }

  async #work(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
    const database = await this.#database();
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = ask(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error ?? new Error('the browser keeps nothing'));
    });
  }

  #database(): Promise<IDBDatabase> {
    this.#opened ??= new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(DATABASE, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'id' });
      request.onerror = () => reject(request.error ?? new Error('the browser keeps nothing'));
      request.onsuccess = () => {
        // Another tab with a newer page may want to change it.
        request.result.onversionchange = () => {
          request.result.close();
          this.#opened = null;
        };
        resolve(request.result);
      };
    }).catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }
}
