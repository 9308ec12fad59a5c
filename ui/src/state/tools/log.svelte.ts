// The log of tool calls: searched by the host, read page by page, and followed while it grows. The lines
// of one call are one row.

import { type ApiError, toApiError } from '../../api/error';
import type { ToolsApi } from '../../api/tools';
import type { EventFrame } from '../../protocol';
import type { ToolLogQuery, ToolRecord } from '../../protocol/tools';

export interface LogFilters {
  q: string;
  server: string;
  tool: string;
  status: string;
  /** Only the calls of one run. */
  runId: string;
}

export const ANY: LogFilters = { q: '', server: '', tool: '', status: '', runId: '' };

/** Statuses of tools §6, in the order a person looks for them. */
export const LOG_STATUSES = ['ok', 'noop', 'partial', 'needs_input', 'canceled', 'invalid', 'denied', 'not_found', 'timeout', 'error'] as const;

/** One call: how it began, and how it ended as far as that is known. */
export interface LogRow {
  /** Names the call among all: ids of models are their own only within a run. */
  key: string;
  callId: string;
  runId: string | null;
  begun: ToolRecord | null;
  ended: ToolRecord | null;
}

const PAGE = 100;
/** Beyond this the oldest are let go; they are read again when somebody goes there. */
const KEEP = 2_000;

function keyOf(record: ToolRecord): string {
  return record.runId ? `${record.runId}\n${record.callId}` : record.callId;
}

function newRow(record: ToolRecord): LogRow {
  return { key: keyOf(record), callId: record.callId, runId: record.runId ?? null, begun: null, ended: null };
}

export function toRows(records: ToolRecord[]): LogRow[] {
  const rows = new Map<string, LogRow>();
  for (const record of records) {
    const key = keyOf(record);
    const row = rows.get(key) ?? newRow(record);
    if (record.type === 'tool_call') row.begun ??= record;
    else row.ended ??= record;
    rows.set(key, row);
  }
  return [...rows.values()];
}

/** Whether a new line is one of those that are looked at; the same test as the host's. */
export function fits(record: ToolRecord, filters: LogFilters): boolean {
  const same = (wanted: string, value: string | undefined) => wanted.trim() === '' || value === wanted.trim();
  const text = filters.q.trim().toLowerCase();
  return (
    same(filters.server, record.server) &&
    same(filters.tool, record.toolName) &&
    same(filters.status, record.status) &&
    same(filters.runId, record.runId ?? undefined) &&
    (text === '' || JSON.stringify(record).toLowerCase().includes(text))
  );
}

function isRecord(value: unknown): value is ToolRecord {
  const record = value as Partial<ToolRecord> | null;
  return typeof record?.callId === 'string' && typeof record.type === 'string' && typeof record.ts === 'string';
}

export class ToolLog {
  filters: LogFilters = $state({ ...ANY });
  rows: LogRow[] = $state.raw([]);
  loading = $state(false);
  complete = $state(false);
  started = $state(false);
  error: ApiError | null = $state.raw(null);
  /** New lines are shown as they come. */
  live = $state(true);
  /** Lines that came while nobody followed. */
  missed = $state(0);
  #asked = $state.raw(JSON.stringify(ANY));
  #records: ToolRecord[] = [];
  #seen = new Set<string>();
  /** Came while a first page was on its way. */
  #news: ToolRecord[] = [];
  /** Lines may have come that nobody told of while nobody followed. */
  #doubtful = false;
  #cursor: string | null = null;
  #abort: AbortController | null = null;
  readonly #api: ToolsApi;

  constructor(api: ToolsApi) {
    this.#api = api;
  }

  get filtered(): boolean {
    return Object.values(this.filters).some((value) => value.trim() !== '');
  }

  /** The filters were changed since the last search. */
  get stale(): boolean {
    return JSON.stringify(this.filters) !== this.#asked;
  }

  /** Starts over with the filters as they are now. */
  async search(): Promise<void> {
    this.#asked = JSON.stringify(this.filters);
    this.#cursor = null;
    this.#news = [];
    this.missed = 0;
    this.#doubtful = false;
    await this.#load(true);
  }

