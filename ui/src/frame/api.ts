// Builds the frozen `host` of an app. Every member is a closure, so it works detached from its object; what is
// synchronous answers from the snapshot that arrived before the module was imported (host-api §4).

import type { Context, Host, InvokeOptions, Theme } from '../../../sdk/host';
import type { Link } from './link';
import { deniedMessage, MEMBERS, type MemberPath } from './members';
import { parseMenu } from './menus';
import { HostError, type Snapshot } from './wire';

export interface Api {
  host: Host;
  /** Takes changed keys of the snapshot and tells whoever listens. */
  apply: (changed: Partial<Snapshot>) => void;
}

const OK = () => ({ ok: true }) as const;

export function buildHost(link: Link, first: Snapshot, onListenerError: (error: unknown) => void): Api {
  let snapshot = first;
  const themeListeners = new Set<{ listener: (theme: Theme) => void }>();
  const chatSubscriptions = new Set<() => void>();

  /** Refuses early what the page would refuse; the page checks again. */
  function check(path: MemberPath): void {
    const { capability } = MEMBERS[path];
    if (capability !== null && !snapshot.capabilities.includes(capability)) {
      throw new HostError('permission_denied', deniedMessage(capability, snapshot.pluginId));
    }
  }

  /** Refused by the page, which also tells the person what the app wanted. */
  function call<T>(path: MemberPath, args: unknown[], signal?: AbortSignal): Promise<T> {
    return link.call(path, args, signal) as Promise<T>;
  }

  function fire(path: MemberPath, args: unknown[]): { ok: true } {
    check(path);
    link.fire(path, args);
    return OK();
  }

  /**
   * A listener that is no function is a mistake without consequences (host-api §4). One that may not listen hears
   * nothing, and the page says why: an app that only wanted to follow along still mounts.
   */
  function subscribe<T>(path: MemberPath, filter: unknown, listener: (payload: T) => void): () => void {
    if (typeof listener !== 'function') return () => undefined;
    return link.subscribe(path, filter, listener as (payload: unknown) => void);
  }

  function context(): Context {
    const { pluginId, appId, theme, surface, lang, storage, confinement, hostVersion } = snapshot;
    return { pluginId, appId, theme, surface, lang, storage, confinement, hostVersion, apiVersion: 1, bridge: { enabled: true } };
  }

  const host: Host = {
    bridge: { enabled: true },
    context: { get: context },
    theme: {
      get: () => snapshot.theme,
      onChange: (listener) => {
        if (typeof listener !== 'function') return () => undefined;
        // Wrapped, so that the same function subscribed twice is two subscriptions.
        const entry = { listener };
        themeListeners.add(entry);
        return () => void themeListeners.delete(entry);
      },
    },
    ui: {
      get surface() {
        return snapshot.surface;
      },
      navigate: (menu) => {
        parseMenu(menu);
        return fire('ui.navigate', [menu]);
      },
      openExternal: (url) => call('ui.openExternal', [String(url)]),
    },
    registry: { list: () => call('registry.list', []) },
    backend: {
      invoke: (method, params, options) => {
        const { timeoutMs, signal } = (options ?? {}) as InvokeOptions;
        return call('backend.invoke', [method, params ?? null, timeoutMs === undefined ? {} : { timeoutMs }], signal);
      },
    },
    admin: {
      state: () => call('admin.state', []),
      onUpdate: (listener) => subscribe('admin.onUpdate', undefined, listener),
      models: { list: () => call('admin.models.list', []) },
      secrets: { list: () => call('admin.secrets.list', []) },
    },
    uiPrompts: {
      read: () => call('uiPrompts.read', []),
      onUpdate: (listener) => subscribe('uiPrompts.onUpdate', undefined, listener),
      request: (payload) => call('uiPrompts.request', [payload]),
      respond: (payload) => call('uiPrompts.respond', [payload]),
      open: () => fire('uiPrompts.open', []),
      close: () => fire('uiPrompts.close', []),
      toggle: () => fire('uiPrompts.toggle', []),
      wait: (requestId, options) => call('uiPrompts.wait', [requestId, options ?? {}]),
      consume: (requestId) => call('uiPrompts.consume', [requestId]),
    },
    chat: {
      agents: {
        list: () => call('chat.agents.list', []),
        ensureDefault: () => call('chat.agents.ensureDefault', []),
        create: (agent) => call('chat.agents.create', [agent]),
        update: (id, patch) => call('chat.agents.update', [id, patch]),
        delete: (id) => call('chat.agents.delete', [id]),
        createForApp: (fields) => call('chat.agents.createForApp', [fields ?? {}]),
      },
      sessions: {
        list: () => call('chat.sessions.list', []),
        ensureDefault: (fields) => call('chat.sessions.ensureDefault', [fields ?? {}]),
        create: (fields) => call('chat.sessions.create', [fields ?? {}]),
      },
      messages: { list: (query) => call('chat.messages.list', [query]) },
      send: (payload) => call('chat.send', [payload]),
      abort: (payload) => call('chat.abort', [payload]),
      events: {
        subscribe: (filter, listener) => {
          const release = subscribe('chat.events.subscribe', filter ?? {}, listener);
          const once = () => {
            chatSubscriptions.delete(once);
            release();
          };
          chatSubscriptions.add(once);
          return once;
        },
        unsubscribe: () => {
          for (const release of [...chatSubscriptions]) release();
          return OK();
        },
      },
    },
  };

  function apply(changed: Partial<Snapshot>): void {
    const before = snapshot;
    snapshot = { ...snapshot, ...changed };
    if (snapshot.theme === before.theme) return;
    for (const entry of [...themeListeners]) {
      if (!themeListeners.has(entry)) continue;
      try {
        entry.listener(snapshot.theme);
      } catch (error) {
        onListenerError(error);
      }
    }
  }

  return { host: freeze(host), apply };
}

/** Freezes the object and every group in it; the getter of `ui.surface` stays alive. */
function freeze<T extends object>(value: T): T {
  for (const descriptor of Object.values(Object.getOwnPropertyDescriptors(value))) {
    if (typeof descriptor.value === 'object' && descriptor.value !== null) freeze(descriptor.value as object);
    else if (typeof descriptor.value === 'function') Object.freeze(descriptor.value);
  }
  return Object.freeze(value);
}
