// What the parent half of the bridge needs of the page around it. The page gives it when the first app is
// opened; nothing in this folder knows the page's state.

import type { Menu } from '../frame/menus';
import type { Confinement } from '../frame/wire';
import type { EventFrame } from '../protocol';

export type Surface = 'full' | 'compact';

/** One app; the identity of everything its frame asks (security T5). */
export interface AppRef {
  readonly pluginId: string;
  readonly appId: string;
}

export interface CallOptions {
  body?: unknown;
  query?: Record<string, string | number | boolean | null | undefined>;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** The call outlives the page. */
  keepalive?: boolean;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The answer of `POST apps/{pluginId}/{appId}/open`. */
export interface OpenedApp {
  frameUrl: string;
  fallbackUrl: string;
  /** The plugin's own origin. */
  origin: string;
  nonce: string;
  rev: string;
  /** Path of the module below the plugin's root. */
  entry: string;
  capabilities: string[];
  snapshot?: { hostVersion?: string; appName?: string } | null;
}

export interface Services {
  /** Calls the API in the name of an app; the server stamps and narrows by it. */
  request: <T>(app: AppRef, method: Method, path: string, options?: CallOptions) => Promise<T>;
  /** Calls the API in the page's own name, for what the page does around an app and never because of a value of it. */
  own: <T>(method: Method, path: string, options?: CallOptions) => Promise<T>;
  /** Every event of the host's stream. */
  onEvent: (listener: (frame: EventFrame) => void) => () => void;
  /** The stream had a gap: what was read before may be out of date. */
  onResync: (listener: () => void) => () => void;
  navigate: (menu: Menu, from: { app: AppRef; appName: string; surface: Surface }) => void;
  /** Asks the person to open an address; false when they do not. */
  openLink: (url: URL, appName: string) => Promise<boolean>;
  /** Whether this browser keeps frames off the network. */
  confinement: () => Promise<Confinement>;
  /** Moves the drawer of questions; with an id it opens at that one. */
  hub: (action: 'open' | 'close' | 'toggle', id?: string) => void;
  /** What frames are told at their start; later changes come through `Stage.push`. */
  look: () => { theme: 'light' | 'dark'; lang: 'zh' | 'en'; hostVersion: string };
}

export function keyOf(app: AppRef): string {
  return `${app.pluginId}/${app.appId}`;
}

export function appPath(app: AppRef, rest: string): string {
  return `apps/${encodeURIComponent(app.pluginId)}/${encodeURIComponent(app.appId)}/${rest}`;
}
