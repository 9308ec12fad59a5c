// A tool's description of itself as lines of text, so that two versions can be compared by reading.

import type { PinnedSpec, ToolPin } from '../../protocol/admin';
import type { JsonValue } from '../../protocol';

/** Keys in one order: a server that only shuffles them has changed nothing. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, sorted(child)]),
  );
}

function section(title: string, value: JsonValue | undefined): string[] {
  if (value === undefined || value === null || value === '') return [];
  const text = typeof value === 'string' ? value : JSON.stringify(sorted(value), null, 2);
  return [`${title}:`, ...text.split('\n').map((line) => `  ${line}`)];
}

export interface SpecTitles {
  title: string;
  description: string;
  input: string;
  output: string;
  annotations: string;
}

/** Under this name stands what a server says about itself. */
export const INSTRUCTIONS = '#instructions';

export function specText(spec: PinnedSpec | null | undefined, titles: SpecTitles): string {
  if (!spec) return '';
  if (spec.instructions) return spec.instructions;
  return [
    ...section(titles.title, spec.title ?? undefined),
    ...section(titles.description, spec.description ?? undefined),
    ...section(titles.input, spec.inputSchema),
    ...section(titles.output, spec.outputSchema),
    ...section(titles.annotations, spec.annotations),
  ].join('\n');
}

/** Those that wait for a person, by server. */
export function waitingPins(pins: ToolPin[]): Map<string, ToolPin[]> {
  const groups = new Map<string, ToolPin[]>();
  for (const pin of pins) {
    if (pin.state !== 'changed' && pin.state !== 'new') continue;
    const group = groups.get(pin.identity);
    if (group) group.push(pin);
    else groups.set(pin.identity, [pin]);
  }
  return groups;
}
