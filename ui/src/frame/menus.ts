// The menus an app may open with `ui.navigate` (host-api §7.2). The frame refuses what is not one of them
// at once; the host page turns the rest into addresses of its own.

import { HostError } from './wire';

export type Menu =
  | { page: 'chat' }
  | { page: 'session'; sessionId: string }
  | { page: 'agents' }
  | { page: 'apps' }
  | { page: 'app'; pluginId: string; appId: string }
  | { page: 'admin'; section: AdminSection };

export const ADMIN_SECTIONS = ['models', 'secrets', 'advanced', 'land_configs', 'mcp', 'prompts', 'subagents', 'lsp'] as const;
export type AdminSection = (typeof ADMIN_SECTIONS)[number];

/** Names of older hosts that all lead to the chat. */
const OLD = new Set(['cli', 'session', 'workspace', 'events']);

/** Reads a menu; throws `invalid_argument` for what is none. */
export function parseMenu(menu: unknown): Menu {
  if (typeof menu !== 'string' || menu.trim() === '') throw new HostError('invalid_argument', 'menu is required');
  const parts = menu.trim().split('/');
  const [first, second, ...rest] = parts;
  const unknown = () => new HostError('invalid_argument', `Unknown menu "${menu}"`);
  if (first !== undefined && (OLD.has(menu.trim()) || first === 'cli')) return { page: 'chat' };
  if (first === 'chat') {
    if (second === undefined || (second === 'rooms' && rest.length === 0)) return { page: 'chat' };
    if (second === 'agents' && rest.length === 0) return { page: 'agents' };
    if (second === 'session') {
      if (rest.length === 0) return { page: 'chat' };
      const sessionId = decoded(rest[0]);
      if (rest.length === 1 && sessionId) return { page: 'session', sessionId };
    }
    throw unknown();
  }
  if (first === 'apps') {
    if (second === undefined || (second === 'home' && rest.length === 0)) return { page: 'apps' };
    const [pluginId, appId] = rest.map(decoded);
    if (second === 'plugin' && rest.length === 2 && pluginId && appId) return { page: 'app', pluginId, appId };
    throw unknown();
  }
  if (first === 'admin' && rest.length === 0) {
    if (second === 'settings') return { page: 'admin', section: 'models' };
    const section = ADMIN_SECTIONS.find((known) => known === second);
    if (section) return { page: 'admin', section };
  }
  throw unknown();
}

function decoded(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '');
  } catch {
    // A stray percent sign: no id looks like that, and the caller refuses an empty one.
    return '';
  }
}
