// The event stream: one WebSocket that is opened with a one-use ticket, resumes after the last
// sequence number it saw, and tells its owner when everything must be read again.
//
// It never gives up while it is started: each failure waits longer, up to MAX_DELAY_MS, and the
// browser coming back online or into view tries at once.

import type { EventFrame, HelloData } from '../protocol';

export type SocketState = 'stopped' | 'connecting' | 'open' | 'waiting';

export interface SocketHandlers {
  onState: (state: SocketState, retryInMs: number | null) => void;
  onEvent: (frame: EventFrame) => void;
  /** The stream has a gap: whatever was read before may be out of date. */
  onResync: () => void;
  /** A frame that cannot be read, or an unexpected failure; the stream goes on. */
  onProblem: (message: string) => void;
}

export interface SocketOptions extends SocketHandlers {
  url: string;
  /** Gets a fresh ticket; rejects with `status: 401` when the session is over. */
  ticket: () => Promise<string>;
  open?: (url: string, protocols: string[]) => WebSocket;
  random?: () => number;
}

const BASE_DELAY_MS = 400;
const MAX_DELAY_MS = 15_000;
/** A silent socket is asked; without any frame in the time after, it is dead. */
const PING_EVERY_MS = 25_000;
const PONG_WITHIN_MS = 10_000;
/** A connection that has said nothing for so long after it was begun is dead as well. */
const HELLO_WITHIN_MS = 30_000;

/** The wait before attempt `n` (from 0): doubling, capped, with up to a third of jitter taken off. */
export function backoff(attempt: number, random: number): number {
  const full = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** Math.min(attempt, 16));
  return Math.round(full - (full / 3) * random);
}

export class EventSocket {
  readonly #options: SocketOptions;
  #socket: WebSocket | null = null;
  #state: SocketState = 'stopped';
  #attempt = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #pingTimer: ReturnType<typeof setTimeout> | undefined;
  /** Grows with each connection; callbacks of an older one are ignored. */
  #generation = 0;
  #lastSeq: number | null = null;
  #bootId: string | null = null;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  get state(): SocketState {
    return this.#state;
  }

  /** The sequence number the next connection resumes after. */
  get lastSeq(): number | null {
    return this.#lastSeq;
  }

  start(): void {
    if (this.#state !== 'stopped') return;
    this.#attempt = 0;
    void this.#connect();
  }

  stop(): void {
    this.#drop();
    this.#lastSeq = null;
    this.#bootId = null;
    this.#setState('stopped', null);
  }

  /** Skips the rest of a waiting time. */
  retryNow(): void {
    if (this.#state !== 'waiting') return;
    clearTimeout(this.#retryTimer);
    void this.#connect();
  }

  async #connect(): Promise<void> {
    this.#drop();
    const generation = this.#generation;
    this.#setState('connecting', null);
    let ticket: string;
    try {
      ticket = await this.#options.ticket();
    } catch (error) {
      if (generation !== this.#generation) return;
      if ((error as { status?: number }).status === 401) this.stop();
      else this.#retry();
      return;
    }
    if (generation !== this.#generation) return;
    const url = this.#lastSeq === null ? this.#options.url : `${this.#options.url}?since=${this.#lastSeq}`;
    const open = this.#options.open ?? ((address, protocols) => new WebSocket(address, protocols));
    const socket = open(url, ['chatos.v1', `ticket.${ticket}`]);
    this.#socket = socket;
    this.#pingTimer = setTimeout(() => this.#retry(), HELLO_WITHIN_MS);
    socket.onmessage = (event) => {
      if (generation === this.#generation) this.#receive(event.data);
    };
    socket.onclose = () => {
      if (generation === this.#generation) this.#retry();
    };
    // An error is always followed by close, which has the retry.
    socket.onerror = null;
  }

  #receive(raw: unknown): void {
    this.#watch();
    const frame = parseFrame(raw);
    if (!frame) {
      this.#options.onProblem(`unreadable event: ${String(raw).slice(0, 120)}`);
      return;
    }
    if (frame.topic === 'host' && frame.type === 'pong') return;
    if (frame.topic === 'host' && (frame.type === 'hello' || frame.type === 'resync')) {
      this.#hello(frame);
      return;
    }
    // A resumed stream may repeat what we already have.
    if (this.#lastSeq !== null && frame.seq <= this.#lastSeq) return;
    this.#lastSeq = frame.seq;
    this.#options.onEvent(frame);
  }

  #hello(frame: EventFrame): void {
    const hello = frame.data as Partial<HelloData> | null;
    const bootId = typeof hello?.bootId === 'string' ? hello.bootId : null;
    const sameBoot = this.#bootId !== null && bootId === this.#bootId;
    this.#attempt = 0;
    // Resumed: the missed frames follow and carry the sequence on. Otherwise there may be a gap; a host that
    // no longer has what was missed says `resync` in place of `hello`.
    if (!(frame.type === 'hello' && sameBoot && hello?.resumed === true)) {
      this.#lastSeq = frame.seq;
      this.#options.onResync();
    }
    this.#bootId = bootId ?? this.#bootId;
    this.#setState('open', null);
  }

  #watch(): void {
    clearTimeout(this.#pingTimer);
    this.#pingTimer = setTimeout(() => {
      this.#socket?.send(JSON.stringify({ type: 'ping' }));
      this.#pingTimer = setTimeout(() => this.#retry(), PONG_WITHIN_MS);
    }, PING_EVERY_MS);
  }

  #retry(): void {
    this.#drop();
    const delay = backoff(this.#attempt, (this.#options.random ?? Math.random)());
    this.#attempt += 1;
    this.#retryTimer = setTimeout(() => void this.#connect(), delay);
    this.#setState('waiting', delay);
  }

  #drop(): void {
    this.#generation += 1;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#pingTimer);
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  #setState(state: SocketState, retryInMs: number | null): void {
    this.#state = state;
    this.#options.onState(state, retryInMs);
  }
}

function parseFrame(raw: unknown): EventFrame | null {
  if (typeof raw !== 'string') return null;
  try {
    const value = JSON.parse(raw) as Partial<EventFrame> | null;
    const good = typeof value?.seq === 'number' && typeof value.topic === 'string' && typeof value.type === 'string';
    return good ? (value as EventFrame) : null;
  } catch {
    // Reported by the caller with the text.
    return null;
  }
}
