// One open prompt: its item, what the person has put in, saving that, and sending the answer. All
// surfaces that show the same prompt share one form, hence one draft.

import type { ApiError } from '../../api/error';
import { toApiError } from '../../api/error';
import type { PromptsApi, WantedRule } from '../../api/prompts';
import type { WireObject } from '../../protocol';
import type { PromptRecorded, RuleKept } from '../../protocol/wire';
import { type Draft, type DraftTask, cancelResponse, checkDraft, hostIssues, initialDraft, isPristine, keptTasks, mergeDraft, okResponse, storedDraft } from './draft';
import { type PromptItem, readItem } from './item';
import type { Issue } from './schema';

/** Long enough not to write at every key, short enough that a crash costs a word. */
const SAVE_AFTER_MS = 400;
/** Lines of a long text that are loaded at once. */
const WHOLE_LINES = 5000;
/** Options that allow nothing. */
const REFUSALS = ['no', 'deny', 'decline', 'stop'];

/** `stopped`: rejected, and the run that asks ends. */
export type Verdict = 'ok' | 'canceled' | 'declined' | 'stopped';

/** How sending ended: recorded; refused and said why in the form; or the prompt is closed already. */
export type Outcome = { kind: 'answered'; receipt: PromptRecorded } | { kind: 'refused' } | { kind: 'closed' };

export class PromptForm {
  item: PromptItem | null = $state.raw(null);
  /** The item and its draft are here. */
  ready = $state(false);
  /** Why the item could not be read. */
  error: ApiError | null = $state.raw(null);
  draft: Draft = $state({ values: {}, selection: [], tasks: [], remark: '' });
  /** Secret values live here only: never saved, gone when the prompt closes. */
  secrets: Record<string, string> = $state({});
  sending: Verdict | null = $state(null);
  issues: Issue[] = $state.raw([]);
  /** Grows with each refused attempt, so that the surface can go to the first issue. */
  attempts = $state(0);
  failure: ApiError | null = $state.raw(null);
  /** The question changed under the answer and is shown again (security T24). */
  changed = $state(false);
  /** Recorded by this page; the item follows when the host says so. */
  done = $state(false);
  /** Another surface was faster. */
  beaten = $state(false);
  /** All of a text that the question holds in part, once it was asked for. */
  whole: string | null = $state.raw(null);
  loadingWhole = $state(false);
  /** The person agrees to content that cannot be shown. */
  withoutSeeing = $state(false);
  /** Nobody waits for the answer any more; none was recorded. */
  gone = $state(false);
  /** The draft could not be saved; said once, tried again at the next change. */
  unsaved = $state(false);
  readonly id: string;
  readonly #api: PromptsApi;
  #loading: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dirty = false;
  #saving: Promise<void> = Promise.resolve();
  #hasSaved = false;
  /** What an event said last; an answer that was asked for before it may be older. */
  #told: PromptItem | null = null;
  #asked = 0;

  constructor(id: string, api: PromptsApi, known: PromptItem | null) {
    this.id = id;
    this.#api = api;
    this.item = known;
  }

  get closed(): boolean {
    return this.gone || (this.item !== null && this.item.state !== 'pending');
  }

