// Sessions, messages, runs and traces as the host speaks them, and the events of a chat (agents §11).

import type { Moment } from './index';

export type WireJson = Record<string, unknown>;

/** Tokens of one model call or of a sum of them; without a price the cost is unknown, never zero (agents §15). */
export interface WireUsage {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  cost?: number | null;
  currency?: string | null;
  estimated?: boolean;
  /** Of a sum: calls whose cost nobody knows. */
  unknownCost?: number;
}

/** A sum is told per currency. */
export type WireUsageSum = WireUsage | WireUsage[];

export const RUN_STATES = ['queued', 'running', 'waiting_prompt', 'waiting_async', 'interrupted', 'done', 'failed', 'aborted', 'discarded'] as const;
export type RunState = (typeof RUN_STATES)[number];

export interface WireRunRef {
  id: string;
  state: string;
  reason?: string | null;
  startedAt?: Moment | null;
  traceId?: string | null;
}

export interface WireSession {
  id: string;
  title: string;
  agentId?: string | null;
  modelId?: string | null;
  workspaceRoot?: string | null;
  pinned: boolean;
  archivedAt?: Moment | null;
  createdAt: Moment;
  updatedAt: Moment;
  lastMessageAt?: Moment | null;
  running: boolean;
  /** The run that is under way, or the one that was interrupted. */
  run?: WireRunRef | null;
  usage?: WireUsageSum | null;
}

export interface WireAttachment {
  id: string;
  name?: string | null;
  mime?: string | null;
  size?: number | null;
  url?: string | null;
  /** A link to a resource of a server, which is named and never fetched. */
  uri?: string | null;
}

export interface WireToolCall {
  callId: string;
  name?: string;
  server?: string | null;
  tool?: string | null;
  /** A redacted preview: an object, or its text when it was cut. */
  args?: unknown;
}

export interface WireMessage {
  id: string;
  sessionId: string;
  runId?: string | null;
  seq: number;
  role: string;
  kind?: string | null;
  content: string;
  reasoning?: string | null;
  attachments?: WireAttachment[] | null;
  toolCalls?: WireToolCall[] | null;
  toolCallId?: string | null;
  toolName?: string | null;
  server?: string | null;
  /** The server's own name of the tool. */
  tool?: string | null;
  status?: string | null;
  code?: string | null;
  error?: { code: string; message: string; hint?: string | null } | null;
  toolIsError?: boolean | null;
  toolStructuredContent?: unknown;
  elapsedMs?: number | null;
  partial?: boolean | null;
  usage?: WireUsage | null;
  createdAt: Moment;
}

export interface WireSummary {
  id: string;
  fromSeq: number;
  toSeq: number;
  text: string;
  tokensBefore?: number | null;
  tokensAfter?: number | null;
}

export interface WireMessagePage {
  messages: WireMessage[];
  hasMore: boolean;
  summaries?: WireSummary[];
}

export type SendMode = 'queue' | 'steer' | 'replace';

export interface WireNewAttachment {
  name: string;
  mime: string;
  data: string;
}

export interface SendInput {
  text: string;
  attachments?: WireNewAttachment[];
  mode?: SendMode;
}

export interface SendReceipt {
  runId: string;
  userMessageId?: string | null;
  assistantMessageId?: string | null;
  queued?: boolean;
}

/** A hit of the search over all messages. */
export interface WireSearchHit {
  sessionId: string;
  sessionTitle?: string | null;
  messageId?: string | null;
  excerpt?: string | null;
  createdAt?: Moment | null;
}

// ---- runs and traces ----

export interface WireRun {
  id: string;
  kind?: string | null;
  sessionId?: string | null;
  parentRunId?: string | null;
  agentId?: string | null;
  subAgentId?: string | null;
  modelId?: string | null;
  /** The beginning of what was asked. */
  task?: string | null;
  state: string;
  stopReason?: string | null;
  traceId?: string | null;
  createdAt?: Moment | null;
  startedAt?: Moment | null;
  finishedAt?: Moment | null;
  usage?: WireUsageSum | null;
  error?: { code?: string | null; message: string; hint?: string | null } | null;
}

export interface WireStep {
  seq: number;
  kind: string;
  spanId?: string | null;
  parentSpanId?: string | null;
  state?: string | null;
  callId?: string | null;
  server?: string | null;
  /** What people call the server, while it is there. */
  serverName?: string | null;
  tool?: string | null;
  status?: string | null;
  code?: string | null;
  attempt?: number | null;
  elapsedMs?: number | null;
  startedAt?: Moment | null;
  finishedAt?: Moment | null;
  childRunId?: string | null;
  requestId?: string | null;
  messageId?: string | null;
  input?: unknown;
  output?: unknown;
  usage?: WireUsage | null;
}

export type WireRunDetail = WireRun & { steps?: WireStep[] | null; children?: string[] | null };

export interface WireSpan {
  spanId: string;
  parentSpanId?: string | null;
  kind: string;
  name?: string | null;
  server?: string | null;
  /** What people call the server, while it is there. */
  serverName?: string | null;
  tool?: string | null;
  runId?: string | null;
  callId?: string | null;
  startedAt?: Moment | null;
  finishedAt?: Moment | null;
  durationMs?: number | null;
  status?: string | null;
  code?: string | null;
  sizes?: { input?: number | null; output?: number | null } | null;
  usage?: WireUsage | null;
  /** The nine fields of agents §12, as `_meta`, the tool log and the events have them. */
  trace?: Record<string, string | null> | null;
}

export interface WireTrace {
  traceId: string;
  spans: WireSpan[];
}

// ---- what the chat needs of agents and models ----

export interface WireAgentRef {
  id: string;
  name: string;
  mode?: string;
  description?: string | null;
  modelId?: string | null;
}

export interface WireModelRef {
  id: string;
  name: string;
  provider: string;
  model?: string;
  isDefault?: boolean;
  enabled?: boolean;
  usable?: boolean;
  problem?: unknown;
  supportsVision?: boolean;
}

// ---- events ----

export interface ChatEvent {
  seq?: number;
  ts?: Moment;
  type: string;
  sessionId?: string | null;
  runId?: string | null;
  messageId?: string | null;
  [key: string]: unknown;
}

export interface WireSubStep {
  index: number;
  ts?: Moment | null;
  type: string;
  text?: string | null;
  reasoning?: string | null;
  tool?: string | null;
  server?: string | null;
  args?: unknown;
  status?: string | null;
  code?: string | null;
}
