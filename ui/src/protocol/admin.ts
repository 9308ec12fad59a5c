// What the host says about servers, models, secrets, agents, land_configs, prompts, subagents and usage
// (agents §1–§6, §10.1, §15; mcp.md; security T18).

import type { JsonValue, Moment } from './index';
import type { components } from './wire';
import type { JsonObject } from './tools';

// ---- servers ----

export type ServerPhase = 'off' | 'stopped' | 'starting' | 'ready' | 'backoff' | 'failed' | 'sign_in';
export type ServerSource = 'builtin' | 'app' | 'user' | 'import';
export type AuthKind = 'none' | 'token' | 'basic' | 'headers';

export interface ServerFailure {
  code: string;
  message: string;
  hint?: string | null;
  at?: Moment | null;
  stderr?: string[];
}

export interface ServerState {
  phase: ServerPhase;
  since?: Moment | null;
  era?: string | null;
  protocolVersion?: string | null;
  serverInfo?: { name?: string; title?: string; version?: string } | null;
  /** Absent until it has named them. */
  tools?: number | null;
  inFlight: number;
  pid?: number | null;
  restarts: number;
  nextTryAt?: Moment | null;
  lastError?: ServerFailure | null;
}

export interface ServerSignIn {
  state: 'none' | 'needed' | 'pending' | 'signed_in';
  possible: boolean;
  issuer?: string | null;
  scopes: string[];
  /** The rights it asks for, when it asks. */
  wanted: string[];
  expiresAt?: Moment | null;
  canRefresh: boolean;
  clientId?: string | null;
  /** Why the last one failed. */
  error?: ServerFailure | null;
}

/** A server and the agents that can use it in chats. */
export type ServerUser = components['schemas']['ServerUser'];
export type GiveInput = components['schemas']['GiveInput'];
/** What giving it changed, or would change. */
export type Given = components['schemas']['Given'];

/** A session of another program with us. */
export type ClientSession = components['schemas']['ClientSession'];
/** One of them with what it may use, asked and called last. */
export type ClientDetail = components['schemas']['ClientDetail'];

/** A sign-in that was begun: where the person goes, and what is asked for there. */
export type SignInStart = components['schemas']['SignInStart'];

export interface Server {
  id: string;
  identity: string;
  name: string;
  url: string;
  argv?: string[] | null;
  transport: string;
  description: string;
  enabled: boolean;
  locked: boolean;
  allowMain: boolean;
  allowSub: boolean;
  timeoutMs?: number | null;
  maxTimeoutMs?: number | null;
  startTimeoutMs?: number | null;
  callMeta?: JsonObject | null;
  /** What kind there is and whether something is kept; never a value. */
  auth: { kind: AuthKind; hasValue: boolean; headerNames?: string[]; envNames?: string[]; oauth?: { clientId?: string; hasSecret: boolean; scopes: string[] } };
  /** What a person's sign-in gave, or that one is wanted. */
  signIn?: ServerSignIn;
  /** Where a program runs; empty: in the project of the host. */
  cwd?: string;
  /** Addresses of this computer and its network are allowed (security T20). */
  allowPrivate?: boolean;
  /** Folders it is told about when it asks: those a person set. */
  roots?: string[];
  source: ServerSource;
  pluginId?: string | null;
  appId?: string | null;
  tags?: string[];
  state: ServerState;
}

/** What is null stays as it is sealed. */
export type AuthInput =
  | { kind: 'none' }
  | { kind: 'token'; token: string }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'headers'; headers: Record<string, string | null> };

/** What a person may set. In a change, what is left out stays. */
export interface ServerInput {
  name?: string;
  url?: string;
  argv?: string[];
  description?: string;
  enabled?: boolean;
  allowMain?: boolean;
  allowSub?: boolean;
  timeoutMs?: number | null;
  maxTimeoutMs?: number | null;
  startTimeoutMs?: number | null;
  callMeta?: JsonObject | null;
  cwd?: string;
  allowPrivate?: boolean;
  roots?: string[];
  auth?: AuthInput;
  /** Variables of a program; null keeps a value, a name left out is removed. */
  env?: Record<string, string | null>;
  /** How to sign in; what is left out stays, an empty text removes. */
  oauth?: { clientId?: string; clientSecret?: string; scopes?: string[] } | null;
}

export interface ServerTool {
  name: string;
  title?: string | null;
  description?: string | null;
  inputSchema?: JsonObject | null;
  annotations?: JsonObject | null;
  /** `changed` and `new` are off until a person approves them (security T18). */
  state?: string | null;
  /** Why it is off. */
  why?: string | null;
}

