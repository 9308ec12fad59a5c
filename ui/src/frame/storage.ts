// Stand-ins for `localStorage` and `sessionStorage` in a frame without an origin of its own, where the real
// ones throw (host-api §2.1). They forget with the page.

export class MemoryStorage implements Storage {
  readonly #items = new Map<string, string>();
  [name: string]: unknown;

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
    this.#items.set(String(key), String(value));
  }

  removeItem(key: string): void {
    this.#items.delete(String(key));
  }

  clear(): void {
    this.#items.clear();
  }
}

/** `storage.name = value` works like on the real thing. */
export function memoryStorage(): Storage {
  const storage = new MemoryStorage();
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

/** Puts stand-ins where the browser refuses the real storage. */
export function provideStorage(window: Window): 'persistent' | 'memory' {
  try {
    window.localStorage.getItem('chatos');
    return 'persistent';
  } catch {
    for (const name of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(window, name, { value: memoryStorage(), configurable: true, enumerable: true });
    }
    return 'memory';
  }
}
