// What the host says about tools, their calls and the log of calls (tools §5, §6, §8).

import type { JsonValue, Moment } from './index';
import type { components } from './wire';

type Schemas = components['schemas'];

export type JsonObject = { [key: string]: JsonValue };

type Narrow<T, Known> = Omit<T, keyof Known> & Known;

/** A tool; its schema is only in the answer about one server. */
export type Tool = Narrow<Schemas['ToolView'], { inputSchema?: JsonObject | null }>;
export type ToolServer = Narrow<Schemas['ToolServer'], { tools: Tool[] }>;
export type ToolCallInput = Narrow<Partial<Schemas['CallInput']>, { arguments: JsonObject; callId: string; session: string; root?: string }>;

/** A cut that was made, and the arguments that fetch the rest. */
export interface Truncation {
  field: string;
  unit: string;
  keep: string;
  limit: number;
  kept: number;
  total: number | null;
  next?: JsonObject | null;
}

export interface ToolIssue {
  path: string;
  code: string;
  message: string;
  hint?: string;
}

export interface ToolFailure {
  type: string;
  message: string;
  retryable: boolean;
  hint?: string | null;
  details?: JsonObject | null;
}

export interface Envelope {
  status: string;
  code: string;
  data: JsonValue;
  error?: ToolFailure | null;
}

/** One block of a result; which fields there are depends on its type. */
export interface ToolBlock {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
  uri?: string;
  name?: string;
}

/** What the host says about a call beside its result, whoever made the tool. */
export interface CallNote {
  status: string;
  code: string;
  server: string;
  tool: string;
  elapsedMs: number;
  size: number;
  ts: Moment;
  truncated?: Truncation[];
}

/** Tools of this host put an `Envelope` into `structuredContent`; others put there what they like. */
export type ToolResult = Narrow<Schemas['CallResult'], { content: ToolBlock[]; structuredContent?: JsonValue; _meta?: { chatos?: CallNote } | null }>;

/** One line of the tool log; other keys may come with it. */
export interface ToolRecord {
  ts: Moment;
  type: 'tool_call' | 'tool_result' | 'tool_error';
  callId: string;
  server: string;
  toolName: string;
  runId?: string | null;
  sessionId?: string | null;
  transport?: string;
  caller?: string;
  size?: number;
  args?: JsonValue;
  status?: string;
  code?: string;
  isError?: boolean;
  elapsedMs?: number;
  queuedMs?: number;
  waitedMs?: number;
  truncated?: boolean;
  error?: { type: string; message: string } | null;
}

export type ToolLogPage = Narrow<Schemas['ToolLogView'], { items: ToolRecord[]; nextCursor: string | null }>;

export interface ToolLogQuery {
  q?: string;
  server?: string;
  tool?: string;
  status?: string;
  callId?: string;
  runId?: string;
  limit?: number;
  cursor?: string | null;
}
