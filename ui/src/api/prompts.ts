// The prompt routes as functions (ui-prompts §12.2).

import type { WireObject } from '../protocol';
import type { AgentExplanation, AnsweredTogether, BulkAction, BulkOrder, BulkPreview, BulkSelect, PromptsTogether, PromptList, PromptRecorded, PromptView, PromptsArchived, RuleBacktest, RuleKept, RuleList, RuleProposals, RuleUses, RulesTried, TryRules } from '../protocol/wire';
import type { Http, Query } from './http';

export type PromptsShown = 'needs_you' | 'snoozed' | 'results' | 'history' | 'all';

export interface PromptQuery {
  view: PromptsShown;
  runId?: string;
  source?: string;
  kind?: string;
  status?: string;
  q?: string;
  since?: string;
  until?: string;
  auto?: boolean;
  cursor?: string | null;
  limit?: number;
}

/** Where a rule holds. */
export type RuleScope = 'run' | 'chat' | 'project';

/** The rule that is to be made with an answer. */
export interface WantedRule {
  scope: RuleScope;
  /** The person saw which earlier answers it differs from. */
  alsoDifferent?: boolean;
  /** For a tool of another server: whatever its arguments are. */
  anyArguments?: boolean;
}

const BASE = '/api/v1/prompts';
const RULES = '/api/v1/rules';
const CLIENT_KEY = 'chatos.client';

export class PromptsApi {
  constructor(private readonly http: Http) {}

  list(query: PromptQuery, signal?: AbortSignal): Promise<PromptList> {
    return this.http.get(BASE, { query: { ...query }, ...(signal ? { signal } : {}) });
  }

  get(id: string): Promise<PromptView> {
    return this.http.get(...at(id));
  }

  /** `rule`: keeps, once the answer is recorded, the rule that would have given it. */
  respond(id: string, response: WireObject, shown: string | null, rule: WantedRule | null = null): Promise<PromptRecorded> {
    const [path, options] = at(id, '/response');
    return this.http.post(path, { response, ...(shown === null ? {} : { shown }), ...(rule === null ? {} : { rule }) }, options);
  }

  /** Without a moment it is back at once. */
  snooze(id: string, until: Date | null): Promise<PromptView> {
    const [path, options] = at(id, '/snooze');
    return this.http.post(path, { until: until?.toISOString() ?? null }, options);
  }

  /** Lines of the text a question is about; what was given here may be approved here. */
  text(id: string, from: number, lines: number): Promise<{ lines: number; total: number; text: string }> {
    return this.http.get(...at(id, '/diff', { from, lines }));
  }

  draft(id: string): Promise<{ draft: WireObject | null }> {
    return this.http.get(...at(id, '/draft', { client: clientId() }));
  }

  /** `leaving`: the page is going away, and the call must outlive it. */
  putDraft(id: string, draft: WireObject, leaving: boolean): Promise<void> {
    const [path, options] = at(id, '/draft', { client: clientId() });
    return this.http.put(path, { draft }, { ...options, keepalive: leaving });
  }

  deleteDraft(id: string): Promise<void> {
    return this.http.delete(...at(id, '/draft', { client: clientId() }));
  }

  /** The narrowest rule that would have answered a question; nothing is kept. */
  ruleOf(id: string, wanted: WantedRule): Promise<RuleKept> {
    const [path, options] = at(id, '/rule');
    return this.http.post(path, wanted, options);
  }

  /** The open questions that are asked with this one. */
  together(id: string): Promise<PromptsTogether> {
    return this.http.get(...at(id, '/together'));
  }

  /** Approves some of them and rejects the others; `stop` rejects all, and the run that asks ends. */
  answerTogether(id: string, shown: string, accepted: string[], remark: string, stop: boolean): Promise<AnsweredTogether> {
    const [path, options] = at(id, '/together');
    return this.http.post(path, { shown, accepted, ...(remark.trim() === '' ? {} : { remark }), ...(stop ? { stop } : {}) }, options);
  }

  /** What one decision about these would answer, with the digest over all of it. */
  bulkPreview(select: BulkSelect, action: BulkAction): Promise<BulkPreview> {
    return this.http.post(`${BASE}/bulk/preview`, { select, action }, { timeoutMs: 120_000 });
  }

  /** That decision, if they still are what was shown. */
  bulk(order: BulkOrder): Promise<AnsweredTogether> {
    return this.http.post(`${BASE}/bulk`, order, { timeoutMs: 600_000 });
  }

  /** What rules answered of late. */
  ruleUses(): Promise<RuleUses> {
    return this.http.get(`${RULES}/uses`);
  }

  rules(): Promise<RuleList> {
    return this.http.get(RULES);
  }

  addRule(rule: WireObject): Promise<RuleKept> {
    return this.http.post(RULES, { rule });
  }

  /** How a rule compares with earlier answers. */
  backtest(rule: WireObject): Promise<RuleBacktest> {
    return this.http.post(`${RULES}/backtest`, { rule });
  }

  /** Rules that earlier answers suggest. */
  proposals(): Promise<RuleProposals> {
    return this.http.get(`${RULES}/proposals`);
  }

  tryRules(call: Partial<TryRules> & { project: string }): Promise<RulesTried> {
    return this.http.post(`${RULES}/decide`, call);
  }

  /** Why an agent may use a tool, or not. */
  explain(agentId: string, tool: string, sub: boolean): Promise<AgentExplanation> {
    return this.http.get(`/api/v1/agents/${encodeURIComponent(agentId)}/explain`, { query: { tool, role: sub ? 'sub' : 'main' } });
  }

  pauseRule(id: string, paused: boolean, alsoDifferent: boolean): Promise<RuleKept> {
    return this.http.patch(`${RULES}/${encodeURIComponent(id)}`, { paused, ...(alsoDifferent ? { alsoDifferent } : {}) });
  }

  removeRule(id: string): Promise<void> {
    return this.http.delete(`${RULES}/${encodeURIComponent(id)}`);
  }

  archive(before: string): Promise<PromptsArchived> {
    return this.http.post(`${BASE}/archive`, { before }, { timeoutMs: 600_000 });
  }
}

/** Browsers fold `.` and `..` out of a path even when escaped, so such an id travels in the query. */
function at(id: string, rest = '', query: Query = {}): [string, { query: Query }] {
  if (id === '.' || id === '..') return [`${BASE}/_${rest}`, { query: { ...query, id } }];
  return [`${BASE}/${encodeURIComponent(id)}${rest}`, { query }];
}

/** Drafts are kept per browser; this names the browser and nothing else. */
function clientId(): string {
  const known = localStorage.getItem(CLIENT_KEY);
  if (known) return known;
  const made = crypto.randomUUID();
  localStorage.setItem(CLIENT_KEY, made);
  return made;
}
