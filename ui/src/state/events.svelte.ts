// The event stream as state: its connection, and who listens to which topic.

import { EventSocket, type SocketState } from '../api/socket';
import type { EventFrame } from '../protocol';

type Listener = (frame: EventFrame) => void;

export class Events {
  connection: SocketState = $state('stopped');
  /** When the next attempt starts, while waiting. */
  retryAt: number | null = $state(null);
  /** True once a connection was open and is no longer. */
  lost = $state(false);
  readonly #socket: EventSocket;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #every = new Set<Listener>();
  readonly #resync = new Set<() => void>();
  readonly #back = new Set<() => void>();

  constructor(ticket: () => Promise<string>, onProblem: (message: string) => void) {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.#socket = new EventSocket({
      url: `${scheme}://${location.host}/api/v1/events`,
      ticket,
      onProblem,
      onState: (state, retryInMs) => {
        if (state === 'open') this.#back.forEach((listener) => listener());
        if (state === 'waiting') this.lost = true;
        if (state === 'open' || state === 'stopped') this.lost = false;
        this.connection = state;
        this.retryAt = retryInMs === null ? null : Date.now() + retryInMs;
      },
      onEvent: (frame) => {
        this.#listeners.get(frame.topic)?.forEach((listener) => listener(frame));
        this.#every.forEach((listener) => listener(frame));
      },
      onResync: () => this.#resync.forEach((listener) => listener()),
    });
    addEventListener('online', () => this.#socket.retryNow());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#socket.retryNow();
    });
  }

  start(): void {
    this.#socket.start();
  }

  stop(): void {
    this.#socket.stop();
  }

  retryNow(): void {
    this.#socket.retryNow();
  }

  /** Follows a topic; the answer stops following it. */
  on(topic: string, listener: Listener): () => void {
    const set = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, set);
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Follows every topic, for those whose names are not known before (`chat:<sessionId>`). */
  onEvery(listener: Listener): () => void {
    this.#every.add(listener);
    return () => this.#every.delete(listener);
  }

  /** Is told when everything read so far may be out of date; also at the first connection. */
  onResync(listener: () => void): () => void {
    this.#resync.add(listener);
    return () => this.#resync.delete(listener);
  }

  /** Is told whenever a connection is open, also one that has missed nothing. */
  onOpen(listener: () => void): () => void {
    this.#back.add(listener);
    return () => this.#back.delete(listener);
  }
}
