// Who is signed in. The token lives in memory and in this tab's sessionStorage, never in a cookie
// or the address (security T1); a sign-in code is taken out of the address before anything else runs.

import { type ApiError, toApiError } from '../api/error';

export type SessionStatus = 'exchanging' | 'signedOut' | 'signedIn';

const STORAGE_KEY = 'chatos.token';
const CODE_HASH = /^#code=([^&]+)/;

/** Finds the code in a pasted link or a bare code; null when it is neither. */
export function codeFrom(text: string): string | null {
  const trimmed = text.trim();
  const hash = trimmed.indexOf('#');
  const match = CODE_HASH.exec(hash < 0 ? `#code=${trimmed.replace(/^code=/, '')}` : trimmed.slice(hash));
  const code = match?.[1];
  return code && /^[A-Za-z0-9._~-]{8,200}$/.test(code) ? code : null;
}

export class Session {
  status: SessionStatus = $state('signedOut');
  /** Why the last sign-in failed. */
  error: ApiError | null = $state.raw(null);
  /** True after the host stopped accepting a token it once gave. */
  ended = $state(false);
  #token: string | null = null;
  readonly #exchange: (code: string) => Promise<{ token: string }>;

  constructor(exchange: (code: string) => Promise<{ token: string }>) {
    this.#exchange = exchange;
    this.#token = sessionStorage.getItem(STORAGE_KEY);
    if (this.#token) this.status = 'signedIn';
  }

  get token(): string | null {
    return this.#token;
  }

  /** Takes a sign-in code out of the address bar and exchanges it. Also for links opened in this tab later. */
  takeCodeFromAddress(returnTo = '#/'): void {
    const match = CODE_HASH.exec(location.hash);
    if (!match?.[1]) return;
    const oldURL = location.href;
    history.replaceState(null, '', CODE_HASH.test(returnTo) ? '#/' : returnTo);
    // The page may have been drawn for the address with the code in it.
    dispatchEvent(new HashChangeEvent('hashchange', { oldURL, newURL: location.href }));
    void this.signIn(match[1]);
  }

  async signIn(code: string): Promise<void> {
    const before = this.status;
    this.status = 'exchanging';
    this.error = null;
    try {
      const { token } = await this.#exchange(code);
      this.#token = token;
      sessionStorage.setItem(STORAGE_KEY, token);
      this.ended = false;
      this.status = 'signedIn';
    } catch (thrown) {
      this.error = toApiError(thrown);
      // A bad link does not end a session that works.
      this.status = before === 'signedIn' ? 'signedIn' : 'signedOut';
    }
  }

  /** Forgets the token: the host refused it, or the person signed out. */
  end(): void {
    if (this.#token === null) return;
    this.#token = null;
    sessionStorage.removeItem(STORAGE_KEY);
    this.ended = true;
    this.status = 'signedOut';
  }
}
