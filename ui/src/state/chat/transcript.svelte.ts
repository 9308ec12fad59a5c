// One session on this page: its ledger of messages, and the run that is under way folded from events. What is stored on the host is the truth; events only bring it earlier. Whenever they do not
// fit together (a gap, a reconnect, the end of a run) the newest page is read again.

import { ApiError, toApiError } from '../../api/error';
import type { ChatApi } from '../../api/chat';
import type { ChatEvent } from '../../protocol/chat';
import type { Attachment, MessageView, RunBrief, RunView, SendMode, SessionView } from '../../protocol/wire';
import { type Entry, type EntryError, SubJob, type ToolCall } from './entry.svelte';
import { isMessage, moment, number, string, text } from './fields';
import { type Asked, Ledger } from './ledger.svelte';
import type { Outbox, Unsent } from './outbox';
import type { Row } from './rows';
import { type Outgoing, Sending } from './sending.svelte';
import { addUsage, readUsage, type Usage } from './usage';

export const PAGE = 60;
const MAX_NOTICES = 20;
/** The host writes streamed text to its rows twice a second; a gap is looked up a little later (agents §7). */
const GAP_WAIT_MS = 400;

const ACTIVE = new Set(['queued', 'running', 'waiting_prompt', 'waiting_async']);
/** How a run ended that answered nothing: the last one of the chat is still the one before. */
const ONLY_SUMMARY = 'compacted';
const NONE: Entry[] = [];
const ENDS = new Set(['assistant_done', 'assistant_error', 'assistant_aborted']);

/** The run the chat shows now, as far as this page knows it. */
export interface CurrentRun {
  id: string;
  state: string;
  reason: string | null;
  startedAt: number | null;
  traceId: string | null;
  /** Why it failed. */
  error: EntryError | null;
}

export interface Notice {
  key: number;
  level: string;
  code: string;
  message: string;
}

export interface Retry {
  attempt: number;
  class: string;
  /** When the next attempt starts. */
  at: number;
}

export interface TranscriptOptions {
  api: ChatApi;
  /** Where what was said is kept until the host has it. */
  outbox?: Outbox;
  /** A message cannot be sent any more: its chat is gone. */
  onLost?: (text: string) => void;
  /** Runs what has to wait a moment; a test passes its own. */
  later?: (run: () => void, ms: number) => void;
  /** Notes when a session is asked for. */
  mark?: () => number;
  /** The session was read again, asked for at `mark`. */
  onSession?: (session: SessionView, mark?: number) => void;
}

export class Transcript {
  readonly id: string;
  session: SessionView | null = $state.raw(null);
  run: CurrentRun | null = $state.raw(null);
  usage: Usage | null = $state.raw(null);
  notices: Notice[] = $state.raw([]);
  retry: Retry | null = $state.raw(null);
  /** The first page is here. */
  ready = $state(false);
  hasMore = $state(false);
  loadingOlder = $state(false);
  error: ApiError | null = $state.raw(null);
  /** Why runs of this chat failed, as far as somebody asked. */
  failures: ReadonlyMap<string, EntryError> = $state.raw(new Map());
  /** Stop was pressed and the run has not ended yet. */
  stopping = $state(false);
  /** Ids of questions that runs of this chat wait for. */
  asked: string[] = $state.raw([]);
  readonly #api: ChatApi;
  readonly #options: TranscriptOptions;
  readonly #ledger = new Ledger();
  #runMark = 0;
  #runSeq = -1;
  /** Runs whose end this page has seen. */
  readonly #over = new Set<string>();
  /** Runs that were asked for. */
  readonly #lookedUp = new Set<string>();
  #reading: Promise<void> | null = null;
  #again = false;
  #gapPlanned = false;
  #keys = 0;
  #closed = false;
  readonly #sending: Sending;
  /** Messages that a person took back while they were on their way. */
  readonly #regretted = new Set<string>();

  /** Questions of the run that were answered while this page looked. */
  readonly #answered = new Set<string>();

  constructor(id: string, options: TranscriptOptions) {
    this.id = id;
    this.#api = options.api;
    this.#options = options;
    this.#sending = new Sending(id, { ...options, post: (item) => this.#post(item) });
  }

  get rows(): Row[] {
    return this.#ledger.rows;
  }

  get active(): boolean {
    return this.run !== null && ACTIVE.has(this.run.state);
  }

