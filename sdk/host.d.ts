// The Host API as an app sees it: the `host` that `mount({ container, host, slots })` is given.
//
// Synchronous members answer from a snapshot and never wait; everything else is a promise that rejects with a
// `HostError`. Members work detached from their object (`const { invoke } = host.backend`). Values that cross
// are JSON. A test of the page compares this file with what the frame offers and what the host page answers.

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
/** Anything that survives `JSON.stringify`; functions and `undefined` members vanish, a `Date` becomes a string. */
export type JsonLike = unknown;
export type Unsubscribe = () => void;

export type Theme = 'light' | 'dark';
export type Surface = 'full' | 'compact';
export type Language = 'zh' | 'en';

export type ErrorCode =
  | 'invalid_argument'
  | 'not_found'
  | 'permission_denied'
  | 'timeout'
  | 'canceled'
  | 'conflict'
  | 'resource_exhausted'
  | 'unavailable'
  | 'not_supported'
  | 'rate_limited'
  | 'needs_input'
  | 'internal';

/** What every rejected promise of `host` carries. */
export interface HostError extends Error {
  readonly name: 'HostError';
  readonly code: ErrorCode;
  /** More about it: `reason` (the exact code of the host), `errors` (per field), `log` (last lines of a backend). */
  readonly data?: { reason?: string; errors?: FieldError[]; hint?: string; [key: string]: unknown };
}

export interface FieldError {
  path: string;
  code: string;
  message: string;
  hint?: string;
}

/** What the module of an app exports: `mount`, or a default export that is it or has it. */
export interface AppModule {
  mount(given: MountArguments): Disposer | Promise<Disposer>;
}

export interface MountArguments {
  /** Fills the frame below the header and scrolls by itself; empty when `mount` is called. */
  container: HTMLElement;
  host: Host;
  slots: {
    /** Above the container, as high as its content; may stay empty. */
    header: HTMLElement;
  };
}

/** A function, an object with `dispose`, or anything else for "nothing to undo". Waited for at most 3 seconds. */
export type Disposer = (() => unknown) | { dispose(): unknown } | void | null;

export interface Host {
  readonly bridge: HostBridge;
  readonly context: HostContext;
  readonly theme: HostTheme;
  readonly ui: HostUi;
  readonly registry: HostRegistry;
  readonly backend: HostBackend;
  readonly admin: HostAdmin;
  readonly uiPrompts: HostUiPrompts;
  readonly chat: HostChat;
}

// ---- context, theme, ui ----

export interface HostBridge {
  /** True in every mounted frame. */
  readonly enabled: boolean;
}

export interface HostContext {
  get(): Context;
}

export interface Context {
  pluginId: string;
  appId: string;
  theme: Theme;
  surface: Surface;
  lang: Language;
  /** `memory`: the frame has no lasting storage; `localStorage` then forgets with the page. */
  storage: 'persistent' | 'memory';
  /**
   * Whether this browser keeps the app's pages off the network. `partial`: it lacks the means, and WebRTC and name
   * look-ups stay open to code that wants them; say so before a person enters what must not leave.
   */
  confinement: 'full' | 'partial';
  hostVersion: string;
  apiVersion: 1;
  bridge: { enabled: boolean };
}

export interface HostTheme {
  /** What is on screen, never `system`. */
  get(): Theme;
  /** Called on a change only; `<html data-theme>` is already the new one. */
  onChange(listener: (theme: Theme) => void): Unsubscribe;
}

export interface HostUi {
  readonly surface: Surface;
  /** Opens a page of ChatOS, such as `chat/session/<id>` or `apps/plugin/<pluginId>/<appId>`. Capability `navigate`. */
  navigate(menu: string): { ok: true };
  /**
   * Asks the person to open an address of the web (`http`, `https` or `mailto`) in a window of its own. They see all of it.
   * Only after a click or a key in the app, else it rejects with `permission_denied`. Links and `window.open` of the
   * app take the same way.
   */
  openExternal(url: string): Promise<{ opened: boolean }>;
}

// ---- registry, backend, admin ----

export interface HostRegistry {
  /** All plugins and apps, as `GET /api/v1/plugins` lists them, folders blanked. Capability `registry`. */
  list(): Promise<Registry>;
}

export interface Registry {
  ok: true;
  revision: number;
  plugins: RegistryPlugin[];
  apps: RegistryApp[];
  errors: Record<string, unknown>[];
  [key: string]: unknown;
}

export interface RegistryPlugin {
  id: string;
  name: string;
  version: string;
  description: string;
  source: 'builtin' | 'user' | 'dev';
  trusted: boolean;
  apps: RegistryApp[];
  [key: string]: unknown;
}

export interface RegistryApp {
  id: string;
  name: string;
  description: string;
  icon: string;
  route: string;
  [key: string]: unknown;
}

export interface HostBackend {
  /** Calls a method of this plugin's own backend. Capability `backend`. */
  invoke<T = Json>(method: string, params?: JsonLike, options?: InvokeOptions): Promise<T>;
}

