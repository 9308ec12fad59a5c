// Where `ui.navigate` of an app leads on this page (host-api §7.2).

import type { AdminSection, Menu } from '../../frame/menus';
import type { AppRef, Surface } from '../../host/services';
import { type PageName, router } from '../../router';
import { panel } from '../../state';
import { unsaved } from '../../state/unsaved.svelte';

/** Where each section of the older hosts' administration is on this page. */
const SECTIONS: Record<AdminSection, [page: PageName, ...rest: string[]]> = {
  models: ['agents', 'models'],
  secrets: ['settings', 'secrets'],
  advanced: ['settings'],
  land_configs: ['agents', 'land-configs'],
  mcp: ['settings', 'servers'],
  prompts: ['agents', 'prompts'],
  subagents: ['agents', 'sub-agents'],
  // The built-in server lsp_bridge has this id everywhere.
  lsp: ['settings', 'servers', 'ba246952-8140-4f8e-ab46-33757b209585'],
};

export interface From {
  app: AppRef;
  appName: string;
  surface: Surface;
}

/** Unsaved forms ask first. What stays in the panel leaves nothing. */
export function goTo(menu: Menu, from: From): void {
  const stays = from.surface === 'compact' && (menu.page === 'apps' || (menu.page === 'app' && !same(menu, from.app)));
  if (stays) {
    go(menu, from);
    return;
  }
  void unsaved.mayLeave(from.appName).then((leave) => {
    if (leave) go(menu, from);
  });
}

function go(menu: Menu, from: From): void {
  switch (menu.page) {
    case 'chat':
      router.go('chat');
      break;
    case 'session':
      router.go('chat', [menu.sessionId]);
      break;
    case 'agents':
      router.go('agents');
      break;
    case 'apps':
      // From the panel beside the page, apps stay in the panel.
      if (from.surface === 'compact') panel.choose();
      else router.go('apps');
      break;
    case 'app':
      // One that asks for itself wants its full view.
      if (from.surface === 'compact' && !same(menu, from.app)) panel.openApp(menu.pluginId, menu.appId);
      else router.go('apps', ['plugin', menu.pluginId, menu.appId]);
      break;
    case 'admin':
      {
        const [page, ...rest] = SECTIONS[menu.section];
        router.go(page, rest);
      }
      break;
  }
}

function same(a: AppRef, b: AppRef): boolean {
  return a.pluginId === b.pluginId && a.appId === b.appId;
}
