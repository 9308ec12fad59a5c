// JSON over HTTP to the host of this origin: bearer token, language, deadline, one error type.
// It keeps no state but the last ETags; who is signed in is the session's business.

import { ApiError } from './error';

export interface HttpOptions {
  token: () => string | null;
  language: () => 'zh' | 'en';
  /** Called when the host no longer accepts the token: whether there is another one. */
  renew?: (refused: string | null) => Promise<boolean>;
  /** Called when there is none. */
  onUnauthorized: () => void;
  /** What reads wait for, if anything. */
  ready?: () => Promise<void> | null;
  fetch?: typeof fetch;
  timeoutMs?: number;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

export interface RequestOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Calls made before sign-in send no token, and their 401 is theirs to explain. */
  anonymous?: boolean;
  /** The browser's cookie goes along and may be set: the calls that sign in and out, and no other. */
  cookie?: boolean;
  /** The call outlives the page, for what must be saved while it is left. */
  keepalive?: boolean;
  /** A call that writes, and may be sent a second time when the first found no host. */
  repeatable?: boolean;
  /** In whose name the call is made (`X-ChatOS-App`); the answer may depend on it. */
  app?: string;
}

type Init = RequestInit & { headers: Headers };
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Long enough for a slow disk, short enough that a hung host is noticed. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** After a restart of the host the browser may hand out connections of the one that has gone. */
const AGAIN_MS = 250;

export class Http {
  readonly #options: HttpOptions;
  readonly #etags = new Map<string, { etag: string; value: unknown }>();

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  get<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.request<T>('GET', path, options);
  }

  post<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
    return this.request<T>('POST', path, { ...options, body });
  }

  put<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
    return this.request<T>('PUT', path, { ...options, body });
  }

  patch<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
    return this.request<T>('PATCH', path, { ...options, body });
  }

  delete<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return this.request<T>('DELETE', path, options);
  }

  async request<T>(method: Method, path: string, options: RequestOptions = {}): Promise<T> {
    const wait = method === 'GET' && options.anonymous !== true ? this.#options.ready?.() : null;
    if (wait) await wait;
    const url = buildUrl(path, options.query);
    const headers = this.#headers(options.anonymous === true);
    const init: Init = { method, headers, cache: 'no-store', credentials: options.cookie ? 'same-origin' : 'omit', redirect: 'error' };
    if (options.keepalive) init.keepalive = true;
    if (options.app !== undefined) headers.set('X-ChatOS-App', options.app);
    if (method !== 'GET') {
      headers.set('Content-Type', 'application/json');
      init.body = JSON.stringify(options.body ?? {});
    }
    // Problems and findings are texts, so an answer is kept per language.
    const key = `${this.#options.language()} ${options.app ?? ''} ${url}`;
    const known = method === 'GET' ? this.#etags.get(key) : undefined;
    if (known) headers.set('If-None-Match', known.etag);

    const response = await this.#send(url, init, options);
    if (response.status === 304 && known) return known.value as T;
    const value = await this.#read<T>(response, options.anonymous === true);
    const etag = response.headers.get('ETag');
    if (method === 'GET' && etag) this.#etags.set(key, { etag, value });
    return value;
  }

  /** Sends bytes (a package) with upload progress, which `fetch` cannot report. */
  upload<T>(path: string, data: Blob, type: string, options: RequestOptions & { onProgress?: (sent: number) => void } = {}, again = true): Promise<T> {
    const sent = this.#options.token();
    return new Promise<T>((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', buildUrl(path, options.query));
      this.#headers(false).forEach((value, name) => request.setRequestHeader(name, value));
      request.setRequestHeader('Content-Type', type);
      request.upload.onprogress = (event) => options.onProgress?.(event.loaded);
      request.onerror = () => reject(ApiError.page('page_unreachable', 'the upload was interrupted'));
      request.onabort = () => reject(ApiError.page('page_canceled', 'the upload was canceled'));
      request.onload = () => {
        const response = new Response(request.responseText, { status: request.status });
        const known = again && request.status === 401 ? this.#options.renew?.(sent) : undefined;
        Promise.resolve(known)
          .then((renewed) => (renewed ? this.upload<T>(path, data, type, options, false) : this.#read<T>(response, false)))
          .then(resolve, reject);
      };
      options.signal?.addEventListener('abort', () => request.abort(), { once: true });
      request.send(data);
    });
  }

  /** Reads bytes, such as a picture, which an `<img>` could not fetch with the token. */
  async blob(path: string, options: RequestOptions = {}): Promise<Blob> {
    const response = await this.#send(path, { headers: this.#headers(false), credentials: 'omit', redirect: 'error' }, options);
    if (!response.ok) await this.#read(response, false);
    return response.blob();
  }

  /** Forgets cached answers, for a new session or a restarted host. */
  forget(): void {
    this.#etags.clear();
  }

  #headers(anonymous: boolean): Headers {
    const headers = new Headers({ Accept: 'application/json', 'Accept-Language': this.#options.language() });
    const token = anonymous ? null : this.#options.token();
    if (token) headers.set('Authorization', `Bearer ${token}`);
    return headers;
  }

  /** Sends it, and once more with another token when the host knew this one no longer: it did nothing then. */
  async #send(url: string, init: Init, options: RequestOptions): Promise<Response> {
    const sent = this.#options.token();
    const response = await this.#sendOnce(url, init, options);
    if (response.status !== 401 || options.anonymous || !(await this.#options.renew?.(sent))) return response;
    init.headers.set('Authorization', `Bearer ${this.#options.token() ?? ''}`);
    return this.#sendOnce(url, init, options);
  }

  async #sendOnce(url: string, init: Init, options: RequestOptions): Promise<Response> {
    const deadline = AbortSignal.timeout(options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
    const once = () => (this.#options.fetch ?? fetch)(url, { ...init, signal });
    const repeatable = options.repeatable ?? (init.method ?? 'GET') === 'GET';
    try {
      return await once().catch(async (error: unknown) => {
        if (!repeatable || signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        return once();
      });
    } catch (error) {
      if (deadline.aborted) throw ApiError.page('page_timeout', `no answer from ${url}`);
      if (options.signal?.aborted) throw ApiError.page('page_canceled', `${url} was canceled`);
      throw ApiError.page('page_unreachable', error instanceof Error ? error.message : String(error));
    }
  }

  async #read<T>(response: Response, anonymous: boolean): Promise<T> {
    if (!response.ok) {
      const error = await ApiError.fromResponse(response);
      if (response.status === 401 && !anonymous) this.#options.onUnauthorized();
      throw error;
    }
    const text = await response.text();
    if (text === '') return undefined as T;
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new ApiError(response.status, 'page_bad_answer', text.slice(0, 200));
    }
  }
}

function buildUrl(path: string, query: Query | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}