export interface ServerLogLine {
  ts?: Moment | null;
  source?: string | null;
  level?: string | null;
  text: string;
}

export interface FoundServer {
  name: string;
  url?: string | null;
  argv?: string[] | null;
  envNames?: string[];
  warnings?: string[];
}

export interface ServerImport {
  found: FoundServer[];
  imported: string[];
}

export interface PinnedSpec {
  /** What the server says about itself; then nothing else is there. */
  instructions?: string;
  title?: string | null;
  description?: string | null;
  inputSchema?: JsonValue;
  outputSchema?: JsonValue;
  annotations?: JsonValue;
}

/** A tool that is not what was approved, or that nobody has approved yet. */
export interface ToolPin {
  identity: string;
  server: string;
  tool: string;
  state: string;
  /** Says which version was shown; another one is not approved. */
  digest: string;
  now: PinnedSpec;
  approved?: PinnedSpec | null;
  decidedAt?: Moment | null;
}

// ---- models and secrets ----

export interface ModelTest {
  ok: boolean;
  class?: string | null;
  message?: string | null;
  latencyMs?: number | null;
  at?: Moment | null;
}

/** What a person may set (agents §1.1). */
export interface ModelInput {
  name: string;
  provider: string;
  model: string;
  baseUrl: string;
  apiKeyName: string;
  description: string;
  enabled: boolean;
  contextTokens: number;
  maxOutputTokens: number;
  temperature: number | null;
  reasoningEffort: string;
  supportsVision: boolean;
  supportsReasoning: boolean;
  supportsTools: boolean;
  supportsParallelTools: boolean;
  toolFollowup: string;
  extraHeaders: JsonObject;
  extraBody: JsonObject;
  priceInput: number | null;
  priceOutput: number | null;
  priceCacheRead: number | null;
  priceCacheWrite: number | null;
  currency: string;
}

export interface Model extends ModelInput {
  id: string;
  isDefault: boolean;
  source: string;
  usable: boolean;
  problem?: { code: string; message: string } | null;
  /** What it will not get, though it can be used. */
  warnings?: string[];
  lastTest?: ModelTest | null;
  /** Who said what about it: person, vendor, learned, catalogue or guess. */
  sources: Record<string, string>;
  facts: components['schemas']['ModelFactsView'];
}

/** Chat models of a vendor or server. */
export type OfferedModels = components['schemas']['OfferedModels'];

/** A model server found on this computer. */
export interface FoundModel {
  provider: string;
  baseUrl: string;
  model: string;
  name: string;
  added?: boolean;
}

/** A vendor the host knows (agents §1.2). */
export interface Preset {
  id: string;
  name: string;
  provider: string;
  baseUrl: string;
  apiKeyName: string;
  /** Names to begin with. */
  models: string[];
}

/** What a pasted key or address seems to be. */
export interface Recognised {
  kind: 'key' | 'url' | 'nothing';
  provider: string;
  name: string;
  baseUrl: string;
  apiKeyName: string;
  models: string[];
  /** Other vendors whose keys look the same. */
  others: Preset[];
}

export type Secret = components['schemas']['SecretView'];

// ---- land_configs (agents §2) ----

export type PromptLang = 'auto' | 'zh' | 'en';
export type Role = 'main' | 'sub';

export interface ToolFilter {
  /** Absent: all tools; present, even empty: only what matches. */
  allow?: string[];
  deny?: string[];
  ask?: string[];
}

interface FlowEntry {
  name?: string;
  promptLang?: PromptLang;
  prompt?: boolean;
  sampling?: boolean;
  /** False: what the server says about itself stays out of the system prompt. */
  instructions?: boolean;
  tools?: ToolFilter;
}

export interface FlowServer extends FlowEntry {
  id: string;
}

export interface FlowApp extends FlowEntry {
  pluginId: string;
  appId: string;
}

export interface Flow {
  mcpServers?: FlowServer[];
  apps?: FlowApp[];
  agentApps?: 'none' | 'trusted';
  agentPrompts?: 'listed' | 'any';
  prompts?: { key: string; lang?: PromptLang }[];
}

export interface Limits {
  maxPasses?: number;
  maxSubDepth?: number;
  maxTokens?: number;
  maxCost?: number;
}

export interface LandConfigInput {
  name: string;
  description?: string;
  main: Flow;
  sub: Flow;
  limits?: Limits;
}

