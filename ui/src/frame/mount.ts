// One app in this frame: its module, its `mount`, its disposer (host-api §1, §3).

import type { AppModule, Host } from '../../../sdk/host';

export const NO_MOUNT = 'Module entry must export mount({ container, host, slots })';

type Mount = AppModule['mount'];

/** Finds `mount`, `default.mount` or a default function, in this order. */
export function findMount(module: unknown): Mount | null {
  const exports = module as { mount?: unknown; default?: unknown } | null;
  const inner = exports?.default as { mount?: unknown } | null | undefined;
  const found = [exports?.mount, inner?.mount, exports?.default].find((value) => typeof value === 'function');
  return (found as Mount | undefined) ?? null;
}

/** The disposer in what `mount` returned; anything else means there is nothing to undo. */
export function findDisposer(returned: unknown): (() => unknown) | null {
  if (typeof returned === 'function') return returned as () => unknown;
  const object = returned as { dispose?: unknown } | null | undefined;
  if (typeof object !== 'object' || object === null || typeof object.dispose !== 'function') return null;
  return () => (object as { dispose: () => unknown }).dispose();
}

/** Marks an app that brings no style of its own: it gets room and readable controls (frame.css). */
function dress(container: HTMLElement): void {
  const ours = (sheet: CSSStyleSheet) => sheet.href?.endsWith('/frame.css') === true;
  const { styleSheets, adoptedStyleSheets } = document;
  const own = [...styleSheets].some((sheet) => !ours(sheet)) || adoptedStyleSheets.length > 0;
  container.classList.toggle('chatos-naked', !own);
}

export interface MountEvents {
  onMounted: () => void;
  onFailed: (error: unknown) => void;
  /** The disposer has ended, with its error if it had one. */
  onDisposed: (error?: unknown) => void;
}

export class MountedApp {
  #disposer: (() => unknown) | null = null;
  #phase: 'mounting' | 'mounted' | 'failed' | 'disposed' = 'mounting';
  #wanted = false;

  constructor(private readonly events: MountEvents) {}

  async start(load: () => Promise<unknown>, host: Host, container: HTMLElement, header: HTMLElement): Promise<void> {
    try {
      const mount = findMount(await load());
      if (!mount) throw new Error(NO_MOUNT);
      this.#disposer = findDisposer(await mount({ container, host, slots: { header } }));
    } catch (error) {
      this.#phase = 'failed';
      // Closed while it was failing: the page only waits for the end.
      if (this.#wanted) this.events.onDisposed(error);
      else this.events.onFailed(error);
      return;
    }
    this.#phase = 'mounted';
    dress(container);
    if (this.#wanted) await this.#run();
    else this.events.onMounted();
  }

  /** Disposes now, or as soon as `mount` has settled. Asked twice, it happens once. */
  async dispose(): Promise<void> {
    if (this.#wanted) return;
    this.#wanted = true;
    if (this.#phase === 'failed') this.events.onDisposed();
    else if (this.#phase === 'mounted') await this.#run();
  }

  async #run(): Promise<void> {
    this.#phase = 'disposed';
    try {
      await this.#disposer?.();
      this.events.onDisposed();
    } catch (error) {
      this.events.onDisposed(error ?? new Error('the disposer threw nothing'));
    }
  }
}
