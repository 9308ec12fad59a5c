// `localStorage` of apps in browsers that give frames of other origins none (private windows, blocked third-party
// storage): kept by the page, per plugin, in a database of its own. A frame sees its own plugin's items only,
// because the page knows whose frame it is.

/** The same as browsers give, counted in UTF-16 units of keys and values. */
export const QUOTA = 5 * 1024 * 1024;
const DATABASE = 'chatos-apps';
const STORE = 'items';

export type Items = Record<string, string>;

/** Where items are kept; a test gives one without a browser. */
export interface Keeper {
  load: (pluginId: string) => Promise<Items>;
  save: (pluginId: string, key: string, value: string | null) => Promise<void>;
  clear: (pluginId: string) => Promise<void>;
}

type Listener = (key: string | null, value: string | null) => void;

export class AppStorage {
  readonly #plugins = new Map<string, Promise<Map<string, string>>>();
  readonly #listeners = new Map<string, Set<Listener>>();

  constructor(private readonly keeper: Keeper = browserKeeper()) {}

  async items(pluginId: string): Promise<Items> {
    return Object.fromEntries(await this.#of(pluginId));
  }

  /** Follows what other frames of the plugin write. */
  follow(pluginId: string, listener: Listener): () => void {
    const set = this.#listeners.get(pluginId) ?? new Set();
    this.#listeners.set(pluginId, set);
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Writes one item, removes it (`value` null), or all of them (`key` null). False when it does not fit. */
  async write(pluginId: string, key: string | null, value: string | null, from: Listener): Promise<boolean> {
    const items = await this.#of(pluginId);
    if (key !== null && value !== null) {
      const before = items.get(key);
      const used = [...items].reduce((sum, [name, text]) => sum + name.length + text.length, 0) - (before === undefined ? 0 : key.length + before.length);
      if (used + key.length + value.length > QUOTA) return false;
      items.set(key, value);
      await this.keeper.save(pluginId, key, value);
    } else if (key !== null) {
      items.delete(key);
      await this.keeper.save(pluginId, key, null);
    } else {
      items.clear();
      await this.keeper.clear(pluginId);
    }
    for (const listener of this.#listeners.get(pluginId) ?? []) if (listener !== from) listener(key, value);
    return true;
  }

  /** The plugin was removed. */
  async forget(pluginId: string): Promise<void> {
    (await this.#of(pluginId)).clear();
    await this.keeper.clear(pluginId);
  }

  #of(pluginId: string): Promise<Map<string, string>> {
    const known = this.#plugins.get(pluginId) ?? this.keeper.load(pluginId).then((items) => new Map(Object.entries(items)));
    this.#plugins.set(pluginId, known);
    return known;
  }
}

/** IndexedDB of the page; where that is missing, too, items last as long as the page. */
function browserKeeper(): Keeper {
  let opened: Promise<IDBDatabase | null> | null = null;
  const database = () => {
    opened ??= new Promise((resolve) => {
      const request = indexedDB.open(DATABASE, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(null);
    });
    return opened;
  };
  const range = (pluginId: string) => IDBKeyRange.bound([pluginId, ''], [pluginId, []]);
  async function run(mode: IDBTransactionMode, work: (store: IDBObjectStore) => void): Promise<void> {
    const db = await database();
    if (!db) return;
    await new Promise<void>((resolve, reject) => {
      const transaction = db.transaction(STORE, mode);
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error('the storage of apps cannot be written'));
      work(transaction.objectStore(STORE));
    });
  }
  return {
    load: async (pluginId) => {
      const items: Items = {};
      await run('readonly', (store) => {
        const cursor = store.openCursor(range(pluginId));
        cursor.onsuccess = () => {
          const at = cursor.result;
          if (!at) return;
          items[(at.key as [string, string])[1]] = String(at.value);
          at.continue();
        };
      });
      return items;
    },
    save: (pluginId, key, value) => run('readwrite', (store) => void (value === null ? store.delete([pluginId, key]) : store.put(value, [pluginId, key]))),
    clear: (pluginId) => run('readwrite', (store) => void store.delete(range(pluginId))),
  };
}
