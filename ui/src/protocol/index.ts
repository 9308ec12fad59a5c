// The shapes the host speaks, under the names the page uses. Everything below `api` and `state`
// takes its wire types from here and from nowhere else.

import type { components } from './openapi';

type Schemas = components['schemas'];

/** An ISO 8601 moment in UTC, as the host writes it. */
export type Moment = string;

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** The error object of every failed call (cli-and-api, HTTP API). */
export type ErrorBody = Schemas['Error'];

/** One entry of `details.errors` of a 422. */
export interface FieldError {
  path: string;
  code: string;
  message: string;
  hint?: string;
}

export type Severity = 'error' | 'warning' | 'info' | 'ok';

export type Notice = Schemas['NoticeView'] & { severity: Severity };
export type HostStatus = Omit<Schemas['Status'], 'notices'> & { notices: Notice[] };
export type DoctorFinding = Schemas['FindingView'] & { severity: Severity };
export type DoctorReport = Omit<Schemas['Report'], 'findings'> & { findings: DoctorFinding[] };

export type SettingType = Schemas['Kind'];
export type SettingSource = Schemas['Source'];
export type Setting = Schemas['Setting'] & { value: JsonValue; default: JsonValue };

// ---- plugins (plugins §4, §6) ----

export interface Problem {
  path: string;
  code: string;
  severity: 'error' | 'warning';
  message: string;
  hint: string;
  dir?: string;
  pluginId?: string | null;
  appId?: string | null;
  source?: string;
}

export type TrustState = 'trusted' | 'untrusted' | 'changed';
export type PluginSource = 'builtin' | 'user' | 'dev';

export interface Backend {
  entry: string;
  available: boolean;
  state?: 'stopped' | 'starting' | 'running' | 'backoff' | 'failed';
}

export interface AppEntry {
  type: 'module';
  path: string;
  url: string;
  compact?: { type: 'module'; path: string; url: string } | null;
}

export interface AppMcp {
  name: string;
  url: string;
  description: string;
  tags: string[];
  enabled: boolean;
  allowMain: boolean;
  allowSub: boolean;
  hasAuth: boolean;
}

export interface AppMcpPrompt {
  title?: string | null;
  zh?: { path?: string } | null;
  en?: { path?: string } | null;
  names: { zh?: string | null; en?: string | null };
}

export interface AppAi {
  mcp?: AppMcp | null;
  mcpPrompt?: AppMcpPrompt | null;
  mcpServers?: boolean | string[] | null;
  prompts?: boolean | string[] | null;
  agent?: { name: string; description?: string; modelId?: string } | null;
}

export interface PluginApp {
  id: string;
  name: string;
  description: string;
  /** As written in the manifest; what may be drawn is `iconView`. */
  icon: string;
  iconView: { kind: 'text' | 'file' | 'letter'; value: string };
  entry: AppEntry;
  ai: AppAi | null;
  route: string;
  plugin: { id: string; name: string; version: string; source: PluginSource; trusted: boolean };
}

export interface Plugin {
  id: string;
  name: string;
  version: string;
  description: string;
  publisher: string | { name?: string; url?: string; email?: string } | null;
  source: PluginSource;
  trusted: boolean;
  /** False for a user plugin that waits for trust while the built-in of its id is used. */
  active: boolean;
  shadows: string | null;
  trust: { state: TrustState; digest: string | null; decidedAt: Moment | null };
  backend: Backend | null;
  apps: PluginApp[];
  extra?: Record<string, unknown>;
}

export interface PluginListing {
  ok: boolean;
  revision: number;
  pluginDirs: { builtin: string; user: string };
  plugins: Plugin[];
  apps: PluginApp[];
  errors: Problem[];
}

/** One server an app would run or connect to, as the trust sheet shows it (plugins §7). */
export interface ServerReview {
  appId: string;
  name: string;
  /** The exact command, one token each; null when it is a connection. */
  argv: string[] | null;
  url: string | null;
  /** Where a network address leads. */
  hostClass: 'public' | 'loopback' | 'private' | 'link_local' | null;
  unusualCommand: boolean;
  authHosts: string[];
  enabled: boolean;
  allowMain: boolean;
  allowSub: boolean;
  /** `callMeta.workdir` when it leaves the data directory. */
  workdirOutside: string | null;
}

export type Exposure = boolean | string[] | null;

export interface PluginFile {
  path: string;
  size: number;
  executable?: boolean;
}

export interface PluginDetails {
  plugin: Plugin;
  dir: string;
  homepage: string | null;
  license: string | null;
  capabilities: string[] | null;
  /** Of what is on disk now; null when the files cannot be read. */
  digest: string | null;
  /** Why there is no digest. */
  unreadable: string | null;
  fileCount: number;
  totalBytes: number;
  servers: ServerReview[];
  exposure: { appId: string; mcpServers: Exposure; prompts: Exposure }[];
  prompts: { appId: string; language: 'zh' | 'en'; name: string; title: string | null; bytes: number }[];
  files: PluginFile[];
  /** Against the files that were trusted; null when none were. */
  changes: { added: PluginFile[]; removed: PluginFile[]; changed: (PluginFile & { oldSize: number })[] } | null;
  overridesBuiltin: boolean;
  data: { dir: string; exists: boolean; bytes: number };
  problems: Problem[];
}

export interface FileDiff {
  path: string;
  kind: 'text' | 'binary' | 'too_large' | 'unavailable';
  oldText: string | null;
  newText: string | null;
}

export interface PluginLog {
  path: string;
  lines: string[];
}

/** Result of an installation (plugins §8). */
export interface InstallResult {
  ok: boolean;
  logId: string;
  pluginsRoot: string;
  plugins: {
    id: string;
    name: string;
    version: string;
    previousVersion: string | null;
    pluginDir: string;
    replaced: boolean;
    trust: TrustState;
    digest: string;
    files: number;
    bytes: number;
    excluded: number;
  }[];
  warnings: Problem[];
}

export interface UninstallResult {
  ok: boolean;
  pluginId: string;
  removed: boolean;
  data: 'kept' | 'deleted';
  rowsRemoved: number;
}

// ---- operations ----

export interface Operation<T = unknown> {
  id: string;
  kind: string;
  state: 'running' | 'done' | 'failed' | 'canceled';
  progress: { done: number; total: number | null; unit: string; message: string } | null;
  result: T | null;
  error: ErrorBody['error'] | null;
}

// ---- tasks and journal ----

export type Task = Schemas['TaskView'];
export type TaskPage = Schemas['TaskList'];
export type TaskChange = Schemas['TaskChange'];
export type NewTask = Pick<Schemas['TaskInput'], 'title'> & Partial<Schemas['TaskInput']>;
export type JournalEntry = Schemas['EntryView'];
export type JournalPage = Schemas['EntryList'];

// ---- events ----

/** One frame of the event socket. */
export interface EventFrame {
  seq: number;
  topic: string;
  type: string;
  data: unknown;
}

export interface HelloData {
  version: string;
  bootId: string;
  resumed: boolean;
}