  /** Messages on the host that wait for their turn, in order. */
  get queued(): Entry[] {
    if (!this.active) return NONE;
    const begun = new Set(this.rows.flatMap((row) => (row.kind === 'assistant' ? [row.entry.runId] : [])));
    const waits = (entry: Entry) => entry.kind !== 'correction' && entry.runId !== null && entry.runId !== this.run?.id && !begun.has(entry.runId);
    const out: Entry[] = [];
    // They are behind everything that was answered.
    for (const row of this.rows) if (row.kind === 'user' && waits(row.entry)) out.push(row.entry);
    return out;
  }

  get interrupted(): boolean {
    return this.run?.state === 'interrupted';
  }

  call(callId: string, runId: string | null = null): ToolCall | null {
    return this.#ledger.call(callId, runId);
  }

  entry(id: string): Entry | null {
    return this.#ledger.entry(id);
  }

  /** Reads the newest page unless it is here. */
  open(): Promise<void> {
    return this.ready ? Promise.resolve() : this.refresh();
  }

  close(): void {
    this.#closed = true;
    this.#sending.close();
  }

  /** The session was deleted, here or elsewhere: whoever looks at it sees that, also in the middle of reading it. */
  gone(): void {
    this.close();
    this.error = new ApiError(404, 'not_found', '');
    this.ready = false;
  }

