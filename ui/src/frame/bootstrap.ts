// The first script in an app's frame: says it is there, takes the port, then imports the app and mounts it
// (host-api §2.4). It holds no token and knows no address but its own.

import { buildHost } from './api';
import { Link } from './link';
import { MountedApp } from './mount';
import { describeError, type Send, watch } from './report';
import { hasStorage, MemoryStorage, standIn } from './storage';
import { type Init, type Ready, type Snapshot, VERSION } from './wire';

/** Beside this file is the plugin's own root: the revision in the path covers both. */
const HERE = import.meta.url;
const ownStorage = hasStorage(window);
const nonce = document.querySelector<HTMLMetaElement>('meta[name="chatos-nonce"]')?.content ?? '';
const early: Parameters<Send>[] = [];
let tell: Send = (...entry) => void early.push(entry);
watch(window, (...entry) => tell(...entry));

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the frame page has no #${id}`);
  return found;
}

/** The page around the app follows the host: attributes for styles, one event for scripts. */
function dress(snapshot: Partial<Snapshot>): void {
  const { documentElement: root } = document;
  if (snapshot.theme) root.dataset['theme'] = snapshot.theme;
  if (snapshot.surface) root.dataset['surface'] = snapshot.surface;
  if (snapshot.lang) root.lang = snapshot.lang === 'zh' ? 'zh-CN' : 'en';
}

function start({ snapshot, entry, stored }: Init, port: MessagePort): void {
  const first: Snapshot = { ...snapshot, storage: ownStorage || stored ? 'persistent' : 'memory' };
  const lent = new MemoryStorage(stored, (key, value) => {
    if (stored) link.report({ type: 'store', key, value });
  });
  if (!ownStorage) standIn(window, lent);
  const listenerFailed = (error: unknown) => {
    const { message, stack } = describeError(error);
    tell('error', `a listener failed: ${message}`, stack);
  };
  dress(first);
  const link: Link = new Link(port, {
    onSnap: (changed) => {
      dress(changed);
      api.apply(changed);
      dispatchEvent(new CustomEvent('chatos:context', { detail: api.host.context.get() }));
    },
    onDispose: () => void app.dispose(),
    onStored: (key, newValue) => {
      const oldValue = lent.take(key, newValue);
      dispatchEvent(new StorageEvent('storage', { key, newValue, oldValue, url: location.href }));
    },
    onListenerError: listenerFailed,
  });
  const api = buildHost(link, first, listenerFailed);
  tell = (level, message, stack) => link.report(stack === undefined ? { type: 'log', level, message } : { type: 'log', level, message, stack });
  for (const waiting of early.splice(0)) tell(...waiting);
  // For code that runs while the module is imported; `mount` is given the same object.
  for (const [name, value] of [['chatos', Object.freeze({ host: api.host })], ['host', api.host]] as const) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }

  const app = new MountedApp({
    onMounted: () => link.report({ type: 'mounted' }),
    onFailed: (error) => {
      link.report({ type: 'mountError', ...describeError(error) });
      link.close();
    },
    onDisposed: (error) => {
      link.report(error === undefined ? { type: 'disposed' } : { type: 'disposed', ...describeError(error) });
      link.close();
    },
  });
  const path = `../${entry.split('/').map(encodeURIComponent).join('/')}`;
  void app.start(() => import(/* @vite-ignore */ new URL(path, HERE).href), api.host, element('chatos-body'), element('chatos-header'));
}

let started = false;
addEventListener('message', (event: MessageEvent<Partial<Init> | null>) => {
  // Siblings can post here, too; only the page that holds this frame is heard, and only once.
  if (started || event.source !== parent || event.data?.chatos !== 'init' || event.data.v !== VERSION) return;
  const port = event.ports[0];
  if (!port) return;
  started = true;
  start(event.data as Init, port);
});

const ready: Ready = { chatos: 'ready', v: VERSION, nonce, storage: ownStorage ? 'own' : 'none' };
parent.postMessage(ready, '*');
