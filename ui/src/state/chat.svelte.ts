// Chats on this page: the list, the sessions that are open with their events, what is being written, and
// the agents and models to choose from. Events are folded once per frame, so that a model that streams
// a thousand tokens a second costs sixty updates.

import type { ChatApi, SessionChange } from '../api/chat';
import type { EventFrame } from '../protocol';
import type { ChatEvent, WireAgentRef, WireModelRef } from '../protocol/chat';
import type { Attachment, SessionView } from '../protocol/wire';
import type { Picture, TextFile } from './chat/attachments';
import type { Outbox, Unsent } from './chat/outbox';
import { isRemoved, Sessions } from './chat/sessions.svelte';
import { Transcript } from './chat/transcript.svelte';
import { Resource } from './resource.svelte';

/** Open sessions kept in memory, with their events; the longest unused goes first. */
const MAX_OPEN = 8;
const HIDDEN_FLUSH_MS = 200;
const DRAFT_KEY = 'chatos.chat.draft.';

export interface ChatOptions {
  api: ChatApi;
  /** Follows a topic of the event stream. */
  follow: (topic: string, listener: (frame: EventFrame) => void) => () => void;
  /** Where messages are kept until the host has them. */
  outbox?: Outbox;
  /** A message could not be sent, or went on being written, because its chat is gone; it is in the draft of a new one
      now. */
  onLost?: (what: 'sent' | 'draft') => void;
  schedule?: (run: () => void) => void;
}

/** What a view on the page adds to the next message; gone with the view. */
export interface DraftNote {
  /** The view. */
  key: string;
  server: string;
  text: string;
  /** As files of a message, with and without its pictures. */
  files: (images: boolean) => Attachment[];
}

/** Views that may add something to one message. */
const MAX_NOTES = 6;
/** Pictures of one message (agents §7). */
const MAX_PICTURES = 4;

/** What a person is writing, per chat; the empty id is the chat that does not exist yet. */
export class Draft {
  text = $state('');
  pictures: Picture[] = $state.raw([]);
  texts: TextFile[] = $state.raw([]);
  notes: DraftNote[] = $state.raw([]);
  /** Files of the workspace that were chosen behind `@`; those whose name still stands in the text go along. */
  mentions: string[] = $state.raw([]);
  agentId: string | null = $state(null);
  modelId: string | null = $state(null);
  readonly #key: string;

