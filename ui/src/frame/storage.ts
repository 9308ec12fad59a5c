// Stand-ins for `localStorage` and `sessionStorage` where the real ones throw: in a frame without an origin of its
// own (host-api §2.1) they forget with the page; in a browser that gives frames of other origins no storage, the
// host page keeps what `localStorage` is told.

/** The same as browsers give, in UTF-16 units. */
const QUOTA = 5 * 1024 * 1024;

/** Hears of every write: one item, its removal (`value` null), or the end of all (`key` null). */
export type OnWrite = (key: string | null, value: string | null) => void;

export class MemoryStorage implements Storage {
  readonly #items: Map<string, string>;
  readonly #onWrite: OnWrite;
  [name: string]: unknown;

  constructor(items: Record<string, string> = {}, onWrite: OnWrite = () => undefined) {
    this.#items = new Map(Object.entries(items));
    this.#onWrite = onWrite;
  }

  get length(): number {
    return this.#items.size;
  }

  key(index: number): string | null {
    return [...this.#items.keys()][index] ?? null;
  }

  getItem(key: string): string | null {
    return this.#items.get(String(key)) ?? null;
  }

  setItem(key: string, value: string): void {
    const [name, text] = [String(key), String(value)];
    const used = [...this.#items].reduce((sum, [known, held]) => sum + (known === name ? 0 : known.length + held.length), 0);
    if (used + name.length + text.length > QUOTA) throw new DOMException(`Setting the value of '${name}' exceeded the quota.`, 'QuotaExceededError');
    this.#items.set(name, text);
    this.#onWrite(name, text);
  }

  removeItem(key: string): void {
    if (this.#items.delete(String(key))) this.#onWrite(String(key), null);
  }

  clear(): void {
    this.#items.clear();
    this.#onWrite(null, null);
  }

  /** Another frame of the plugin wrote: taken over without being told again. Gives what was there before. */
  take(key: string | null, value: string | null): string | null {
    const before = key === null ? null : this.getItem(key);
    if (key === null) this.#items.clear();
    else if (value === null) this.#items.delete(key);
    else this.#items.set(key, value);
    return before;
  }
}

/** `storage.name = value` works like on the real thing. */
export function memoryStorage(storage = new MemoryStorage()): Storage {
  const own = (name: string | symbol): name is string => typeof name === 'string' && !(name in storage);
  return new Proxy<Storage>(storage, {
    get: (target, name) => {
      if (own(name)) return target.getItem(name) ?? undefined;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
    set: (target, name, value) => {
      if (!own(name)) return false;
      target.setItem(name, String(value));
      return true;
    },
    deleteProperty: (target, name) => {
      if (own(name)) target.removeItem(name);
      return true;
    },
    has: (target, name) => name in target || (typeof name === 'string' && target.getItem(name) !== null),
    ownKeys: (target) => Array.from({ length: target.length }, (_, index) => target.key(index) ?? ''),
    getOwnPropertyDescriptor: (target, name) => {
      const value = own(name) ? target.getItem(name) : null;
      return value === null ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
  });
}

/** True when the browser gives this frame a storage. */
export function hasStorage(window: Window): boolean {
  try {
    window.localStorage.getItem('chatos');
    return true;
  } catch {
    // An opaque origin, or third-party storage is blocked.
    return false;
  }
}

/** Puts stand-ins in the place of both storages; `local` may already hold what the host page kept. */
export function standIn(window: Window, local: MemoryStorage): void {
  for (const [name, storage] of [['localStorage', local], ['sessionStorage', new MemoryStorage()]] as const) {
    Object.defineProperty(window, name, { value: memoryStorage(storage), configurable: true, enumerable: true });
  }
}
