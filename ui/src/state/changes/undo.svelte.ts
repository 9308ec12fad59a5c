// An undo from the first look to the end: what it would do, why it is refused and what could be ordered
// instead, and doing it.

import type { ChangesApi, UndoOrder } from '../../api/changes';
import { type ApiError, toApiError } from '../../api/error';
import type { FileChange, UndoAnswer, UndoneFile } from '../../protocol/changes';

/** The most a host gives at once. */
const PAGE = 200;

export class Undo {
  order: UndoOrder = $state.raw({ ids: [] });
  /** What would be done; null while it is looked at and when it is refused. */
  steps: UndoneFile[] | null = $state.raw(null);
  refusal: ApiError | null = $state.raw(null);
  busy: 'look' | 'do' | null = $state(null);
  readonly #api: ChangesApi;
  /** The directory of each change that is known. */
  readonly #roots: ReadonlyMap<string, string>;

  constructor(api: ChangesApi, order: UndoOrder, known: readonly FileChange[]) {
    this.#api = api;
    this.order = order;
    this.#roots = new Map(known.map(({ id, root }) => [id, root]));
  }

  /** Changes made since that would have to be undone with these. */
  get later(): string[] {
    return texts(this.refusal, 'later');
  }

  /** The directories the order goes over; one undo works in one of them. */
  get roots(): string[] {
    return this.refusal?.code === 'several_roots' ? texts(this.refusal, 'roots') : [];
  }

  async look(): Promise<void> {
    await this.#ask('look', async () => {
      this.steps = (await this.#api.undo(this.order, true)).steps;
    });
  }

  /** Does it; null when it was refused, which then is in `refusal`. */
  async commit(): Promise<UndoAnswer | null> {
    let answer: UndoAnswer | null = null;
    await this.#ask('do', async () => {
      answer = await this.#api.undo(this.order, false);
    });
    return answer;
  }

  /** Looks again with the later changes among it. */
  async takeLater(): Promise<void> {
    const { later } = this;
    await this.#reorder(async () => [...new Set([...(await this.#ids()), ...later])]);
  }

  /** Looks again at what lies in one directory. */
  async onlyIn(root: string): Promise<void> {
    await this.#reorder(async () => (await this.#ids(root)).filter((id) => (this.#roots.get(id) ?? root) === root));
  }

  async #reorder(ids: () => Promise<string[]>): Promise<void> {
    await this.#ask('look', async () => {
      this.order = { ids: await ids() };
    });
    if (!this.refusal) await this.look();
  }

  async #ids(root = ''): Promise<string[]> {
    const { order } = this;
    if ('ids' in order) return order.ids;
    const found: string[] = [];
    for (let before: string | null | undefined = ''; before != null; ) {
      const page = await this.#api.list({ runId: order.runId, limit: PAGE, ...(root === '' ? {} : { root }), ...(before === '' ? {} : { before }) });
      found.push(...page.changes.filter((change) => change.undoneBy == null).map(({ id }) => id));
      before = page.next;
    }
    return found;
  }

  async #ask(what: 'look' | 'do', work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = what;
    try {
      await work();
      this.refusal = null;
    } catch (thrown) {
      this.steps = null;
      this.refusal = toApiError(thrown);
    } finally {
      this.busy = null;
    }
  }
}

function texts(error: ApiError | null, field: string): string[] {
  const value = (error?.details as Record<string, unknown> | null | undefined)?.[field];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The word a warning begins with, and the whole of it. */
export function readWarning(warning: string): { code: string; text: string } {
  const code = /^([a-z_]+)(:|$)/u.exec(warning)?.[1] ?? '';
  return { code, text: warning };
}
