// What the person wants to see of the questions that wait (inbox §3.2): which of them, in which groups and order. Pure,
// over the questions the page has read; the facts are those the host gives, and what it does not know is left out.

import type { Risk } from './card';
import { RISKS } from './card';
import { type PromptItem, programName } from './item';

export const SORTS = ['command', 'file', 'tool', 'form', 'choice', 'tasks', 'page', 'problem'] as const;
/** What a question is about, as people tell them apart. */
export type Sort = (typeof SORTS)[number];

export const FACETS = ['kind', 'from', 'project', 'risk'] as const;
export type Facet = (typeof FACETS)[number];
export const GROUPS = ['from', 'project', 'chat', 'kind'] as const;
export type Group = (typeof GROUPS)[number];
export const ORDERS = ['oldest', 'newest', 'risk'] as const;
export type Order = (typeof ORDERS)[number];

/** As it stands in the address; an empty facet holds nothing back. */
export interface InboxView extends Record<Facet, string> {
  q: string;
  group: Group | '';
  order: Order;
}

export const WHOLE: InboxView = { q: '', kind: '', from: '', project: '', risk: '', group: '', order: 'oldest' };

/** Reads the query of an address; what it does not know counts as absent. */
export function viewOf(query: Record<string, string>): InboxView {
  return {
    q: query['q'] ?? '',
    kind: SORTS.find((known) => known === query['kind']) ?? '',
    from: query['from'] ?? '',
    project: query['project'] ?? '',
    risk: RISKS.find((known) => known === query['risk']) ?? '',
    group: GROUPS.find((known) => known === query['group']) ?? '',
    order: ORDERS.find((known) => known === query['order']) ?? 'oldest',
  };
}

/** The query that `viewOf` reads back; what is as always is left out. */
export function queryOf(view: InboxView): Record<string, string> {
  return Object.fromEntries(Object.entries(view).filter(([key, value]) => value !== WHOLE[key as keyof InboxView]));
}

/** Whether questions may be held back. */
export function isNarrowed(view: InboxView): boolean {
  return view.q.trim() !== '' || FACETS.some((facet) => view[facet] !== '');
}

/** Whether the list is more than the host's own: then all of it has to be read first. */
export function isArranged(view: InboxView): boolean {
  return view.group !== '' || view.order !== 'oldest' || FACETS.some((facet) => view[facet] !== '');
}

/** A value that questions are told apart by: `key` in the address, `label` for people, `title` says more. */
export interface Fact {
  key: string;
  label: string;
  title?: string;
}

export interface Facts {
  kind: Sort;
  from: Fact;
  project: Fact | null;
  chat: Fact | null;
  risk: Risk | null;
}

export interface FactWords {
  /** Whoever asks without a name. */
  nobody: string;
  /** The agent of a chat that is not known. */
  assistant: string;
  chat: string;
  kinds: Record<Sort, string>;
  agentOf: (sessionId: string | null) => string | null;
  titleOf: (sessionId: string) => string | null;
}

export function factsOf(item: PromptItem, words: FactWords): Facts {
  const { card, client } = item;
  const root = card?.project?.root ?? client?.root ?? '';
  const name = card?.project?.name ?? client?.project ?? '';
  const session = card?.session?.id ?? item.sessionId ?? '';
  return {
    kind: sortOf(item),
    from: askerOf(item, words),
    project: root === '' ? null : { key: root, label: name === '' ? root : name, title: root },
    chat: session === '' ? null : { key: session, label: (card?.session?.title ?? '') || words.titleOf(session) || words.chat },
    risk: card?.risk ?? null,
  };
}

export function sortOf(item: PromptItem): Sort {
  if (item.problem || item.kind === null) return 'problem';
  switch (item.card?.verb) {
    case 'run_command':
    case 'send_input':
      return 'command';
    case 'create_file':
    case 'edit_file':
    case 'delete_file':
    case 'move_file':
    case 'change_files':
      return 'file';
    case 'use_tool':
      return 'tool';
    case 'open_page':
      return 'page';
  }
  switch (item.kind) {
    case 'task_confirm':
      return 'tasks';
    case 'file_change_confirm':
      return item.body.kind === 'file_change_confirm' && item.body.command !== '' ? 'command' : 'file';
    case 'choice':
      return item.body.kind === 'choice' && item.body.url !== null ? 'page' : 'choice';
    default:
      return 'form';
  }
}

