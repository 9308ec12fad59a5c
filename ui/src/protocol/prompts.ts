// The prompt routes as the host speaks them (ui-prompts §12.2). `prompt` and `response` are open
// objects: anybody may have written them, so state/prompts/item.ts reads them with care.

import type { FieldError, Moment } from './index';

export type WireObject = Record<string, unknown>;

export interface WireLine {
  offset: number;
  line: string;
}

export interface WireAnswer {
  status: string;
  ts: Moment;
  /** `null`: answered by another program. */
  by: string | null;
  verified: boolean;
  auto?: boolean;
  response: WireObject;
}

export interface WirePrompt {
  requestId: string;
  runId: string | null;
  sessionId: string | null;
  ts: Moment;
  kind: string | null;
  /** `served`: asked through this host; `foreign`: a line another program wrote. */
  class: 'served' | 'foreign';
  owner: string | null;
  source: string | null;
  title: string | null;
  state: 'pending' | 'closed' | 'lost';
  needsYou: boolean;
  prompt: WireObject;
  /** The prompt is too large for a list; the single item has it whole. */
  partial?: boolean;
  /** Content was not kept (minimal log mode). */
  metadataOnly: boolean;
  problem: FieldError | null;
  raw: string | null;
  warnings: FieldError[];
  shown: string | null;
  shownRequired: boolean;
  effect: string | null;
  expiresAt: Moment | null;
  plainSecrets: boolean;
  canDecline: boolean;
  answer: WireAnswer | null;
  ignoredResponses: number;
  foreignResponses: number;
  positions: { request: number | null; response: number | null };
  /** Only on the single item. */
  ignoredLines?: WireLine[];
  foreignLines?: WireLine[];
}

/** What is wrong with the log file. */
export interface PromptHealth {
  unreadableLines: number;
  lines: Record<string, { count: number; offsets: number[] }>;
  lockMissed: number;
  modeNarrowed: number;
  replaced: number;
  missing: boolean;
  unreadable: string | null;
  unwritable: string | null;
  lost: number;
  previous: string | null;
}

export interface PromptCounts {
  needsYou: number;
  results: number;
}

export type PromptView = 'needs_you' | 'results' | 'history' | 'all';

export interface PromptPage {
  items: WirePrompt[];
  nextCursor: string | null;
  counts: PromptCounts;
  problems: PromptHealth;
}

export interface PromptQuery {
  view: PromptView;
  runId?: string;
  source?: string;
  kind?: string;
  status?: string;
  q?: string;
  since?: Moment;
  until?: Moment;
  auto?: boolean;
  cursor?: string | null;
  limit?: number;
}

export interface AnswerReceipt {
  ok: boolean;
  /** False while the log cannot be written; the answer is safe in the store. */
  mirrored: boolean;
}

export interface ArchiveResult {
  moved: number;
  kept: number;
  file: string | null;
}
