// The list of chats: read page by page, pinned ones first, kept current by events, and searched on the host.

import { type ApiError, toApiError } from '../../api/error';
import type { ChatApi, SessionChange } from '../../api/chat';
import type { EventFrame } from '../../protocol';
import type { SearchHit, SessionView } from '../../protocol/wire';

const PAGE = 60;
const SEARCH_AFTER_MS = 200;
const ACTIVE: readonly string[] = ['queued', 'running', 'waiting_prompt', 'waiting_async'];

/** Pinned first, then the newest (agents §11 tells nothing of order; a list that jumps would be worse). */
export function inOrder(sessions: readonly SessionView[]): SessionView[] {
  const time = (session: SessionView) => session.lastMessageAt ?? session.updatedAt;
  return [...sessions].sort((a, b) => Number(b.pinned) - Number(a.pinned) || time(b).localeCompare(time(a)) || a.id.localeCompare(b.id));
}

/** Whether an event says that a chat is gone. */
export function isRemoved(frame: EventFrame): boolean {
  return frame.type === 'session_removed' || (frame.type === 'session_changed' && (frame.data as { change?: unknown } | null)?.change === 'deleted');
}

export class Sessions {
  items: SessionView[] = $state.raw([]);
  archived = $state(false);
  loading = $state(false);
  started = $state(false);
  complete = $state(false);
  error: ApiError | null = $state.raw(null);
  query = $state('');
  hits: SearchHit[] = $state.raw([]);
  searching = $state(false);
  /** Chats that ended a run while nobody looked. */
  unseen: ReadonlySet<string> = $state.raw(new Set());
  /** The one on screen. */
  current: string | null = null;
  readonly #api: ChatApi;
  #cursor: string | null = null;
  #generation = 0;
  /** Grows when everything is forgotten. */
  #epoch = 0;
  /** Counts what was asked for and told; an answer that was asked for before another one knows less than it. */
  #clock = 0;
  /** When the page that is shown was asked for. */
  #pageMark = 0;
  /** What was last said of a session, and when that was asked for; null: it is gone. */
  readonly #told = new Map<string, { mark: number; session: SessionView | null }>();
  #searchTimer: ReturnType<typeof setTimeout> | undefined;
  #search: AbortController | null = null;
  readonly #wanted = new Set<string>();
  /** Runs whose beginning was told, and not yet their end. */
  readonly #begun = new Set<string>();

  constructor(api: ChatApi) {
    this.#api = api;
  }

  get running(): SessionView[] {
    return this.items.filter((session) => session.running);
  }

  get interrupted(): SessionView[] {
    return this.items.filter((session) => session.run?.state === 'interrupted');
  }

  get(id: string): SessionView | null {
    return this.items.find((session) => session.id === id) ?? null;
  }

  /** Notes when something is asked for; its answer is put with it. */
  mark(): number {
    return (this.#clock += 1);
  }

  /** Everything read before may be out of date, also what is on its way or could not be read. */
  resync(): void {
    if (this.started || this.loading || this.error) void this.load();
  }

  /** Reads the list from its start; what is shown stays until it is here. */
  async load(): Promise<void> {
    const generation = (this.#generation += 1);
    const mark = this.mark();
    this.loading = true;
    try {
      const page = await this.#api.sessions({ archived: this.archived, limit: PAGE });
      if (generation !== this.#generation) return;
      this.items = this.#withNews(page.items, mark);
      this.#pageMark = mark;
      for (const [id, told] of this.#told) if (told.mark < mark) this.#told.delete(id);
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
    const mark = this.mark();
    this.loading = true;
    try {
      const page = await this.#api.sessions({ archived: this.archived, limit: PAGE, cursor: this.#cursor });
      if (generation !== this.#generation) return;
      const known = new Set(this.items.map((session) => session.id));
      this.items = this.#withNews([...this.items, ...page.items.filter((session) => !known.has(session.id))], mark);
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

  /** Takes a session that was asked for at `mark`; it leaves a list it no longer belongs to. */
  put(session: SessionView, mark = this.mark()): void {
    const told = this.#told.get(session.id)?.mark ?? (this.get(session.id) ? this.#pageMark : 0);
    // Something newer is known; pages and single answers overtake each other.
    if (told > mark) return;
    this.#told.set(session.id, { mark, session });
    if (this.started) this.items = this.#withNews(this.items, mark - 1);
  }

  drop(id: string): void {
    this.#told.set(id, { mark: this.mark(), session: null });
    this.items = this.items.filter((session) => session.id !== id);
    this.hits = this.hits.filter((hit) => hit.sessionId !== id);
  }

  async change(id: string, change: SessionChange): Promise<SessionView> {
    const mark = this.mark();
    const session = await this.#api.change(id, change);
    this.put(session, mark);
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
    const data = frame.data as { id?: unknown; sessionId?: unknown; state?: unknown } | null;
    if (isRemoved(frame) && typeof data?.id === 'string') return this.drop(data.id);
    if (frame.type === 'session_changed' && typeof data?.id === 'string') return this.#want(data.id);
    if (frame.type !== 'run_changed' || typeof data?.sessionId !== 'string') return;
    const ended = ['done', 'failed', 'aborted'].includes(String(data.state));
    // A short run is over before the list was read with it.
    const ran = this.#begun.delete(String(data.id)) || this.get(data.sessionId)?.running;
    if (ACTIVE.includes(String(data.state))) this.#begun.add(String(data.id));
    if (ended && data.sessionId !== this.current && ran) this.unseen = new Set([...this.unseen, data.sessionId]);
    this.#want(data.sessionId);
  }

  clear(): void {
    this.#generation += 1;
    this.#epoch += 1;
    this.#search?.abort();
    clearTimeout(this.#searchTimer);
    this.items = [];
    this.hits = [];
    this.query = '';
    this.started = false;
    this.loading = false;
    this.complete = false;
    this.archived = false;
    this.#told.clear();
    this.#begun.clear();
    this.error = null;
    this.unseen = new Set();
    this.#cursor = null;
  }

  /** What was read, with what was told since it was asked for. */
  #withNews(sessions: readonly SessionView[], mark: number): SessionView[] {
    const all = new Map(sessions.map((session) => [session.id, session]));
    for (const [id, told] of this.#told) {
      if (told.mark <= mark) continue;
      all.delete(id);
      if (told.session && ((told.session.archivedAt ?? null) !== null) === this.archived) all.set(id, told.session);
    }
    return inOrder([...all.values()]);
  }

  /** Reads one session again; several wishes within a moment are one. A list on its way may be older. */
  #want(id: string): void {
    if ((!this.started && !this.loading) || this.#wanted.has(id)) return;
    this.#wanted.add(id);
    setTimeout(() => void this.#reread(id), 60);
  }

  async #reread(id: string): Promise<void> {
    this.#wanted.delete(id);
    const mark = this.mark();
    const epoch = this.#epoch;
    try {
      const session = await this.#api.session(id);
      if (epoch === this.#epoch) this.put(session, mark);
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
