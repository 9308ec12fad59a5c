// What an undo did, in words: one file by name and by what happened to it, several by count.

import type { deeds } from '../../i18n/en/deeds';
import type { UndoneFile } from '../../protocol/changes';

const ORDER = ['restored', 'recreated', 'removed', 'moved_back'] as const;

export function undoneText(steps: readonly Pick<UndoneFile, 'path' | 'action'>[], words: typeof deeds.undone): string {
  const [only, ...others] = steps;
  if (only && others.length === 0) return words[only.action](only.path.split('/').at(-1) ?? only.path);
  const parts = ORDER.map((action) => ({ action, n: steps.filter((step) => step.action === action).length })).filter(({ n }) => n > 0);
  return words.several(parts.map(({ action, n }) => words.counts[action](n)).join(' · '));
}