export interface InvokeOptions {
  /** 1,000 to 7,200,000; ten minutes when absent. */
  timeoutMs?: number;
  /** Aborting it rejects with `canceled` at once and aborts the `signal` the method was given. */
  signal?: AbortSignal;
}

export interface HostAdmin {
  /** Models, servers, prompts, tasks and settings, without any secret. Capability `admin.read`. */
  state(): Promise<AdminState>;
  /** The same, at most four times a second. */
  onUpdate(listener: (state: AdminState) => void): Unsubscribe;
  readonly models: HostAdminModels;
  readonly secrets: HostAdminSecrets;
}

export interface HostAdminModels {
  list(): Promise<Model[]>;
}

export interface HostAdminSecrets {
  list(): Promise<Secret[]>;
}

export interface AdminState {
  data: {
    models: Model[];
    secrets: Secret[];
    mcpServers: Record<string, unknown>[];
    subagents: Record<string, unknown>[];
    prompts: Record<string, unknown>[];
    /** The newest 200. */
    events: Record<string, unknown>[];
    /** The newest 200. */
    tasks: Record<string, unknown>[];
    settings: Record<string, unknown>[];
    landConfigs: Record<string, unknown>[];
  };
  dbPath: '';
  uiFlags: { developerMode: boolean; exposeSubagents: boolean };
}

export interface Model {
  id: string;
  name: string;
  provider: string;
  model: string;
  description: string;
  isDefault: boolean;
  supportsVision: boolean;
  supportsReasoning: boolean;
  [key: string]: unknown;
}

export interface Secret {
  id: string;
  name: string;
  description: string;
  value: '********';
  hasValue: boolean;
}

// ---- prompts ----

/** Questions to the person. Capability `prompts`; `prompts.readAll` to read what others asked. */
export interface HostUiPrompts {
  read(): Promise<PromptLog>;
  /** The first call comes with the next change; at most ten a second. */
  onUpdate(listener: (log: PromptLog & { changed: string[] }) => void): Unsubscribe;
  /** Resolves when the question is recorded; `wait` for the answer. */
  request(payload: PromptRequest): Promise<{ ok: true; requestId: string }>;
  /** Answers a question this app asked itself. */
  respond(payload: PromptReply): Promise<{ ok: true }>;
  open(): { ok: true };
  close(): { ok: true };
  toggle(): { ok: true };
  /** The answer to an own question, private values included. */
  wait(requestId: string, options?: { timeoutMs?: number }): Promise<PromptResponse>;
  /** Erases the private values of an own question now. */
  consume(requestId: string): Promise<{ ok: true }>;
}

export interface PromptLog {
  path: 'ui-prompts.jsonl';
  entries: PromptEntry[];
}

export interface PromptEntry {
  ts: string;
  type: 'ui_prompt';
  action: 'request' | 'response';
  requestId: string;
  runId?: string;
  prompt?: Prompt;
  response?: PromptResponse;
  [key: string]: unknown;
}

export interface PromptRequest {
  prompt: Prompt;
  requestId?: string;
  runId?: string;
}

export interface PromptReply {
  requestId: string;
  runId?: string;
  response: PromptResponse;
}

export interface PromptResponse {
  status: 'ok' | 'canceled' | 'timeout' | 'error';
  values?: Record<string, string>;
  selection?: string | string[];
  tasks?: PromptTask[];
  remark?: string;
  message?: string;
  code?: string;
  [key: string]: unknown;
}

interface PromptCommon {
  title?: string;
  message?: string;
  /** `<pluginId>:<appId>` when empty. */
  source?: string;
  allowCancel?: boolean;
  /** 0 waits for ever. */
  timeoutMs?: number;
  chain?: { id: string; step: number; of?: number };
}

export type Prompt =
  | (PromptCommon & { kind: 'kv'; fields: KvField[] })
  | (PromptCommon & {
      kind: 'choice';
      options: { value: string; label?: string; description?: string }[];
      multiple?: boolean;
      default?: string | string[];
      minSelections?: number;
      maxSelections?: number;
    })
  | (PromptCommon & { kind: 'task_confirm'; tasks?: PromptTask[]; defaultRemark?: string })
  | (PromptCommon & { kind: 'file_change_confirm'; path?: string; command?: string; cwd?: string; diff?: string; defaultRemark?: string })
  | (PromptCommon & { kind: 'result'; markdown?: JsonLike; result?: JsonLike; content?: JsonLike; mimeType?: string });

export interface KvField {
  key: string;
  label?: string;
  description?: string;
  placeholder?: string;
  default?: string;
  required?: boolean;
  multiline?: boolean;
  secret?: boolean;
}

export interface PromptTask {
  draftId?: string;
  title?: string;
  details?: string;
  priority?: 'high' | 'medium' | 'low';
  status?: 'todo' | 'doing' | 'blocked' | 'done';
  tags?: string[];
}

// ---- chat ----

/**
 * Capability `chat.own`, on by default: the agents and sessions this plugin made. `chat.read` shows all of the
 * person's, `chat.write` sends and stops in them, `agents.write` changes agents; each is declared in plugin.json and
 * ticked by the person.
 */