  /** Reads the session and its newest page again. Calls meanwhile cause exactly one more. */
  refresh(): Promise<void> {
    if (this.#reading) {
      this.#again = true;
      return this.#reading;
    }
    return (this.#reading = this.#read());
  }

  /** The event stream had a gap: text streamed so far may have been declared void meanwhile. A first page that is
      on its way may have been read before the gap. */
  resync(): void {
    if (!this.ready && !this.error && !this.#reading) return;
    this.#ledger.doubt();
    // A host that was started anew counts its events anew.
    this.#runSeq = -1;
    void this.refresh();
  }

  async loadOlder(): Promise<void> {
    if (this.loadingOlder || !this.hasMore || !this.ready) return;
    const oldest = this.#ledger.oldest;
    if (!oldest) return;
    this.loadingOlder = true;
    try {
      const page = await this.#api.messages(this.id, { limit: PAGE, beforeId: oldest.id });
      // Replaced by a newer page meanwhile: what was asked for would leave a hole.
      if (this.#ledger.oldest !== oldest) return;
      this.hasMore = page.hasMore;
      this.#ledger.takeOlder(page);
    } catch (thrown) {
      this.error = toApiError(thrown);
    } finally {
      this.loadingOlder = false;
    }
  }

  /** Lets go of old messages of a long chat; they are read again when somebody scrolls there. */
  trim(): void {
    if (!this.loadingOlder && this.#ledger.trim()) this.hasMore = true;
  }

  get outgoing(): Outgoing[] {
    return this.#sending.outgoing;
  }

  /** Sends a message; it is shown at once. Whether the host has it. */
  send(text: string, attachments: Attachment[], mode: SendMode, answerBy?: string): Promise<boolean> {
    return this.#sending.send(text, attachments, mode, answerBy);
  }

  /** Tries again to send a message the host refused, changed if `text` is given. */
  resend(id: string, text?: string): Promise<boolean> {
    return this.#sending.resend(id, text);
  }

  /** Sends a refused message again, of this file the name alone. */
  resendNamed(id: string, file: string): Promise<boolean> {
    return this.#sending.resendNamed(id, file);
  }

  /** Takes back a message that is not on the host. */
  withdraw(id: string): void {
    if (this.#sending.isUnderWay(id)) this.#regretted.add(id);
    this.#sending.withdraw(id);
  }

  /** Takes up messages that an earlier page could not send. */
  restore(items: readonly Unsent[]): Promise<void> {
    return this.#sending.restore(items);
  }

  /** Sends what waits for the host. */
  flush(): Promise<void> {
    return this.#sending.flush();
  }

  async stop(): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    try {
      await this.#api.abort(this.id);
    } catch (thrown) {
      this.stopping = false;
      throw thrown;
    }
    // The end comes as an event; a page that has lost its events asks.
    (this.#options.later ?? later)(() => {
      if (this.stopping && !this.#closed) void this.refresh();
    }, 2_500);
  }

  /** The last turn once more, in the place of what was answered. */
  async again(): Promise<void> {
    await this.#api.retry(this.id);
    await this.refresh();
  }

  /** Says something in the place of an older message; what followed that one is kept as its version. A run under way
      is stopped first. */
  async replace(message: string, text: string): Promise<void> {
    await this.#api.send(this.id, { text, replaces: message, mode: this.active ? 'replace' : 'queue', clientMessageId: crypto.randomUUID(), instructions: 'ask' });
    await this.refresh();
  }

  /** Shows another version of a message. */
  async select(message: string): Promise<void> {
    await this.#api.select(this.id, message);
    await this.refresh();
  }

  /** Asks why an older run failed, once. */
  async lookUp(runId: string): Promise<void> {
    if (this.#lookedUp.has(runId)) return;
    this.#lookedUp.add(runId);
    try {
      const { state, error } = await this.#api.run(runId);
      if (state === 'failed' && error && !this.failures.has(runId)) this.failures = new Map(this.failures).set(runId, { ...error, hint: null });
    } catch {
      // The note of the chat says it in its words; the card is an extra.
    }
  }

  dismissNotice(key: number): void {
    this.notices = this.notices.filter((notice) => notice.key !== key);
  }

  /** Folds events in. They may come twice, late, or with some missing between them. */
  apply(events: ChatEvent[]): void {
    let structure = false;
    let reread = false;
    for (const event of events) {
      const outcome = this.#fold(event);
      structure ||= outcome !== 'same';
      reread ||= outcome === 'reread';
    }
    if (structure) this.#ledger.rebuild();
    if (reread) void this.refresh();
  }

  #fold(event: ChatEvent): 'same' | 'changed' | 'reread' {
    const stamp = this.#ledger.tick();
    switch (event.type) {
      case 'user_message':
      case 'assistant_start':
      case 'tool_result': {
        const message = event['message'] as MessageView | undefined;
        if (!isMessage(message)) return 'reread';
        // A correction of a subagent is a message of that one.
        if (message.sessionId !== this.id) return 'same';
        if (event.type === 'user_message') this.#sending.arrived(message.id);
        if (event.type === 'assistant_start') {
          this.retry = null;
          this.#runActive(event);
        }
        if (event.type === 'assistant_start') return this.#ledger.start(message, stamp) ? 'changed' : this.#gap();
        this.#ledger.tell(message, stamp);
        if (event.type !== 'user_message' || !message.versions?.length) return 'changed';
        this.#ledger.leave(message);
        return 'reread';
      }
      case 'assistant_delta':
      case 'assistant_reasoning_delta':
        if (this.retry && this.#ledger.entry(string(event.messageId))) this.retry = null;
        return this.#ledger.delta(event, stamp) ? 'same' : this.#gap();
      case 'assistant_retry':
        return this.#retried(event, stamp);
      case 'tool_call':
        this.#ledger.called(event, stamp);
        return 'changed';
      case 'tool_progress':
        this.#ledger.progress(event);
        return 'same';
      case 'prompt_waiting':
      case 'prompt_answered':
        this.#asks(event);
        return 'same';
      case 'subagent_state':
      case 'subagent_step':
        return this.#ledger.sub(event) ? 'same' : 'changed';
      case 'usage':
        this.#used(event);
        return 'same';
      case 'run_state':
        return this.#runState(event);
      case 'notice':
        this.#notice(event);
        return 'same';
      case 'context_compacted':
      case 'messages_refresh':
        return 'reread';
      default:
        return ENDS.has(event.type) ? this.#ended(event, stamp) : 'same';
    }
  }

  /** Something is missing: the host will have it in a moment. */
  #gap(): 'same' {
    if (!this.#gapPlanned) {
      this.#gapPlanned = true;
      (this.#options.later ?? later)(() => {
        this.#gapPlanned = false;
        if (!this.#closed) void this.refresh();
      }, GAP_WAIT_MS);
    }
    return 'same';
  }

  #retried(event: ChatEvent, stamp: number): 'changed' {
    this.#ledger.void(string(event.messageId), number(event['keep']) ?? 0, stamp);
    const delay = number(event['delayMs']) ?? 0;
    this.retry = { attempt: number(event['attempt']) ?? 1, class: string(event['class']), at: Date.now() + delay };
    return 'changed';
  }

  #asks(event: ChatEvent): void {
    const id = string(event['requestId']);
    if (id === '') return;
    const waiting = event.type === 'prompt_waiting';
    if (!waiting) this.#answered.add(id);
    this.#ledger.asks(this.#ledger.call(string(event['callId']), event.runId ?? null), id, waiting);
    const others = this.asked.filter((known) => known !== id);
    this.asked = waiting ? [...others, id] : others;
  }

  /** Questions that are open: those asked before this page looked are given to the calls that wait for them. */
  waits(questions: readonly Asked[]): void {
    for (const question of questions) {
      const call = this.#answered.has(question.id) ? null : this.#ledger.asker(question);
      if (call) this.#ledger.asks(call, question.id, true);
    }
  }

  #used(event: ChatEvent): void {
    const usage = readUsage(event as never);
    const id = text(event.messageId);
    const entry = (id && this.#ledger.entry(id)) || this.#ledger.lastAssistant(event.runId ?? null);
    if (entry) entry.usage = usage;
    this.usage = addUsage(this.usage, usage);
  }

  #notice(event: ChatEvent): void {
    const notice = { key: (this.#keys += 1), level: string(event['level']) || 'info', code: string(event['code']), message: string(event['message']) };
    const others = this.notices.filter((known) => known.code !== notice.code || known.message !== notice.message);
    this.notices = [...others, notice].slice(-MAX_NOTICES);
  }

  #runState(event: ChatEvent): 'same' | 'reread' {
    const runId = string(event.runId);
    // Sub runs report to the same chat; only the chat's own run decides about the composer.
    if (event['kind'] === 'sub' || this.#ledger.isSub(runId)) return 'same';
    if (!this.#newer(event)) return 'same';
    if (event['reason'] === ONLY_SUMMARY) return 'reread';
    const state = string(event['state']);
    // One that waited for its turn was taken back: the run under way goes on.
    if (!ACTIVE.has(state) && this.active && this.run?.id !== runId) return 'reread';
    this.#setRun({ ...this.#runOf(event), state, reason: text(event['reason']) });
    return ACTIVE.has(state) ? 'same' : 'reread';
  }

  #runActive(event: ChatEvent): void {
    if (!this.#newer(event)) return;
    const run = this.#runOf(event);
    if (!ACTIVE.has(run.state)) this.#setRun({ ...run, state: 'running', reason: null, error: null });
    else this.#setRun(run);
  }

  /** Events of a run that were overtaken by later ones say nothing new about its state. */
  #newer(event: ChatEvent): boolean {
    const seq = number(event.seq);
    if (seq === null) return true;
    if (seq < this.#runSeq) return false;
    this.#runSeq = seq;
    return true;
  }

  #runOf(event: ChatEvent): CurrentRun {
    const id = string(event.runId);
    if (this.run && (id === '' || this.run.id === id)) return this.run;
    const trace = event['trace'] as { traceId?: unknown } | undefined;
    return { id, state: 'running', reason: null, startedAt: moment(event.ts), traceId: text(trace?.traceId), error: null };
  }

  #setRun(run: CurrentRun): void {
    this.#runMark += 1;
    if (run.state === 'failed' && run.error) this.failures = new Map(this.failures).set(run.id, run.error);
    else if (ACTIVE.has(run.state) && (run.error || this.failures.has(run.id))) run = this.#goesOn(run);
    if (this.run?.id !== run.id) {
      this.#answered.clear();
      this.notices = [];
      this.asked = [];
    }
    this.run = run;
    if (!ACTIVE.has(run.state)) {
      this.#over.add(run.id);
      this.stopping = false;
      this.retry = null;
      this.asked = [];
    }
  }

  /** It failed and goes on: that is no failure any more. */
  #goesOn(run: CurrentRun): CurrentRun {
    const failures = new Map(this.failures);
    failures.delete(run.id);
    this.failures = failures;
    this.#lookedUp.delete(run.id);
    return { ...run, error: null };
  }

  #ended(event: ChatEvent, stamp: number): 'reread' {
    const states: Record<string, string> = { assistant_done: 'done', assistant_error: 'failed', assistant_aborted: 'aborted' };
    const entry = this.#ledger.entry(string(event.messageId)) ?? this.#ledger.lastAssistant(event.runId ?? null);
    if (entry) {
      entry.touched = stamp;
      // Text that was cut off stays marked as such.
      entry.partial = event.type !== 'assistant_done' && entry.partial;
      entry.unread = entry.content.text === '';
    }
    if (event['stopReason'] === ONLY_SUMMARY) return 'reread';
    const error = event.type === 'assistant_error' ? { code: string(event['code']), message: string(event['message']), hint: text(event['hint']) } : null;
    if (this.#newer(event)) this.#setRun({ ...this.#runOf(event), state: states[event.type] ?? 'done', reason: text(event['stopReason']), error });
    return 'reread';
  }

  async #post(item: Outgoing): Promise<void> {
    const files = { ...(item.attachments.length > 0 ? { attachments: item.attachments } : {}), ...(item.answerBy ? { answerBy: item.answerBy } : {}) };
    const receipt = await this.#api.send(this.id, { text: item.text, mode: item.mode, clientMessageId: item.id, instructions: 'ask', ...files });
    if (this.#regretted.delete(item.id) && item.mode !== 'steer') {
      await this.#api.takeBack(receipt.runId);
      return this.refresh();
    }
    // A quick run may be over before the answer that it began is here.
    if (!receipt.queued && !this.active && !this.#over.has(receipt.runId)) {
      this.#setRun({ id: receipt.runId, state: 'running', reason: null, startedAt: Date.now(), traceId: null, error: null });
    }
    // With the event here already there is nothing to read; without it (no connection) there is.
    if (!receipt.userMessageId || !this.#ledger.entry(receipt.userMessageId)) await this.refresh();
  }

  async #read(): Promise<void> {
    do {
      this.#again = false;
      const [mark, runMark, asked] = [this.#ledger.clock, this.#runMark, this.#options.mark?.()];
      try {
        const [session, page] = await Promise.all([this.#api.session(this.id), this.#api.messages(this.id, { limit: PAGE })]);
        if (this.#closed) break;
        this.session = session;
        this.usage = readUsage(session.usage);
        this.#options.onSession?.(session, asked);
        if (session.run) this.#takeRun(session.run, null, runMark);
        const taken = this.#ledger.takeNewest(page, mark, this.active);
        for (const { id } of this.outgoing) if (this.#ledger.entry(id)) this.#sending.arrived(id);
        if (taken.oldest) this.hasMore = page.hasMore;
        if (!taken.whole) this.#gap();
        this.ready = true;
        this.error = null;
        if (session.run) void this.#restoreJobs(session.run.id);
        // Nobody waits for how the last run ended to read the messages.
        if (!session.run) this.#takeRun(null, await this.#lastRun(), runMark);
      } catch (thrown) {
        if (!this.#closed) this.error = toApiError(thrown);
      }
    } while (this.#again && !this.#closed);
    // At once, not when a promise settles: a call in between would be counted and never served.
    this.#reading = null;
  }

  /** How the last run ended; a session only names one that is under way or interrupted. */
  async #lastRun(): Promise<RunView | null> {
    const { items } = await this.#api.lastRuns(this.id);
    return items.find((run) => run.kind !== 'sub' && run.stopReason !== ONLY_SUMMARY) ?? null;
  }

  /** Subagents that were at work before this page looked: which runs they are is in the journal. */
  async #restoreJobs(runId: string): Promise<void> {
    const waiting = this.#ledger.lostSubs();
    if (waiting.length === 0) return;
    try {
      const { steps } = await this.#api.run(runId);
      for (const step of steps ?? []) {
        const call = waiting.find((one) => one.callId === step.callId && !one.job);
        if (!call || !step.childRunId) continue;
        const job = new SubJob(step.childRunId);
        job.runId = step.childRunId;
        job.state = 'running';
        call.job = job;
      }
    } catch {
      // A link to its run is an extra; its steps still come as events.
    }
  }

  #takeRun(current: RunBrief | null, last: RunView | null, runMark: number): void {
    // An event told of the run while this was on its way: it knows better.
    if (runMark !== this.#runMark) return;
    const run: RunBrief | RunView | null = current ?? last;
    if (run) {
      const known = this.run?.id === run.id ? this.run : null;
      const failed = last?.error ? { ...last.error, hint: null } : null;
      this.#setRun({
        id: run.id,
        state: run.state,
        reason: last?.stopReason ?? current?.reason ?? known?.reason ?? null,
        startedAt: moment(run.startedAt) ?? known?.startedAt ?? null,
        traceId: run.traceId ?? known?.traceId ?? null,
        error: failed ?? known?.error ?? null,
      });
    } else if (this.active && this.run) {
      this.#setRun({ ...this.run, state: 'done' });
    }
    this.#runMark = runMark;
  }

}

function later(run: () => void, ms: number): void {
  setTimeout(run, ms);
}
