// Tasks and the project journal, read again whenever the host says that they changed.

import type { Client, JournalQuery, TaskQuery } from '../api/client';
import type { EventFrame, JournalPage, JournalProjects, NewTask, Task, TaskChange, TaskPage } from '../protocol';
import { Resource } from './resource.svelte';

export const STATUSES = ['todo', 'doing', 'blocked', 'done'] as const;
export const PRIORITIES = ['high', 'medium', 'low'] as const;
export const SCOPES = ['default', 'cli', 'chat'] as const;
export type TaskStatus = (typeof STATUSES)[number];

/** The most a host gives at once, and how many more a person gets with one press. */
const PAGE = 200;
const JOURNAL_PAGE = 50;

/** What the list is narrowed to. */
export interface TaskFilters {
  q: string;
  status: string;
  priority: string;
  tag: string;
  scope: string;
  /** Finished ones are left out. */
  open: boolean;
}

export const ALL_TASKS: Readonly<TaskFilters> = { q: '', status: '', priority: '', tag: '', scope: '', open: false };

/** A page of tasks, and how many there are of each status on the host. */
export type CountedTasks = TaskPage & { counts: Readonly<Record<string, number>> };

export class Tasks {
  filters: TaskFilters = $state({ ...ALL_TASKS });
  readonly list: Resource<CountedTasks>;
  readonly #client: Client;
  #pages = 1;

