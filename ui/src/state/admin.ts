// State of the pages that administer servers, models and agents. It is apart from `./index` so that the
// first view does not load it; whoever imports it follows the session and the events from then on.

import { AgentsApi } from '../api/agents';
import { ModelsApi } from '../api/models';
import { ServersApi } from '../api/servers';
import { Lists } from './admin/lists.svelte';
import { Servers } from './admin/servers.svelte';
import { events, http, joinSession } from './index';

export const serversApi = new ServersApi(http);
export const modelsApi = new ModelsApi(http);
export const agentsApi = new AgentsApi(http);
export const servers = new Servers(serversApi);
export const lists = new Lists(agentsApi, modelsApi);

events.on('servers', (frame) => {
  servers.onEvent(frame);
  if (frame.type === 'server_changed' || frame.type === 'server_removed') void lists.users.refresh();
});
events.on('admin', (frame) => {
  lists.onEvent(frame);
  if (frame.type.startsWith('tool_pins') || frame.type.startsWith('pins')) void servers.pins.refresh();
});
events.on('plugins', () => {
  void servers.list.refresh();
  void lists.agents.refresh();
  void lists.users.refresh();
});

joinSession({
  refresh: async () => {
    await Promise.all([servers.resync(), lists.resync()]);
  },
  clear: () => {
    servers.clear();
    lists.clear();
  },
});
