// How a session of another program is named, and how it stands.

import type { AdminDictionary } from '../../../i18n/admin';
import type { ClientSession } from '../../../protocol/admin';
import { programName } from '../../../state/prompts/item';

/** The name people know it by, with a number where another one in the same folder has that name, too. */
export function nameOf(session: Pick<ClientSession, 'name' | 'number'>): string {
  return programName(session);
}

/** Whether it is there. A hook has a process only while it asks. */
export function standing({ connected, kind }: Pick<ClientSession, 'connected' | 'kind'>, t: AdminDictionary['programs']): { text: string; tone: 'success' | 'neutral' } {
  if (connected) return { text: t.connected, tone: 'success' };
  return { text: kind === 'hook' ? t.hookAway : t.away, tone: 'neutral' };
}
