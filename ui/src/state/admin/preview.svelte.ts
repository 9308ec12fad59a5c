// What an agent could do if it were saved as it stands in the form, for both roles, asked of the host a
// moment after the last change. Only the newest answer counts.

import type { AgentsApi } from '../../api/agents';
import { type ApiError, toApiError } from '../../api/error';
import type { AgentInput, Explanation, Role } from '../../protocol/admin';

/** Long enough that typing a name asks once, short enough to feel live. */
const QUIET_MS = 250;

export class AgentPreview {
  main: Explanation | null = $state.raw(null);
  sub: Explanation | null = $state.raw(null);
  error: ApiError | null = $state.raw(null);
  loading = $state(false);
  readonly #api: AgentsApi;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #running: AbortController | null = null;

  constructor(api: AgentsApi) {
    this.#api = api;
  }

  of(role: Role): Explanation | null {
    return role === 'main' ? this.main : this.sub;
  }

  ask(agent: AgentInput & { id?: string }): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.loading = true;
    this.#timer = setTimeout(() => void this.#run(agent), QUIET_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#running?.abort();
  }

  async #run(agent: AgentInput & { id?: string }): Promise<void> {
    this.#timer = null;
    this.#running?.abort();
    const mine = new AbortController();
    this.#running = mine;
    try {
      const [main, sub] = await Promise.all([this.#api.preview(agent, 'main', mine.signal), this.#api.preview(agent, 'sub', mine.signal)]);
      if (mine.signal.aborted) return;
      this.main = main;
      this.sub = sub;
      this.error = null;
    } catch (thrown) {
      if (mine.signal.aborted) return;
      this.error = toApiError(thrown);
    }
    this.loading = this.#timer !== null;
  }
}
