// The queue of prompts on this page: counts, lists kept current by events, open forms, the hub, and
// what is said about new arrivals.

import type { PromptsApi } from '../api/prompts';
import type { EventFrame } from '../protocol';
import type { PromptsShown } from '../api/prompts';
import type { AnsweredTogether, BulkAction, BulkOrder, BulkPreview, BulkSelect, PromptHealth, PromptList, PromptView, PromptsArchived, RuleKept, RuleList } from '../protocol/wire';
import { PromptForm } from './prompts/form.svelte';
import { History } from './prompts/history.svelte';
import { type PromptItem, readItem } from './prompts/item';
import { LiveList } from './prompts/live.svelte';

const PAGE = 200;
/** Forms kept in memory for switching back and forth; more would only hold stale items. */
const MAX_FORMS = 60;
const MAX_CLOSED = 500;
/** The last results that went straight to a tool call (ui-prompts §13). */
const DELIVERED = 50;
/** Events are applied together this often while the page is hidden; in view, once per frame. */
const HIDDEN_FLUSH_MS = 200;

interface Counts {
  needsYou?: unknown;
  results?: unknown;
  snoozed?: unknown;
}

export interface PromptsOptions {
  api: PromptsApi;
  /** Hears of prompts that were not there before. */
  onArrivals?: (items: PromptItem[]) => void;
  /** Runs the next batch of events; once per animation frame unless a test says otherwise. */
  schedule?: (run: () => void) => void;
}

export class Prompts {
  needsYou = $state(0);
  results = $state(0);
  /** Put off for a while; not among `needsYou`. */
  snoozed = $state(0);
  /** What the list of questions is narrowed to; empty: all of them. */
  query = $state('');
  health: PromptHealth | null = $state.raw(null);
  /** The hub's drawer. `entered` is false when an app opened it: then the focus stays where it is. */
  hub = $state({ open: false, entered: false, id: null as string | null });
  /** The newest arrivals, for the polite live region. */
  arrivals: PromptItem[] = $state.raw([]);
  delivered: PromptItem[] = $state.raw([]);
  acknowledging = $state(false);
  readonly pending: LiveList;
  /** The questions that fit `query`. */
  readonly found: LiveList;
  readonly unread: LiveList;
  readonly history: History;
  readonly #api: PromptsApi;
  readonly #options: PromptsOptions;
  readonly #forms = new Map<string, PromptForm>();
  #queue: EventFrame[] = [];
  #scheduled = false;
  #countsTold = 0;
  #deliveredRead = false;
  #deliveredAsked = 0;
  /** Came while the page of them was on its way; null when none is. */
  #deliveredNews: PromptItem[] | null = null;
  /** Ids closed of late, for those who waited a moment before speaking of a prompt. */
  readonly #closed = new Set<string>();
  readonly #arrivalListeners = new Set<(items: PromptItem[]) => void>();

