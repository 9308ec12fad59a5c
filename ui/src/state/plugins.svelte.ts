// The plugin registry as the host sees it, read again whenever its revision grows.

import type { Client } from '../api/client';
import { shippedPlugin } from './shipped';
import type { EventFrame, Plugin, PluginApp, PluginListing, Problem } from '../protocol';
import { Resource } from './resource.svelte';

export class Plugins {
  readonly listing: Resource<PluginListing>;

  constructor(client: Client) {
    this.listing = new Resource(async () => {
      const listing = await client.plugins();
      return { ...listing, plugins: listing.plugins.map(shippedPlugin) };
    });
  }

  get all(): Plugin[] {
    return this.listing.data?.plugins ?? [];
  }

  get problems(): Problem[] {
    return this.listing.data?.errors ?? [];
  }

  onEvent(frame: EventFrame): void {
    if (frame.type !== 'plugins_changed') return;
    const revision = (frame.data as { revision?: unknown } | null)?.revision;
    if (typeof revision === 'number' && revision === this.listing.data?.revision) return;
    void this.listing.refresh();
  }

  clear(): void {
    this.listing.clear();
  }
}

/** True when the plugin or one of its apps matches every word. */
export function matchesPlugin(plugin: Plugin, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const apps = plugin.apps.flatMap((app) => [app.id, app.name, app.description]);
  const haystack = [plugin.id, plugin.name, plugin.description, ...apps].join('\n').toLowerCase();
  return words.every((word) => haystack.includes(word));
}

/** The publisher's name as given in the manifest; it is never verified (plugins §2.2). */
export function publisherName(plugin: Plugin): string | null {
  const { publisher } = plugin;
  return publisher?.name ?? publisher?.url ?? publisher?.email ?? null;
}

/** Whether an app has anything for agents: tools, a text for models, or what it lets a person choose for them. */
export function offersSomething(app: Pick<PluginApp, 'ai'>): boolean {
  const given = (exposed: unknown) => exposed === true || (Array.isArray(exposed) && exposed.length > 0);
  const { ai } = app;
  return ai != null && (ai.mcp != null || ai.mcpPrompt != null || given(ai.mcpServers) || given(ai.prompts));
}
