// The shapes the host speaks, under the names the page uses. Everything below `api` and `state`
// takes its wire types from here and from nowhere else.

import type { components } from './wire';

type Schemas = components['schemas'];

/** An ISO 8601 moment in UTC, as the host writes it. */
export type Moment = string;

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** An object anybody may have written; whoever reads it looks at each member. */
export type WireObject = Record<string, unknown>;

/** The error object of every failed call (cli-and-api, HTTP API). */
export type ErrorBody = Schemas['Error'];

/** One entry of `details.errors` of a 422. */
export type FieldError = Schemas['FieldProblem'];

export type Severity = 'error' | 'warning' | 'info' | 'ok';

export type Notice = Schemas['NoticeView'] & { severity: Severity };
export type HostStatus = Omit<Schemas['Status'], 'notices'> & { notices: Notice[] };
export type DoctorFinding = Schemas['DoctorFinding'] & { severity: Severity };
export type DoctorReport = Omit<Schemas['DoctorReport'], 'findings'> & { findings: DoctorFinding[] };

export type SettingType = Schemas['SettingType'];
export type SettingSource = Schemas['ValueSource'];
export type Setting = Schemas['Setting'] & { value: JsonValue; default: JsonValue };

// ---- plugins (plugins §4, §6) ----

export type NeededApps = Schemas['NeededApps'];

/** A generated type with some of its fields known better than the description says. */
type Narrow<T, Known> = Omit<T, keyof Known> & Known;

export type Problem = Narrow<Schemas['ProblemEntry'], { severity: 'error' | 'warning' }>;
export type TrustState = 'trusted' | 'untrusted' | 'changed';
export type PluginSource = 'builtin' | 'user' | 'dev';

export type PluginApp = Narrow<Schemas['AppEntry'], { iconView: { kind: 'text' | 'file' | 'letter'; value: string } }>;

export type Plugin = Narrow<
  Schemas['PluginEntry'],
  { source: PluginSource; trust: Narrow<Schemas['TrustEntry'], { state: TrustState }>; apps: PluginApp[] }
>;

export type PluginListing = Narrow<Schemas['PluginListing'], { plugins: Plugin[]; apps: PluginApp[]; errors: Problem[] }>;

/** One server an app would run or connect to, as the trust sheet shows it (plugins §7). */
export type ServerReview = Narrow<
  Schemas['PluginServer'],
  { hostClass?: 'public' | 'loopback' | 'private' | 'link_local' | null }
>;

export type Exposure = boolean | string[] | null;

export type PluginDetails = Narrow<
  Schemas['PluginDetails'],
  {
    plugin: Plugin;
    servers: ServerReview[];
    exposure: { appId: string; mcpServers: Exposure; prompts: Exposure }[];
    problems: Problem[];
  }
>;

/** One capability of a plugin's pages (host-api §5). */
export type PluginRight = Narrow<Schemas['CapabilityView'], { hosts?: string[]; wantedHosts?: string[] }>;
/** What a plugin's pages may do, and where its apps may work. */
export type PluginRights = Narrow<Schemas['CapabilityList'], { items: PluginRight[] }>;
export type GrantChange = Schemas['GrantChange'];
export type TrustSheet = PluginDetails & { rights: PluginRight[] };

export type FileDiff = Narrow<Schemas['FileDiff'], { kind: 'text' | 'binary' | 'too_large' | 'unavailable' }>;
export type PluginLog = Schemas['PluginLog'];
export type UninstallResult = Narrow<Schemas['PluginRemoved'], { data: 'kept' | 'deleted' }>;

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
    kept: { from: string; to: string | null }[];
  }[];
  warnings: Problem[];
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
export type JournalEntry = Schemas['JournalEntryView'];
export type JournalPage = Schemas['JournalList'];
export type JournalProjects = Schemas['JournalProjects'];

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
