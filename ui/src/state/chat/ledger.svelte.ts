// What a chat consists of as far as this page knows: messages, tool calls and subagents at work, put together
// from stored pages and from events. Events may come twice, late, or before what they belong to.

import { untrack } from 'svelte';
import type { ChatEvent, WireSubStep } from '../../protocol/chat';
import type { MessagePage, MessageView, SummaryView } from '../../protocol/wire';
import { callKey, Entry, SubJob, ToolCall } from './entry.svelte';
import { moment, number, string, text } from './fields';
import { buildRows, type Row } from './rows';

/** Above this many messages in memory the oldest are let go while nobody looks at them. */
const KEEP = 400;
/** Pieces of one message whose start has not been seen. */
const MAX_STRAYS = 2_000;

/** A question as far as it says which call asked it. */
export interface Asked {
  id: string;
  runId: string | null;
  server: string | null;
  tool: string;
}

export class Ledger {
  rows: Row[] = $state.raw([]);
  readonly #entries = new Map<string, Entry>();
  readonly #calls = new Map<string, ToolCall>();
  readonly #jobs = new Map<string, SubJob>();
  /** Pieces of messages whose start has not been seen. */
  readonly #strays = new Map<string, ChatEvent[]>();
  #summaries: SummaryView[] = [];
  /** The entries in order; null after one came, went or was read again. */
  #order: Entry[] | null = null;
  #clock = 0;
  /** Text that was streamed before this moment is taken from the host as it is there. */
  #doubt = -1;

  /** Counts what happened; a page that was asked for before an event knows less than it. */
  get clock(): number {
    return this.#clock;
  }

