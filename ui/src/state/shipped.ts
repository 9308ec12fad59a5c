// What comes with ChatOS, in the language of the page. The formats of the host hold one text of each, so the page
// knows these by their ids; whatever a person added keeps the words it came with.

import { i18n } from '../i18n/index.svelte';
import { SHIPPED, type Shipped } from '../i18n/shipped';
import type { Plugin } from '../protocol';
import type { LandConfig, Server, SubagentCatalogue, SubagentPlugin } from '../protocol/admin';

function told<T extends object>(thing: T, kind: keyof Shipped, id: string): T {
  const words = SHIPPED[i18n.language][kind][id];
  return words ? { ...thing, ...words } : thing;
}

export function shippedProfile(profile: LandConfig): LandConfig {
  return profile.locked ? told(profile, 'profiles', profile.id) : profile;
}

/** A profile of which only the name is told. */
export function shippedName<T extends { id: string; name: string }>(profile: T): string {
  return told(profile, 'profiles', profile.id).name;
}

export function shippedServer(server: Server): Server {
  return server.source === 'builtin' || server.source === 'app' ? told(server, 'servers', server.name) : server;
}

/** What people call a server; one that did not come with ChatOS is called as it calls itself. */
export function serverTitle({ name, source }: Pick<Server, 'name' | 'source'>, own = ''): string {
  return (source === 'builtin' || source === 'app' ? SHIPPED[i18n.language].servers[name]?.title : undefined) ?? (own || name);
}

export function shippedPlugin(plugin: Plugin): Plugin {
  if (plugin.source !== 'builtin') return plugin;
  return { ...told(plugin, 'plugins', plugin.id), apps: plugin.apps.map((app) => told(app, 'apps', `${plugin.id}/${app.id}`)) };
}

export function shippedSubagents(catalogue: SubagentCatalogue): SubagentCatalogue {
  const each = (plugin: SubagentPlugin): SubagentPlugin =>
    plugin.source === 'builtin'
      ? { ...told(plugin, 'subagents', plugin.id), agents: plugin.agents.map((agent) => told(agent, 'subagents', `${plugin.id}/${agent.id}`)) }
      : plugin;
  return { ...catalogue, plugins: catalogue.plugins.map(each) };
}
