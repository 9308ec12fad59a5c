// One app in its frame, from asking the host for an address to removing the element again (host-api §2.4, §3).
// It tells its owner of every change and decides nothing about where on the page it is seen.

import { type Aside, type Init, readAside, type Ready, type Snapshot, VERSION } from '../frame/wire';
import { Bridge } from './bridge';
import { toHostError } from './failure';
import { readLink } from './link';
import type { Asker } from './methods';
import { ALLOW, type OriginMode, SANDBOX, SANDBOX_FALLBACK } from './origin';
import { type AppRef, appPath, type OpenedApp, type Services, type Surface } from './services';
import type { AppStorage } from './storage';
import { chatEventOf, promptOf } from './topics';

export type FramePhase = 'opening' | 'starting' | 'mounting' | 'mounted' | 'failed' | 'closing' | 'closed';

/** Why there is no app to see. `kind` chooses the words, the rest is shown as it is. */
export interface FrameFailure {
  kind: 'open' | 'start' | 'mount' | 'navigated' | 'flood';
  code: string;
  message: string;
  stack?: string;
  /** What the host advises. */
  hint?: string;
}

/** Something that went wrong without ending the app. */
export interface FrameProblem {
  level: 'error' | 'warn' | 'policy';
  message: string;
  stack?: string;
  at: number;
  count: number;
}

/** Host-api §3. */
export const PLACEHOLDER_MS = 150;
export const SLOW_MS = 10_000;
export const READY_MS = 15_000;
export const DISPOSE_MS = 3_000;
const MAX_PROBLEMS = 100;
/** Types that end a run: a chat it started is over. */
const RUN_ENDS = new Set(['assistant_done', 'assistant_error', 'assistant_aborted']);

export interface FrameOptions {
  app: AppRef;
  appName: string;
  surface: Surface;
  services: Services;
  storage: AppStorage;
  /** Where the element goes; it is never moved, because moving would load it again. */
  layer: HTMLElement;
  onChange: () => void;
}

