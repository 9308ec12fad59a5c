// State of the Changes page. It is apart from `./index` so that the first view does not load it; whoever
// imports it follows the session and the events from then on.

import { ChangesApi } from '../api/changes';
import { Changes } from './changes/list.svelte';
import { events, http, joinSession } from './index';

export const changesApi = new ChangesApi(http);
export const changes = new Changes(changesApi);

events.on('admin', (frame) => changes.onEvent(frame));
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') changes.look();
});
addEventListener('focus', () => changes.look());

joinSession({ refresh: () => changes.refresh(), clear: () => changes.clear() });
