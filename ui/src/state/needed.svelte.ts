// Calls whose result comes from the page of an app (AsyncTask): the app is mounted while they wait, and whoever
// shows such a call can say what it waits for.

import { SvelteMap } from 'svelte/reactivity';
import type { EventFrame, NeededApps } from '../protocol';

export interface NeededApp {
  pluginId: string;
  appId: string;
}

class NeededCalls {
  readonly #apps = new SvelteMap<string, NeededApp>();

  /** The app this call waits for. */
  of(callId: string | null): NeededApp | null {
    return (callId === null ? null : this.#apps.get(callId)) ?? null;
  }

  /** An event of topic `apps`. */
  tell({ type, data }: EventFrame): void {
    const { pluginId, appId, callId } = (data ?? {}) as Partial<NeededApp & { callId: string }>;
    if (pluginId === undefined || appId === undefined) return;
    if (type === 'app_needed' && callId !== undefined) this.#apps.set(callId, { pluginId, appId });
    if (type !== 'app_released') return;
    for (const [call, app] of this.#apps) if (app.pluginId === pluginId && app.appId === appId) this.#apps.delete(call);
  }

  /** All that wait now, as the host lists them. */
  read(items: NeededApps['items']): void {
    this.#apps.clear();
    for (const { pluginId, appId, callIds } of items) for (const call of callIds) this.#apps.set(call, { pluginId, appId });
  }
}

export const neededCalls = new NeededCalls();
