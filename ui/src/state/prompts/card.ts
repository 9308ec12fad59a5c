// The card of a question: what the host knows of it by itself (inbox §2). Written by the host, but kept in a file and
// a database for years: a part of the wrong type counts as absent.

import type { CardReason, CardRisk, CardVerb, PromptCard } from '../../protocol/wire';

export const VERBS = [
  'run_command',
  'send_input',
  'create_file',
  'edit_file',
  'delete_file',
  'move_file',
  'change_files',
  'use_tool',
  'add_tasks',
  'ask_model',
  'open_page',
  'go_over_budget',
  'uncertain',
  'use_folder',
  'answer',
] as const satisfies CardVerb[];
export const RISKS = ['low', 'medium', 'high'] as const satisfies CardRisk[];
export const REASONS = ['finding', 'no_sandbox', 'network', 'protected_file', 'many_deleted', 'unknown', 'imitation', 'wide'] as const satisfies CardReason[];

export type Verb = CardVerb;
export type Risk = CardRisk;
export type Reason = CardReason;

export interface Card {
  verb: Verb;
  object: string;
  to: string;
  count: number;
  risk: Risk;
  reasons: Reason[];
  agent: string | null;
  subAgent: string | null;
  server: string | null;
  tool: string | null;
  client: string | null;
  project: { name: string; root: string } | null;
  session: { id: string; title: string } | null;
  app: string | null;
  profile: string | null;
  sandbox: { level: string; network: boolean } | null;
  /** How many questions of one answer are asked together; each is one of them. */
  group: { of: number } | null;
  /** The asker takes another command, or other arguments, from the person. */
  editable: boolean;
  /** Who asks can be ended with a no. */
  stops: boolean;
}

/** Where a rule could answer questions like this one from now on; the host has the last word. */
export function ruleScopes(card: Card | null, runId: string | null): { near: 'chat' | 'run' | null; project: boolean } {
  const shapes: Verb[] = ['run_command', 'create_file', 'edit_file', 'delete_file', 'use_tool'];
  if (!card || card.risk === 'high' || card.app !== null || !card.project || !shapes.includes(card.verb)) return { near: null, project: false };
  return { near: card.session ? 'chat' : runId === null ? null : 'run', project: true };
}

export function readCard(value: unknown): Card | null {
  if (typeof value !== 'object' || value === null) return null;
  const card = value as Partial<PromptCard>;
  const verb = VERBS.find((known) => known === card.verb);
  const risk = RISKS.find((known) => known === card.risk);
  if (verb === undefined || risk === undefined) return null;
  const reasons = Array.isArray(card.reasons) ? (card.reasons as unknown[]) : [];
  const project = part(card.project);
  const session = part(card.session);
  const sandbox = part(card.sandbox);
  const of = part(card.group)?.['of'];
  return {
    verb,
    object: text(card.object) ?? '',
    to: text(card.to) ?? '',
    count: typeof card.count === 'number' ? card.count : 1,
    risk,
    reasons: REASONS.filter((known) => reasons.includes(known)),
    agent: text(card.agent),
    subAgent: text(card.subAgent),
    server: text(card.server),
    tool: text(card.tool),
    client: text(card.client),
    project: project && { name: text(project['name']) ?? '', root: text(project['root']) ?? '' },
    session: session && { id: text(session['id']) ?? '', title: text(session['title']) ?? '' },
    app: text(card.app),
    profile: text(card.profile),
    editable: card.editable === true,
    stops: card.stops === true,
    group: typeof of === 'number' && of > 1 ? { of } : null,
    sandbox: sandbox && { level: text(sandbox['level']) ?? 'none', network: sandbox['network'] !== false },
  };
}

function part(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
