// The page's end of a view of an MCP server (extension `io.modelcontextprotocol/ui`, revision 2026-01-26):
// JSON-RPC over `postMessage`. Which server it may speak to was decided when it was opened; the frame is known
// by its window and origin, never by what a message says (security T5).

import { readAside, tooLong, TokenBucket } from '../frame/wire';
import { toHostError } from './failure';
import { readLink } from './link';
import { readNote, type ViewNote } from './view-context';

export const VIEW_PROTOCOL = '2026-01-26';
const MAX_OUTSTANDING = 64;
const MAX_ARGUMENTS = 8 * 1024 * 1024;
/** So much that is refused or no message at all does not come from a view that works. */
const MAX_NOISE = 5_000;
const MAX_TEXT = 10_000;

type Fields = Record<string, unknown>;

export type DisplayMode = 'inline' | 'fullscreen';

export interface ViewContext {
  theme: 'light' | 'dark';
  locale: string;
  variables: Record<string, string>;
}

export interface ViewCallbacks {
  /** What the view is told about the host, at its start. */
  context: () => ViewContext;
  hostVersion: () => string;
  /** The tool as its server describes it, and the hosts that were allowed. */
  tool: unknown;
  allowed: unknown;
  maxHeight: number;
  /** Its first words were heard: it works. */
  onReady: () => void;
  onSize: (height: number) => void;
  onLog: (level: string, message: string) => void;
  onFlood: () => void;
  callTool: (name: string, args: Fields) => Promise<unknown>;
  readResource: (uri: string) => Promise<unknown>;
  /** Asks the person; false when they refuse. */
  openLink: (url: URL) => Promise<boolean>;
  /** Asks the person; throws where there is no chat. */
  sendMessage: (text: string) => Promise<boolean>;
  /** What goes with the person's next message; null takes it back. Absent where there is no chat. */
  onNote: ((note: ViewNote | null) => void) | null;
  mode: () => DisplayMode;
  /** The view can fill the window, or it says nothing about it. */
  onModes: (fullscreen: boolean) => void;
  /** Answers with the mode that is in force afterwards. */
  setMode: (mode: DisplayMode) => DisplayMode;
}

class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

const invalid = (message: string) => new Refusal(-32602, message);

export class ViewBridge {
  readonly #frame: HTMLIFrameElement;
  readonly #origin: string;
  readonly #callbacks: ViewCallbacks;
  readonly #bucket = new TokenBucket(50, 100);
  readonly #listen = (event: MessageEvent<unknown>) => this.#hear(event);
  #outstanding = 0;
  #noise = 0;
  #ready = false;
  #closed = false;
  #input: Fields | null = null;
  #result: Fields | null = null;
  #canceled: string | null = null;
  #sent = { input: false, end: false };

