// The backend of a plugin: the module that `backend.entry` of plugin.json names. It runs in a Node process of its
// own (Node 20 or newer), with the plugin's data folder as working directory. Its output is the plugin's log.

import type { ErrorCode, Json, JsonLike } from './host';

/** The one export of the module (ESM or CommonJS). */
export type CreateUiAppsBackend = (ctx: BackendContext) => Backend | Promise<Backend>;

export interface Backend {
  /** Only own function members can be called; `host.backend.invoke('name')` in the page calls `methods.name`. */
  methods: Record<string, BackendMethod>;
  /** Runs before the process is stopped, for at most 3 seconds. */
  dispose?(): unknown;
}

/** Throwing rejects the caller's promise with the error's message, and with its `code` if that is an `ErrorCode`;
    a returned `{ ok: false }` is an ordinary value. The result must be JSON of at most 32 MiB. */
export type BackendMethod = (params: Json | undefined, ctx: CallContext) => JsonLike | Promise<JsonLike>;

export interface BackendContext {
  pluginId: string;
  /** Absolute. Writing into it un-trusts the plugin; write to `dataDir`. */
  pluginDir: string;
  /** Absolute; exists. */
  dataDir: string;
  /** Holds `ui-prompts.jsonl`, where a backend asks the person by appending a line. */
  stateDir: string;
  sessionRoot: string;
  projectRoot: string;
  /** Null when no model is configured. */
  llm: { complete(payload: CompleteRequest): Promise<CompleteResult> } | null;
}

export interface CallContext extends BackendContext {
  /** Aborted when the caller cancels, its frame closes or the time is up. */
  signal: AbortSignal;
  callId: string;
}

export interface CompleteRequest {
  input?: string;
  /** The same as `input`. */
  prompt?: string;
  modelId?: string;
  modelName?: string;
  systemPrompt?: string;
  /** Tools are off unless this is `false`; then only the plugin's own server is offered. */
  disableTools?: boolean;
  callMeta?: Record<string, Json>;
}

export interface CompleteResult {
  ok: true;
  model: string;
  content: string;
  toolTrace?: { tool: string; args: Json; result: Json }[];
}

/** What a method may throw to choose the code its caller sees. */
export interface BackendError extends Error {
  code?: ErrorCode;
}