export class AppFrame {
  readonly app: AppRef;
  readonly appName: string;
  surface: Surface;
  phase: FramePhase = 'opening';
  /** The placeholder is due; nothing flickers for an app that is quick. */
  waiting = false;
  /** “Still loading” is due. */
  slow = false;
  /** It does not answer pings. */
  silent = false;
  failure: FrameFailure | null = null;
  problems: FrameProblem[] = [];
  /** Uncaught errors and refused loads since it was opened. */
  problemCount = 0;
  entry = '';
  rev = '';
  capabilities: readonly string[] = [];
  element: HTMLIFrameElement | null = null;
  readonly #options: FrameOptions;
  readonly #work = { prompts: new Set<string>(), sessions: new Set<string>() };
  readonly #cleanups: (() => void)[] = [];
  readonly #abort = new AbortController();
  #bridge: Bridge | null = null;
  #opened: OpenedApp | null = null;
  #loads = 0;
  #disposed: (() => void) | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: FrameOptions) {
    this.#options = options;
    this.app = options.app;
    this.appName = options.appName;
    this.surface = options.surface;
    this.#later(PLACEHOLDER_MS, () => (this.waiting = true));
    this.#later(SLOW_MS, () => (this.slow = true));
  }

  /** Work that goes on without being looked at: such a frame is kept (host-api §3). */
  get busy(): boolean {
    return (this.#bridge?.outstanding ?? 0) > 0 || this.#work.prompts.size > 0 || this.#work.sessions.size > 0;
  }

  /** Messages from the frame that were none. */
  get malformed(): number {
    return this.#bridge?.malformed ?? 0;
  }

  get subscriptions(): number {
    return this.#bridge?.subscriptions ?? 0;
  }

  /** Asks for the address while the page may still be finding out where frames come from. */
  async open(from: Promise<OriginMode>): Promise<void> {
    if (this.#closing) return;
    const { services } = this.#options;
    const { theme, lang } = services.look();
    try {
      const body = { surface: this.surface, theme, lang };
      const options = { body, signal: this.#abort.signal };
      this.#opened = await services.own<OpenedApp>('POST', appPath(this.app, 'open'), options);
    } catch (thrown) {
      if (this.#closing) return;
      const { code, message, data } = toHostError(thrown);
      const hint = (data as { hint?: unknown } | undefined)?.hint;
      this.#fail({ kind: 'open', code, message, ...(typeof hint === 'string' ? { hint } : {}) });
      return;
    }
    const mode = await from;
    if (this.#closing) return;
    this.entry = this.#opened.entry;
    this.rev = this.#opened.rev;
    this.capabilities = this.#opened.capabilities;
    this.#start(this.#opened, mode);
  }

  /** Tells a mounted app that theme, language, surface or capabilities changed; it is not loaded again. */
  push(changed: Partial<Snapshot>): void {
    if (changed.capabilities) this.capabilities = changed.capabilities;
    if (changed.surface) {
      this.surface = changed.surface;
      if (this.element) this.element.dataset['surface'] = changed.surface;
    }
    this.#bridge?.push(changed);
  }

  /** Asks the app to dispose, waits at most three seconds, then removes it in any case. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #start(opened: OpenedApp, mode: OriginMode): void {
    this.phase = 'starting';
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', mode === 'plugin' ? SANDBOX : SANDBOX_FALLBACK);
    frame.setAttribute('allow', ALLOW);
    frame.referrerPolicy = 'no-referrer';
    frame.title = this.appName;
    frame.dataset['app'] = `${this.app.pluginId}/${this.app.appId}`;
    frame.dataset['surface'] = this.surface;
    const onMessage = (event: MessageEvent<unknown>) => this.#hear(event, opened, mode);
    addEventListener('message', onMessage);
    this.#cleanups.push(() => removeEventListener('message', onMessage));
    frame.addEventListener('load', () => {
      this.#loads += 1;
      // A second page in the frame is not the one that was opened (security T4, second trap).
      if (this.#loads > 1) this.#navigated();
    });
    this.#later(READY_MS, () => {
      if (this.phase !== 'starting') return;
      this.#fail({ kind: 'start', code: 'timeout', message: 'The app frame did not start' });
    });
    frame.src = mode === 'plugin' ? opened.frameUrl : opened.fallbackUrl;
    this.element = frame;
    this.#options.layer.append(frame);
    this.#changed();
  }

  #hear(event: MessageEvent<unknown>, opened: OpenedApp, mode: OriginMode): void {
    if (!this.element || event.source !== this.element.contentWindow) return;
    if (event.origin !== (mode === 'plugin' ? opened.origin : 'null')) return;
    const aside = readAside(event.data);
    if (aside) {
      this.#aside(aside);
      return;
    }
    const ready = event.data as Partial<Ready> | null;
    if (ready?.chatos !== 'ready' || ready.v !== VERSION || ready.nonce !== opened.nonce) return;
    if (this.phase !== 'starting') {
      this.#navigated();
      return;
    }
    this.phase = 'mounting';
    void this.#init(opened, mode, ready.storage === 'none');
  }

  /** The first script of the frame says that the person took a link, or that something is amiss in the page. */
  #aside(aside: Aside): void {
    if (aside.chatos === 'problem') {
      this.#problem('policy', aside.message, undefined);
      return;
    }
    const { appName, services } = this.#options;
    const link = readLink(aside.url, location);
    if (typeof link === 'string') this.#problem('policy', `${link}: ${aside.url.slice(0, 200)}`, undefined);
    else if (this.#gesture()) void services.openLink(link, appName);
    else this.#problem('policy', `a link can be opened only after a click or a key in the app: ${link.origin}`, undefined);
  }

  /** Focus is in this frame, and the browser says that it comes of a person: no other frame, no timer. */
  #gesture(): boolean {
    return this.element !== null && document.activeElement === this.element && navigator.userActivation.isActive;
  }

  /** Hands over the port, once, with everything that must be known before the app's module is imported. */
  async #init(opened: OpenedApp, mode: OriginMode, lend: boolean): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    const { services, storage } = this.#options;
    const { pluginId } = this.app;
    // An opaque frame has no storage that lasts (host-api §2.1); one with an origin gets it from the page.
    const stored = lend && mode === 'plugin' ? await storage.items(pluginId) : undefined;
    const confinement = await services.confinement();
    if (!this.element || this.phase !== 'mounting') return;
    const onStored = (key: string | null, value: string | null) => this.#bridge?.stored(key, value);
    if (stored) this.#cleanups.push(storage.follow(pluginId, onStored));
    const snapshot: Snapshot = {
      ...this.app,
      ...services.look(),
      surface: this.surface,
      storage: mode === 'plugin' ? 'persistent' : 'memory',
      confinement,
      capabilities: opened.capabilities,
    };
    this.#bridge = new Bridge(port1, this.#asker(), opened.capabilities, {
      onMounted: () => {
        if (this.phase !== 'mounting') return;
        this.phase = 'mounted';
        this.#changed();
      },
      onMountError: (message, stack) => {
        if (this.phase === 'mounting') this.#fail({ kind: 'mount', code: 'internal', message, ...(stack ? { stack } : {}) });
      },
      onDisposed: (message, stack) => {
        if (message !== undefined) this.#problem('error', `dispose: ${message}`, stack);
        this.#disposed?.();
      },
      onLog: (level, message, stack) => this.#problem(level, message, stack),
      onStore: (key, value) => {
        if (!stored) return;
        storage.write(pluginId, key, value, onStored).catch((thrown: unknown) => this.#problem('warn', `localStorage: ${toHostError(thrown).message}`, undefined));
      },
      onSilent: (silent) => {
        this.silent = silent;
        this.#changed();
      },
      onFlood: () => this.#fail({ kind: 'flood', code: 'rate_limited', message: 'The app sent more messages than any app needs' }),
    });
    const init: Init = { chatos: 'init', v: VERSION, snapshot, entry: opened.entry, ...(stored ? { stored } : {}) };
    // The frame of the fallback has no origin that could be named; the nonce has said who it is.
    this.element.contentWindow?.postMessage(init, mode === 'plugin' ? opened.origin : '*', [port2]);
    this.#follow();
    this.#changed();
  }

  #asker(): Asker {
    const { app, appName, services } = this.#options;
    return {
      app,
      appName,
      services,
      surface: () => this.surface,
      gesture: () => this.#gesture(),
      may: (capability) => this.capabilities.includes(capability),
      work: {
        promptAsked: (requestId) => this.#work.prompts.add(requestId),
        promptOpen: () => [...this.#work.prompts].at(-1),
        runStarted: (sessionId) => this.#work.sessions.add(sessionId),
      },
    };
  }

  /** Work in the background ends when its prompt is closed or its run is over. */
  #follow(): void {
    this.#cleanups.push(
      this.#options.services.onEvent((frame) => {
        const chat = chatEventOf(frame);
        if (chat?.sessionId && RUN_ENDS.has(chat.type)) this.#work.sessions.delete(chat.sessionId);
        if (frame.topic !== 'prompts') return;
        const id = promptOf(frame);
        const data = frame.data as { state?: unknown; item?: { state?: unknown } } | null;
        if (id !== null && (data?.item?.state ?? data?.state) !== 'pending') this.#work.prompts.delete(id);
      }),
    );
  }

  #navigated(): void {
    this.#fail({ kind: 'navigated', code: 'permission_denied', message: 'The app tried to leave its page' });
  }

  #problem(level: FrameProblem['level'], message: string, stack: string | undefined): void {
    this.problemCount += 1;
    const same = this.problems.find((known) => known.level === level && known.message === message);
    if (same) {
      same.count += 1;
      same.at = Date.now();
      this.problems = [...this.problems];
    } else {
      const entry: FrameProblem = { level, message, at: Date.now(), count: 1, ...(stack ? { stack } : {}) };
      this.problems = [...this.problems, entry].slice(-MAX_PROBLEMS);
    }
    this.#changed();
  }

  #fail(failure: FrameFailure): void {
    if (this.#closing || this.phase === 'failed') return;
    this.phase = 'failed';
    this.failure = failure;
    this.#remove();
    this.#tellClosed();
    this.#changed();
  }

  async #close(): Promise<void> {
    const bridge = this.#bridge;
    const running = this.phase === 'mounting' || this.phase === 'mounted';
    this.#abort.abort();
    if (this.phase !== 'failed') {
      this.phase = 'closing';
      this.#changed();
    }
    if (bridge && running) {
      const disposed = new Promise<void>((resolve) => (this.#disposed = resolve));
      bridge.dispose();
      await Promise.race([disposed, new Promise((resolve) => setTimeout(resolve, DISPOSE_MS))]);
    }
    this.#remove();
    if (running) this.#tellClosed();
    this.phase = 'closed';
    this.#changed();
  }

  /** Private values of this app's prompts are erased when its frame goes (ui-prompts §7.4). */
  #tellClosed(): void {
    if (!this.#opened) return;
    this.#options.services.request(this.app, 'POST', appPath(this.app, 'closed'), { body: {}, keepalive: true }).catch((thrown: unknown) => {
      // The host erases them by itself after ten minutes; the log says that it was told in vain.
      this.#problem('warn', `closed: ${toHostError(thrown).message}`, undefined);
    });
  }

  #remove(): void {
    this.#bridge?.close();
    this.#bridge = null;
    for (const undo of this.#cleanups.splice(0)) undo();
    this.element?.remove();
    this.element = null;
    this.silent = false;
    this.#work.prompts.clear();
    this.#work.sessions.clear();
  }

  #later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      if (this.phase === 'closed' || this.phase === 'failed' || this.phase === 'mounted') return;
      run();
      this.#changed();
    }, ms);
    this.#cleanups.push(() => clearTimeout(timer));
  }

  #changed(): void {
    this.#options.onChange();
  }
}
