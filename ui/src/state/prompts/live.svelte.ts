// A list of pending prompts that is read page by page as far as somebody scrolls, and kept current by
// events. It never shrinks or jumps because a page is being read again.

import { type ApiError, toApiError } from '../../api/error';
import type { PromptList } from '../../protocol/wire';
import { type PromptItem, readItem } from './item';
import { type Direction, compare, indexIn, placeOf } from './order';

/** How often the host is asked again while it still reads its log. */
const READING_RETRY_MS = 500;

export interface Reading {
  done: number;
  total: number;
}

/** How far the host is with its log, when that is why it did not answer (ui-prompts §3.6). */
export function readingOf(error: ApiError): Reading | null {
  const details = error.details as { done?: unknown; total?: unknown } | null;
  if (error.status !== 503 || typeof details?.done !== 'number' || typeof details.total !== 'number') return null;
  return { done: details.done, total: details.total };
}

export class LiveList {
  loading = $state(false);
  error: ApiError | null = $state.raw(null);
  /** The host is still reading its log. */
  reading: Reading | null = $state.raw(null);
  /** Read to the end. */
  complete = $state(false);
  /** Was read at least once. */
  started = $state(false);
  #version = $state(0);
  #items: PromptItem[] = [];
  #byId = new Map<string, PromptItem>();
  #cursor: string | null = null;
  #wanted = -1;
  #running: Promise<void> | null = null;
  #generation = 0;
  /** Closed while a page was on its way; that page may still list them. */
  #gone = new Set<string>();
  /** Told while a page was on its way; that page may not list them, or list them as they were. */
  #news = new Map<string, PromptItem>();
  readonly #read: (cursor: string | null) => Promise<PromptList>;
  readonly #direction: Direction;

  constructor(direction: Direction, read: (cursor: string | null) => Promise<PromptList>) {
    this.#direction = direction;
    this.#read = read;
  }

  get length(): number {
    void this.#version;
    return this.#items.length;
  }

  /** Everything read so far, in order. */
  get items(): readonly PromptItem[] {
    void this.#version;
    return this.#items;
  }

  at(index: number): PromptItem | null {
    void this.#version;
    return this.#items[index] ?? null;
  }

  get(id: string): PromptItem | null {
    void this.#version;
    return this.#byId.get(id) ?? null;
  }

  indexOf(id: string): number {
    void this.#version;
    const item = this.#byId.get(id);
    return item ? indexIn(this.#items, item, this.#direction) : -1;
  }

  find(test: (item: PromptItem) => boolean): PromptItem | null {
    void this.#version;
    return this.#items.find(test) ?? null;
  }

  /** Reads on until the row with this index is there, or the list ends. */
  ensure(index: number): Promise<void> {
    this.#wanted = Math.max(this.#wanted, index);
    if (this.started && (this.complete || this.#items.length > index)) return Promise.resolve();
    return (this.#running ??= this.#run());
  }

  /** Reads again from the start; what is shown stays until the new page is here. A first page on its way, or one
      that could not be read, counts: it may be older than what led here. */
  reload(): Promise<void> {
    if (this.#wanted < 0) return Promise.resolve();
    this.#generation += 1;
    this.started = false;
    this.#cursor = null;
    this.#wanted = 0;
    if (this.#running) return this.#running;
    return this.ensure(0);
  }

  /** Takes a new or changed item. Beyond the part that was read it is left to the pages. */
  put(item: PromptItem): void {
    const known = this.#byId.get(item.id);
    this.#gone.delete(item.id);
    if (this.#running) this.#news.set(item.id, item);
    if (known) {
      const index = indexIn(this.#items, known, this.#direction);
      if (compare(known, item) === 0 && index >= 0) {
        this.#items[index] = item;
        this.#byId.set(item.id, item);
        this.#version += 1;
        return;
      }
      this.#remove(known);
    }
    if (!this.started) return;
    this.#insert(item);
    this.#version += 1;
  }

  drop(id: string): void {
    if (this.#running) this.#gone.add(id);
    this.#news.delete(id);
    const known = this.#byId.get(id);
    if (!known) return;
    this.#remove(known);
    this.#version += 1;
  }

  clear(): void {
    this.#generation += 1;
    this.#items = [];
    this.#byId.clear();
    this.#gone.clear();
    this.#news.clear();
    this.#cursor = null;
    this.#wanted = -1;
    this.started = false;
    this.complete = false;
    this.error = null;
    this.reading = null;
    this.#version += 1;
  }

  #insert(item: PromptItem): void {
    const place = placeOf(this.#items, item, this.#direction);
    if (place === this.#items.length && !this.complete) return;
    this.#items.splice(place, 0, item);
    this.#byId.set(item.id, item);
  }

  #remove(item: PromptItem): void {
    const index = indexIn(this.#items, item, this.#direction);
    if (index >= 0) this.#items.splice(index, 1);
    this.#byId.delete(item.id);
  }

  async #run(): Promise<void> {
    this.loading = true;
    try {
      while (!this.started || (!this.complete && this.#items.length <= this.#wanted)) {
        const generation = this.#generation;
        const cursor = this.#cursor;
        const page = await this.#page(cursor, generation);
        if (generation !== this.#generation) {
          // Cleared: nobody wants this list any more. Reloaded: start over.
          if (this.#wanted < 0) return;
          continue;
        }
        if (!page) return;
        this.#take(page, cursor === null);
      }
    } finally {
      this.loading = false;
      this.#gone.clear();
      this.#news.clear();
      // At once, not when a promise settles: a call in between would be lost.
      this.#running = null;
    }
  }

  async #page(cursor: string | null, generation: number): Promise<PromptList | null> {
    for (;;) {
      try {
        const page = await this.#read(cursor);
        this.error = null;
        this.reading = null;
        return page;
      } catch (thrown) {
        const error = toApiError(thrown);
        this.reading = readingOf(error);
        if (!this.reading) {
          if (generation === this.#generation) this.error = error;
          return null;
        }
        await new Promise((resolve) => setTimeout(resolve, READING_RETRY_MS));
        if (generation !== this.#generation) return null;
      }
    }
  }

  #take(page: PromptList, first: boolean): void {
    if (first) {
      this.#items = [];
      this.#byId.clear();
    }
    for (const wire of page.items) {
      const item = readItem(wire);
      if (!item || this.#byId.has(item.id) || this.#gone.has(item.id)) continue;
      this.#items.push(item);
      this.#byId.set(item.id, item);
    }
    this.#cursor = page.nextCursor ?? null;
    this.complete = this.#cursor === null;
    for (const item of this.#news.values()) {
      const known = this.#byId.get(item.id);
      if (known) this.#remove(known);
      this.#insert(item);
    }
    this.started = true;
    this.#version += 1;
  }
}
