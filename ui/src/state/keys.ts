// The browser's own half of a sign-in: a key it made and cannot give away, kept for this origin. The other half is a
// cookie no script sees (inbox §7).

/** A key of this browser, for this origin. */
export interface BrowserKey {
  /** What the host calls this browser. */
  id: string;
  /** Its public half, base64url. */
  publicKey: string;
  sign: (text: string) => Promise<string>;
}

/** Where the key is. */
export interface KeyPlace {
  load: () => Promise<BrowserKey | null>;
  /** The one that is there, or a new one; null: this browser keeps none here. */
  make: () => Promise<BrowserKey | null>;
}

const [DATABASE, STORE, NAME] = ['chatos-sign-in', 'keys', 'own'];
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' };

const base64url = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

async function keyOf(pair: CryptoKeyPair): Promise<BrowserKey> {
  const raw = await crypto.subtle.exportKey('raw', pair.publicKey);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', raw));
  return {
    id: [...digest.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
    publicKey: base64url(raw),
    sign: async (text) => base64url(await crypto.subtle.sign(SIGNATURE, pair.privateKey, new TextEncoder().encode(text))),
  };
}

function work<T>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onerror = () => reject(opening.error ?? new Error('the browser keeps nothing'));
    opening.onsuccess = () => {
      const transaction = opening.result.transaction(STORE, mode);
      const request = ask(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error ?? new Error('the browser keeps nothing'));
      transaction.addEventListener('complete', () => opening.result.close());
      transaction.addEventListener('abort', () => opening.result.close());
    };
  });
}

/** The key of this profile, shared by its tabs. A page that is not a secure context has no keys. */
export const browserKeys: KeyPlace = {
  async load() {
    try {
      const pair = (await work('readonly', (store) => store.get(NAME))) as CryptoKeyPair | undefined;
      return pair ? await keyOf(pair) : null;
    } catch {
      return null;
    }
  },
  async make() {
    const known = await browserKeys.load();
    if (known) return known;
    try {
      const pair = await crypto.subtle.generateKey(CURVE, false, ['sign', 'verify']);
      // Another tab may have been first; then its key is the one.
      await work('readwrite', (store) => store.add(pair, NAME)).catch(() => undefined);
    } catch {
      return null;
    }
    return browserKeys.load();
  },
};

/** What this browser is called in a list: “Firefox · Linux”. */
export function browserName(agent = navigator.userAgent): string {
  const first = (all: [RegExp, string][]) => all.find(([mark]) => mark.test(agent))?.[1];
  const name = first([[/Edg\//, 'Edge'], [/OPR\//, 'Opera'], [/Firefox\//, 'Firefox'], [/Chrom(e|ium)\//, 'Chrome'], [/Safari\//, 'Safari']]);
  const system = first([[/Android/, 'Android'], [/iPhone|iPad/, 'iOS'], [/Mac OS X/, 'macOS'], [/Windows/, 'Windows'], [/CrOS/, 'ChromeOS'], [/Linux/, 'Linux']]);
  return [name, system].filter(Boolean).join(' · ');
}
