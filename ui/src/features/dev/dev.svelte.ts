// The sandbox as its page shows it: what is under development, what the person chose, and what the app asked of the
// page. It lives as long as the page, so that a panel is as it was when one comes back to it.

import { DevApi } from '../../api/dev';
import { choosePageMode } from '../../host/origin';
import { type Traced, watchBridge } from '../../host/trace';
import type { PluginApp } from '../../protocol';
import type { AsyncTestInput, AsyncTestResult } from '../../protocol/wire';
import { type ApiError, client, events, http, joinSession, plugins, toApiError } from '../../state';
import { Resource } from '../../state/resource.svelte';

export const PANELS = ['prompts', 'mcp', 'async', 'llm', 'inspector', 'logs', 'backend', 'problems'] as const;
export type PanelName = (typeof PANELS)[number];
export const WIDTHS = ['fill', '1024', '768', '400'] as const;
export const DOCK_LEAST = 320;
export const DOCK_MOST = 1_000;

const MOST_TRACED = 500;
const LOOK_EVERY_MS = 2_000;
/** Checking starts Node, which would take the processor from the app that is being loaded. */
const CHECK_AFTER_MS = 500;
const KEPT = 'chatos.dev';

/** What the person chose, kept in this browser for this address. */
interface Choices {
  app: string | null;
  compact: boolean;
  width: string;
  panel: PanelName;
  dock: number;
  opaque: boolean;
}

const DEFAULTS: Choices = { app: null, compact: false, width: 'fill', panel: 'prompts', dock: 620, opaque: false };

export class Dev {
  readonly api = new DevApi(http);
  readonly info = new Resource(() => this.api.info());
  readonly problems = new Resource(() => this.api.problems());
  readonly choices: Choices = $state(kept());
  /** The question that is open in UI Prompts. */
  prompt: string | null = $state(null);
  traced: Traced[] = $state.raw([]);
  readonly async: { input: AsyncTestInput; busy: boolean; result: AsyncTestResult | null; failure: ApiError | null } = $state({
    input: { idForm: 'plain', field: 'markdown', fault: 'none' },
    busy: false,
    result: null,
    failure: null,
  });
  readonly backend = $state({ method: '', params: '', result: '', took: 0, failure: null as ApiError | null });

  constructor() {
    choosePageMode(this.choices.opaque ? 'fallback' : null);
    watchBridge((entry) => {
      const at = entry.ms === null ? -1 : this.traced.findIndex((known) => known.id === entry.id);
      this.traced = at < 0 ? [...this.traced, entry].slice(-MOST_TRACED) : this.traced.with(at, entry);
    });
    const look = () => Promise.all([this.info.load(), this.problems.load(), plugins.listing.load()]);
    let check: ReturnType<typeof setTimeout> | undefined;
    events.on('plugins', () => {
      void Promise.all([this.info.load(), plugins.listing.load()]);
      clearTimeout(check);
      check = setTimeout(() => void this.problems.load(), CHECK_AFTER_MS);
    });
    // Nobody tells of saved files where they are not taken at once.
    setInterval(() => {
      if (this.info.data?.reload === false && document.visibilityState === 'visible') void this.info.load();
    }, LOOK_EVERY_MS);
    joinSession({ refresh: async () => void (await look()), clear: () => [this.info, this.problems].forEach((one) => one.clear()) });
    void look();
  }

  get pluginId(): string | null {
    return this.info.data?.plugin?.id ?? null;
  }

  get apps(): PluginApp[] {
    return plugins.all.find((plugin) => plugin.id === this.pluginId)?.apps ?? [];
  }

  /** The app on screen: the chosen one, the one the command named, or the first. */
  get app(): PluginApp | null {
    const { apps } = this;
    const named = [this.choices.app, this.info.data?.app].map((id) => apps.find((app) => app.id === id));
    return named.find((app) => app !== undefined) ?? apps[0] ?? null;
  }

  choose(changed: Partial<Choices>): void {
    Object.assign(this.choices, changed);
    if (changed.opaque !== undefined) choosePageMode(changed.opaque ? 'fallback' : null);
    localStorage.setItem(KEPT, JSON.stringify(this.choices));
  }

  /** Takes the files as they are now. */
  async takeFiles(): Promise<void> {
    plugins.listing.put(await client.refreshPlugins(false));
    await Promise.all([this.info.load(), this.problems.load()]);
  }

  async runAsyncTest(): Promise<void> {
    const state = this.async;
    if (state.busy) return;
    Object.assign(state, { busy: true, failure: null });
    try {
      state.result = await this.api.asyncTest($state.snapshot(state.input));
    } catch (thrown) {
      Object.assign(state, { result: null, failure: toApiError(thrown) });
    } finally {
      state.busy = false;
    }
  }
}

function kept(): Choices {
  try {
    const stored = JSON.parse(localStorage.getItem(KEPT) ?? '{}') as Partial<Choices>;
    const panel = PANELS.find((name) => name === stored.panel) ?? DEFAULTS.panel;
    const dock = Math.min(DOCK_MOST, Math.max(DOCK_LEAST, Number(stored.dock) || DEFAULTS.dock));
    return { ...DEFAULTS, ...stored, panel, dock };
  } catch {
    // Written by something else; it begins anew.
    return { ...DEFAULTS };
  }
}

export const dev = new Dev();
