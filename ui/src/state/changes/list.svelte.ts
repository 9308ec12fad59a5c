// Changes that tools made in files: the list with its filters, the open one, and which are chosen.

import type { ChangeQuery, ChangesApi } from '../../api/changes';
import type { EventFrame } from '../../protocol';
import type { FileChange, FileChangeDetail } from '../../protocol/changes';
import { Resource } from '../resource.svelte';
import { joined } from '../tasks.svelte';

const PAGE = 50;

/** What the list can be narrowed to; the address has the same names. */
export const FILTERS = ['path', 'change', 'root', 'server', 'tool', 'runId', 'sessionId'] as const;
export type ChangeFilters = Record<(typeof FILTERS)[number], string>;

export type Nature = 'tool' | 'undo' | 'redo';

/** The filters an address names. */
export function filtersOf(query: Record<string, string>): ChangeFilters {
  return Object.fromEntries(FILTERS.map((name) => [name, query[name] ?? ''])) as ChangeFilters;
}

export class ChangeDetail {
  readonly id: string;
  readonly data: Resource<FileChangeDetail>;

  constructor(id: string, api: ChangesApi) {
    this.id = id;
    this.data = new Resource(() => api.get(id));
  }
}

export class Changes {
  filters: ChangeFilters = $state.raw(filtersOf({}));
  current: ChangeDetail | null = $state.raw(null);
  readonly list: Resource<{ items: FileChange[]; nextCursor?: string | null }>;
  #chosen: ReadonlySet<string> = $state.raw(new Set());
  #pages = 1;

  constructor(readonly api: ChangesApi) {
    this.list = new Resource(() => this.#fetch({ ...this.filters }, this.#pages));
  }

  get items(): FileChange[] {
    return this.list.data?.items ?? [];
  }

  get filtered(): boolean {
    return FILTERS.some((name) => this.filters[name] !== '');
  }

  readonly #known: ReadonlyMap<string, FileChange> = $derived(new Map(this.items.map((change) => [change.id, change])));

  /** Whose doing a change is. An undo of an undo is a redo; it is told apart as far as the list reaches. */
  natureOf(change: FileChange): Nature {
    const [first] = change.undoes;
    if (first === undefined) return 'tool';
    const undid = this.#known.get(first);
    return undid && this.natureOf(undid) === 'undo' ? 'redo' : 'undo';
  }

  /** What is chosen is always on screen, and can still be undone. */
  get chosen(): FileChange[] {
    return this.items.filter((change) => this.#chosen.has(change.id) && canChoose(change));
  }

  isChosen(id: string): boolean {
    return this.#chosen.has(id);
  }

  choose(id: string, on: boolean): void {
    const next = new Set(this.#chosen);
    if (on) next.add(id);
    else next.delete(id);
    this.#chosen = next;
  }

  chooseNone(): void {
    this.#chosen = new Set();
  }

  /** Shows the list with these filters, from its beginning; the same ones again only read it if need be. */
  show(filters: ChangeFilters): void {
    const same = FILTERS.every((name) => this.filters[name] === filters[name]);
    if (same && this.list.data !== null) return void this.list.refresh();
    if (!same) {
      this.filters = filters;
      this.chooseNone();
      this.#pages = 1;
    }
    void this.list.load();
  }

  async more(): Promise<void> {
    this.#pages += 1;
    await this.list.load();
  }

  open(id: string): void {
    if (this.current?.id !== id) this.current = new ChangeDetail(id, this.api);
    void this.current.data.load();
  }

  /** Whether a change can be undone depends on the disk, which nobody tells about. */
  look(): void {
    void this.current?.data.refresh();
  }

  async refresh(): Promise<void> {
    await Promise.all([this.list.refresh(), this.current?.data.refresh()]);
  }

  onEvent(frame: EventFrame): void {
    if (frame.type === 'file_changes_changed') void this.refresh();
  }

  clear(): void {
    this.filters = filtersOf({});
    this.chooseNone();
    this.#pages = 1;
    this.current = null;
    this.list.clear();
  }

  #fetch(filters: ChangeFilters, pages: number): Promise<{ items: FileChange[]; nextCursor?: string | null }> {
    const query: ChangeQuery = { limit: PAGE };
    for (const name of FILTERS) if (filters[name] !== '') query[name] = filters[name];
    return joined(pages, async (cursor) => {
      const { changes, next } = await this.api.list(cursor === null ? query : { ...query, before: cursor });
      return { items: changes, nextCursor: next ?? null };
    });
  }
}

/** What is undone already is not undone again; its undo can be. */
export function canChoose(change: FileChange): boolean {
  return change.undoneBy == null;
}

export interface ChangeGroup {
  root: string;
  changes: FileChange[];
}

/** Changes by day and, within it, by the directory they were made in, in the order they came. */
export function grouped(changes: FileChange[], day: (moment: string) => string): { day: string; groups: ChangeGroup[] }[] {
  const days: { day: string; groups: ChangeGroup[] }[] = [];
  for (const change of changes) {
    const name = day(change.createdAt);
    let last = days.at(-1);
    if (last?.day !== name) days.push((last = { day: name, groups: [] }));
    const group = last.groups.at(-1);
    if (group?.root === change.root) group.changes.push(change);
    else last.groups.push({ root: change.root, changes: [change] });
  }
  return days;
}

/** A path as its name and the directories before it, with their last slash. */
export function splitPath(path: string): { directory: string; name: string } {
  const cut = path.lastIndexOf('/') + 1;
  return cut === path.length ? { directory: '', name: path } : { directory: path.slice(0, cut), name: path.slice(cut) };
}
