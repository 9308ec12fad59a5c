// Runs: the list with its filters, one run with its steps and its trace, and what can be done with it.

import { type ApiError, toApiError } from '../api/error';
import type { RunsApi } from '../api/chat';
import type { EventFrame } from '../protocol';
import type { RunView, TraceView } from '../protocol/wire';
import { Resource } from './resource.svelte';

const PAGE = 50;
const REREAD_MS = 250;
/** In the place of a state: the work of other programs. */
export const PROGRAMS = 'programs';
/** States in which a run still holds something. */
export const OPEN_STATES = ['queued', 'running', 'waiting_prompt', 'waiting_async'] as const;

export function isOpen(state: string): boolean {
  return (OPEN_STATES as readonly string[]).includes(state);
}

export class RunDetail {
  readonly id: string;
  readonly run: Resource<RunView>;
  readonly trace: Resource<TraceView | null>;
  /** It changed files. */
  readonly changed: Resource<boolean>;

  constructor(id: string, api: RunsApi) {
    this.id = id;
    this.run = new Resource(() => api.get(id));
    this.trace = new Resource(async () => {
      const traceId = this.run.data?.traceId;
      return traceId ? api.trace(traceId) : null;
    });
    this.changed = new Resource(() => api.changedFiles(id));
  }

  async load(): Promise<void> {
    await this.run.load();
    // The calls of another program are traced and kept one by one.
    if (this.run.data?.kind === 'client') return;
    await Promise.all([this.trace.load(), this.changed.load()]);
  }
}

export class Runs {
  items: RunView[] = $state.raw([]);
  state = $state('');
  loading = $state(false);
  started = $state(false);
  complete = $state(false);
  error: ApiError | null = $state.raw(null);
  /** How many wait for a word of the person. */
  interrupted: RunView[] = $state.raw([]);
  current: RunDetail | null = $state.raw(null);
  readonly api: RunsApi;
  #cursor: string | null = null;
  #generation = 0;
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: RunsApi) {
    this.api = api;
  }

  async load(): Promise<void> {
    const generation = (this.#generation += 1);
    this.loading = true;
    try {
      const page = await this.api.list({ ...this.#wanted(), limit: PAGE });
      if (generation !== this.#generation) return;
      this.items = page.items;
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
    if (this.loading || this.complete || this.#cursor === null) return;
    const generation = this.#generation;
    this.loading = true;
    try {
      const page = await this.api.list({ ...this.#wanted(), limit: PAGE, cursor: this.#cursor });
      if (generation !== this.#generation) return;
      const known = new Set(this.items.map((run) => run.id));
      this.items = [...this.items, ...page.items.filter((run) => !known.has(run.id))];
      this.#cursor = page.nextCursor ?? null;
      this.complete = this.#cursor === null;
    } catch (thrown) {
      if (generation === this.#generation) this.error = toApiError(thrown);
    } finally {
      if (generation === this.#generation) this.loading = false;
    }
  }

  #wanted(): { state: string } | { kind: string } {
    return this.state === PROGRAMS ? { kind: 'client' } : { state: this.state };
  }

  filter(state: string): void {
    this.state = state;
    void this.load();
  }

  /** The runs that a stopped host left behind; shown on every page as a count (agents §8). */
  async loadInterrupted(): Promise<void> {
    const asked = (this.#asked += 1);
    let found: RunView[] = [];
    try {
      found = (await this.api.list({ state: 'interrupted', limit: PAGE })).items.filter((run) => run.kind !== 'sub');
    } catch {
      // A count beside the menu is an extra; the Runs page itself says what is wrong.
    }
    // Asked for again since: the later answer counts.
    if (asked === this.#asked) this.interrupted = found;
  }

  open(id: string): RunDetail {
    if (this.current?.id !== id) {
      this.current = new RunDetail(id, this.api);
      void this.current.load();
    }
    return this.current;
  }

  onEvent(frame: EventFrame): void {
    if (frame.type !== 'run_changed') return;
    // Not put off by the next one: runs that change all the time would never be read.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.resync();
    }, REREAD_MS);
  }

  resync(): void {
    void this.loadInterrupted();
    // A first page that is on its way may be older than what led here.
    if (this.started || this.loading || this.error) void this.load();
    if (this.current) void this.current.load();
  }

  clear(): void {
    this.#generation += 1;
    this.#asked += 1;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.loading = false;
    this.items = [];
    this.interrupted = [];
    this.started = false;
    this.complete = false;
    this.state = '';
    this.error = null;
    this.current = null;
  }
}
