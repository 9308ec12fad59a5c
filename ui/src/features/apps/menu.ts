// Where `ui.navigate` of an app leads on this page (host-api §7.2).

import type { Menu } from '../../frame/menus';
import type { AppRef, Surface } from '../../host/services';
import { router } from '../../router';
import { panel } from '../../state';

/** Sections of the settings page that have other names there. */
const SECTIONS: Record<string, string> = { land_configs: 'land-configs', mcp: 'servers', prompts: 'prompts', lsp: 'advanced' };

export function goTo(menu: Menu, from: { app: AppRef; surface: Surface }): void {
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
      router.go('settings', [SECTIONS[menu.section] ?? menu.section]);
      break;
  }
}

function same(a: AppRef, b: AppRef): boolean {
  return a.pluginId === b.pluginId && a.appId === b.appId;
}
