// The colour of a server's state, and how its address is written.

import type { Server, ServerPhase } from '../../../protocol/admin';
import { serverTitle } from '../../../state/shipped';

export function toneOfPhase(phase: ServerPhase): 'success' | 'neutral' | 'warning' | 'danger' {
  switch (phase) {
    case 'ready':
      return 'success';
    case 'backoff':
    case 'starting':
    case 'sign_in':
      return 'warning';
    case 'failed':
      return 'danger';
    default:
      return 'neutral';
  }
}

/** In one line, for a list. */
export function addressOf(server: Server): string {
  return server.argv && server.argv.length > 0 ? server.argv.join(' ') : server.url;
}

export function matchesServer(server: Server, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const haystack = [server.name, serverTitle(server), server.id, server.identity, server.description, addressOf(server), ...(server.tags ?? [])].join('\n').toLowerCase();
  return words.every((word) => haystack.includes(word));
}
