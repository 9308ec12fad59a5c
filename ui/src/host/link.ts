// Which addresses a frame may ask the person to open: pages of the web and mail, in full, and none of this host's own.

import { LOCAL_NAMES } from './origin';

/** Longer ones cannot be read by a person who must decide. */
export const MAX_LINK = 4_096;

/** The address, or why it is none. */
export function readLink(given: unknown, place: Pick<Location, 'hostname' | 'port'>): URL | string {
  const url = typeof given === 'string' ? URL.parse(given) : null;
  if (!url) return 'url must be a whole address';
  if (!['http:', 'https:', 'mailto:'].includes(url.protocol)) return 'only http, https and mailto links can be opened';
  if (url.href.length > MAX_LINK) return `a link may hold at most ${MAX_LINK} characters`;
  const own = url.hostname === place.hostname || url.hostname.endsWith('.localhost') || LOCAL_NAMES.has(url.hostname);
  if (own && url.port === place.port) return 'this is an address of the host itself, not of the web';
  return url;
}