  tick(): number {
    return (this.#clock += 1);
  }

  entry(id: string): Entry | null {
    return this.#entries.get(id) ?? null;
  }

  /** A call by its id and run. What does not say its run, or was taken up by another one, means the newest. */
  call(callId: string, runId: string | null = null): ToolCall | null {
    return this.#calls.get(callKey(runId, callId)) ?? [...this.#calls.values()].findLast((call) => call.callId === callId) ?? null;
  }

  get oldest(): Entry | null {
    return this.#sorted()[0] ?? null;
  }

  lastAssistant(runId: string | null): Entry | null {
    return this.#sorted().findLast((entry) => entry.role === 'assistant' && (runId === null || entry.runId === runId)) ?? null;
  }

  /** Whether a run is one of a subagent of this chat. */
  isSub(runId: string): boolean {
    return [...this.#jobs.values()].some((job) => job.runId === runId);
  }

  /** Calls of subagents that are at work, and of which this page knows no job. */
  lostSubs(): ToolCall[] {
    return [...this.#calls.values()].filter((call) => call.label === 'run_sub_agent' && !call.done && !call.job);
  }

  /** The call waits for this question, or no call does. */
  asks(call: ToolCall | null, requestId: string, waiting: boolean): void {
    for (const other of this.#calls.values()) if (other.requestId === requestId) other.requestId = null;
    if (call && waiting) call.requestId = requestId;
  }

  /** The oldest call that a question asked before this page looked can be about: of its run and tool, without a result
      and without a question of its own. */
  asker(question: Asked): ToolCall | null {
    const calls = [...this.#calls.values()];
    if (calls.some((call) => call.requestId === question.id)) return null;
    const fits = (call: ToolCall) => call.runId === question.runId && call.label === question.tool && (call.server === '' || question.server === null || call.server === question.server);
    return calls.find((call) => !call.done && call.requestId === null && fits(call)) ?? null;
  }

  /** What was streamed so far may have been declared void meanwhile. */
  doubt(): void {
    this.#doubt = this.#clock;
  }

  rebuild(): void {
    this.#order = null;
    this.rows = buildRows(this.#sorted(), this.#calls, this.#summaries, untrack(() => this.rows));
  }

  /** A piece of a message; false when something before it is missing. */
  delta(event: ChatEvent, stamp: number): boolean {
    const id = string(event.messageId);
    const entry = this.#entries.get(id);
    if (!entry) {
      const strays = this.#strays.get(id) ?? [];
      strays.push(event);
      if (strays.length <= MAX_STRAYS) this.#strays.set(id, strays);
      return false;
    }
    entry.touched = stamp;
    return this.#piece(entry, event);
  }

  /** A message that begins. A start that comes late does not take back what was streamed since. */
  start(message: MessageView, stamp: number): boolean {
    const fresh = !this.#entries.has(message.id);
    const entry = this.tell(message, stamp);
    if (fresh) entry.partial = true;
    return this.#replay(entry);
  }

  /** A message of an event, which is as new as can be. */
  tell(message: MessageView, stamp: number): Entry {
    const entry = this.#put(message, null);
    entry.touched = stamp;
    return entry;
  }

  /** A message came in the place of another: that one and what followed it are no longer shown. */
  leave({ id, seq, versions = [] }: MessageView): void {
    const left = versions.flatMap((version) => (version === id ? [] : [this.#entries.get(version)?.seq ?? []])).flat();
    if (left.length === 0) return;
    const from = Math.min(...left);
    for (const entry of [...this.#entries.values()]) {
      if (entry.seq >= from && entry.seq < seq) this.#entries.delete(entry.id);
    }
  }

  /** The attempt that wrote a message failed; what it wrote beyond `keep` is void. */
  void(id: string, keep: number, stamp: number): void {
    const entry = this.#entries.get(id);
    this.#strays.delete(id);
    if (!entry) return;
    entry.touched = stamp;
    entry.voided = stamp;
    entry.content.set(entry.content.text.slice(0, keep));
    entry.reasoning.set('');
    entry.callKeys = [];
  }

  called(event: ChatEvent, stamp: number): void {
    const call = this.#callOf(string(event['callId']), event.runId ?? null);
    call.take({ server: string(event['server']), tool: string(event['tool']), args: event['args'], name: string(event['name']) });
    call.startedAt ??= moment(event.ts);
    const entry = this.#entries.get(string(event.messageId));
    if (entry && !entry.callKeys.includes(call.key)) {
      entry.touched = stamp;
      entry.callKeys = [...entry.callKeys, call.key];
    }
  }

  /** Whether the subagent was known before. */
  sub(event: ChatEvent): boolean {
    const jobId = string(event['jobId']);
    const call = this.call(string(event['callId']), event.runId ?? null);
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
    return known !== undefined;
  }

  progress(event: ChatEvent): void {
    const call = this.call(string(event['callId']), event.runId ?? null);
    if (!call) return;
    if (event['background'] === true) call.background = true;
    const [done, total, message] = [number(event['progress']), number(event['total']), text(event['message'])];
    if (done !== null || total !== null || message !== null) call.progress = { done, total, message: message ?? call.progress?.message ?? null };
  }

  /** An older page, read because somebody scrolled there. */
  takeOlder(page: MessagePage): void {
    for (const message of page.messages) this.#put(message, this.#clock);
    this.#takeSummaries(page.summaries);
    this.rebuild();
  }

  /** The newest page, asked for at `mark`. Says whether it holds the oldest message known, and whether all of it is whole. */
  takeNewest(page: MessagePage, mark: number, streaming: boolean): { oldest: boolean; whole: boolean } {
    const ids = new Set(page.messages.map((message) => message.id));
    const first = page.messages[0]?.seq ?? 0;
    const joins = !page.hasMore || [...this.#entries.values()].some((entry) => ids.has(entry.id));
    for (const entry of [...this.#entries.values()]) {
      // What is being streamed may not be written yet.
      if (ids.has(entry.id) || entry.touched > mark || (entry.partial && streaming)) continue;
      // Gone on the host, or on a page that no longer joins this one. A page with nothing before it is all there is.
      if (entry.seq >= first || !joins || !page.hasMore) this.#entries.delete(entry.id);
    }
    this.#order = null;
    for (const message of page.messages) {
      const known = this.#entries.get(message.id);
      if (known && known.voided > mark) continue;
      this.#replay(this.#put(message, mark));
    }
    const oldest = this.oldest;
    this.#takeSummaries(page.summaries);
    this.rebuild();
    return { oldest: !oldest || oldest.seq >= first, whole: page.messages.every((message) => this.#whole(message.id)) };
  }

  /** Lets go of old messages of a long chat; whether there were any. */
  trim(): boolean {
    if (this.#entries.size <= KEEP) return false;
    const sorted = this.#sorted();
    for (const entry of sorted.slice(0, sorted.length - KEEP / 2)) {
      this.#entries.delete(entry.id);
      for (const key of entry.callKeys) this.#calls.delete(key);
    }
    this.rebuild();
    return true;
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

  #whole(id: string): boolean {
    const entry = this.#entries.get(id);
    return !entry || (entry.content.complete && entry.reasoning.complete);
  }

  /** `mark`: when it was asked for; null for a message of an event. */
  #put(message: MessageView, mark: number | null): Entry {
    const known = this.#entries.get(message.id);
    const entry = known ?? new Entry(message.id, message.role);
    const gently = known !== undefined && (mark === null || known.touched > mark);
    // Rows lag behind the stream, so a text that is still growing is never cut to what they hold.
    const growing = known !== undefined && message.partial === true && known.touched > this.#doubt;
    entry.take(message, (gently || growing) && entry.role === 'assistant');
    this.#entries.set(entry.id, entry);
    this.#order = null;
    if (entry.role === 'assistant' && message.toolCalls) {
      for (const wire of message.toolCalls) {
        const call = this.#callOf(wire.callId, entry.runId);
        call.take(wire);
        call.startedAt ??= entry.createdAt;
      }
      const told = gently ? entry.callKeys : [];
      entry.callKeys = [...new Set([...message.toolCalls.map((wire) => callKey(entry.runId, wire.callId)), ...told])];
    }
    if (entry.role === 'tool' && entry.toolCallId) {
      const call = this.#callOf(entry.toolCallId, entry.runId);
      entry.callKey = call.key;
      call.take({ ...(entry.server ? { server: entry.server } : {}), ...(entry.toolName && !call.tool ? { tool: entry.toolName } : {}) });
      call.result = entry;
      call.requestId = null;
    }
    return entry;
  }

  #callOf(callId: string, runId: string | null): ToolCall {
    const known = this.#calls.get(callKey(runId, callId));
    if (known) return known;
    const call = new ToolCall(callId, runId);
    this.#calls.set(call.key, call);
    return call;
  }

  #takeSummaries(summaries: SummaryView[] | undefined): void {
    const known = new Map(this.#summaries.map((summary) => [summary.id, summary]));
    for (const summary of summaries ?? []) known.set(summary.id, summary);
    this.#summaries = [...known.values()];
  }

  #sorted(): readonly Entry[] {
    this.#order ??= [...this.#entries.values()].sort((a, b) => a.seq - b.seq || a.createdAt - b.createdAt);
    return this.#order;
  }
}
