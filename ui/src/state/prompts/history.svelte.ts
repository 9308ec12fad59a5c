// Closed prompts: searched and filtered by the host, read page by page. Steps of one chain are one row.

import { type ApiError, toApiError } from '../../api/error';
import type { PromptsApi } from '../../api/prompts';
import type { PromptQuery } from '../../api/prompts';
import { type PromptItem, readItem } from './item';
import { type Reading, readingOf } from './live.svelte';

export interface Filters {
  q: string;
  kind: string;
  source: string;
  runId: string;
  status: string;
  /** Days as `YYYY-MM-DD` in local time; both are included. */
  from: string;
  to: string;
}

export const NO_FILTERS: Filters = { q: '', kind: '', source: '', runId: '', status: '', from: '', to: '' };

/** One row of the history: a prompt, or a chain with its steps, the latest first. */
export interface HistoryRow {
  item: PromptItem;
  steps: PromptItem[];
}

const PAGE = 100;
const READING_RETRY_MS = 500;

/** Rows in order of the answers; a chain stands where its latest step stands. */
export function toRows(items: PromptItem[]): HistoryRow[] {
  const rows: HistoryRow[] = [];
  const chains = new Map<string, HistoryRow>();
  for (const item of items) {
    // Two askers may use the same chain id; they are still two dialogues.
    const key = item.chain ? `${item.owner ?? ''}\n${item.source ?? ''}\n${item.chain.id}` : null;
    const known = key === null ? undefined : chains.get(key);
    if (known) {
      known.steps.push(item);
      continue;
    }
    const row = { item, steps: [item] };
    rows.push(row);
    if (key !== null) chains.set(key, row);
  }
  return rows;
}

export function toQuery(filters: Filters): PromptQuery {
  const { q, kind, source, runId, status } = filters;
  const query: PromptQuery = { view: 'history', q: q.trim(), kind, source: source.trim(), runId: runId.trim(), status };
  const since = dayStart(filters.from, 0);
  const until = dayStart(filters.to, 1);
  if (since) query.since = since;
  if (until) query.until = until;
  return query;
}

function dayStart(day: string, plusDays: number): string | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (!match) return null;
  return new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]) + plusDays).toISOString();
}

export class History {
  filters: Filters = $state({ ...NO_FILTERS });
  rows: HistoryRow[] = $state.raw([]);
  loading = $state(false);
  complete = $state(false);
  started = $state(false);
  error: ApiError | null = $state.raw(null);
  reading: Reading | null = $state.raw(null);
  /** The filters of the last search. */
  #asked = $state.raw(JSON.stringify(NO_FILTERS));
  #items: PromptItem[] = [];
  /** Closed while a page was on its way. */
  #news: PromptItem[] = [];
  #cursor: string | null = null;
  #abort: AbortController | null = null;
  readonly #api: PromptsApi;

  constructor(api: PromptsApi) {
    this.#api = api;
  }

  get filtered(): boolean {
    return Object.values(this.filters).some((value) => value.trim() !== '');
  }

  /** The filters were changed since the last search. */
  get stale(): boolean {
    return JSON.stringify(this.filters) !== this.#asked;
  }

  /** The steps of the chain this prompt belongs to, in their order. */
  stepsOf(id: string): PromptItem[] {
    const row = this.rows.find(({ steps }) => steps.some((step) => step.id === id));
    return row ? [...row.steps].sort((a, b) => (a.chain?.step ?? 0) - (b.chain?.step ?? 0) || a.at - b.at) : [];
  }

  /** Starts over with the filters as they are now. */
  async search(): Promise<void> {
    this.#abort?.abort();
    this.#asked = JSON.stringify(this.filters);
    this.#cursor = null;
    this.started = false;
    this.complete = false;
    await this.#load(true);
  }

  /** Everything read before may be out of date, also what is on its way. */
  resync(): void {
    if (this.started || this.loading || this.error) void this.search();
  }

  async more(): Promise<void> {
    if (this.loading || this.complete || !this.started) return;
    await this.#load(false);
  }

  /** A prompt was closed just now. With filters only the host can tell whether it belongs here. */
  closed(item: PromptItem): void {
    if (this.filtered) return;
    // The page on its way may have been written before this was closed.
    if (this.loading) this.#news = [item, ...this.#news.filter((other) => other.id !== item.id)];
    if (!this.started) return;
    this.#items = [item, ...this.#items.filter((other) => other.id !== item.id)];
    this.rows = toRows(this.#items);
  }

  clear(): void {
    this.#abort?.abort();
    this.#items = [];
    this.#news = [];
    this.rows = [];
    this.#cursor = null;
    this.started = false;
    this.complete = false;
    this.error = null;
    this.filters = { ...NO_FILTERS };
    this.#asked = JSON.stringify(NO_FILTERS);
  }

  async #load(first: boolean): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    this.loading = true;
    this.#news = [];
    const query = toQuery(this.filters);
    try {
      const items: PromptItem[] = [];
      // A page may be empty although there is more: the host stops a long search now and then.
      do {
        const page = await this.#page({ ...query, cursor: this.#cursor, limit: PAGE }, abort);
        if (!page) return;
        items.push(...page.items.map(readItem).filter((item) => item !== null));
        this.#cursor = page.nextCursor ?? null;
      } while (items.length === 0 && this.#cursor !== null);
      const known = first ? this.#news : this.#items;
      const ids = new Set(known.map((item) => item.id));
      this.#items = [...known, ...items.filter((item) => !ids.has(item.id))];
      this.rows = toRows(this.#items);
      this.complete = this.#cursor === null;
      this.started = true;
      this.error = null;
    } catch (thrown) {
      if (!abort.signal.aborted) this.error = toApiError(thrown);
    } finally {
      if (this.#abort === abort) this.loading = false;
    }
  }

  async #page(query: PromptQuery, abort: AbortController): Promise<Awaited<ReturnType<PromptsApi['list']>> | null> {
    for (;;) {
      try {
        const page = await this.#api.list(query, abort.signal);
        this.reading = null;
        return abort.signal.aborted ? null : page;
      } catch (thrown) {
        if (abort.signal.aborted) return null;
        const error = toApiError(thrown);
        this.reading = readingOf(error);
        if (!this.reading) throw error;
        await new Promise((resolve) => setTimeout(resolve, READING_RETRY_MS));
        if (abort.signal.aborted) return null;
      }
    }
  }
}