export interface LandConfig extends LandConfigInput {
  id: string;
  locked: boolean;
  builtin: boolean;
  usedBy: { id: string; name: string }[];
  warnings?: string[];
}

// ---- agents (agents §3, §4) ----

export interface UiApp {
  pluginId: string;
  appId: string;
  mcp: boolean;
  prompt: boolean;
  promptLang: PromptLang;
  mcpServerIds: string[];
  promptIds: string[];
}

export interface AgentInput {
  name: string;
  description: string;
  mode: 'custom' | 'flow';
  /** Empty: Safe default for custom agents, refused for flow agents. */
  landConfigId: string;
  modelId: string | null;
  prompt: string;
  workspaceRoot: string;
  promptLang: PromptLang;
  promptIds: string[];
  /** null: not configured, everything the land_config lists. */
  mcpServerIds: string[] | null;
  subagentIds: string[] | null;
  skills: string[];
  uiApps: UiApp[];
}

export interface AgentProblem {
  code: string;
  message: string;
  fix?: string | null;
}

/** How an agent that is a program of another maker is started. */
export interface AcpLaunch {
  program: string;
  args: string[];
  passEnv: string[];
  knownId?: string | null;
}

/** A program of another maker, as it is on this machine. */
export interface AcpFound {
  id: string;
  title: string;
  state: string;
  path?: string | null;
  command: string;
  install: string;
  signIn: string;
  agentId?: string | null;
}

export interface AcpInput {
  knownId?: string;
  workspaceRoot?: string;
  confirmed: boolean;
}

export interface Agent extends AgentInput {
  id: string;
  acp?: AcpLaunch | null;
  problems?: AgentProblem[];
  createdAt?: Moment | null;
  updatedAt?: Moment | null;
}

export interface ExplainedTool {
  tool: string;
  granted: boolean;
  ask?: boolean;
  code?: string | null;
  message?: string | null;
  rule?: string | null;
}

export interface ExplainedServer {
  /** null for something that does not exist. */
  identity: string | null;
  name: string;
  granted: boolean;
  code?: string | null;
  message?: string | null;
  rule?: string | null;
  /** The page that changes it, without the leading `#/`. */
  fix?: string | null;
  tools?: ExplainedTool[] | null;
  /** What it offers at this moment, or offered when it was last connected. */
  toolsFrom?: 'now' | 'lastSeen' | null;
}

export interface Explanation {
  agentId?: string | null;
  role: Role;
  landConfig: { id: string; name: string } | null;
  stop?: { code: string; message: string; fix?: string | null } | null;
  servers: ExplainedServer[];
  prompts: { key: string; included: boolean; why?: string | null }[];
  problems: AgentProblem[];
  changes?: GrantChange[] | null;
}

export interface GrantChange {
  kind: 'gained' | 'lost' | 'ask';
  server: string;
  tool?: string | null;
}

// ---- system prompts ----

export interface SystemPromptInput {
  name: string;
  title: string;
  content: string;
  /** Empty: for every language. */
  lang: string;
  allowMain: boolean;
  allowSub: boolean;
}

export interface SystemPrompt extends SystemPromptInput {
  id: string;
  type: string;
  builtin: boolean;
  locked: boolean;
  source: string;
  /** A built-in text that a person changed. */
  edited?: boolean;
}

// ---- subagents (agents §10.1) ----

export interface SubagentPart {
  id: string;
  name: string;
  description?: string | null;
}

export interface SubagentPlugin {
  id: string;
  name: string;
  description?: string | null;
  category?: string | null;
  enabled: boolean;
  source: string;
  agents: (SubagentPart & { model?: string | null })[];
  skills: SubagentPart[];
  commands: SubagentPart[];
}

export interface SubagentCatalogue {
  plugins: SubagentPlugin[];
  /** What could not be read, and why. */
  problems?: string[];
}

export interface SubagentImport {
  plugin?: SubagentPlugin | null;
  files?: string[];
  warnings?: string[];
  digest?: string | null;
  imported?: boolean;
}

// ---- usage (agents §15) ----

export type UsageBy = 'model' | 'agent' | 'day';

export interface UsageRow {
  key: string;
  name?: string | null;
  calls?: number;
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  /** The known part; absent where no price is known, never 0 for that. */
  cost?: number | null;
  currency?: string | null;
  estimated?: boolean;
  /** Calls whose cost nobody knows. */
  unknownCost?: number;
}
