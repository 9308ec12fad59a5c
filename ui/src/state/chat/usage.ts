// Sums of tokens and cost. An unknown cost stays unknown in a sum, and currencies are not mixed (agents §15).

import type { UsageView } from '../../protocol/wire';

/** What fills a window, in tokens. */
export interface ContextParts {
  system: number;
  tools: number;
  summary: number;
  messages: number;
  results: number;
}

/** How full a model's window is. */
export interface Context {
  used: number;
  window: number;
  /** Of a hundred. */
  share: number;
  windowSource: string;
  parts: ContextParts;
  /** How many tools the model knows from the start, of all it may call. */
  tools?: { loaded: number; all: number };
}

export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Null: at least one part has no price. */
  cost: number | null;
  currency: string | null;
  estimated: boolean;
  /** The cost is only the part that is known. */
  atLeast: boolean;
  /** How full the model's window was after the newest call. */
  context: Context | null;
}

/** Reads the tokens of a call, or a sum that is told per currency. */
export function readUsage(wire: unknown): Usage | null {
  if (Array.isArray(wire)) return wire.map(readOne).reduce((sum, one) => addUsage(sum, one), null);
  return readOne(wire);
}

function readOne(value: unknown): Usage | null {
  if (!value || typeof value !== 'object') return null;
  const wire = value as Partial<UsageView>;
  const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0);
  const priced = typeof wire.cost === 'number' && Number.isFinite(wire.cost);
  return {
    input: number(wire.input),
    output: number(wire.output),
    cacheRead: number(wire.cacheRead),
    cacheWrite: number(wire.cacheWrite),
    cost: priced ? (wire.cost as number) : null,
    currency: typeof wire.currency === 'string' && wire.currency !== '' ? wire.currency : null,
    estimated: wire.estimated === true,
    atLeast: priced && number(wire.unknownCost) > 0,
    context: readContext((value as { context?: unknown }).context),
  };
}

export function addUsage(a: Usage | null, b: Usage | null): Usage | null {
  if (!a || !b) return a ?? b;
  const same = a.currency === b.currency;
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    cost: a.cost !== null && b.cost !== null && same ? a.cost + b.cost : null,
    currency: same ? a.currency : null,
    estimated: a.estimated || b.estimated,
    atLeast: a.atLeast || b.atLeast,
    context: b.context ?? a.context,
  };
}

function readContext(value: unknown): Context | null {
  const wire = value as Context | undefined;
  return wire && typeof wire === 'object' && wire.window > 0 && typeof wire.parts === 'object' ? wire : null;
}

export function totalTokens(usage: Usage): number {
  return usage.input + usage.output;
}
