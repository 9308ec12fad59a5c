// How states of runs and steps look.

import type { IconName } from '../../components/Icon.svelte';
import type { RunView } from '../../protocol/wire';
import { programName } from '../../state/prompts/item';

export type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger';

export function toneOfRun(state: string): Tone {
  if (state === 'done') return 'success';
  if (state === 'failed') return 'danger';
  if (state === 'interrupted' || state === 'waiting_prompt') return 'warning';
  return state === 'running' || state === 'queued' || state === 'waiting_async' ? 'accent' : 'neutral';
}

export function toneOfStep(status: string | null | undefined): Tone {
  switch (status) {
    case undefined:
    case null:
    case '':
      return 'neutral';
    case 'ok':
    case 'noop':
    case 'done':
      return 'success';
    case 'partial':
    case 'canceled':
    case 'needs_input':
    case 'uncertain':
    case 'skipped':
      return 'warning';
    case 'running':
    case 'pending':
    case 'sent':
    case 'open':
      return 'accent';
    default:
      return 'danger';
  }
}

const ICONS: Record<string, IconName> = { model: 'chat', tool: 'plug', prompt: 'queue', sub: 'agents', compact: 'compact', resume: 'refresh', run: 'runs', correction: 'undo' };

export function iconOfKind(kind: string): IconName {
  return ICONS[kind] ?? 'info';
}

/** How long a run took, or has taken so far; null before it began. */
export function durationOf(run: RunView): number | null {
  if (!run.startedAt) return null;
  const end = run.finishedAt ? Date.parse(run.finishedAt) : Date.now();
  return run.finishedAt || run.state === 'running' ? end - Date.parse(run.startedAt) : null;
}

/** What a run was about. Of another program's work: the program as people call it, and its project. */
export function taskOf(run: RunView): string {
  if (run.kind !== 'client') return run.task;
  const [name = '', ...project] = run.task.split(' · ');
  const [, said = name, number = '1'] = /^(.*?)(?: (\d+))?$/u.exec(name) ?? [];
  return [programName({ name: said, number: Number(number) }), ...project].join(' · ');
}
