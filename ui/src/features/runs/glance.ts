// What a step of a run was about, without opening it: what was said, which tools were asked for, which file.

import type { StepView } from '../../protocol/wire';
import { aboutOf, oneLine } from '../../state/tools/about';

/** `code` is shown as such; `said` is somebody's words. */
export interface Glance {
  code: string;
  said: string;
}

export function glanceOf(step: StepView): Glance {
  if (step.kind === 'tool') return { code: [step.tool ?? '', aboutOf(object(step.input))].filter((part) => part !== '').join(' '), said: '' };
  const output = object(step.output);
  const said = oneLine(text(output?.['text']) || text(object(step.input)?.['text'])).replaceAll(/\*\*|`/gu, '');
  if (said !== '' || step.kind !== 'model') return { code: step.tool ?? '', said };
  const calls = Array.isArray(output?.['calls']) ? (output['calls'] as unknown[]) : [];
  // Models know tools by their server; people read the next row.
  const names = calls.map((call) => text(object(call)?.['name']).replace(/^mcp_/u, '')).filter((name) => name !== '');
  return { code: names.length > 0 ? `→ ${oneLine(names.join(', '))}` : '', said: '' };
}

function object(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