  constructor(sessionId: string) {
    this.#key = DRAFT_KEY + sessionId;
    this.text = sessionStorage.getItem(this.#key) ?? '';
  }

  write(text: string): void {
    this.text = text;
    try {
      if (text === '') sessionStorage.removeItem(this.#key);
      else sessionStorage.setItem(this.#key, text);
    } catch {
      // No room for a text this long: it lives as long as the page.
      sessionStorage.removeItem(this.#key);
    }
  }

  clear(): void {
    this.write('');
    this.pictures = [];
    this.texts = [];
    this.mentions = [];
  }

  /** A view says something new, or takes back what it said. */
  note(key: string, note: DraftNote | null): void {
    const others = this.notes.filter((one) => one.key !== key);
    this.notes = note ? [...others, note].slice(-MAX_NOTES) : others;
  }

  /** What goes with the next message besides its pictures; said once. */
  takeNotes(vision: boolean): Attachment[] {
    const pictures = this.pictures.length;
    const files: Attachment[] = [];
    for (const note of this.notes) {
      const wanted = note.files(vision);
      const images = (all: Attachment[]) => all.filter(({ mime }) => mime?.startsWith('image/')).length;
      files.push(...(pictures + images(files) + images(wanted) > MAX_PICTURES ? note.files(false) : wanted));
    }
    this.notes = [];
    return files;
  }
}

interface Open {
  transcript: Transcript;
  leave: () => void;
}

export class Chat {
  readonly sessions: Sessions;
  readonly agents: Resource<{ items: WireAgentRef[] }>;
  readonly models: Resource<{ items: WireModelRef[] }>;
  readonly api: ChatApi;
  readonly #options: ChatOptions;
  readonly #open = new Map<string, Open>();
  readonly #drafts = new Map<string, Draft>();
  /** Chats a person deletes here, with what was being written in them. */
  readonly #removing = new Set<string>();
  #queue: { transcript: Transcript; event: ChatEvent }[] = [];
  #scheduled = false;

  constructor(options: ChatOptions) {
    this.#options = options;
    this.api = options.api;
    this.sessions = new Sessions(options.api);
    this.agents = new Resource(() => options.api.agents());
    this.models = new Resource(() => options.api.models());
  }

  /** The session with this id; the same object for everybody who looks at it. */
  transcript(id: string): Transcript {
    const known = this.#open.get(id);
    if (known) {
      this.#open.delete(id);
      this.#open.set(id, known);
      return known.transcript;
    }
    const transcript = new Transcript(id, {
      api: this.api,
      mark: () => this.sessions.mark(),
      onSession: (session, mark) => this.sessions.put(session, mark),
      onLost: (text) => this.#lost(text, 'sent'),
      ...(this.#options.outbox ? { outbox: this.#options.outbox } : {}),
    });
    const leave = this.#options.follow(`chat:${id}`, (frame) => this.#receive(transcript, frame));
    this.#open.set(id, { transcript, leave });
    if (this.#open.size > MAX_OPEN) this.#forget();
    return transcript;
  }

  /** Takes up what an earlier page could not send; what cannot be read stays where it is. */
  async restore(): Promise<void> {
    const byChat = new Map<string, Unsent[]>();
    for (const item of (await this.#options.outbox?.all()) ?? []) {
      const chat = byChat.get(item.sessionId);
      if (chat) chat.push(item);
      else byChat.set(item.sessionId, [item]);
    }
    await Promise.all([...byChat].map(([id, items]) => this.transcript(id).restore(items)));
  }

  /** The host is there again: what waits for it is sent. */
  flush(): void {
    for (const { transcript } of this.#open.values()) void transcript.flush();
  }

  draft(sessionId: string): Draft {
    const known = this.#drafts.get(sessionId) ?? new Draft(sessionId);
    this.#drafts.set(sessionId, known);
    return known;
  }

  /** Makes a session; it is in the list at once. */
  async create(input: SessionChange): Promise<SessionView> {
    const mark = this.sessions.mark();
    const session = await this.api.create(input);
    this.sessions.put(session, mark);
    return session;
  }

  async remove(id: string): Promise<void> {
    this.#removing.add(id);
    try {
      await this.sessions.remove(id);
      this.#gone(id);
      this.#drafts.get(id)?.clear();
      this.#drafts.delete(id);
    } finally {
      this.#removing.delete(id);
    }
  }

  /** The name of the agent of a session, as far as both are known here. */
  agentOf(sessionId: string | null): string | null {
    const agentId = sessionId === null ? null : this.sessions.get(sessionId)?.agentId;
    return this.agents.data?.items.find((agent) => agent.id === agentId)?.name ?? null;
  }

  /** The default model, or the only one there is to use. */
  get defaultModel(): WireModelRef | null {
    const items = this.models.data?.items ?? [];
    return items.find((model) => model.isDefault) ?? items[0] ?? null;
  }

  /** Which model answers in a chat: its own choice, its agent's, else the default. */
  modelOf(modelId: string | null | undefined, agentId: string | null | undefined): WireModelRef | null {
    const items = this.models.data?.items ?? [];
    const agent = this.agents.data?.items.find((known) => known.id === agentId);
    // A program of another maker has its own.
    if (agent?.acp) return null;
    const wanted = modelId ?? agent?.modelId ?? null;
    return items.find((model) => model.id === wanted) ?? this.defaultModel;
  }

  onEvent(frame: EventFrame): void {
    this.sessions.onEvent(frame);
    if (!isRemoved(frame)) return;
    const id = String((frame.data as { id?: unknown } | null)?.id);
    this.#gone(id);
    if (!this.#removing.has(id)) this.#rescue(id);
  }

  /** Agents and models to choose from were changed somewhere. */
  onAdmin(frame: EventFrame): void {
    if (frame.type === 'agents_changed') void this.agents.refresh();
    if (frame.type === 'models_changed') void this.models.refresh();
  }

  /** Everything read before may be out of date. */
  resync(): void {
    // What was told before is older than what is read now.
    this.#flush();
    this.sessions.resync();
    void this.agents.refresh();
    void this.models.refresh();
    for (const { transcript } of this.#open.values()) transcript.resync();
  }

  clear(): void {
    for (const id of [...this.#open.keys()]) this.#close(id);
    this.#queue = [];
    this.#drafts.clear();
    this.sessions.clear();
    this.agents.clear();
    this.models.clear();
  }

  #lost(text: string, what: 'sent' | 'draft'): void {
    const draft = this.draft('');
    draft.write(draft.text.trim() === '' ? text : `${draft.text}\n\n${text}`);
    this.#options.onLost?.(what);
  }

  /** What was being written in a chat that somebody deleted elsewhere. */
  #rescue(id: string): void {
    const left = this.draft(id);
    if (left.text.trim() !== '') {
      const kept = this.draft('');
      kept.pictures = [...kept.pictures, ...left.pictures].slice(0, MAX_PICTURES);
      kept.texts = [...kept.texts, ...left.texts];
      this.#lost(left.text, 'draft');
    }
    left.clear();
    this.#drafts.delete(id);
  }

  #receive(transcript: Transcript, frame: EventFrame): void {
    const data = frame.data as ChatEvent | null;
    if (!data || typeof data !== 'object') return;
    this.#queue.push({ transcript, event: { ...data, type: frame.type, seq: frame.seq } });
    if (this.#scheduled) return;
    this.#scheduled = true;
    (this.#options.schedule ?? nextFrame)(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const batches = new Map<Transcript, ChatEvent[]>();
    for (const { transcript, event } of this.#queue) {
      const batch = batches.get(transcript);
      if (batch) batch.push(event);
      else batches.set(transcript, [event]);
    }
    this.#queue = [];
    for (const [transcript, events] of batches) transcript.apply(events);
  }

  #forget(): void {
    const idle = [...this.#open].find(([, open]) => !open.transcript.active && open.transcript.outgoing.length === 0);
    const victim = idle ?? [...this.#open][0];
    if (victim) this.#close(victim[0]);
  }

  #gone(id: string): void {
    const open = this.#open.get(id);
    this.#close(id);
    open?.transcript.gone();
  }

  #close(id: string): void {
    const open = this.#open.get(id);
    open?.leave();
    open?.transcript.close();
    this.#open.delete(id);
  }
}

/** An answer that streams is drawn so often at most: more is not seen, and each time costs a layout, a picture and its
    way to the screen. */
const EVERY_MS = 50;
let drawnAt = -EVERY_MS;

/** With a frame; a page that is hidden draws none, so time counts as well. */
function nextFrame(run: () => void): void {
  let ran = false;
  const once = () => {
    if (ran) return;
    ran = true;
    drawnAt = performance.now();
    run();
  };
  const wait = EVERY_MS - (performance.now() - drawnAt);
  const frame = () => {
    if (document.visibilityState === 'visible') requestAnimationFrame(once);
  };
  if (wait > 0) setTimeout(frame, wait);
  else frame();
  setTimeout(once, HIDDEN_FLUSH_MS);
}
