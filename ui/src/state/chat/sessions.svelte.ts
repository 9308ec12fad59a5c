// The list of chats: read page by page, pinned ones first, kept current by events, and searched on the host.

import { type ApiError, toApiError } from '../../api/error';
import type { ChatApi, SessionChange } from '../../api/chat';
import type { EventFrame } from '../../protocol';
import type { WireSearchHit, WireSession } from '../../protocol/chat';

const PAGE = 60;
const SEARCH_AFTER_MS = 200;

/** Pinned first, then the newest (agents §11 tells nothing of order; a list that jumps would be worse). */
export function inOrder(sessions: readonly WireSession[]): WireSession[] {
  const time = (session: WireSession) => session.lastMessageAt ?? session.updatedAt;
  return [...sessions].sort((a, b) => Number(b.pinned) - Number(a.pinned) || time(b).localeCompare(time(a)) || a.id.localeCompare(b.id));
}

/** Whether an event says that a chat is gone. */
export function isRemoved(frame: EventFrame): boolean {
  return frame.type === 'session_removed' || (frame.type === 'session_changed' && (frame.data as { change?: unknown } | null)?.change === 'deleted');
}

export class Sessions {
  items: WireSession[] = $state.raw([]);
  archived = $state(false);
  loading = $state(false);
  started = $state(false);
  complete = $state(false);
  error: ApiError | null = $state.raw(null);
  query = $state('');
  hits: WireSearchHit[] = $state.raw([]);
  searching = $state(false);
  /** Chats that ended a run while nobody looked. */
  unseen: ReadonlySet<string> = $state.raw(new Set());
  /** The one on screen. */
  current: string | null = null;
  readonly #api: ChatApi;
  #cursor: string | null = null;
  #generation = 0;
  #searchTimer: ReturnType<typeof setTimeout> | undefined;
  #search: AbortController | null = null;
  readonly #wanted = new Set<string>();

  constructor(api: ChatApi) {
    this.#api = api;
  }

  get running(): WireSession[] {
    return this.items.filter((session) => session.running);
  }

  get interrupted(): WireSession[] {
    return this.items.filter((session) => session.run?.state === 'interrupted');
  }

  get(id: string): WireSession | null {
    return this.items.find((session) => session.id === id) ?? null;
  }

  /** Reads the list from its start; what is shown stays until it is here. */
  async load(): Promise<void> {
    const generation = (this.#generation += 1);
    this.loading = true;
    try {
      const page = await this.#api.sessions({ archived: this.archived, limit: PAGE });
      if (generation !== this.#generation) return;
      this.items = inOrder(page.items);
      this.#cursor = page.nextCursor ?? null;
      this.complete = this.#cursor === null;
      this.started = true;
      this.error = null;
    } catch (thrown) {
      if (generation === this.#generation) this.error = toApiError(thrown);
    } finally {
      if (generation === this.#generation) this.loading = false;
    }
  }

  async more(): Promise<void> {
    if (this.loading || this.complete || !this.started || this.#cursor === null) return;
    const generation = this.#generation;
    this.loading = true;
    try {
      const page = await this.#api.sessions({ archived: this.archived, limit: PAGE, cursor: this.#cursor });
      if (generation !== this.#generation) return;
      const known = new Set(this.items.map((session) => session.id));
      this.items = inOrder([...this.items, ...page.items.filter((session) => !known.has(session.id))]);
      this.#cursor = page.nextCursor ?? null;
      this.complete = this.#cursor === null;
    } catch (thrown) {
      if (generation === this.#generation) this.error = toApiError(thrown);
    } finally {
      if (generation === this.#generation) this.loading = false;
    }
  }

  showArchived(archived: boolean): void {
    this.archived = archived;
    void this.load();
  }

  /** Takes a session as just read; it leaves a list it no longer belongs to. */
  put(session: WireSession): void {
    const belongs = (session.archivedAt ?? null) !== null === this.archived;
    const others = this.items.filter((known) => known.id !== session.id);
    if (!this.started) return;
    this.items = belongs ? inOrder([...others, session]) : others;
  }

  drop(id: string): void {
    this.items = this.items.filter((session) => session.id !== id);
    this.hits = this.hits.filter((hit) => hit.sessionId !== id);
  }

  async change(id: string, change: SessionChange): Promise<WireSession> {
    const session = await this.#api.change(id, change);
    this.put(session);
    return session;
  }

  async remove(id: string): Promise<void> {
    await this.#api.remove(id);
    this.drop(id);
  }

  seen(id: string | null): void {
    this.current = id;
    if (id === null || !this.unseen.has(id)) return;
    this.unseen = new Set([...this.unseen].filter((other) => other !== id));
  }

  find(query: string): void {
    this.query = query;
    clearTimeout(this.#searchTimer);
    this.#search?.abort();
    if (query.trim() === '') {
      this.hits = [];
      this.searching = false;
      return;
    }
    this.searching = true;
    this.#searchTimer = setTimeout(() => void this.#find(query.trim()), SEARCH_AFTER_MS);
  }

  onEvent(frame: EventFrame): void {
    const data = frame.data as { id?: unknown; sessionId?: unknown; state?: unknown; change?: unknown } | null;
    if (isRemoved(frame) && typeof data?.id === 'string') return this.drop(data.id);
    if (frame.type === 'session_changed' && typeof data?.id === 'string') return this.#want(data.id);
    if (frame.type !== 'run_changed' || typeof data?.sessionId !== 'string') return;
    const ended = ['done', 'failed', 'aborted'].includes(String(data.state));
    if (ended && data.sessionId !== this.current && this.get(data.sessionId)?.running) this.unseen = new Set([...this.unseen, data.sessionId]);
    this.#want(data.sessionId);
  }

  clear(): void {
    this.#generation += 1;
    this.#search?.abort();
    clearTimeout(this.#searchTimer);
    this.items = [];
    this.hits = [];
    this.query = '';
    this.started = false;
    this.complete = false;
    this.archived = false;
    this.error = null;
    this.unseen = new Set();
    this.#cursor = null;
  }

  /** Reads one session again; several wishes within a moment are one. */
  #want(id: string): void {
    if (!this.started || this.#wanted.has(id)) return;
    this.#wanted.add(id);
    setTimeout(() => void this.#reread(id), 60);
  }

  async #reread(id: string): Promise<void> {
    this.#wanted.delete(id);
    const generation = this.#generation;
    try {
      const session = await this.#api.session(id);
      if (generation === this.#generation) this.put(session);
    } catch (thrown) {
      // Removed meanwhile; anything else shows when the list is read next.
      if (toApiError(thrown).status === 404) this.drop(id);
    }
  }

  async #find(query: string): Promise<void> {
    const abort = new AbortController();
    this.#search = abort;
    try {
      const { items } = await this.#api.search(query, abort.signal);
      if (!abort.signal.aborted) this.hits = items;
    } catch (thrown) {
      if (!abort.signal.aborted) this.error = toApiError(thrown);
    } finally {
      if (!abort.signal.aborted) this.searching = false;
    }
  }
}
