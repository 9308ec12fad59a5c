// One message and one tool call as the page shows them. Streamed text grows here: each piece says where it
// begins, so a repeated piece adds nothing and a missing one is noticed (agents §11).

import type { WireSubStep } from '../../protocol/chat';
import type { AttachmentView, MessageView, ToolCallView } from '../../protocol/wire';
import { readUsage, type Usage } from './usage';

export interface EntryError {
  code: string;
  message: string;
  hint: string | null;
}

interface Piece {
  offset: number;
  delta: string;
}

/** More pieces than this without what goes before them: the text is read from the host instead. */
const MAX_WAITING = 2_000;

/** A text that arrives in pieces. */
export class Growing {
  text = $state('');
  #waiting: Piece[] = [];

  /** False: something before this piece is missing. */
  add(offset: number, delta: string): boolean {
    if (offset > this.text.length) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push({ offset, delta });
      return false;
    }
    this.#append(offset, delta);
    this.#drain();
    return this.#waiting.length === 0;
  }

  /** Takes what the host has; what has come since is kept. */
  merge(text: string): void {
    if (text.length > this.text.length) this.text = text;
    this.#drain();
  }

  set(text: string): void {
    this.#waiting = [];
    if (this.text !== text) this.text = text;
  }

  get complete(): boolean {
    return this.#waiting.length === 0;
  }

  #append(offset: number, delta: string): void {
    const known = this.text.length - offset;
    if (known < delta.length) this.text += known === 0 ? delta : delta.slice(known);
  }

  #drain(): void {
    if (this.#waiting.length === 0) return;
    this.#waiting.sort((a, b) => a.offset - b.offset);
    while (this.#waiting.length > 0) {
      const [next] = this.#waiting;
      if (!next || next.offset > this.text.length) return;
      this.#waiting.shift();
      this.#append(next.offset, next.delta);
    }
  }
}

export type Role = 'user' | 'assistant' | 'tool' | 'system';
const ROLES: readonly Role[] = ['user', 'assistant', 'tool', 'system'];

export class Entry {
  readonly id: string;
  readonly role: Role;
  readonly content = new Growing();
  readonly reasoning = new Growing();
  seq = $state(0);
  kind = $state('');
  runId: string | null = $state(null);
  createdAt = $state(0);
  partial = $state(false);
  /** It ended without a word here; what the host has of it is on its way. */
  unread = $state(false);
  status: string | null = $state(null);
  code: string | null = $state(null);
  error: EntryError | null = $state.raw(null);
  usage: Usage | null = $state.raw(null);
  elapsedMs: number | null = $state(null);
  attachments: AttachmentView[] = $state.raw([]);
  /** Ids of what was said in this place, this one among them; empty where there is only one. */
  versions: string[] = $state.raw([]);
  /** Keys of the calls it makes. */
  callKeys: string[] = $state.raw([]);
  // Of a tool result.
  toolCallId: string | null = null;
  /** Key of the call it answers. */
  callKey: string | null = null;
  toolName: string | null = null;
  server: string | null = null;
  isError = $state(false);
  structured: unknown = $state.raw(null);
  /** When an event last changed it, on the transcript's own count. */
  touched = 0;
  /** When text of it was last declared void; what was read before that is not taken. */
  voided = 0;

  constructor(id: string, role: string) {
    this.id = id;
    this.role = ROLES.find((known) => known === role) ?? 'system';
  }

  /** Takes a message as the host has it. `gently`: it may be older than what events told meanwhile. */
  take(wire: MessageView, gently: boolean): void {
    this.seq = wire.seq;
    this.kind = wire.kind ?? '';
    this.runId = wire.runId ?? null;
    const at = Date.parse(wire.createdAt);
    this.createdAt = Number.isNaN(at) ? Date.now() : at;
    const partial = wire.partial === true;
    if (gently && partial) {
      this.content.merge(wire.content);
      this.reasoning.merge(wire.reasoning ?? '');
    } else {
      this.content.set(wire.content);
      this.reasoning.set(wire.reasoning ?? '');
    }
    if (!gently || !partial) {
      this.partial = partial;
      this.unread = false;
      this.status = wire.status ?? null;
      this.code = wire.code ?? null;
      this.error = null;
      this.usage = readUsage(wire.usage) ?? this.usage;
    }
    this.attachments = wire.attachments ?? [];
    this.versions = wire.versions ?? [];
    this.toolCallId = wire.toolCallId ?? null;
    this.toolName = wire.tool ?? wire.toolName ?? null;
    this.server = wire.server ?? null;
    this.isError = wire.toolIsError === true;
    this.structured = wire.toolStructuredContent ?? null;
    this.elapsedMs = wire.elapsedMs ?? null;
  }
}

export interface Progress {
  done: number | null;
  total: number | null;
  message: string | null;
}

/** A subagent that works for a call. */
export class SubJob {
  readonly jobId: string;
  runId: string | null = $state(null);
  state = $state('pending');
  agentName: string | null = $state(null);
  steps: WireSubStep[] = $state.raw([]);

  constructor(jobId: string) {
    this.jobId = jobId;
  }

  /** Each step once, in order, however it comes. */
  add(step: WireSubStep): void {
    const others = this.steps.filter((known) => known.index !== step.index);
    this.steps = [...others, step].sort((a, b) => a.index - b.index);
  }

  get running(): boolean {
    return this.state === 'pending' || this.state === 'running';
  }
}

/** Names a call in a chat: models give ids that are their own only within a run. */
export function callKey(runId: string | null, callId: string): string {
  return `${runId ?? ''}\n${callId}`;
}

export class ToolCall {
  readonly key: string;
  readonly callId: string;
  name = $state('');
  server = $state('');
  tool = $state('');
  args: unknown = $state.raw(null);
  startedAt: number | null = $state(null);
  progress: Progress | null = $state.raw(null);
  /** Went on past its soft deadline, or waits for a task to report. */
  background = $state(false);
  /** The question it waits for. */
  requestId: string | null = $state(null);
  result: Entry | null = $state.raw(null);
  job: SubJob | null = $state.raw(null);
  runId: string | null = null;

  constructor(callId: string, runId: string | null) {
    this.key = callKey(runId, callId);
    this.callId = callId;
    this.runId = runId;
  }

  take(wire: Partial<Omit<ToolCallView, 'args'>> & { args?: unknown }): void {
    if (wire.name) this.name = wire.name;
    if (wire.server) this.server = wire.server;
    if (wire.tool) this.tool = wire.tool;
    if (wire.args !== undefined && wire.args !== null) this.args = wire.args;
  }

  /** The raw tool name where it is known, else what the model called it. */
  get label(): string {
    return this.tool || this.name || this.result?.toolName || this.callId;
  }

  get done(): boolean {
    return this.result !== null;
  }
}