  constructor(client: Client) {
    this.#client = client;
    this.list = new Resource(() => this.#fetch({ ...this.filters }, this.#pages));
  }

  get all(): Task[] {
    return this.list.data?.items ?? [];
  }

  get filtered(): boolean {
    return Object.values(this.filters).some((value) => value !== '' && value !== false);
  }

  /** Narrows the list, from its beginning. */
  narrow(change: Partial<TaskFilters>): void {
    this.filters = { ...this.filters, ...change };
    this.#pages = 1;
    void this.list.load();
  }

  /** Shows as many again. */
  async more(): Promise<void> {
    this.#pages += 1;
    await this.list.load();
  }

  async add(task: NewTask): Promise<void> {
    await this.#client.addTask(task);
    await this.list.load();
  }

  /** Shows the change at once and takes it back when the host refuses it. */
  async change(task: Task, change: TaskChange): Promise<Task> {
    this.#keep({ ...task, ...withoutNote(change) });
    try {
      const changed = await this.#client.changeTask(task.id, change);
      this.#keep(changed);
      return changed;
    } catch (thrown) {
      this.#keep(task);
      // It may be another one by now; that may be why it was refused.
      void this.list.refresh();
      throw thrown;
    }
  }

  async remove(id: string): Promise<void> {
    await this.#client.deleteTask(id);
    await this.list.load();
  }

  async clearDone(): Promise<number> {
    const { cleared } = await this.#client.clearTasks('done');
    await this.list.load();
    return cleared;
  }

  onEvent(frame: EventFrame): void {
    if (frame.type === 'tasks_changed') void this.list.refresh();
  }

  clear(): void {
    this.filters = { ...ALL_TASKS };
    this.#pages = 1;
    this.list.clear();
  }

  async #fetch(filters: TaskFilters, pages: number): Promise<CountedTasks> {
    const query: TaskQuery = { limit: PAGE };
    for (const key of ['q', 'status', 'priority', 'tag', 'scope'] as const) if (filters[key] !== '') query[key] = filters[key];
    if (filters.open) query.open = true;
    const page = await joined(pages, (cursor) => this.#client.tasks(cursor === null ? query : { ...query, cursor }));
    return { ...page, counts: await this.#counts(page, query) };
  }

  /** Of a list that is not here as a whole, the host knows how many there are. */
  async #counts(page: TaskPage, query: TaskQuery): Promise<Record<string, number>> {
    const here = (status: string) => page.items.filter((task) => task.status === status).length;
    if (!page.nextCursor) return Object.fromEntries(STATUSES.map((status) => [status, here(status)]));
    const wanted = STATUSES.filter((status) => (query.status ?? status) === status && !(query.open && status === 'done'));
    const counted = await Promise.all(wanted.map(async (status) => [status, (await this.#client.tasks({ ...query, status, limit: 1 })).total] as const));
    return { ...Object.fromEntries(STATUSES.map((status) => [status, 0])), ...Object.fromEntries(counted) };
  }

  #keep(task: Task): void {
    const page = this.list.data;
    if (!page) return;
    const before = page.items.find((item) => item.id === task.id)?.status;
    const counts = { ...page.counts };
    if (before !== undefined && before !== task.status) {
      counts[before] = (counts[before] ?? 0) - 1;
      counts[task.status] = (counts[task.status] ?? 0) + 1;
    }
    this.list.put({ ...page, counts, items: page.items.map((item) => (item.id === task.id ? task : item)) });
  }
}

export class Journal {
  query = $state('');
  tag = $state('');
  /** Another project than the host's; empty for that one. */
  root = $state('');
  readonly page: Resource<JournalPage>;
  readonly projects: Resource<JournalProjects>;
  readonly #client: Client;
  #pages = 1;

  constructor(client: Client) {
    this.#client = client;
    this.page = new Resource(() => this.#fetch(this.#pages));
    this.projects = new Resource(() => client.journalProjects());
  }

  /** Narrows the timeline, from its newest entry. */
  narrow(change: { query?: string; tag?: string; root?: string }): void {
    this.query = change.query ?? this.query;
    this.tag = change.tag ?? this.tag;
    this.root = change.root ?? this.root;
    this.#pages = 1;
    void this.page.load();
  }

  async more(): Promise<void> {
    this.#pages += 1;
    await this.page.load();
  }

  onEvent(frame: EventFrame): void {
    if (frame.type !== 'journal_changed') return;
    void this.page.refresh();
    void this.projects.refresh();
  }

  clear(): void {
    [this.query, this.tag, this.root] = ['', '', ''];
    this.#pages = 1;
    this.page.clear();
    this.projects.clear();
  }

  #fetch(pages: number): Promise<JournalPage> {
    const query: JournalQuery = { limit: JOURNAL_PAGE };
    if (this.query !== '') query.q = this.query;
    if (this.tag !== '') query.tag = this.tag;
    if (this.root !== '') query.projectRoot = this.root;
    return joined(pages, (cursor) => this.#client.journal(cursor === null ? query : { ...query, cursor }));
  }
}

interface Page {
  items: { id: string }[];
  nextCursor?: string | null;
}

/** So many pages as one. What moved from one to the next while they were read is there once. */
export async function joined<P extends Page>(pages: number, get: (cursor: string | null) => Promise<P>): Promise<P> {
  let whole = await get(null);
  for (let page = 1; page < pages && whole.nextCursor; page += 1) {
    const next = await get(whole.nextCursor);
    const known = new Set(whole.items.map((item) => item.id));
    whole = { ...next, items: [...whole.items, ...next.items.filter((item) => !known.has(item.id))] };
  }
  return whole;
}

/** Entries by the day they were written, in the order they came. `day` names the day of a moment. */
export function byDay<Entry extends { ts: string }>(entries: Entry[], day: (ts: string) => string): { day: string; entries: Entry[] }[] {
  const days: { day: string; entries: Entry[] }[] = [];
  for (const entry of entries) {
    const name = day(entry.ts);
    const last = days.at(-1);
    if (last?.day === name) last.entries.push(entry);
    else days.push({ day: name, entries: [entry] });
  }
  return days;
}

/** A note is added to a task, it is not a field of it. */
function withoutNote(change: TaskChange): Partial<Task> {
  const fields: Partial<Task> = {};
  if (typeof change.title === 'string') fields.title = change.title;
  if (typeof change.details === 'string') fields.details = change.details;
  if (typeof change.status === 'string') fields.status = change.status;
  if (typeof change.priority === 'string') fields.priority = change.priority;
  if (change.tags) fields.tags = change.tags;
  return fields;
}

/** Tags as a person types them: separated by spaces or commas, each once. */
export function parseTags(text: string): string[] {
  const words = text.split(/[\s,，]+/u).map((word) => word.replace(/^#/u, ''));
  return [...new Set(words.filter((word) => word !== ''))];
}
