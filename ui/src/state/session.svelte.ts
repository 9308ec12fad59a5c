// Who is signed in. The token lives in memory and in the sessionStorage of tabs, never in a cookie or the address
// (security T1); a sign-in code is taken out of the address before anything else runs. Tabs of this origin, which is
// the page's alone, hand the token to each other: a new tab needs no link while another one is open.

import { type ApiError, toApiError } from '../api/error';

/** `asking`: another tab may know. */
export type SessionStatus = 'asking' | 'exchanging' | 'signedOut' | 'signedIn';

/** What tabs say to each other. */
type Word = { ask: true } | { token: string };

/** A tab that answers does so at once; one that does not is none. */
const ASK_MS = 300;

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
  /** The host no longer knows this browser, in the middle of work: the page stays as it is until somebody has signed in
      again. */
  lapsed = $state(false);
  /** The host has accepted the token since this page was loaded. */
  #proven = false;
  #token: string | null = null;
  readonly #exchange: (code: string) => Promise<{ token: string }>;

  readonly #tabs: BroadcastChannel | null;

  constructor(exchange: (code: string) => Promise<{ token: string }>, tabs: BroadcastChannel | null = null) {
    this.#exchange = exchange;
    this.#tabs = tabs;
    if (tabs) tabs.onmessage = ({ data }: MessageEvent<Word>) => this.#hear(data);
    this.#token = sessionStorage.getItem(STORAGE_KEY);
    if (this.#token) this.status = 'signedIn';
    else if (tabs) this.#ask();
  }

  #say(word: Word): void {
    this.#tabs?.postMessage(word);
  }

  #ask(): void {
    this.status = 'asking';
    this.#say({ ask: true });
    setTimeout(() => {
      if (this.status === 'asking') this.status = 'signedOut';
    }, ASK_MS);
  }

  #hear(word: Word): void {
    const known = this.status === 'signedIn' && !this.lapsed;
    if ('ask' in word) {
      if (known && this.#proven && this.#token) this.#say({ token: this.#token });
    } else if (typeof word.token === 'string' && !known && this.status !== 'exchanging') this.#take(word.token);
  }

  #take(token: string): void {
    this.#token = token;
    sessionStorage.setItem(STORAGE_KEY, token);
    this.ended = false;
    this.lapsed = false;
    this.error = null;
    this.#proven = false;
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
      const { token } = await this.#exchange(code);
      this.#take(token);
      this.#say({ token });
    } catch (thrown) {
      this.error = toApiError(thrown);
      // A bad link does not end a session that works.
      this.status = before === 'signedIn' ? 'signedIn' : 'signedOut';
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
