// The frame's end of the port: calls that wait for an answer, messages that do not, and events.
//
// The limits are kept here as well as in the host page, so that an app that runs wild is refused inside its own
// process and the page never hears of it.

import { decode, type Downward, encode, HostError, isErrorCode, MAX_OUTSTANDING, type Snapshot, TokenBucket, type Upward } from './wire';

type Listener = (payload: unknown) => void;

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: HostError) => void;
  /** Takes the abort listener off its signal. */
  release: () => void;
}

export interface LinkHandlers {
  onSnap: (changed: Partial<Snapshot>) => void;
  onDispose: () => void;
  /** Another frame of the plugin wrote to the storage the page lends. */
  onStored?: (key: string | null, value: string | null) => void;
  /** A listener of the app threw; the others still run. */
  onListenerError: (error: unknown) => void;
}

export class Link {
  readonly #port: MessagePort;
  readonly #handlers: LinkHandlers;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<number, Listener>();
  readonly #bucket: TokenBucket;
  #nextId = 1;
  #closed = false;

  constructor(port: MessagePort, handlers: LinkHandlers, bucket = new TokenBucket()) {
    this.#port = port;
    this.#handlers = handlers;
    this.#bucket = bucket;
    port.onmessage = (event) => this.#receive(event.data);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Asks the host page. Never throws: every refusal is a rejection. */
  call(path: string, args: unknown[], signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw unavailable(path);
      if (signal?.aborted) throw new HostError('canceled', `${path} was canceled`);
      if (this.#waiting.size >= MAX_OUTSTANDING) {
        throw new HostError('resource_exhausted', `more than ${MAX_OUTSTANDING} calls are waiting for an answer`);
      }
      const id = this.#nextId;
      const text = encode({ type: 'call', id, path, args });
      this.#takeToken();
      this.#nextId += 1;
      const onAbort = () => {
        if (!this.#waiting.delete(id)) return;
        this.#post({ type: 'cancel', id });
        reject(new HostError('canceled', `${path} was canceled`));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(id, { resolve, reject, release: () => signal?.removeEventListener('abort', onAbort) });
      this.#port.postMessage(text);
    });
  }

  /** Tells the host page without waiting. Throws what it refuses. */
  fire(path: string, args: unknown[]): void {
    if (this.#closed) throw unavailable(path);
    const text = encode({ type: 'fire', path, args });
    this.#takeToken();
    this.#port.postMessage(text);
  }

  /** Events of a topic until the answer is called, which then happens at once and for good. */
  subscribe(topic: string, filter: unknown, listener: Listener): () => void {
    if (this.#closed) return () => undefined;
    const sid = this.#nextId;
    const text = encode(filter === undefined ? { type: 'sub', sid, topic } : { type: 'sub', sid, topic, filter });
    this.#takeToken();
    this.#nextId += 1;
    this.#listeners.set(sid, listener);
    this.#port.postMessage(text);
    return () => {
      if (this.#listeners.delete(sid) && !this.#closed) this.#post({ type: 'unsub', sid });
    };
  }

  /** What the bootstrap itself reports; it counts against no limit. */
  report(message: Extract<Upward, { type: 'mounted' | 'mountError' | 'disposed' | 'log' | 'store' }>): void {
    this.#post(message);
  }

  /** The app is disposed: nothing gets through any more, and what waits is canceled. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#listeners.clear();
    for (const [id, waiting] of this.#waiting) {
      this.#waiting.delete(id);
      waiting.release();
      waiting.reject(new HostError('canceled', 'the app was closed'));
    }
  }

  #receive(data: unknown): void {
    const message = decode(data) as Downward | null;
    switch (message?.type) {
      case 'ret':
        this.#settle(message);
        break;
      case 'event':
        this.#deliver(message.sid, message.payload);
        break;
      case 'snap':
        this.#handlers.onSnap(message.snapshot);
        break;
      case 'ping':
        this.#post({ type: 'pong', n: message.n });
        break;
      case 'dispose':
        this.#handlers.onDispose();
        break;
      case 'stored':
        this.#handlers.onStored?.(message.key, message.value);
        break;
    }
  }

  #settle(message: Extract<Downward, { type: 'ret' }>): void {
    const waiting = this.#waiting.get(message.id);
    // Canceled here meanwhile.
    if (!waiting) return;
    this.#waiting.delete(message.id);
    waiting.release();
    if (message.ok) {
      waiting.resolve(message.value);
      return;
    }
    const { code, message: text, data } = message.error;
    waiting.reject(new HostError(isErrorCode(code) ? code : 'internal', text, data));
  }

  #deliver(sid: number, payload: unknown): void {
    try {
      this.#listeners.get(sid)?.(payload);
    } catch (error) {
      this.#handlers.onListenerError(error);
    }
  }

  #takeToken(): void {
    if (!this.#bucket.take()) {
      throw new HostError('rate_limited', `more than ${this.#bucket.rate} calls per second`);
    }
  }

  #post(message: Upward): void {
    this.#port.postMessage(encode(message));
  }
}

function unavailable(path: string): HostError {
  return new HostError('unavailable', `${path}: the app was closed`);
}
