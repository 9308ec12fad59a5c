// Apps that are open on this page: the stage of ui/src/host with the page's own state behind it. Loaded when
// the first app is opened or needed; the first view does without it.

import { untrack } from 'svelte';
import type { AppFrame } from '../../host/frame';
import { pageConfinement } from '../../host/confinement';
import { type AppRef, keyOf, type Services, type Surface } from '../../host/services';
import { type Actor, type AppFacts, Stage } from '../../host/stage';
import { appWords } from '../../i18n/apps';
import { i18n } from '../../i18n/index.svelte';
import type { EventFrame, PluginApp } from '../../protocol';
import { router } from '../../router';
import { client, events, host, panel, plugins, prompts, session, theme, toasts } from '../../state';
import { goTo } from './menu';
import { openLink } from '../../components/open-link';

const services: Services = {
  request: (app, method, path, options = {}) => client.http.request(method, `/api/v1/${path}`, { ...options, app: keyOf(app) }),
  own: (method, path, options = {}) => client.http.request(method, `/api/v1/${path}`, options),
  onEvent: (listener) => events.onEvery(listener),
  onResync: (listener) => events.onResync(listener),
  navigate: goTo,
  openLink,
  confinement: pageConfinement,
  hub: (action, id) => {
    // An app moves the drawer, never the focus (host-api §6.3).
    if (action === 'open') prompts.openHub(id ?? null, false);
    else if (action === 'close') prompts.closeHub();
    else prompts.toggleHub(false);
  },
  look: () => ({ theme: theme.resolved, lang: i18n.language, hostVersion: host.status.data?.version ?? '' }),
};

export type Look = Pick<AppFrame, 'phase' | 'waiting' | 'slow' | 'silent' | 'failure' | 'problems' | 'problemCount'>;

class Runtime {
  #version = $state(0);
  /** Apps being loaded again, so that their place does not look empty meanwhile. */
  readonly #reloading = new Set<string>();
  /** Counts what is asked for and told. */
  #clock = 0;
  /** When an app was last told to be needed, or to be needed no more. */
  readonly #told = new Map<string, { mark: number; needed: boolean }>();
  readonly #stage = new Stage({ services, onChange: () => untrack(() => (this.#version += 1)) });