/** Who asks: an app, another program, or an agent. The key says which, so that equal names stay apart. */
function askerOf({ card, client, source, served, sessionId }: PromptItem, words: FactWords): Fact {
  const fact = (of: 'app' | 'program' | 'agent', label: string) => ({ key: `${of}:${label}`, label });
  if (client) return fact('program', programName(client));
  if (card?.app) return fact('app', card.app);
  if (card?.agent) return fact('agent', card.agent);
  if (card?.client) return fact('program', card.client);
  if (served && source?.startsWith('ui_prompter/')) return fact('agent', words.agentOf(sessionId) ?? words.assistant);
  return fact('program', source ?? words.nobody);
}

const keyOf = (facts: Facts, facet: Facet | Group): string => {
  const value = facts[facet];
  return typeof value === 'string' ? value : (value?.key ?? '');
};

export interface Counted extends Fact {
  count: number;
}

/** The values of each facet with how many questions there would be, if that value were chosen and the other facets
    stayed. A chosen value stands here even when it fits nothing. */
export function facetsOf(items: readonly PromptItem[], view: InboxView, words: FactWords): Record<Facet, Counted[]> {
  const found: Record<Facet, Map<string, Counted>> = { kind: new Map(), from: new Map(), project: new Map(), risk: new Map() };
  for (const item of items) {
    const facts = factsOf(item, words);
    const missed = FACETS.filter((facet) => view[facet] !== '' && keyOf(facts, facet) !== view[facet]);
    for (const facet of FACETS) {
      const key = keyOf(facts, facet);
      if (key === '') continue;
      const value = facts[facet];
      const known = found[facet].get(key) ?? { ...(typeof value === 'object' && value ? value : { key, label: key }), count: 0 };
      if (missed.length === 0 || (missed.length === 1 && missed[0] === facet)) known.count += 1;
      found[facet].set(key, known);
    }
  }
  for (const facet of FACETS) {
    const key = view[facet];
    if (key !== '' && !found[facet].has(key)) found[facet].set(key, { key, label: bare(facet, key), count: 0 });
  }
  const listed = (facet: Facet) => [...found[facet].values()].filter((value) => value.count > 0 || value.key === view[facet]);
  const fixed = (order: readonly string[]) => (a: Counted, b: Counted) => order.indexOf(a.key) - order.indexOf(b.key);
  const many = (a: Counted, b: Counted) => b.count - a.count || a.label.localeCompare(b.label);
  return {
    kind: listed('kind').sort(fixed(SORTS)),
    from: listed('from').sort(many),
    project: listed('project').sort(many),
    risk: listed('risk').sort(fixed([...RISKS].reverse())),
  };
}

/** What a key without a question is called: the end of a path, the name behind `agent:`. */
export function bare(facet: Facet, key: string): string {
  if (facet === 'from') return key.slice(key.indexOf(':') + 1);
  return facet === 'project' ? key.replace(/\/+$/, '').split('/').at(-1) || key : key;
}

export interface Arranged {
  /** All that fit, in order; those of folded groups as well. */
  fitting: PromptItem[];
  /** By group, in order; without grouping one with an empty key. */
  groups: { key: string; label: string; title: string; items: PromptItem[] }[];
}

/** Sifts, orders and groups. Groups stand in the order of their first question, those that belong nowhere last. */
export function arrange(items: readonly PromptItem[], view: InboxView, words: FactWords): Arranged {
  const sifted: { item: PromptItem; facts: Facts }[] = [];
  for (const item of items) {
    const facts = factsOf(item, words);
    if (FACETS.every((facet) => view[facet] === '' || keyOf(facts, facet) === view[facet])) sifted.push({ item, facts });
  }
  if (view.order === 'newest') sifted.reverse();
  // Sorting is stable: of equal risk the one that waits longest comes first.
  if (view.order === 'risk') sifted.sort((a, b) => weight(b.facts.risk) - weight(a.facts.risk));
  const { group } = view;
  if (group === '') {
    const fitting = sifted.map(({ item }) => item);
    return { fitting, groups: [{ key: '', label: '', title: '', items: fitting }] };
  }
  const groups = new Map<string, Arranged['groups'][number]>();
  for (const { item, facts } of sifted) {
    const key = keyOf(facts, group);
    const value = facts[group];
    const label = group === 'kind' ? words.kinds[facts.kind] : typeof value === 'object' ? (value?.label ?? '') : '';
    const into = groups.get(key) ?? { key, label, title: typeof value === 'object' ? (value?.title ?? '') : '', items: [] };
    into.items.push(item);
    groups.set(key, into);
  }
  const ordered = [...groups.values()].filter(({ key }) => key !== '');
  const rest = groups.get('');
  if (rest) ordered.push(rest);
  return { fitting: ordered.flatMap((one) => one.items), groups: ordered };
}

function weight(risk: Risk | null): number {
  return risk === null ? -1 : RISKS.indexOf(risk);
}