  constructor(options: PromptsOptions) {
    this.#options = options;
    this.#api = options.api;
    this.pending = new LiveList('oldest', (cursor) => this.#page('needs_you', cursor));
    this.found = new LiveList('oldest', (cursor) => this.#api.list({ view: 'needs_you', q: this.query, cursor, limit: PAGE }));
    this.unread = new LiveList('newest', (cursor) => this.#page('results', cursor));
    this.history = new History(options.api);
    addEventListener('pagehide', () => this.#saveAll(true));
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') this.#saveAll(false);
    });
  }

  /** Grows with each event that tells counts. Who asks for counts notes it before. */
  get countsMark(): number {
    return this.#countsTold;
  }

  /** Takes the counts of an answer, unless an event told newer ones since it was asked for. */
  setCounts(counts: Counts | null, mark: number): void {
    if (mark === this.#countsTold) this.#setCounts(counts);
  }

  #setCounts(counts: Counts | null): void {
    if (typeof counts?.needsYou === 'number') this.needsYou = counts.needsYou;
    if (typeof counts?.results === 'number') this.results = counts.results;
    if (typeof counts?.snoozed === 'number') this.snoozed = counts.snoozed;
  }

  onEvent(frame: EventFrame): void {
    if (frame.type === 'prompt_counts') this.#countsTold += 1;
    this.#queue.push(frame);
    if (this.#scheduled) return;
    this.#scheduled = true;
    (this.#options.schedule ?? nextFrame)(() => this.#flush());
  }

  /** Everything read before may be out of date. */
  resync(): void {
    // What was told before is older than what is read now.
    if (this.#queue.length > 0) this.#flush();
    void this.pending.reload();
    void this.found.reload();
    void this.unread.reload();
    this.history.resync();
    if (this.#deliveredRead) void this.readDelivered();
    for (const form of this.#forms.values()) {
      if (!form.ready) continue;
      // What was put in while the host was away is saved now.
      void form.flush();
      void form.refresh();
    }
  }

  /** The questions that are listed: all, or those that fit the query. */
  get listed(): LiveList {
    return this.query === '' ? this.pending : this.found;
  }

  /** Lists only questions with these words in them. */
  narrow(query: string): void {
    if (query.trim() === this.query) return;
    this.query = query.trim();
    this.found.clear();
    if (this.query !== '') void this.found.ensure(0);
  }

  /** What one decision about several questions would answer, with the host's digest over all of it. */
  preview(select: BulkSelect, action: BulkAction): Promise<BulkPreview> {
    return this.#api.bulkPreview(select, action);
  }

  /** The same decision for several questions, if they still are what was shown. Gives those it was not made for, with
      why. */
  async answerAll(order: BulkOrder): Promise<{ id: string; message: string }[]> {
    const { done, skipped } = await this.#api.bulk(order);
    done.forEach((id) => this.answered(id));
    return skipped;
  }

  /** Is told of new pending prompts; the answer stops it. */
  onArrivals(listener: (items: PromptItem[]) => void): () => void {
    this.#arrivalListeners.add(listener);
    return () => this.#arrivalListeners.delete(listener);
  }

  /** The form of a prompt; the same one for every surface. */
  form(id: string): PromptForm {
    const known = this.#forms.get(id);
    if (known) return known;
    const item = this.pending.get(id) ?? this.unread.get(id);
    const form = new PromptForm(id, this.#api, item);
    this.#forms.set(id, form);
    if (this.#forms.size > MAX_FORMS) this.#forget();
    return form;
  }

  /** A prompt was answered on this page: it leaves the lists at once. */
  answered(id: string): void {
    this.pending.drop(id);
    this.found.drop(id);
    this.unread.drop(id);
  }

  /** Puts a question off, or back at once without a moment. */
  async snooze(id: string, until: Date | null): Promise<void> {
    await this.#api.snooze(id, until);
  }

  /** Everything that is put off is back at once. */
  async unsnoozeAll(): Promise<void> {
    const select = { filter: { snoozed: true } };
    const { digest } = await this.#api.bulkPreview(select, 'snooze');
    await this.#api.bulk({ select, action: 'snooze', digest });
  }

  async readSnoozed(): Promise<PromptItem[]> {
    const page = await this.#api.list({ view: 'snoozed' });
    return page.items.map(readItem).filter((item) => item !== null);
  }

  isClosed(id: string): boolean {
    return this.#closed.has(id);
  }

  async readDelivered(): Promise<void> {
    this.#deliveredRead = true;
    const asked = (this.#deliveredAsked += 1);
    this.#deliveredNews = [];
    const page = await this.#api.list({ view: 'history', kind: 'result', auto: true, limit: DELIVERED });
    if (asked !== this.#deliveredAsked) return;
    this.delivered = page.items.map(readItem).filter((item) => item?.answer?.auto === true) as PromptItem[];
    // What came meanwhile may not be on the page.
    const news = this.#deliveredNews;
    this.#deliveredNews = null;
    news.forEach((item) => this.#deliver(item));
  }

  #deliver(item: PromptItem): void {
    this.#deliveredNews?.push(item);
    this.delivered = [item, ...this.delivered.filter((other) => other.id !== item.id)].slice(0, DELIVERED);
  }

  /** “Got it, all”: answers every pending result. Rejects at the first failure; the rest stay. */
  async acknowledgeAll(): Promise<number> {
    this.acknowledging = true;
    let count = 0;
    try {
      for (;;) {
        const page = await this.#api.list({ view: 'results', limit: PAGE });
        if (page.items.length === 0) return count;
        for (const item of page.items) {
          try {
            await this.#api.respond(item.requestId, { status: 'ok' }, item.shown ?? null);
          } catch (error) {
            // Consumed by a waiting call meanwhile: that is what was wanted.
            if ((error as { code?: string }).code !== 'already_answered') throw error;
          }
          this.answered(item.requestId);
          count += 1;
        }
      }
    } finally {
      this.acknowledging = false;
    }
  }

  rules(): Promise<RuleList> {
    return this.#api.rules();
  }

  /** What dialogs about rules ask the host. */
  get ruleApi(): Pick<PromptsApi, 'addRule' | 'backtest' | 'explain' | 'proposals' | 'ruleUses' | 'tryRules'> {
    return this.#api;
  }

  /** The questions that are asked with one, and the digest over all of them. */
  async together(id: string): Promise<{ items: PromptItem[]; shown: string }> {
    const { items, shown } = await this.#api.together(id);
    return { items: items.map(readItem).filter((item) => item !== null), shown };
  }

  answerTogether(id: string, shown: string, accepted: string[], remark: string, stop: boolean): Promise<AnsweredTogether> {
    return this.#api.answerTogether(id, shown, accepted, remark, stop);
  }

  /** A question as it stands, or stood; null where it cannot be read. */
  async look(id: string): Promise<PromptItem | null> {
    return readItem(await this.#api.get(id).catch(() => null));
  }

  pauseRule(id: string, paused: boolean, alsoDifferent = false): Promise<RuleKept> {
    return this.#api.pauseRule(id, paused, alsoDifferent);
  }

  removeRule(id: string): Promise<void> {
    return this.#api.removeRule(id);
  }

  async archive(before: string): Promise<PromptsArchived> {
    const result = await this.#api.archive(before);
    if (this.history.started) await this.history.search();
    return result;
  }

  openHub(id: string | null, entered: boolean): void {
    this.hub = { open: true, entered, id: id ?? this.hub.id };
  }

  closeHub(): void {
    this.hub = { ...this.hub, open: false, entered: false };
  }

  toggleHub(entered: boolean): void {
    if (this.hub.open) this.closeHub();
    else this.openHub(null, entered);
  }

  clear(): void {
    this.needsYou = 0;
    this.results = 0;
    this.snoozed = 0;
    this.health = null;
    this.hub = { open: false, entered: false, id: null };
    this.arrivals = [];
    this.delivered = [];
    this.#deliveredRead = false;
    this.#deliveredAsked += 1;
    this.#deliveredNews = null;
    this.#queue = [];
    this.#closed.clear();
    this.#forms.clear();
    this.pending.clear();
    this.query = '';
    this.found.clear();
    this.unread.clear();
    this.history.clear();
  }

  async #page(view: PromptsShown, cursor: string | null): Promise<PromptList> {
    const mark = this.#countsTold;
    const page = await this.#api.list({ view, cursor, limit: PAGE });
    this.setCounts(page.counts, mark);
    this.health = page.problems ?? null;
    return page;
  }

  #flush(): void {
    this.#scheduled = false;
    const frames = this.#queue;
    this.#queue = [];
    const arrived = new Map<string, PromptItem>();
    let reload = false;
    for (const { type, data } of frames) {
      switch (type) {
        case 'prompt_counts':
          this.#setCounts(data as Counts | null);
          break;
        case 'prompt_log_problem':
          this.health = (data as PromptHealth | null) ?? this.health;
          break;
        case 'prompt_resync':
          reload = true;
          break;
        default:
          this.#apply(type, itemOf(data), arrived);
      }
    }
    if (reload) this.resync();
    if (arrived.size === 0) return;
    // Whether they fit is the host's to say.
    if (this.query !== '') void this.found.reload();
    const items = [...arrived.values()];
    this.arrivals = items;
    this.#options.onArrivals?.(items);
    this.#arrivalListeners.forEach((listener) => listener(items));
  }

  #apply(type: string, item: PromptItem | null, arrived: Map<string, PromptItem>): void {
    if (!item) return;
    this.#forms.get(item.id)?.take(item);
    if (item.state === 'pending') {
      if (item.snoozedUntil !== null) {
        this.pending.drop(item.id);
        this.found.drop(item.id);
        return;
      }
      const list = item.kind === 'result' ? this.unread : this.pending;
      list.put(item);
      // One that was put off is back.
      if (type === 'prompt_requested' || type === 'prompt_snoozed') arrived.set(item.id, item);
      return;
    }
    arrived.delete(item.id);
    this.#closed.add(item.id);
    if (this.#closed.size > MAX_CLOSED) this.#closed.delete([...this.#closed][0] ?? '');
    this.pending.drop(item.id);
    this.found.drop(item.id);
    this.unread.drop(item.id);
    this.history.closed(item);
    if (this.#deliveredRead && item.kind === 'result' && item.answer?.auto) this.#deliver(item);
  }

  #saveAll(leaving: boolean): void {
    for (const form of this.#forms.values()) void form.flush(leaving);
  }

  /** Lets go of a form that holds nothing of the person's: a closed one, else the oldest, saved. */
  #forget(): void {
    const closed = [...this.#forms.values()].find((form) => form.closed);
    const [oldest] = this.#forms.values();
    const victim = closed ?? oldest;
    if (!victim) return;
    void victim.flush();
    this.#forms.delete(victim.id);
  }
}

/** The item of an event; `prompt_forged` wraps it. */
function itemOf(data: unknown): PromptItem | null {
  const wrapped = data as { item?: PromptView } | null;
  return readItem(wrapped?.item ?? (data as PromptView | null));
}

/** Once per frame; a page that is hidden draws no frames, so time counts as well. */
function nextFrame(run: () => void): void {
  let ran = false;
  const once = () => {
    if (ran) return;
    ran = true;
    run();
  };
  if (document.visibilityState === 'visible') requestAnimationFrame(once);
  setTimeout(once, HIDDEN_FLUSH_MS);
}

/** The badge's text: nothing for none, at most two digits (ui-prompts §13). */
export function badgeText(count: number): string {
  if (count <= 0) return '';
  return count > 99 ? '99+' : String(count);
}