  constructor() {
    $effect.root(() => {
      $effect(() => {
        const look = { theme: theme.resolved, lang: i18n.language };
        untrack(() => this.#stage.push(look));
      });
      // Nothing of an app outlives the session it was opened in.
      $effect(() => {
        if (session.status !== 'signedIn' && !session.lapsed) untrack(() => void this.#stage.closeAll());
      });
    });
    // The listing as it is after the event; the one before it says nothing about what changed.
    events.on('plugins', () => {
      if (this.#stage.actors.length > 0) void plugins.listing.refresh().then(() => this.#dropGone());
    });
    events.onResync(() => void this.readNeeded());
  }

  /** What is open, in the order it was opened. */
  get actors(): readonly Actor[] {
    // Read for its sake: the stage itself is not reactive.
    return this.#version >= 0 ? [...this.#stage.actors] : [];
  }

  find(app: AppRef, surface: Surface): Actor | undefined {
    return this.actors.find((actor) => keyOf(actor.frame.app) === keyOf(app) && actor.frame.surface === surface);
  }

  /** What a place says about its app: a fresh object each time something changed, so that components follow. */
  look(app: AppRef, surface: Surface): Look | null {
    const frame = this.find(app, surface)?.frame;
    if (!frame) return null;
    const { phase, waiting, slow, silent, failure, problems, problemCount } = frame;
    return { phase, waiting, slow, silent, failure, problems, problemCount };
  }

  isReloading(app: AppRef, surface: Surface): boolean {
    return this.#version >= 0 && this.#reloading.has(`${keyOf(app)} ${surface}`);
  }

  /** Shows an app in a place; the answer hides it again. */
  show(facts: AppFacts, surface: Surface, place: HTMLElement): () => void {
    return untrack(() => this.#stage.show(facts, surface, place).leave);
  }

  async reload(actor: Actor, facts: AppFacts): Promise<void> {
    const key = `${keyOf(facts.ref)} ${actor.frame.surface}`;
    this.#reloading.add(key);
    try {
      await this.#stage.reload(actor, facts);
    } finally {
      this.#reloading.delete(key);
      this.#version += 1;
    }
  }

  close(actor: Actor): void {
    void this.#stage.close(actor);
  }

  /** Events of topic `apps`. */
  async onEvent(frame: EventFrame): Promise<void> {
    const data = frame.data as { pluginId?: unknown; appId?: unknown; reason?: unknown; capabilities?: unknown } | null;
    const { pluginId, appId } = data ?? {};
    if (typeof pluginId !== 'string') return;
    if (frame.type === 'app_changed') await this.#appChanged(pluginId, data?.reason, data?.capabilities);
    if (typeof appId !== 'string') return;
    const app = { pluginId, appId };
    if (frame.type !== 'app_needed' && frame.type !== 'app_released') return;
    const needed = frame.type === 'app_needed';
    const mark = (this.#clock += 1);
    this.#told.set(keyOf(app), { mark, needed });
    if (needed) await this.#need(app, mark);
    else this.#stage.release(app);
  }

  /** Keeps an app mounted, unless it was released while its facts were read. */
  async #need(app: AppRef, mark: number): Promise<void> {
    const facts = await this.facts(app);
    const told = this.#told.get(keyOf(app));
    if (facts && !(told && told.mark > mark && !told.needed)) this.#stage.need(facts);
  }

  /** Calls that wait for the page of an app may have begun, or ended, while this page was not there. */
  async readNeeded(): Promise<void> {
    const mark = (this.#clock += 1);
    try {
      const { items } = await client.http.get<{ items: AppRef[] }>('/api/v1/apps/needed');
      const needed = new Set(items.map(keyOf));
      for (const { frame, needed: kept } of [...this.#stage.actors]) {
        const since = (this.#told.get(keyOf(frame.app))?.mark ?? 0) > mark;
        if (kept && !since && !needed.has(keyOf(frame.app))) this.#stage.release(frame.app);
      }
      for (const app of items) await this.#need(app, mark);
    } catch (thrown) {
      toasts.failure(thrown);
    }
  }

  /** Reads the listing when nobody has yet. */
  async facts(app: AppRef): Promise<AppFacts | null> {
    if (!plugins.listing.data) await plugins.listing.load();
    const found = appOf(app);
    return found ? factsOf(found) : null;
  }

  async #appChanged(pluginId: string, reason: unknown, capabilities: unknown): Promise<void> {
    if (reason === 'removed') {
      await this.#stage.forget(pluginId);
      return;
    }
    const open = this.#stage.actors.filter((actor) => actor.frame.app.pluginId === pluginId);
    if (open.length === 0) return;
    if (reason === 'trust') {
      await this.#stage.closePlugin(pluginId);
      return;
    }
    if (reason === 'grants') {
      const granted = await this.#granted(pluginId, capabilities);
      const policy = ['network', 'unsafe-eval'];
      const before = open.flatMap((actor) => actor.frame.capabilities).filter((name) => policy.includes(name));
      this.#stage.push({ capabilities: granted }, pluginId);
      // What the frame may load is fixed when it is served; the rest counts from this moment.
      const same = policy.every((name) => before.includes(name) === granted.includes(name));
      if (!same) await this.#reloadAll(open);
      return;
    }
    // Files changed. What may run with the new files is loaded again; the rest asks for trust (host-api §3).
    await plugins.listing.load();
    const plugin = plugins.all.find((known) => known.id === pluginId);
    if (!plugin || plugin.trust.state !== 'trusted') {
      await this.#stage.closePlugin(pluginId);
      return;
    }
    // Whoever saves a file of a plugin under development waits for exactly this.
    if (plugin.source !== 'dev') toasts.info(appWords.t.view.reloaded(plugin.name));
    await this.#reloadAll(open);
  }

  async #reloadAll(actors: readonly Actor[]): Promise<void> {
    for (const actor of actors) {
      const facts = await this.facts(actor.frame.app);
      if (facts) await this.reload(actor, facts);
    }
  }

  /** What a plugin may do now; the event may say it itself. */
  async #granted(pluginId: string, told: unknown): Promise<string[]> {
    if (Array.isArray(told)) return told.filter((name): name is string => typeof name === 'string');
    const path = `/api/v1/apps/${encodeURIComponent(pluginId)}/capabilities`;
    const { items } = await client.http.get<{ items: { capability: string; state: string }[] }>(path);
    return items.filter((item) => item.state === 'on').map((item) => item.capability);
  }

  /** Closes what is no longer installed or no longer trusted. */
  #dropGone(): void {
    const listing = plugins.listing.data;
    if (!listing) return;
    for (const { frame } of this.#stage.actors) {
      const plugin = listing.plugins.find((known) => known.id === frame.app.pluginId);
      if (plugin?.trust.state !== 'trusted') void this.#stage.closePlugin(frame.app.pluginId);
    }
  }
}

export function appOf(app: AppRef): PluginApp | undefined {
  return plugins.all.find((plugin) => plugin.id === app.pluginId)?.apps.find((known) => known.id === app.appId);
}

export function factsOf(app: PluginApp): AppFacts {
  return {
    ref: { pluginId: app.plugin.id, appId: app.id },
    name: app.name,
    entry: { full: app.entry.path, compact: app.entry.compact?.path ?? null },
  };
}

/** Restarts the backend of a plugin; the words of a refusal are shown. */
export async function restartBackend(pluginId: string): Promise<boolean> {
  try {
    await client.http.post(`/api/v1/apps/${encodeURIComponent(pluginId)}/backend/restart`, {});
    return true;
  } catch (thrown) {
    toasts.failure(thrown);
    return false;
  }
}

/** Opens an app in full, wherever it was asked for. */
export function openFull(app: AppRef): void {
  if (panel.app && keyOf(panel.app) === keyOf(app)) panel.close();
  router.go('apps', ['plugin', app.pluginId, app.appId]);
}

export const runtime = new Runtime();
