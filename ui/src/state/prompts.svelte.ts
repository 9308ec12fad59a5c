// How many prompts wait for the person, for the hub's badge and the title.

import type { EventFrame } from '../protocol';

export class Prompts {
  needsYou = $state(0);
  results = $state(0);

  /** Takes the counts of a status answer or of a `prompt_counts` event. */
  setCounts(counts: { needsYou?: unknown; results?: unknown } | null): void {
    if (typeof counts?.needsYou === 'number') this.needsYou = counts.needsYou;
    if (typeof counts?.results === 'number') this.results = counts.results;
  }

  onEvent(frame: EventFrame): void {
    if (frame.type === 'prompt_counts') this.setCounts(frame.data as { needsYou?: unknown; results?: unknown } | null);
  }

  clear(): void {
    this.needsYou = 0;
    this.results = 0;
  }
}

/** The badge's text: nothing for none, at most two digits (ui-prompts §13). */
export function badgeText(count: number): string {
  if (count <= 0) return '';
  return count > 99 ? '99+' : String(count);
}
