// How kinds of changes look, and the addresses of narrowed lists.

import type { IconName } from '../../components/Icon.svelte';
import type { ChangeKind } from '../../protocol/changes';
import { toHash } from '../../router';
import type { ChangeFilters } from '../../state/changes/list.svelte';

export type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger';

const TONES: Record<ChangeKind, Tone> = { created: 'success', modified: 'neutral', deleted: 'danger', moved: 'neutral' };
const ICONS: Record<ChangeKind, IconName> = { created: 'plus', modified: 'edit', deleted: 'trash', moved: 'arrowRight' };

export function toneOf(kind: ChangeKind): Tone {
  return TONES[kind];
}

export function iconOf(kind: ChangeKind): IconName {
  return ICONS[kind];
}

/** The list with these filters, and one change of it open. */
export function addressOf(filters: Partial<ChangeFilters>, id: string | null = null): string {
  return toHash('changes', id === null ? [] : [id], { ...filters });
}
