// The events of a chat (agents §11), and what the chat needs of agents and models.

import type { Moment } from './index';

export type WireJson = Record<string, unknown>;

export const RUN_STATES = ['queued', 'running', 'waiting_prompt', 'waiting_async', 'interrupted', 'done', 'failed', 'aborted', 'discarded'] as const;
export type RunState = (typeof RUN_STATES)[number];

// ---- what the chat needs of agents and models ----

export interface WireAgentRef {
  id: string;
  name: string;
  mode?: string;
  description?: string | null;
  modelId?: string | null;
  /** The program of another maker that this agent is. */
  acp?: object | null;
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
