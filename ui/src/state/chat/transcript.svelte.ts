// One session on this page: its messages as far as they were read, and the run that is under way folded
// from events. What is stored on the host is the truth; events only bring it earlier. Whenever they do not
// fit together (a gap, a reconnect, the end of a run) the newest page is read again.

import { type ApiError, toApiError } from '../../api/error';
import type { ChatApi } from '../../api/chat';
import type { ChatEvent, SendMode, WireMessage, WireMessagePage, WireNewAttachment, WireRun, WireRunRef, WireSession, WireSubStep, WireSummary } from '../../protocol/chat';
import { Entry, type EntryError, SubJob, ToolCall } from './entry.svelte';
import { buildRows, type Row } from './rows';
import { addUsage, readUsage, type Usage } from './usage';

export const PAGE = 60;
/** Above this many messages in memory the oldest are let go while nobody looks at them. */
const KEEP = 400;
const MAX_NOTICES = 20;
/** The host writes streamed text to its rows twice a second; a gap is looked up a little later (agents §7). */
const GAP_WAIT_MS = 400;

const ACTIVE = new Set(['queued', 'running', 'waiting_prompt', 'waiting_async']);
const ENDS = new Set(['assistant_done', 'assistant_error', 'assistant_aborted']);

export interface RunView {
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

/** A message on its way to the host. */
export interface Outgoing {
  key: number;
  text: string;
  attachments: WireNewAttachment[];
  mode: SendMode;
  error: ApiError | null;
}

export interface TranscriptOptions {
  api: ChatApi;
  /** Runs what has to wait a moment; a test passes its own. */
  later?: (run: () => void, ms: number) => void;
  /** The session was read again. */
  onSession?: (session: WireSession) => void;
}

export class Transcript {
  readonly id: string;
  session: WireSession | null = $state.raw(null);
  rows: Row[] = $state.raw([]);
  run: RunView | null = $state.raw(null);
  usage: Usage | null = $state.raw(null);
  notices: Notice[] = $state.raw([]);
  retry: Retry | null = $state.raw(null);
  outgoing: Outgoing[] = $state.raw([]);
  /** The first page is here. */
  ready = $state(false);
  hasMore = $state(false);
  loadingOlder = $state(false);
  error: ApiError | null = $state.raw(null);
  /** Stop was pressed and the run has not ended yet. */
  stopping = $state(false);
  /** Ids of questions that runs of this chat wait for. */
  asked: string[] = $state.raw([]);
  readonly #api: ChatApi;
  readonly #options: TranscriptOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #calls = new Map<string, ToolCall>();
  readonly #jobs = new Map<string, SubJob>();
  /** Pieces of messages whose start has not been seen. */
  readonly #strays = new Map<string, ChatEvent[]>();
  #summaries: WireSummary[] = [];
  #clock = 0;
  /** Text that was streamed before this moment is taken from the host as it is there. */
  #doubt = -1;
  #runMark = 0;
  #runSeq = -1;
  /** Runs whose end this page has seen. */
  readonly #over = new Set<string>();
  #reading: Promise<void> | null = null;
  #again = false;
  #gapPlanned = false;
  #keys = 0;
  #closed = false;

  constructor(id: string, options: TranscriptOptions) {
    this.id = id;
    this.#api = options.api;
    this.#options = options;
  }

  get active(): boolean {
    return this.run !== null && ACTIVE.has(this.run.state);
  }

  get interrupted(): boolean {
    return this.run?.state === 'interrupted';
  }

  call(id: string): ToolCall | null {
    return this.#calls.get(id) ?? null;
  }

  entry(id: string): Entry | null {
    return this.#entries.get(id) ?? null;
  }

  /** Reads the newest page unless it is here. */
  open(): Promise<void> {
    return this.ready ? Promise.resolve() : this.refresh();
  }

  close(): void {
    this.#closed = true;
  }

