// How kinds of changes look, and the addresses of narrowed lists.

import type { IconName } from '../../components/Icon.svelte';
import type { ChangeKind, FileChange, FileContent } from '../../protocol/changes';
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

/** Larger contents are for a program of their own: they can be downloaded. */
const MAX_COMPARED = 1024 * 1024;

/** Both contents are there, differ, and are small enough to be read on a page. */
export function canCompare({ before, after }: FileChange): boolean {
  const there = ({ state, size }: FileContent) => state === 'absent' || (state === 'kept' && size != null && size <= MAX_COMPARED);
  return there(before) && there(after) && before.sha256 !== after.sha256;
}

/** The list with these filters, and one change of it open. */
export function addressOf(filters: Partial<ChangeFilters>, id: string | null = null): string {
  return toHash('changes', id === null ? [] : [id], { ...filters });
}
