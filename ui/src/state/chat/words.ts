// Durations, tokens and money in the page's language.

import { i18n } from '../../i18n/index.svelte';
import type { Usage } from './usage';

export function took(ms: number): string {
  if (ms < 1_000) return i18n.t.common.ms(i18n.number(Math.max(0, Math.round(ms))));
  if (ms < 60_000) return i18n.t.common.seconds(new Intl.NumberFormat(i18n.tag, { maximumFractionDigits: 1 }).format(ms / 1_000));
  return i18n.duration(ms);
}

export function compactNumber(value: number): string {
  return new Intl.NumberFormat(i18n.tag, value < 10_000 ? {} : { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

export function money(amount: number, currency: string | null): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.01 ? 6 : amount < 1 ? 4 : 2;
  try {
    return new Intl.NumberFormat(i18n.tag, { style: 'currency', currency: currency ?? 'USD', minimumFractionDigits: 2, maximumFractionDigits: digits }).format(amount);
  } catch {
    // A currency of the person's own making.
    return `${amount.toFixed(digits)} ${currency ?? ''}`.trim();
  }
}

/** The cost in words: nothing where it is unknown, “≥” where only a part of it is known. */
export function costText(usage: Usage): string {
  if (usage.cost === null) return '';
  return `${usage.atLeast ? '≥ ' : ''}${money(usage.cost, usage.currency)}`;
}

/** Tokens and cost in one line; an unknown price says nothing about money. */
export function usageText(usage: Usage): string {
  const t = i18n.t.chat.usage;
  const parts = [t.tokens(compactNumber(usage.input), compactNumber(usage.output))];
  if (usage.cacheRead > 0) parts.push(t.cached(compactNumber(usage.cacheRead)));
  if (usage.cost !== null) parts.push(costText(usage));
  if (usage.estimated) parts.push(t.estimated);
  return parts.join(' · ');
}
