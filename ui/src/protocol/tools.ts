// What the host says about tools, their calls and the log of calls (tools §5, §6, §8).

import type { JsonValue, Moment } from './index';

export type JsonObject = { [key: string]: JsonValue };

export interface ToolHints {
  title: string;
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  annotations: ToolHints;
  /** Which question a person may be asked first. */
  confirm: string;
  version: number;
  /** Only in the answer about one server. */
  inputSchema?: JsonObject | null;
}

export interface ToolServer {
  name: string;
  id: string;
  title: string;
  instructions: string;
  needsRoot: boolean;
  tools: Tool[];
}

export interface ToolCallInput {
  arguments: JsonObject;
  callId: string;
  session: string;
  root?: string;
}

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
  chatos: { server: string; tool: string; elapsedMs: number; size: number; ts: Moment; truncated?: Truncation[] };
}

export interface ToolResult {
  callId: string;
  content: { type: string; text?: string }[];
  structuredContent: Envelope;
  isError: boolean;
}

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

export interface ToolLogPage {
  items: ToolRecord[];
  nextCursor: string | null;
}

export interface ToolLogQuery {
  q?: string;
  server?: string;
  tool?: string;
  status?: string;
  callId?: string;
  limit?: number;
  cursor?: string | null;
}