  load(): Promise<void> {
    if (this.ready) return Promise.resolve();
    return (this.#loading ??= this.#load());
  }

  async #load(): Promise<void> {
    this.error = null;
    this.#told = null;
    try {
      const [item, saved] = await Promise.all([this.#read(), this.#savedDraft()]);
      this.item = item;
      this.draft = mergeDraft(item, saved);
      this.secrets = noSecrets(item);
      this.#hasSaved = saved !== null;
      this.ready = true;
      if (this.#told) this.take(this.#told);
    } catch (thrown) {
      this.error = toApiError(thrown);
    }
    this.#loading = null;
  }

  async #read(): Promise<PromptItem> {
    const item = readItem(await this.#api.get(this.id));
    if (!item) throw new Error(`the host sent no prompt for ${this.id}`);
    return item;
  }

  /** A draft that cannot be read is as good as none: the question must stay answerable. */
  async #savedDraft(): Promise<WireObject | null> {
    try {
      return (await this.#api.draft(this.id))?.draft ?? null;
    } catch (thrown) {
      if (toApiError(thrown).status !== 404) this.unsaved = true;
      return null;
    }
  }

  /** Reads the item again, for texts in another language or after a refusal. */
  async refresh(): Promise<void> {
    const asked = (this.#asked += 1);
    this.#told = null;
    try {
      const item = await this.#read();
      // Asked for again since: the later answer counts, however they come.
      if (asked !== this.#asked) return;
      if (this.#told === null) this.take(item);
      this.#told = null;
      this.error = null;
    } catch (thrown) {
      if (asked !== this.#asked) return;
      if (!this.item) this.error = toApiError(thrown);
      else this.failure = toApiError(thrown);
    }
  }

  /** Loads the text that the question holds in part; only then it may be approved (security T24). */
  async loadWhole(): Promise<void> {
    const shown = this.item?.shown;
    if (this.loadingWhole || this.whole !== null) return;
    this.loadingWhole = true;
    this.failure = null;
    try {
      let text = '';
      for (let from = 0, total = 1; from < total; ) {
        const part = await this.#api.text(this.id, from, WHOLE_LINES);
        text += part.text;
        from += Math.max(part.lines, 1);
        total = part.total;
      }
      // Another question by now: its text is another one.
      if (this.item?.shown === shown) this.whole = text;
    } catch (thrown) {
      this.failure = toApiError(thrown);
    } finally {
      this.loadingWhole = false;
    }
  }

  /** The rule that would answer questions like this one; nothing is kept. Null: none can, and the form says why. */
  async rule(wanted: WantedRule): Promise<RuleKept | null> {
    this.failure = null;
    try {
      return await this.#api.ruleOf(this.id, wanted);
    } catch (thrown) {
      this.failure = toApiError(thrown);
      return null;
    }
  }

  /** Whether everything that an approval covers was asked for and agreed to. */
  get seen(): boolean {
    const { item } = this;
    if (!item) return false;
    const refuses = item.body.kind === 'choice' && REFUSALS.includes(this.draft.selection[0] ?? '');
    return refuses || ((item.cut === null || this.whole !== null) && (item.hidden.length === 0 || this.withoutSeeing));
  }

  /** Takes what an event says about this prompt. */
  take(next: PromptItem): void {
    this.#told = next;
    const old = this.item;
    const whole = old && next.body.kind === 'none' && next.partial && old.body.kind !== 'none' && next.shown === old.shown;
    const lines = { ignoredLines: next.ignoredLines, forgedLines: next.forgedLines };
    if (old && next.forgedLines.length === 0) lines.forgedLines = old.forgedLines;
    if (old && next.ignoredLines.length === 0) lines.ignoredLines = old.ignoredLines;
    this.item = whole ? { ...next, ...lines, body: old.body, partial: false } : { ...next, ...lines };
    if (this.item.state !== 'pending') this.#close();
    else if (old && next.shown !== old.shown && this.ready) this.#reproposed();
  }

  /** Called by the form's controls after each change. */
  edited(): void {
    if (!this.ready || this.closed || this.done) return;
    this.#dirty = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), SAVE_AFTER_MS);
  }

  /** Saves now what is not saved yet. */
  flush(leaving = false): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#dirty || !this.item || this.closed || this.done) return this.#saving;
    this.#dirty = false;
    const draft = $state.snapshot(this.draft) as Draft;
    const item = this.item;
    const pristine = isPristine(item, draft);
    if (pristine && !this.#hasSaved) return this.#saving;
    const save = () => (pristine ? this.#api.deleteDraft(this.id) : this.#api.putDraft(this.id, storedDraft(item, draft), leaving));
    // One after the other, or an older draft could be written last. A page that is being left cannot wait.
    const turn = leaving ? Promise.resolve() : this.#saving;
    this.#saving = turn.then(save).then(
      () => {
        this.#hasSaved = !pristine;
        this.unsaved = false;
      },
      () => {
        // Shown in the form; the text itself is still on the page and is tried again at the next change.
        if (!this.closed) this.unsaved = true;
        this.#dirty = true;
      },
    );
    return this.#saving;
  }

  /** Checks and sends, with the rule that is to be kept for questions like this one. While one answer is on its way
      there is no second (ui-prompts §13). */
  async send(verdict: Verdict, rule: WantedRule | null = null, edited: WireObject | null = null): Promise<Outcome> {
    const item = this.item;
    if (!item || this.sending || this.done || !this.ready || this.closed) return { kind: 'refused' };
    const draft = $state.snapshot(this.draft) as Draft;
    const secrets = $state.snapshot(this.secrets);
    this.failure = null;
    this.issues = verdict === 'ok' ? checkDraft(item, draft, secrets) : [];
    if (this.issues.length > 0) {
      this.attempts += 1;
      return { kind: 'refused' };
    }
    this.sending = verdict;
    clearTimeout(this.#timer);
    try {
      const response = verdict === 'ok' ? okResponse(item, draft, secrets) : cancelResponse(item, draft, verdict === 'declined');
      if (verdict === 'ok' && item.hidden.length > 0 && this.withoutSeeing) response['withoutSeeing'] = true;
      if (verdict === 'ok' && edited !== null) response['edited'] = edited;
      if (verdict === 'stopped') response['stop'] = true;
      await this.#saving;
      const receipt = await this.#api.respond(item.id, response, item.shown, rule);
      this.done = true;
      this.#close();
      // The event says so, too; this is for a page that has lost its events.
      void this.refresh();
      return { kind: 'answered', receipt };
    } catch (thrown) {
      return await this.#refused(toApiError(thrown), keptTasks(draft));
    } finally {
      this.sending = null;
    }
  }

  async #refused(error: ApiError, sent: DraftTask[]): Promise<Outcome> {
    if (error.code === 'already_answered') {
      await this.refresh();
      this.beaten = true;
      return { kind: 'closed' };
    }
    if (error.code === 'asker_gone') {
      this.gone = true;
      this.#close();
      await this.refresh();
      return { kind: 'closed' };
    }
    if (error.code === 'shown_mismatch') {
      await this.refresh();
      this.changed = true;
      return { kind: 'refused' };
    }
    // The host was started anew, or forgot what this page was given: it is loaded again.
    if (error.code === 'not_shown') this.whole = null;
    if (error.status === 422) this.issues = hostIssues(error.fields, sent);
    if (this.issues.length === 0) this.failure = error;
    this.attempts += 1;
    return { kind: 'refused' };
  }

  /** The proposal is another one now: what was put in is kept as far as it fits. */
  #reproposed(): void {
    if (!this.item) return;
    this.whole = null;
    this.withoutSeeing = false;
    const saved = { ...storedDraft(this.item, $state.snapshot(this.draft) as Draft), shown: null };
    this.draft = mergeDraft(this.item, saved);
    this.secrets = { ...noSecrets(this.item), ...$state.snapshot(this.secrets) };
    this.issues = [];
    this.changed = true;
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#dirty = false;
    this.secrets = noSecrets(this.item);
    this.issues = [];
    this.failure = null;
    this.changed = false;
    this.unsaved = false;
  }

  /** Puts everything back as it was asked. */
  reset(): void {
    if (!this.item) return;
    this.draft = initialDraft(this.item);
    this.secrets = noSecrets(this.item);
    this.issues = [];
    this.edited();
  }
}

/** An empty text for each secret field, so that its input has something to be bound to. */
function noSecrets(item: PromptItem | null): Record<string, string> {
  if (item?.body.kind !== 'kv') return {};
  return Object.fromEntries(item.body.fields.filter((field) => field.secret).map((field) => [field.key, '']));
}
