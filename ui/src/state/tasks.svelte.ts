// Tasks and the project journal, read again whenever the host says that they changed.

import type { Client } from '../api/client';
import type { EventFrame, JournalPage, NewTask, Task, TaskChange, TaskPage } from '../protocol';
import { Resource } from './resource.svelte';

export const STATUSES = ['todo', 'doing', 'blocked', 'done'] as const;
export const PRIORITIES = ['high', 'medium', 'low'] as const;
export type TaskStatus = (typeof STATUSES)[number];

export class Tasks {
  /** What the list is narrowed to; a change is followed by `list.load()`. */
  query = $state('');
  readonly list: Resource<TaskPage>;
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
    this.list = new Resource(() => client.tasks({ q: this.query, limit: 200 }));
  }

  get all(): Task[] {
    return this.list.data?.items ?? [];
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
    this.list.clear();
  }

  #keep(task: Task): void {
    const page = this.list.data;
    if (!page) return;
    this.list.data = { ...page, items: page.items.map((item) => (item.id === task.id ? task : item)) };
  }
}

export class Journal {
  query = $state('');
  readonly page: Resource<JournalPage>;

  constructor(client: Client) {
    this.page = new Resource(() => client.journal({ q: this.query, limit: 100 }));
  }

  onEvent(frame: EventFrame): void {
    if (frame.type === 'journal_changed') void this.page.refresh();
  }

  clear(): void {
    this.page.clear();
  }
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