  /** `origin` is `"null"` for a frame without one. */
  constructor(frame: HTMLIFrameElement, origin: string, callbacks: ViewCallbacks) {
    this.#frame = frame;
    this.#origin = origin;
    this.#callbacks = callbacks;
    addEventListener('message', this.#listen);
  }

  /** The arguments of the call, its result, its end without one; each is told once, in this order. */
  tell(about: { input?: Fields; result?: Fields; canceled?: string }): void {
    this.#input ??= about.input ?? null;
    this.#result ??= about.result ?? null;
    this.#canceled ??= about.canceled ?? null;
    this.#flush();
  }

  contextChanged(): void {
    if (this.#ready) this.#notify('ui/notifications/host-context-changed', this.#context());
  }

  /** It fills the window now, or no longer. */
  layoutChanged(): void {
    if (this.#ready) this.#notify('ui/notifications/host-context-changed', this.#layout());
  }

  close(reason: string): void {
    if (this.#closed) return;
    if (this.#ready) this.#post({ jsonrpc: '2.0', id: 'teardown', method: 'ui/resource-teardown', params: { reason } });
    this.#closed = true;
    removeEventListener('message', this.#listen);
  }

  #hear(event: MessageEvent<unknown>): void {
    if (this.#closed || event.source !== this.#frame.contentWindow || event.origin !== this.#origin) return;
    const aside = readAside(event.data);
    if (aside) {
      this.#count();
      if (aside.chatos === 'problem') this.#callbacks.onLog('policy', aside.message);
      else this.#taken(aside.url);
      return;
    }
    const message = event.data as Fields | null;
    if (typeof message !== 'object' || message === null || message['jsonrpc'] !== '2.0' || typeof message['method'] !== 'string') {
      // Answers to what the page asked need no hearing; the rest is noise.
      if (!(typeof message === 'object' && message !== null && 'id' in message)) this.#count();
      return;
    }
    const { id, method } = message;
    const params = typeof message['params'] === 'object' && message['params'] !== null ? (message['params'] as Fields) : {};
    if (id === undefined) {
      this.#notified(method as string, params);
      return;
    }
    if (typeof id !== 'string' && typeof id !== 'number') {
      this.#count();
      return;
    }
    void this.#asked(id, method as string, params);
  }

  async #asked(id: string | number, method: string, params: Fields): Promise<void> {
    try {
      if (this.#outstanding >= MAX_OUTSTANDING) throw new Refusal(-32000, `more than ${MAX_OUTSTANDING} requests are waiting for an answer`);
      if (!this.#bucket.take()) {
        this.#count();
        throw new Refusal(-32000, `more than ${this.#bucket.rate} requests per second`);
      }
      this.#outstanding += 1;
      try {
        const result = await this.#do(method, params);
        this.#post({ jsonrpc: '2.0', id, result });
      } finally {
        this.#outstanding -= 1;
      }
    } catch (thrown) {
      const refused = thrown instanceof Refusal ? thrown : null;
      const { code, message, data } = toHostError(thrown);
      const error = refused ? { code: refused.code, message: refused.message } : { code: -32000, message, data: { code, ...(data as object | undefined) } };
      this.#post({ jsonrpc: '2.0', id, error });
    }
  }

  async #do(method: string, params: Fields): Promise<unknown> {
    switch (method) {
      case 'ui/initialize':
        return this.#initialize(params);
      case 'ping':
        return {};
      case 'tools/call':
        return this.#callTool(params);
      case 'resources/read':
        if (typeof params['uri'] !== 'string' || params['uri'] === '') throw invalid('uri is required');
        return this.#callbacks.readResource(params['uri']);
      case 'ui/open-link':
        return this.#openLink(params['url']);
      case 'ui/message':
        return this.#message(params);
      case 'ui/update-model-context':
        return this.#note(params);
      case 'ui/request-display-mode': {
        const { mode } = params;
        if (typeof mode !== 'string') throw invalid('mode is required');
        // What there is not leaves everything as it is; the answer says so.
        return { mode: mode === 'inline' || mode === 'fullscreen' ? this.#callbacks.setMode(mode) : this.#callbacks.mode() };
      }
      default:
        throw new Refusal(-32601, `unknown method ${method.slice(0, 100)}`);
    }
  }

  #note(params: Fields): unknown {
    const { onNote } = this.#callbacks;
    if (!onNote) throw new Refusal(-32000, 'there is no chat here');
    let note: ViewNote | null;
    try {
      note = readNote(params);
    } catch (thrown) {
      throw invalid((thrown as Error).message);
    }
    onNote(note);
    return {};
  }

  #initialize(params: Fields): unknown {
    const able = (params['appCapabilities'] as Fields | null | undefined)?.['availableDisplayModes'];
    this.#callbacks.onModes(Array.isArray(able) && able.includes('fullscreen'));
    return {
      protocolVersion: VIEW_PROTOCOL,
      hostInfo: { name: 'chatos', title: 'ChatOS', version: this.#callbacks.hostVersion() },
      hostCapabilities: {
        openLinks: {},
        serverTools: {},
        serverResources: {},
        logging: {},
        message: { text: {} },
        ...(this.#callbacks.onNote ? { updateModelContext: { text: {}, image: {}, structuredContent: {} } } : {}),
        sandbox: { permissions: {}, csp: this.#callbacks.allowed },
      },
      hostContext: {
        toolInfo: { tool: this.#callbacks.tool },
        availableDisplayModes: ['inline', 'fullscreen'],
        ...this.#layout(),
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        userAgent: `ChatOS/${this.#callbacks.hostVersion()}`,
        platform: 'web',
        deviceCapabilities: { touch: matchMedia('(pointer: coarse)').matches, hover: matchMedia('(hover: hover)').matches },
        ...this.#context(),
      },
    };
  }

  #layout(): Fields {
    const displayMode = this.#callbacks.mode();
    const width = Math.round(this.#frame.clientWidth);
    const high = displayMode === 'inline' ? { maxHeight: this.#callbacks.maxHeight } : { height: Math.round(this.#frame.clientHeight) };
    return { displayMode, containerDimensions: { width, ...high } };
  }

  #context(): Fields {
    const { theme, locale, variables } = this.#callbacks.context();
    return { theme, locale, styles: { variables } };
  }

  #callTool(params: Fields): Promise<unknown> {
    const { name } = params;
    const args = params['arguments'] ?? {};
    if (typeof name !== 'string' || name === '') throw invalid('name is required');
    if (typeof args !== 'object' || args === null || Array.isArray(args)) throw invalid('arguments must be an object');
    let text: string;
    try {
      text = JSON.stringify(args);
    } catch {
      throw invalid('arguments must be JSON');
    }
    if (tooLong(text, MAX_ARGUMENTS)) throw invalid('arguments may hold at most 8 MiB');
    return this.#callbacks.callTool(name, JSON.parse(text) as Fields);
  }

  async #openLink(given: unknown): Promise<unknown> {
    const link = readLink(given, location);
    if (typeof link === 'string') throw new Refusal(-32000, link);
    if (!(await this.#callbacks.openLink(link))) throw new Refusal(-32000, 'Link opening denied by user');
    return {};
  }

  /** The person took a link in the view; one that takes itself is not followed. */
  #taken(given: string): void {
    const link = readLink(given, location);
    if (typeof link === 'string') this.#callbacks.onLog('policy', link);
    else if (document.activeElement === this.#frame && navigator.userActivation.isActive) void this.#callbacks.openLink(link);
  }

  async #message({ content }: Fields): Promise<unknown> {
    const blocks = (Array.isArray(content) ? content : [content]) as ({ type?: unknown; text?: unknown } | null)[];
    const texts = blocks.flatMap((block) => (block?.type === 'text' && typeof block.text === 'string' ? [block.text] : []));
    const text = texts.join('\n').trim();
    if (text === '' || texts.length !== blocks.length) throw invalid('Invalid message format: text is needed');
    if (text.length > MAX_TEXT) throw invalid(`a message may hold at most ${MAX_TEXT} characters`);
    if (!(await this.#callbacks.sendMessage(text))) throw new Refusal(-32000, 'Message sending denied');
    return {};
  }

  #notified(method: string, params: Fields): void {
    switch (method) {
      case 'ui/notifications/initialized':
        if (this.#ready) return;
        this.#ready = true;
        this.#callbacks.onReady();
        this.#flush();
        break;
      case 'ui/notifications/size-changed': {
        const height = Number(params['height']);
        if (Number.isFinite(height) && height > 0) this.#callbacks.onSize(height);
        this.#count();
        break;
      }
      case 'notifications/message': {
        const level = typeof params['level'] === 'string' ? params['level'] : 'info';
        const said = typeof params['data'] === 'string' ? params['data'] : JSON.stringify(params['data'] ?? null);
        this.#callbacks.onLog(level, said.slice(0, MAX_TEXT));
        this.#count();
        break;
      }
      case 'notifications/cancelled':
        break;
      default:
        this.#count();
    }
  }

  /** Nothing is sent before the view said that it is initialized. */
  #flush(): void {
    if (!this.#ready || this.#closed) return;
    if (this.#input && !this.#sent.input) {
      this.#sent.input = true;
      this.#notify('ui/notifications/tool-input', { arguments: this.#input });
    }
    if (!this.#sent.input || this.#sent.end) return;
    if (this.#result) {
      this.#sent.end = true;
      this.#notify('ui/notifications/tool-result', this.#result);
    } else if (this.#canceled !== null) {
      this.#sent.end = true;
      this.#notify('ui/notifications/tool-cancelled', { reason: this.#canceled });
    }
  }

  #notify(method: string, params: Fields): void {
    this.#post({ jsonrpc: '2.0', method, params });
  }

  #post(message: Fields): void {
    if (this.#closed) return;
    // A frame without an origin cannot be named; only this window gets it in any case.
    this.#frame.contentWindow?.postMessage(message, this.#origin === 'null' ? '*' : this.#origin);
  }

  #count(): void {
    this.#noise += 1;
    if (this.#noise === MAX_NOISE) this.#callbacks.onFlood();
  }
}

/** Names the extension gives to colours and sizes, and ours. */
const VARIABLES: Record<string, string> = {
  '--color-background-primary': '--ds-panel-bg',
  '--color-background-secondary': '--ds-subtle-bg',
  '--color-background-tertiary': '--ds-selected-bg',
  '--color-background-danger': '--ds-change-bg-error',
  '--color-background-success': '--ds-change-bg-success',
  '--color-background-warning': '--ds-change-bg-warning',
  '--color-text-primary': '--ds-text-primary',
  '--color-text-secondary': '--ds-text-secondary',
  '--color-text-tertiary': '--ds-text-muted',
  '--color-text-info': '--ds-accent',
  '--color-text-danger': '--ds-danger-text',
  '--color-text-warning': '--ds-warning-text',
  '--color-border-primary': '--ds-panel-border',
  '--color-border-secondary': '--ds-splitter-bg',
  '--color-ring-primary': '--ds-focus-ring',
  '--font-mono': '--ds-mono',
  '--font-text-sm-size': '--ds-size-sm',
  '--font-text-md-size': '--ds-size-md',
  '--font-text-lg-size': '--ds-size-lg',
  '--border-radius-sm': '--ds-radius-sm',
  '--border-radius-md': '--ds-radius',
};

/** The page's colours as views know them. */
export function viewVariables(root: Element = document.documentElement): Record<string, string> {
  const styles = getComputedStyle(root);
  const all: Record<string, string> = { '--font-sans': styles.fontFamily };
  for (const [theirs, ours] of Object.entries(VARIABLES)) {
    const value = styles.getPropertyValue(ours).trim();
    if (value !== '') all[theirs] = value;
  }
  return all;
}
