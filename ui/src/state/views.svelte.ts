// Which tools come with a view, asked once per server and again when its list of tools changes.

import { SvelteMap } from 'svelte/reactivity';
import { client, events } from '.';

interface ToolWithView {
  tool: string;
  uri: string;
}

class KnownViews {
  readonly #servers = new SvelteMap<string, ReadonlySet<string>>();
  readonly #asking = new Set<string>();

  constructor() {
    const forget = () => this.#servers.clear();
    events.on('servers', forget);
    events.onResync(forget);
  }

  /** True when results of this tool can be shown by its server's own page. */
  has(server: string, tool: string): boolean {
    if (server === '') return false;
    const known = this.#servers.get(server);
    if (!known) void this.#ask(server);
    return known?.has(tool) ?? false;
  }

  async #ask(server: string): Promise<void> {
    if (this.#asking.has(server)) return;
    this.#asking.add(server);
    try {
      const { items } = await client.http.get<{ items: ToolWithView[] }>('/api/v1/views', { query: { server } });
      this.#servers.set(server, new Set(items.map(({ tool }) => tool)));
    } catch {
      // A server that is gone has no views; the text of the result is there in any case.
      this.#servers.set(server, new Set());
    } finally {
      this.#asking.delete(server);
    }
  }
}

export const knownViews = new KnownViews();