export interface HostChat {
  readonly agents: HostChatAgents;
  readonly sessions: HostChatSessions;
  readonly messages: HostChatMessages;
  readonly events: HostChatEvents;
  /** Resolves at once; what happens then is told by `events`. A running session rejects with `conflict`. */
  send(payload: ChatSend): Promise<{ ok: true; userMessageId: string; assistantMessageId: string }>;
  /** Stops a run this plugin started; with `chat.write` any run of the session. */
  abort(payload: { sessionId: string }): Promise<{ ok: true }>;
}

export interface HostChatAgents {
  /** Those this plugin made, and the default one as `{ id, name }`; with `chat.read` all. */
  list(): Promise<{ ok: true; agents: Agent[] }>;
  /** This plugin's newest agent, or a first one named after the app. */
  ensureDefault(): Promise<{ ok: true; agent: Agent }>;
  create(agent: AgentFields): Promise<{ ok: true; agent: Agent } & PendingRoot>;
  /** Agents this plugin made; with `agents.write` all. */
  update(id: string, patch: AgentFields): Promise<{ ok: true; agent: Agent } & PendingRoot>;
  delete(id: string): Promise<{ ok: true; removed: boolean }>;
  /** A new agent that may use this app's tools and instructions. */
  createForApp(
    fields?: Pick<AgentFields, 'name' | 'description' | 'prompt' | 'modelId' | 'promptIds' | 'subagentIds' | 'skills' | 'mcpServerIds'>,
  ): Promise<{ ok: true; agent: Agent; needsGrant?: true }>;
}

export interface HostChatSessions {
  /** Those this plugin made; with `chat.read` all. */
  list(): Promise<{ ok: true; sessions: (Session & { running: boolean })[] }>;
  /** This plugin's newest session, or a first one named after the app. */
  ensureDefault(fields?: SessionFields): Promise<{ ok: true; session: Session } & PendingRoot>;
  create(fields?: SessionFields): Promise<{ ok: true; session: Session } & PendingRoot>;
}

/**
 * A `workspaceRoot` is a wish. What was made works in the plugin's data directory; `pendingRoot` names the question
 * to the person about the folder. After a yes it works there.
 */
export interface PendingRoot {
  pendingRoot?: string;
}

export interface HostChatMessages {
  /** Oldest first; 200 unless `limit` (at most 1,000) says otherwise. */
  list(query: { sessionId: string; limit?: number; beforeId?: string }): Promise<{ ok: true; messages: Message[]; hasMore: boolean }>;
}

export interface HostChatEvents {
  /** Each listener has its own filter. Ignore types you do not know. */
  subscribe(filter: ChatFilter | null | undefined, listener: (event: ChatEvent) => void): Unsubscribe;
  /** Drops every listener of this frame. */
  unsubscribe(): { ok: true };
}

export interface AgentFields {
  name?: string;
  description?: string;
  mode?: 'custom' | 'flow';
  landConfigId?: string | null;
  modelId?: string | null;
  prompt?: string;
  workspaceRoot?: string;
  promptLang?: 'auto' | 'zh' | 'en';
  promptIds?: string[];
  mcpServerIds?: string[] | null;
  subagentIds?: string[] | null;
  skills?: string[];
  uiApps?: { pluginId: string; appId: string; mcp?: boolean; prompt?: boolean }[];
}

export interface Agent extends AgentFields {
  id: string;
  name: string;
  [key: string]: unknown;
}

export interface SessionFields {
  title?: string;
  agentId?: string;
  workspaceRoot?: string;
}

export interface Session {
  id: string;
  title: string;
  agentId: string;
  workspaceRoot: string;
  createdAt: string;
  updatedAt: string;
}

export interface Message {
  id: string;
  sessionId: string;
  userMessageId?: string;
  role: 'user' | 'assistant' | 'tool' | 'system';
  content: string;
  reasoning?: string;
  attachments?: Record<string, unknown>[];
  toolCallId?: string;
  toolName?: string;
  toolCalls?: Record<string, unknown>[];
  toolStructuredContent?: Json;
  toolIsError?: boolean;
  createdAt: string;
  [key: string]: unknown;
}

export interface ChatSend {
  sessionId: string;
  text?: string;
  /** The same as `text`. */
  content?: string;
  /** At most four `data:image/…` addresses. */
  attachments?: (string | { name?: string; dataUrl: string })[];
  /** The same as `attachments`. */
  images?: (string | { name?: string; dataUrl: string })[];
  agentId?: string;
}

export interface ChatFilter {
  sessionId?: string;
  types?: string[];
}

export interface ChatEvent {
  type: string;
  seq: number;
  ts: string;
  /** Null for what concerns the whole host. */
  sessionId: string | null;
  runId: string | null;
  [key: string]: unknown;
}

declare global {
  /** The same `host`, for code that runs while the module is imported. */
  // eslint-disable-next-line no-var -- only `var` declares a member of globalThis
  var chatos: { readonly host: Host };
}
