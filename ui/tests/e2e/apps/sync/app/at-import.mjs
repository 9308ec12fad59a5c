// Runs while the modules are imported: every synchronous member, detached from its object.

import { host } from '../common/ui/host.mjs';

const { get } = host.context;
const { get: theme, onChange } = host.theme;
const { navigate } = host.ui;
const { open, close, toggle } = host.uiPrompts;
const { onUpdate } = host.uiPrompts;
const { onUpdate: onAdmin } = host.admin;
const { subscribe, unsubscribe } = host.chat.events;

function thrown(work) {
  try {
    work();
    return null;
  } catch (error) {
    return { name: error.name, code: error.code, message: error.message };
  }
}

export const themes = [];
export const atImport = {
  enabled: host.bridge.enabled,
  context: get(),
  theme: theme(),
  surface: host.ui.surface,
  open: open(),
  close: close(),
  toggle: [toggle(), toggle()],
  noMenu: thrown(() => navigate('')),
  badMenu: thrown(() => navigate('no/where')),
  stopTheme: typeof onChange((now) => themes.push([now, document.documentElement.dataset.theme])),
  notAFunction: typeof onChange('x'),
  stopPrompts: onUpdate(() => undefined)(),
  stopAdmin: onAdmin(() => undefined)(),
  stopChat: subscribe({ types: ['notice'] }, () => undefined)(),
  unsubscribe: unsubscribe(),
  frozen: Object.isFrozen(host) && Object.isFrozen(host.chat.agents),
  sameHost: globalThis.chatos.host === host,
};
