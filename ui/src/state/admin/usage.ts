// Sums of costs: one per currency, and whether some of it is unknown (agents §15).

import type { UsageRow } from '../../protocol/admin';

export interface Costs {
  known: { currency: string; amount: number }[];
  unknown: boolean;
}

export function costs(rows: UsageRow[]): Costs {
  const sums = new Map<string, number>();
  let unknown = false;
  for (const { cost, currency, unknownCost } of rows) {
    if (cost === null || cost === undefined || (unknownCost ?? 0) > 0) unknown = true;
    if (cost !== null && cost !== undefined) sums.set(currency ?? '', (sums.get(currency ?? '') ?? 0) + cost);
  }
  return { known: [...sums].map(([currency, amount]) => ({ currency, amount })), unknown };
}
