// Apps that are open on this page: the stage of ui/src/host with the page's own state behind it. Loaded when
// the first app is opened or needed; the first view does without it.

import { untrack } from 'svelte';
import { type AppRef, keyOf, type Services, type Surface } from '../../host/services';
import { type Actor, type AppFacts, Stage } from '../../host/stage';
import { i18n } from '../../i18n/index.svelte';
import type { EventFrame, PluginApp } from '../../protocol';
import { router } from '../../router';
import { client, events, host, panel, plugins, prompts, session, theme, toasts } from '../../state';
import { goTo } from './menu';

const services: Services = {
  request: (app, method, path, options = {}) => client.http.request(method, `/api/v1/${path}`, { ...options, app: keyOf(app) }),
  onEvent: (listener) => events.onEvery(listener),
  onResync: (listener) => events.onResync(listener),
  navigate: goTo,
  hub: (action) => {
    // An app moves the drawer, never the focus (host-api §6.3).
    if (action === 'open') prompts.openHub(null, false);
    else if (action === 'close') prompts.closeHub();
    else prompts.toggleHub(false);
  },
  look: () => ({ theme: theme.resolved, lang: i18n.language, hostVersion: host.status.data?.version ?? '' }),
};

class Runtime {
  #version = $state(0);
  /** Apps being loaded again, so that their place does not look empty meanwhile. */
  readonly #reloading = new Set<string>();
  readonly #stage = new Stage({ services, onChange: () => untrack(() => (this.#version += 1)) });

  constructor() {
    $effect.root(() => {
      $effect(() => {
        const look = { theme: theme.resolved, lang: i18n.language };
        untrack(() => this.#stage.push(look));
      });
      // Nothing of an app outlives the session it was opened in.
      $effect(() => {
        if (session.status !== 'signedIn') untrack(() => void this.#stage.closeAll());
      });
    });
    events.on('plugins', () => this.#dropGone());
  }

  /** What is open, in the order it was opened. */
  get actors(): readonly Actor[] {
    // Read for its sake: the stage itself is not reactive.
    return this.#version >= 0 ? [...this.#stage.actors] : [];
  }

  find(app: AppRef, surface: Surface): Actor | undefined {
    return this.actors.find((actor) => keyOf(actor.frame.app) === keyOf(app) && actor.frame.surface === surface);
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
    if (frame.type === 'app_released') this.#stage.release({ pluginId, appId });
    if (frame.type === 'app_needed') {
      const facts = await this.facts({ pluginId, appId });
      if (facts) this.#stage.need(facts);
    }
  }

  /** Reads the listing when nobody has yet. */
  async facts(app: AppRef): Promise<AppFacts | null> {
    if (!plugins.listing.data) await plugins.listing.load();
    const found = appOf(app);
    return found ? factsOf(found) : null;
  }

  async #appChanged(pluginId: string, reason: unknown, capabilities: unknown): Promise<void> {
    const open = this.#stage.actors.filter((actor) => actor.frame.app.pluginId === pluginId);
    if (open.length === 0) return;
    if (reason === 'trust' || reason === 'removed') {
      await this.#stage.closePlugin(pluginId);
      return;
    }
    if (reason === 'grants') {
      if (Array.isArray(capabilities)) this.#stage.push({ capabilities: capabilities.filter((name) => typeof name === 'string') }, pluginId);
      return;
    }
    // Files changed. What may run with the new files is loaded again; the rest asks for trust (host-api §3).
    await plugins.listing.load();
    const plugin = plugins.all.find((known) => known.id === pluginId);
    if (!plugin || plugin.trust.state !== 'trusted') {
      await this.#stage.closePlugin(pluginId);
      return;
    }
    toasts.info(i18n.t.apps.view.reloaded(plugin.name));
    for (const actor of open) {
      const facts = await this.facts(actor.frame.app);
      if (facts) await this.reload(actor, facts);
    }
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
