// The tool server of the app on screen, and which of its tools answer later.

import type { Server } from '../../protocol/admin';
import { servers } from '../../state/admin';
import { dev } from './dev.svelte';

/** Null: the app brings none, or the list is on its way. */
export function serverOfApp(): Server | null {
  const { app } = dev;
  return app ? (servers.all.find((server) => server.pluginId === app.plugin.id && server.appId === app.id) ?? null) : null;
}

/** Names that `callMeta.asyncTask` covers; null where it is not declared. */
export function asyncTools(server: Server): string[] | null {
  const declared = (server.callMeta as { asyncTask?: { tools?: unknown } } | null | undefined)?.asyncTask;
  if (!declared) return null;
  return Array.isArray(declared.tools) ? declared.tools.filter((name): name is string => typeof name === 'string').map((name) => name.toLowerCase()) : [];
}