  /** Reads the session and its newest page again. Calls meanwhile cause exactly one more. */
  refresh(): Promise<void> {
    if (this.#reading) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => (this.#reading = null));
    return this.#reading;
  }

  /** The event stream had a gap: text streamed so far may have been declared void meanwhile. */
  resync(): void {
    this.#doubt = this.#clock;
    void this.refresh();
  }

  async loadOlder(): Promise<void> {
    if (this.loadingOlder || !this.hasMore || !this.ready) return;
    const oldest = this.#sorted()[0];
    if (!oldest) return;
    this.loadingOlder = true;
    try {
      const page = await this.#api.messages(this.id, { limit: PAGE, beforeId: oldest.id });
      // Replaced by a newer page meanwhile: what was asked for would leave a hole.
      if (this.#sorted()[0] !== oldest) return;
      for (const message of page.messages) this.#put(message, this.#clock);
      this.hasMore = page.hasMore;
      this.#takeSummaries(page.summaries);
      this.#rebuild();
    } catch (thrown) {
      this.error = toApiError(thrown);
    } finally {
      this.loadingOlder = false;
    }
  }

  /** Lets go of old messages of a long chat; they are read again when somebody scrolls there. */
  trim(): void {
    if (this.#entries.size <= KEEP || this.loadingOlder) return;
    const sorted = this.#sorted();
    for (const entry of sorted.slice(0, sorted.length - KEEP / 2)) {
      this.#entries.delete(entry.id);
      for (const id of entry.callIds) this.#calls.delete(id);
    }
    this.hasMore = true;
    this.#rebuild();
  }

  /** Sends a message; it is shown at once and stays with its error when the host refuses it. */
  async send(text: string, attachments: WireNewAttachment[], mode: SendMode): Promise<boolean> {
    const item: Outgoing = { key: (this.#keys += 1), text, attachments, mode, error: null };
    this.outgoing = [...this.outgoing, item];
    return this.#deliver(item);
  }

  async resend(key: number): Promise<boolean> {
    const item = this.outgoing.find((one) => one.key === key);
    if (!item) return false;
    const fresh = { ...item, error: null };
    this.outgoing = this.outgoing.map((one) => (one.key === key ? fresh : one));
    return this.#deliver(fresh);
  }

  /** Takes back a message the host refused. */
  withdraw(key: number): Outgoing | null {
    const item = this.outgoing.find((one) => one.key === key) ?? null;
    this.outgoing = this.outgoing.filter((one) => one.key !== key);
    return item;
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

  /** The last turn once more. */
  async again(): Promise<void> {
    await this.#api.retry(this.id);
    await this.refresh();
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
    if (structure) this.#rebuild();
    if (reread) void this.refresh();
  }

  #fold(event: ChatEvent): 'same' | 'changed' | 'reread' {
    const stamp = (this.#clock += 1);
    switch (event.type) {
      case 'user_message':
      case 'assistant_start':
      case 'tool_result': {
        const message = event['message'] as WireMessage | undefined;
        if (!isMessage(message)) return 'reread';
        // A correction of a sub agent is a message of that one.
        if (message.sessionId !== this.id) return 'same';
        if (event.type === 'user_message') this.#arrived(message);
        if (event.type === 'assistant_start') {
          this.retry = null;
          this.#runActive(event);
        }
        const fresh = !this.#entries.has(message.id);
        const entry = this.#put(message, null);
        entry.touched = stamp;
        // A start that comes late does not take back what was streamed since.
        if (event.type === 'assistant_start') {
          if (fresh) entry.partial = true;
          return this.#replay(entry) ? 'changed' : this.#gap();
        }
        return 'changed';
      }
      case 'assistant_delta':
      case 'assistant_reasoning_delta':
        return this.#delta(event, stamp);
      case 'assistant_retry':
        return this.#retried(event, stamp);
      case 'tool_call':
        return this.#called(event, stamp);
      case 'tool_progress': {
        const call = this.#calls.get(string(event['callId']));
        if (!call) return 'same';
        if (event['background'] === true) call.background = true;
        const [done, total, message] = [number(event['progress']), number(event['total']), text(event['message'])];
        if (done !== null || total !== null || message !== null) call.progress = { done, total, message: message ?? call.progress?.message ?? null };
        return 'same';
      }
      case 'prompt_waiting':
      case 'prompt_answered':
        this.#asks(event);
        return 'same';
      case 'subagent_state':
      case 'subagent_step':
        return this.#sub(event);
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

  #delta(event: ChatEvent, stamp: number): 'same' | 'changed' | 'reread' {
    const id = string(event.messageId);
    const entry = this.#entries.get(id);
    if (!entry) {
      const strays = this.#strays.get(id) ?? [];
      strays.push(event);
      if (strays.length <= 2_000) this.#strays.set(id, strays);
      return this.#gap();
    }
    entry.touched = stamp;
    if (this.retry) this.retry = null;
    return this.#piece(entry, event) ? 'same' : this.#gap();
  }

  #piece(entry: Entry, event: ChatEvent): boolean {
    const delta = event['delta'];
    if (typeof delta !== 'string') return true;
    // A finished message does not grow; a late piece of it is one we have.
    if (!entry.partial) return true;
    const growing = event.type === 'assistant_delta' ? entry.content : entry.reasoning;
    return growing.add(number(event['offset']) ?? growing.text.length, delta);
  }

  /** Gives a message the pieces that came before it. */
  #replay(entry: Entry): boolean {
    const strays = this.#strays.get(entry.id);
    if (!strays) return true;
    this.#strays.delete(entry.id);
    return strays.map((event) => this.#piece(entry, event)).every(Boolean);
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
    const id = string(event.messageId);
    const entry = this.#entries.get(id);
    this.#strays.delete(id);
    if (entry) {
      const keep = number(event['keep']) ?? 0;
      entry.touched = stamp;
      entry.voided = stamp;
      entry.content.set(entry.content.text.slice(0, keep));
      entry.reasoning.set('');
      entry.callIds = [];
    }
    const delay = number(event['delayMs']) ?? 0;
    this.retry = { attempt: number(event['attempt']) ?? 1, class: string(event['class']), at: Date.now() + delay };
    return 'changed';
  }

  #called(event: ChatEvent, stamp: number): 'changed' {
    const call = this.#callOf(string(event['callId']));
    call.take({ callId: call.callId, server: text(event['server']), tool: text(event['tool']), args: event['args'], ...(text(event['name']) ? { name: string(event['name']) } : {}) });
    call.runId = event.runId ?? call.runId;
    call.startedAt ??= moment(event.ts);
    const entry = this.#entries.get(string(event.messageId));
    if (entry && !entry.callIds.includes(call.callId)) {
      entry.touched = stamp;
      entry.callIds = [...entry.callIds, call.callId];
    }
    return 'changed';
  }

  #asks(event: ChatEvent): void {
    const id = string(event['requestId']);
    if (id === '') return;
    const waiting = event.type === 'prompt_waiting';
    const call = this.#calls.get(string(event['callId']));
    if (call) call.requestId = waiting ? id : null;
    const others = this.asked.filter((known) => known !== id);
    this.asked = waiting ? [...others, id] : others;
  }

  #sub(event: ChatEvent): 'same' | 'changed' {
    const jobId = string(event['jobId']);
    const call = this.#calls.get(string(event['callId'])) ?? null;
    const known = this.#jobs.get(jobId);
    const job = known ?? new SubJob(jobId);
    this.#jobs.set(jobId, job);
    if (call && call.job !== job) {
      // After a reload the run was known before the job.
      job.runId ??= call.job?.runId ?? null;
      call.job = job;
    }
    if (event.type === 'subagent_state') {
      job.state = string(event['state']) || job.state;
      job.runId = text(event['childRunId']) ?? job.runId;
      job.agentName = text(event['agentName']) ?? text(event['agentId']) ?? job.agentName;
    } else {
      const step = event['step'] as WireSubStep | undefined;
      if (step && typeof step.index === 'number') job.add(step);
      if (!known) job.state = 'running';
    }
    return known ? 'same' : 'changed';
  }

  #used(event: ChatEvent): void {
    const usage = readUsage(event as never);
    const id = text(event.messageId);
    const entry = (id && this.#entries.get(id)) || this.#lastAssistant(event.runId ?? null);
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
    if (event['kind'] === 'sub' || [...this.#jobs.values()].some((job) => job.runId === runId)) return 'same';
    if (!this.#newer(event)) return 'same';
    const state = string(event['state']);
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

  #runOf(event: ChatEvent): RunView {
    const id = string(event.runId);
    if (this.run && (id === '' || this.run.id === id)) return this.run;
    const trace = event['trace'] as { traceId?: unknown } | undefined;
    return { id, state: 'running', reason: null, startedAt: moment(event.ts), traceId: text(trace?.traceId), error: null };
  }

  #setRun(run: RunView): void {
    this.#runMark += 1;
    if (this.run?.id !== run.id) {
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

  #ended(event: ChatEvent, stamp: number): 'reread' {
    const states: Record<string, string> = { assistant_done: 'done', assistant_error: 'failed', assistant_aborted: 'aborted' };
    const entry = this.#entries.get(string(event.messageId)) ?? this.#lastAssistant(event.runId ?? null);
    if (entry) {
      entry.touched = stamp;
      // Text that was cut off stays marked as such.
      entry.partial = event.type !== 'assistant_done' && entry.partial;
    }
    const error = event.type === 'assistant_error' ? { code: string(event['code']), message: string(event['message']), hint: text(event['hint']) } : null;
    if (this.#newer(event)) this.#setRun({ ...this.#runOf(event), state: states[event.type] ?? 'done', reason: text(event['stopReason']), error });
    return 'reread';
  }

  #lastAssistant(runId: string | null): Entry | null {
    return this.#sorted().findLast((entry) => entry.role === 'assistant' && (runId === null || entry.runId === runId)) ?? null;
  }

  /** A message that this page sent came back as an event, perhaps before its answer. */
  #arrived(message: WireMessage): void {
    const match = this.outgoing.find((item) => item.error === null && item.text.trim() === message.content.trim());
    if (match) this.withdraw(match.key);
  }

  async #deliver(item: Outgoing): Promise<boolean> {
    try {
      const input = { text: item.text, mode: item.mode, ...(item.attachments.length > 0 ? { attachments: item.attachments } : {}) };
      const receipt = await this.#api.send(this.id, input);
      // A quick run may be over before the answer that it began is here.
      if (!receipt.queued && !this.active && !this.#over.has(receipt.runId)) {
        this.#setRun({ id: receipt.runId, state: 'running', reason: null, startedAt: Date.now(), traceId: null, error: null });
      }
      // With the event here already there is nothing to read; without it (no connection) there is.
      if (!receipt.userMessageId || !this.#entries.has(receipt.userMessageId)) await this.refresh();
      this.withdraw(item.key);
      return true;
    } catch (thrown) {
      const error = toApiError(thrown);
      this.outgoing = this.outgoing.map((one) => (one.key === item.key ? { ...one, error } : one));
      return false;
    }
  }

  async #read(): Promise<void> {
    do {
      this.#again = false;
      const [mark, runMark] = [this.#clock, this.#runMark];
      try {
        const [session, page] = await Promise.all([this.#api.session(this.id), this.#api.messages(this.id, { limit: PAGE })]);
        if (this.#closed) return;
        this.session = session;
        this.usage = readUsage(session.usage);
        this.#options.onSession?.(session);
        if (session.run) this.#takeRun(session.run, null, runMark);
        this.#takePage(page, mark);
        this.ready = true;
        this.error = null;
        if (session.run) void this.#restoreJobs(session.run.id);
        // Nobody waits for how the last run ended to read the messages.
        if (!session.run) this.#takeRun(null, await this.#lastRun(), runMark);
      } catch (thrown) {
        if (!this.#closed) this.error = toApiError(thrown);
      }
    } while (this.#again && !this.#closed);
  }

  /** How the last run ended; a session only names one that is under way or interrupted. */
  async #lastRun(): Promise<WireRun | null> {
    const { items } = await this.#api.lastRuns(this.id);
    return items.find((run) => run.kind !== 'sub') ?? null;
  }

  /** Sub agents that were at work before this page looked: which runs they are is in the journal. */
  async #restoreJobs(runId: string): Promise<void> {
    const waiting = [...this.#calls.values()].filter((call) => call.label === 'run_sub_agent' && !call.done && !call.job);
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

  #takeRun(current: WireRunRef | null, last: WireRun | null, runMark: number): void {
    // An event told of the run while this was on its way: it knows better.
    if (runMark !== this.#runMark) return;
    const run: WireRunRef | WireRun | null = current ?? last;
    if (run) {
      const known = this.run?.id === run.id ? this.run : null;
      const failed = last?.error ? { code: last.error.code ?? '', message: last.error.message, hint: last.error.hint ?? null } : null;
      this.#setRun({
        id: run.id,
        state: run.state,
        reason: last?.stopReason ?? known?.reason ?? null,
        startedAt: moment(run.startedAt) ?? known?.startedAt ?? null,
        traceId: run.traceId ?? known?.traceId ?? null,
        error: failed ?? known?.error ?? null,
      });
    } else if (this.active && this.run) {
      this.#setRun({ ...this.run, state: 'done' });
    }
    this.#runMark = runMark;
  }

  #takePage(page: WireMessagePage, mark: number): void {
    const ids = new Set(page.messages.map((message) => message.id));
    const first = page.messages[0]?.seq ?? 0;
    const joins = !page.hasMore || [...this.#entries.values()].some((entry) => ids.has(entry.id));
    for (const entry of [...this.#entries.values()]) {
      // What is being streamed may not be written yet.
      if (ids.has(entry.id) || entry.touched > mark || (entry.partial && this.active)) continue;
      // Gone on the host, or on a page that no longer joins this one.
      if (entry.seq >= first || !joins) this.#entries.delete(entry.id);
    }
    for (const message of page.messages) {
      const known = this.#entries.get(message.id);
      if (known && known.voided > mark) continue;
      const entry = this.#put(message, mark);
      this.#replay(entry);
    }
    const oldest = this.#sorted()[0];
    if (!oldest || oldest.seq >= first) this.hasMore = page.hasMore;
    this.#takeSummaries(page.summaries);
    this.#rebuild();
    if (page.messages.some((message) => !this.#whole(message.id))) this.#gap();
  }

  #whole(id: string): boolean {
    const entry = this.#entries.get(id);
    return !entry || (entry.content.complete && entry.reasoning.complete);
  }

  /** `mark`: when it was asked for; null for a message of an event, which is as new as can be. */
  #put(message: WireMessage, mark: number | null): Entry {
    const known = this.#entries.get(message.id);
    const entry = known ?? new Entry(message.id, message.role);
    const gently = known !== undefined && (mark === null || known.touched > mark);
    // Rows lag behind the stream, so a text that is still growing is never cut to what they hold.
    const growing = known !== undefined && message.partial === true && known.touched > this.#doubt;
    entry.take(message, (gently || growing) && entry.role === 'assistant');
    this.#entries.set(entry.id, entry);
    if (entry.role === 'assistant' && message.toolCalls) {
      for (const wire of message.toolCalls) {
        const call = this.#callOf(wire.callId);
        call.take(wire);
        call.runId = entry.runId;
        call.startedAt ??= entry.createdAt;
      }
      const told = gently ? entry.callIds : [];
      entry.callIds = [...new Set([...message.toolCalls.map((wire) => wire.callId), ...told])];
    }
    if (entry.role === 'tool' && entry.toolCallId) {
      const call = this.#callOf(entry.toolCallId);
      call.take({ callId: call.callId, ...(entry.server ? { server: entry.server } : {}), ...(entry.toolName && !call.tool ? { tool: entry.toolName } : {}) });
      call.result = entry;
      call.requestId = null;
    }
    return entry;
  }

  #callOf(id: string): ToolCall {
    const known = this.#calls.get(id);
    if (known) return known;
    const call = new ToolCall(id);
    this.#calls.set(id, call);
    return call;
  }

  #takeSummaries(summaries: WireSummary[] | undefined): void {
    const known = new Map(this.#summaries.map((summary) => [summary.id, summary]));
    for (const summary of summaries ?? []) known.set(summary.id, summary);
    this.#summaries = [...known.values()];
  }

  #sorted(): Entry[] {
    return [...this.#entries.values()].sort((a, b) => a.seq - b.seq || a.createdAt - b.createdAt);
  }

  #rebuild(): void {
    this.rows = buildRows(this.#sorted(), this.#calls, this.#summaries);
  }
}

function isMessage(value: WireMessage | undefined): value is WireMessage {
  return typeof value?.id === 'string' && typeof value.content === 'string' && typeof value.seq === 'number';
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function moment(value: unknown): number | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

function later(run: () => void, ms: number): void {
  setTimeout(run, ms);
}
