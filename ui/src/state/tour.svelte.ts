// The first minute: what a newcomer can try without a key, and what of it was done. It is never in the way, and this
// browser remembers it.

import type { ChatApi } from '../api/chat';
import type { ToolsApi } from '../api/tools';
import type { Http } from '../api/http';
import type { SessionView } from '../protocol/wire';
import type { Chat } from './chat.svelte';

export const STEPS = ['file', 'app', 'question', 'model', 'chat'] as const;
export type Step = (typeof STEPS)[number];

/** What is tried needs no person's own agent, folder or model. */
const [DEMO, DEVELOPER] = ['model_demo', 'lc_developer'];
const STORAGE_KEY = 'chatos.tour';
/** What the first view can be drawn without is asked for when it is there. */
const AFTER_FIRST_VIEW_MS = 1_000;

/** A model that answers on this computer. */
export interface Found {
  provider: string;
  baseUrl: string;
  model: string;
  name: string;
  added?: boolean;
}

/** A coding agent of another maker that is on this computer. */
export interface Program {
  id: string;
  title: string;
  command: string;
  state: string;
  agentId?: string | null;
}

interface Kept {
  done: Step[];
  hidden: boolean;
  /** The chat in which a file is changed. */
  chatId: string | null;
}

export interface TourOptions {
  chat: Chat;
  api: ChatApi;
  tools: ToolsApi;
  http: Http;
}

export class Tour {
  #kept: Kept = $state.raw(read());
  /** Models that were found on this computer; null while nobody has looked. */
  found: Found[] | null = $state.raw(null);
  /** Agents that can be added here; null where there never was one. */
  programs: Program[] | null = $state.raw(null);
  readonly #options: TourOptions;

  constructor(options: TourOptions) {
    this.#options = options;
  }

  get hidden(): boolean {
    return this.#kept.hidden;
  }

  /** A step that was taken, here or by the way. */
  has(step: Step): boolean {
    if (step === 'model' && this.#real()) return true;
    return this.#kept.done.includes(step);
  }

  get count(): number {
    return STEPS.filter((step) => this.has(step)).length;
  }

  /** Whether somebody is still to be shown around: nobody who has come with a model of their own and used it. */
  get wanted(): boolean {
    return !this.hidden && this.count < STEPS.length;
  }

  hide(): void {
    this.#keep({ hidden: true });
  }

  show(): void {
    this.#keep({ hidden: false });
  }

  mark(step: Step): void {
    if (!this.#kept.done.includes(step)) this.#keep({ done: [...this.#kept.done, step] });
  }

  /** A question of a chat was answered. */
  answered(sessionId: string): void {
    if (sessionId === this.#kept.chatId) this.mark('file');
  }

  /** A message was sent to a model. */
  sent(provider: string | undefined): void {
    if (provider !== undefined && provider !== 'demo') this.mark('chat');
  }

  /** A chat in which the demo model wants to write a file, in a folder where there is nothing else. */
  async tryFile(agentName: string, title: string): Promise<SessionView> {
    const { api, chat } = this.#options;
    const [{ path }, { items }] = await Promise.all([api.scratch(), api.agents()]);
    const known = items.find((agent) => agent.name === agentName);
    const agent = known ?? (await api.addAgent({ name: agentName, landConfigId: DEVELOPER, modelId: DEMO, workspaceRoot: path }));
    if (!known) void chat.agents.refresh();
    const made = await chat.create({ agentId: agent.id, modelId: DEMO, workspaceRoot: path, title });
    this.#keep({ chatId: made.id });
    return made;
  }

  /** A program asks a question; resolves with what it was told, null when nobody answered. */
  async ask(question: Record<string, unknown>): Promise<string | null> {
    const result = await this.#options.tools.call('ui_prompter', 'prompt_choices', { arguments: question as never, callId: crypto.randomUUID(), session: 'tour' });
    const told = (result.structuredContent as { data?: { selection?: unknown } } | null | undefined)?.data?.selection;
    const text = Array.isArray(told) ? told.join(', ') : typeof told === 'string' ? told : null;
    if (text !== null) this.mark('question');
    return text;
  }

  /** Looks once for models that answer on this computer, and for agents of other makers. */
  async look(): Promise<void> {
    if (this.found !== null) return;
    this.found = [];
    setTimeout(() => void this.#lookForPrograms(), AFTER_FIRST_VIEW_MS);
    try {
      const { found } = await this.#options.http.post<{ found: Found[] }>('/api/v1/models/detect', {});
      this.found = found.filter((one) => one.added !== true);
    } catch {
      // An extra: the page of models looks again and says why it cannot.
    }
  }

  /** Adds a model that was found. */
  async add({ provider, baseUrl, model, name }: Found): Promise<void> {
    await this.#options.http.post('/api/v1/models', { provider, baseUrl, model, name: name || model, isDefault: true });
    await this.#options.chat.models.refresh();
    this.found = (this.found ?? []).filter((one) => one.baseUrl !== baseUrl || one.model !== model);
  }

  /** Adds a program that was found as an agent; the person has agreed to it. */
  async addProgram({ id }: Program, workspaceRoot: string): Promise<{ id: string; name: string }> {
    const made = await this.#options.http.post<{ id: string; name: string }>('/api/v1/acp/agents', { knownId: id, workspaceRoot, confirmed: true });
    await this.#options.chat.agents.load();
    this.programs = (this.programs ?? []).filter((one) => one.id !== id);
    return made;
  }

  async #lookForPrograms(): Promise<void> {
    try {
      const { items } = await this.#options.http.get<{ items: Program[] }>('/api/v1/acp/detect');
      const usable = items.filter((one) => one.state === 'ready' && !one.agentId);
      if (usable.length > 0) this.programs = usable;
    } catch {
      // An extra as well: the page of agents looks again.
    }
  }

  /** A model of their own. */
  #real(): boolean {
    return (this.#options.chat.models.data?.items ?? []).some((model) => model.provider !== 'demo');
  }

  #keep(change: Partial<Kept>): void {
    this.#kept = { ...this.#kept, ...change };
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify(this.#kept));
    } catch {
      // A browser that keeps nothing shows it again next time.
    }
  }
}

function read(): Kept {
  const none: Kept = { done: [], hidden: false, chatId: null };
  try {
    const kept = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? 'null') as Partial<Kept> | null;
    if (!kept) return none;
    return { done: STEPS.filter((step) => kept.done?.includes(step)), hidden: kept.hidden === true, chatId: typeof kept.chatId === 'string' ? kept.chatId : null };
  } catch {
    // Not ours, or nothing is kept.
    return none;
  }
}
