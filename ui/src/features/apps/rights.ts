// Which lines of a trust sheet have a tick of their own, and what is ticked already (host-api §5).

import type { PluginRight } from '../../protocol';

/** A line with a tick: its name as the host takes it, and the host for the network. */
export interface Tick {
  name: string;
  host: string | null;
}

/** What the manifest names and reaches beyond the plugin. `network` is ticked host by host. */
export function ticksOf(rights: readonly PluginRight[]): Tick[] {
  return rights
    .filter((right) => right.level === 'amber' && right.declared)
    .flatMap((right): Tick[] =>
      right.capability === 'network'
        ? (right.wantedHosts ?? []).map((host) => ({ name: `network:${host}`, host }))
        : [{ name: right.capability, host: null }],
    );
}

/** What a person allowed before. */
export function tickedOf(rights: readonly PluginRight[]): string[] {
  const hosts = rights.find((right) => right.capability === 'network')?.hosts ?? [];
  const on = (name: string) => rights.some((right) => right.capability === name && right.state === 'on');
  return ticksOf(rights).filter(({ name, host }) => (host === null ? on(name) : hosts.includes(host))).map(({ name }) => name);
}
