// Which tools a filter of a land_config lets through (agents §2); the same rules as the host's, for showing
// matches while they are typed. The host decides.

import type { ToolFilter } from '../../protocol/admin';

/** `*` and `?`, the whole name, letters of either case. A star only goes back to the last one, so no
    pattern takes long. */
export function matchesGlob(pattern: string, name: string): boolean {
  const wanted = [...pattern.toLowerCase()];
  const given = [...name.toLowerCase()];
  let p = 0;
  let n = 0;
  let star: { at: number; taken: number } | null = null;
  while (n < given.length) {
    if (wanted[p] === '*') {
      star = { at: p, taken: n };
      p += 1;
    } else if (p < wanted.length && (wanted[p] === '?' || wanted[p] === given[n])) {
      p += 1;
      n += 1;
    } else if (star) {
      star.taken += 1;
      p = star.at + 1;
      n = star.taken;
    } else return false;
  }
  return wanted.slice(p).every((sign) => sign === '*');
}

export type ToolDecision = 'allow' | 'ask' | 'deny';

export function decide(filter: ToolFilter | undefined, tool: string): ToolDecision {
  const any = (globs: string[] | undefined) => (globs ?? []).some((glob) => matchesGlob(glob, tool));
  if (any(filter?.deny)) return 'deny';
  if (filter?.allow !== undefined && !any(filter.allow)) return 'deny';
  return any(filter?.ask) ? 'ask' : 'allow';
}

/** Patterns that fit none of the known tools: most often a typing error. */
export function idleGlobs(globs: string[] | undefined, tools: string[]): string[] {
  return (globs ?? []).filter((glob) => !tools.some((tool) => matchesGlob(glob, tool)));
}