  async more(): Promise<void> {
    if (this.loading || this.complete || !this.started) return;
    if (this.#cursor === null) return this.search();
    await this.#load(false);
  }

  follow(live: boolean): void {
    this.live = live;
    if (live && (this.missed > 0 || this.#doubtful)) void this.search();
  }

  onEvent(frame: EventFrame): void {
    if (frame.type === 'tool_log_gap' && this.started) {
      if (this.live) void this.search();
      else this.missed += 1;
    }
    if (frame.type !== 'tool_log' || !isRecord(frame.data) || !fits(frame.data, this.filters)) return;
    if (this.loading) this.#news = [frame.data, ...this.#news];
    if (!this.started) return;
    if (!this.live) {
      this.missed += 1;
      return;
    }
    this.#add(frame.data);
  }

  /** Everything read before may be out of date. */
  resync(): void {
    if (!this.started && !this.loading && !this.error) return;
    if (this.live || !this.started) void this.search();
    else this.#doubtful = true;
  }

  /** Both lines of one call, whatever the filters hide. */
  async call({ key, callId, runId }: LogRow): Promise<LogRow | null> {
    const { items } = await this.#api.log({ callId, ...(runId === null ? {} : { runId }), limit: 10 });
    return toRows(items.filter(isRecord)).find((row) => row.key === key) ?? null;
  }

  clear(): void {
    this.#abort?.abort();
    this.#records = [];
    this.#seen = new Set();
    this.#news = [];
    this.#cursor = null;
    this.rows = [];
    this.started = false;
    this.complete = false;
    this.loading = false;
    this.missed = 0;
    this.error = null;
    this.filters = { ...ANY };
    this.#asked = JSON.stringify(ANY);
  }

  async #load(first: boolean): Promise<void> {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    this.loading = true;
    try {
      let cursor = this.#cursor;
      const items: ToolRecord[] = [];
      // A page may be empty although there is more: the host looks at so much at a time.
      do {
        const page = await this.#api.log({ ...toQuery(this.filters), limit: PAGE, cursor }, abort.signal);
        if (abort.signal.aborted) return;
        items.push(...page.items.filter(isRecord));
        cursor = page.nextCursor ?? null;
      } while (items.length === 0 && cursor !== null);
      this.#cursor = cursor;
      this.complete = cursor === null;
      this.started = true;
      this.error = null;
      this.#keep(first ? [...this.#news, ...items] : [...this.#records, ...items], !first);
    } catch (thrown) {
      if (!abort.signal.aborted) this.error = toApiError(thrown);
    } finally {
      if (this.#abort === abort) {
        this.loading = false;
        this.#news = [];
      }
    }
  }

  /** Each line once. `all`: somebody goes back in time, nothing is let go. */
  #keep(records: ToolRecord[], all = false): void {
    this.#seen = new Set();
    this.#records = records.filter((record) => this.#isNew(record));
    if (!all && this.#records.length > KEEP) {
      this.#cursor = null;
      this.complete = false;
      this.#keep(this.#records.slice(0, KEEP / 2));
      return;
    }
    this.rows = toRows(this.#records);
  }

  /** One line more, on top; the row of its call goes there, too. */
  #add(record: ToolRecord): void {
    if (!this.#isNew(record)) return;
    this.#records.unshift(record);
    if (this.#records.length > KEEP) return this.#keep(this.#records);
    const key = keyOf(record);
    const known = this.rows.find((row) => row.key === key);
    const row = { ...(known ?? newRow(record)) };
    if (record.type === 'tool_call') row.begun = record;
    else row.ended = record;
    this.rows = [row, ...(known ? this.rows.filter((other) => other !== known) : this.rows)];
  }

  #isNew(record: ToolRecord): boolean {
    const key = `${keyOf(record)}\n${record.type}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }
}

function toQuery(filters: LogFilters): ToolLogQuery {
  return { q: filters.q.trim(), server: filters.server.trim(), tool: filters.tool.trim(), status: filters.status, ...(filters.runId === '' ? {} : { runId: filters.runId }) };
}
