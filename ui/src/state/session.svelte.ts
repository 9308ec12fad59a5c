// Who is signed in. A browser is signed in once, over tabs and restarts of the host: its key and its cookie together give
// a token, which lives in memory (inbox §7). A browser that keeps no key signs in per tab, in the sessionStorage. A
// sign-in code is taken out of the address before anything else runs.

import { type ApiError, toApiError } from '../api/error';
import type { Challenge, Renew, SignedIn, SignIn } from '../protocol/wire';
import { browserName, type KeyPlace } from './keys';

/** `asking`: this browser may be signed in. */
export type SessionStatus = 'asking' | 'exchanging' | 'signedOut' | 'signedIn';

/** What the session asks the host. */
export interface SignInDoor {
  exchange: (body: SignIn) => Promise<SignedIn>;
  challenge: () => Promise<Challenge>;
  renew: (body: Renew) => Promise<SignedIn>;
}

/** What tabs tell each other; no token is said. */
type Word = { signedIn: true };

const STORAGE_KEY = 'chatos.token';
const CODE_HASH = /^#code=([^&]+)/;
const AGAIN_MS = 1_000;

/** Finds the code in a pasted link or a bare code; null when it is neither. */
export function codeFrom(text: string): string | null {
  const trimmed = text.trim();
  const hash = trimmed.indexOf('#');
  const match = CODE_HASH.exec(hash < 0 ? `#code=${trimmed.replace(/^code=/, '')}` : trimmed.slice(hash));
  const code = match?.[1];
  return code && /^[A-Za-z0-9._~-]{8,200}$/.test(code) ? code : null;
}

/** One tab of the browser at a time: the cookie of one answer is there before the next one asks. */
async function alone<T>(run: () => Promise<T>): Promise<T> {
  // A page that is not a secure context has no locks.
  return globalThis.isSecureContext ? await navigator.locks.request('chatos.sign-in', run) : run();
}

export class Session {
  status: SessionStatus = $state('signedOut');
  /** Why the last sign-in failed. */
  error: ApiError | null = $state.raw(null);
  /** True after the host stopped accepting a token it once gave. */
  ended = $state(false);
  /** The host no longer knows this browser, in the middle of work: the page stays as it is until somebody has signed in
      again. */
  lapsed = $state(false);
  /** This browser keeps no key: signing in is for this tab only. */
  perTab = $state(false);
  /** The host has accepted the token since this page was loaded. */
  #proven = false;
  #token: string | null = null;
  #renewing: Promise<boolean> | null = null;
  readonly #door: SignInDoor;
  readonly #keys: KeyPlace;
  readonly #tabs: BroadcastChannel | null;

  constructor(door: SignInDoor, keys: KeyPlace, tabs: BroadcastChannel | null = null) {
    this.#door = door;
    this.#keys = keys;
    this.#tabs = tabs;
    if (tabs) tabs.onmessage = () => void this.#follow();
    this.#token = sessionStorage.getItem(STORAGE_KEY);
    this.perTab = this.#token !== null || !globalThis.isSecureContext;
    this.status = this.#token === null ? 'asking' : 'signedIn';
  }

  /** Goes on where this browser is signed in already. Called once, after the code was taken out of the address. */
  async begin(): Promise<void> {
    while (this.status === 'asking') {
      try {
        if (!(await this.renew(null)) && this.status === 'asking') this.status = 'signedOut';
      } catch {
        // The host stopped just now.
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  /** Another tab has signed in. */
  async #follow(): Promise<void> {
    if (this.status === 'signedOut') await this.renew(null).catch(() => undefined);
  }

  /** Another token for one that is no longer accepted, by the browser's two halves; whether there is one. It throws when
      the host could not be asked. */
  renew(refused: string | null): Promise<boolean> {
    // Another request was first.
    if (this.#token !== refused && this.#token !== null) return Promise.resolve(true);
    this.#renewing ??= alone(() => this.#renew()).finally(() => (this.#renewing = null));
    return this.#renewing;
  }

  async #renew(): Promise<boolean> {
    const key = await this.#keys.load();
    if (!key) return false;
    try {
      const { challenge } = await this.#door.challenge();
      const sig = await key.sign(`chatos-renew-v1\n${location.origin}\n${key.id}\n${challenge}`);
      const { token } = await this.#door.renew({ browserId: key.id, challenge, sig });
      this.#take(token, false);
      return true;
    } catch (thrown) {
      const error = toApiError(thrown);
      if (error.status === 401 || error.status === 429) return false;
      throw error;
    }
  }

  #take(token: string, perTab: boolean): void {
    this.#token = token;
    this.perTab = perTab;
    if (perTab) sessionStorage.setItem(STORAGE_KEY, token);
    else sessionStorage.removeItem(STORAGE_KEY);
    this.ended = false;
    this.lapsed = false;
    this.#proven = true;
    this.status = 'signedIn';
  }

  /** The host accepts the token. */
  prove(): void {
    this.#proven = true;
  }

  get token(): string | null {
    return this.#token;
  }

  /** Takes a sign-in code out of the address bar and exchanges it. Also for links opened in this tab later. */
  takeCodeFromAddress(returnTo = '#/'): void {
    const match = CODE_HASH.exec(location.hash);
    if (!match?.[1]) return;
    const oldURL = location.href;
    // A notification of the desktop leads to the inbox.
    const to = location.hash.endsWith('&to=queue') ? '#/queue' : returnTo;
    history.replaceState(null, '', CODE_HASH.test(to) ? '#/' : to);
    // The page may have been drawn for the address with the code in it.
    dispatchEvent(new HashChangeEvent('hashchange', { oldURL, newURL: location.href }));
    void this.signIn(match[1]);
  }

  async signIn(code: string): Promise<void> {
    const before = this.status;
    this.status = 'exchanging';
    this.error = null;
    try {
      const { token, browserId } = await alone(async () => {
        const key = await this.#keys.make();
        return this.#door.exchange({ code, publicKey: key?.publicKey ?? null, name: key ? browserName() : null });
      });
      this.#take(token, browserId === null);
      this.#tabs?.postMessage({ signedIn: true } satisfies Word);
    } catch (thrown) {
      // A bad link does not end a sign-in that works, of this tab or of this browser.
      const known = before === 'signedIn' || (await this.renew(null).catch(() => false));
      this.error = toApiError(thrown);
      this.status = known ? 'signedIn' : 'signedOut';
    }
  }

  /** Forgets the token: the person signed out, or the host never accepted it here. */
  end(): void {
    if (this.#token === null && !this.lapsed) return;
    this.#token = null;
    sessionStorage.removeItem(STORAGE_KEY);
    this.ended = true;
    this.lapsed = false;
    this.status = 'signedOut';
  }

  /** The host has refused the token. In the middle of work the page stays, and somebody signs in over it; says whether
      it does. */
  refuse(): boolean {
    if (!this.#proven || this.#token === null) {
      this.end();
      return false;
    }
    this.#token = null;
    this.#proven = false;
    sessionStorage.removeItem(STORAGE_KEY);
    this.ended = true;
    this.lapsed = true;
    this.status = 'signedOut';
    return true;
  }
}
