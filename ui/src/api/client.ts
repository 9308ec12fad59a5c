// The host's routes as functions. One line each; no logic lives here.

import type {
  DoctorReport,
  FileDiff,
  GrantChange,
  HostStatus,
  InstallResult,
  JournalPage,
  JournalProjects,
  JsonValue,
  NewTask,
  Operation,
  Plugin,
  PluginDetails,
  PluginListing,
  PluginLog,
  PluginRights,
  Setting,
  Task,
  TaskChange,
  TaskPage,
  TrustSheet,
  UninstallResult,
} from '../protocol';
import type { Challenge, Renew, SignedIn, SignIn } from '../protocol/wire';
import type { Http } from './http';

const V1 = '/api/v1';

/** Which tasks; what is absent narrows nothing. */
export interface TaskQuery {
  q?: string;
  status?: string;
  priority?: string;
  tag?: string;
  scope?: string;
  open?: boolean;
  limit: number;
  cursor?: string;
}

/** Which entries of which journal; without a root, that of the host's project. */
export interface JournalQuery {
  q?: string;
  tag?: string;
  projectRoot?: string;
  limit: number;
  cursor?: string;
}

export class Client {
  constructor(readonly http: Http) {}

  exchange(body: SignIn): Promise<SignedIn> {
    // A code is worth one sign-in however often it is sent.
    return this.http.post(`${V1}/auth/exchange`, body, { anonymous: true, repeatable: true, cookie: true });
  }

  challenge(): Promise<Challenge> {
    return this.http.get(`${V1}/auth/challenge`, { anonymous: true });
  }

  renew(body: Renew): Promise<SignedIn> {
    return this.http.post(`${V1}/auth/renew`, body, { anonymous: true, cookie: true });
  }

  signOut(): Promise<unknown> {
    return this.http.post(`${V1}/auth/sign-out`, {}, { cookie: true });
  }

  status(): Promise<HostStatus> {
    return this.http.get(`${V1}/status`);
  }

  ticket(): Promise<{ ticket: string; expiresInMs: number }> {
    return this.http.post(`${V1}/events/ticket`, {}, { timeoutMs: 10_000 });
  }

  doctor(deep: boolean): Promise<DoctorReport> {
    return this.http.get(`${V1}/doctor`, { query: { deep }, timeoutMs: 120_000 });
  }

  doctorFix(): Promise<DoctorReport> {
    return this.http.post(`${V1}/doctor/fix`, {}, { timeoutMs: 120_000 });
  }

  settings(): Promise<{ items: Setting[] }> {
    return this.http.get(`${V1}/settings`);
  }

  putSetting(key: string, value: JsonValue): Promise<Setting> {
    return this.http.put(`${V1}/settings/${encodeURIComponent(key)}`, { value });
  }

  resetSetting(key: string): Promise<Setting> {
    return this.http.delete(`${V1}/settings/${encodeURIComponent(key)}`);
  }

  plugins(): Promise<PluginListing> {
    return this.http.get(`${V1}/plugins`);
  }

  plugin(id: string): Promise<PluginDetails> {
    return this.http.get(pluginPath(id));
  }

  pluginDiff(id: string, path: string): Promise<FileDiff> {
    return this.http.get(`${pluginPath(id)}/diff`, { query: { path } });
  }

  pluginLog(id: string, limit: number): Promise<PluginLog> {
    return this.http.get(`${pluginPath(id)}/log`, { query: { limit } });
  }

  /** Trusts exactly the bytes that were shown; another digest on disk is a conflict. */
  trustSheet(id: string): Promise<TrustSheet> {
    return this.http.get(`${pluginPath(id)}/trust-sheet`);
  }

  /** `allow`: what was ticked of the lines that reach beyond the plugin. */
  trustPlugin(id: string, digest: string, allowInsideNetwork: boolean, allow: string[]): Promise<Plugin> {
    return this.http.post(`${pluginPath(id)}/trust`, { digest, allowInsideNetwork, allow });
  }

  pluginRights(id: string): Promise<PluginRights> {
    return this.http.get(`/api/v1/apps/${encodeURIComponent(id)}/capabilities`);
  }

  setGrant(change: GrantChange): Promise<unknown> {
    return this.http.put('/api/v1/grants', change);
  }

  forgetRoot(id: string, root: string): Promise<unknown> {
    return this.http.post(`/api/v1/apps/${encodeURIComponent(id)}/roots/forget`, { root });
  }

  untrustPlugin(id: string): Promise<Plugin> {
    return this.http.post(`${pluginPath(id)}/untrust`, {});
  }

  uninstallPlugin(id: string, data: 'keep' | 'delete'): Promise<UninstallResult> {
    return this.http.delete(pluginPath(id), { query: { data }, timeoutMs: 120_000 });
  }

  refreshPlugins(deep: boolean): Promise<PluginListing> {
    return this.http.post(`${V1}/plugins/refresh`, { deep }, { timeoutMs: 120_000 });
  }

  installFromPath(path: string, allowProblems: boolean): Promise<Operation<InstallResult>> {
    return this.http.post(`${V1}/plugins/install`, { path, allowProblems });
  }

  installFromZip(
    zip: Blob,
    name: string,
    allowProblems: boolean,
    signal: AbortSignal,
    onProgress: (sent: number) => void,
  ): Promise<Operation<InstallResult>> {
    const options = { query: { name, allowProblems }, signal, onProgress };
    return this.http.upload(`${V1}/plugins/install`, zip, 'application/zip', options);
  }

  appIcon(pluginId: string, appId: string): Promise<Blob> {
    return this.http.blob(`${pluginPath(pluginId)}/apps/${encodeURIComponent(appId)}/icon`);
  }

  tasks(query: TaskQuery): Promise<TaskPage> {
    return this.http.get(`${V1}/tasks`, { query: { ...query } });
  }

  addTask(task: NewTask): Promise<Task> {
    return this.http.post(`${V1}/tasks`, task);
  }

  changeTask(id: string, change: TaskChange): Promise<Task> {
    return this.http.patch(`${V1}/tasks/${encodeURIComponent(id)}`, change);
  }

  deleteTask(id: string): Promise<{ ok: boolean }> {
    return this.http.delete(`${V1}/tasks/${encodeURIComponent(id)}`);
  }

  clearTasks(mode: 'done' | 'all'): Promise<{ cleared: number; remaining: number }> {
    return this.http.post(`${V1}/tasks/clear`, { mode });
  }

  journal(query: JournalQuery): Promise<JournalPage> {
    return this.http.get(`${V1}/journal`, { query: { ...query } });
  }

  journalProjects(): Promise<JournalProjects> {
    return this.http.get(`${V1}/journal/projects`);
  }

  cancelOperation<T>(id: string): Promise<Operation<T>> {
    return this.http.post(`${V1}/operations/${encodeURIComponent(id)}/cancel`, {});
  }

  operation<T>(id: string): Promise<Operation<T>> {
    return this.http.get(`${V1}/operations/${encodeURIComponent(id)}`);
  }
}

function pluginPath(id: string): string {
  return `${V1}/plugins/${encodeURIComponent(id)}`;
}
