// The routes of sessions, runs and traces as functions.

import type { WireAgentRef, WireModelRef } from '../protocol/chat';
import type { AcpChosen, AcpSession, ChatFile, CommandList, CompleteOrder, Completions, Filled, FillOrder, InstructionsView, MentionedFiles, MentionList, MentionOrder, MessagePage, RunView, SearchHit, SendOrder, Sent, SessionView, TraceView, VersionDeleted } from '../protocol/wire';
import type { Http } from './http';

const V1 = '/api/v1';
/** Pictures go up with the message; a slow machine needs its time for them. */
const SEND_TIMEOUT_MS = 120_000;

export interface SessionPage {
  items: SessionView[];
  nextCursor?: string | null;
}

export interface SessionChange {
  title?: string;
  pinned?: boolean;
  archived?: boolean;
  agentId?: string | null;
  modelId?: string | null;
  workspaceRoot?: string | null;
}

export interface RunQuery {
  sessionId?: string;
  state?: string;
  kind?: string;
  limit?: number;
  cursor?: string | null;
}

export class ChatApi {
  constructor(private readonly http: Http) {}

  sessions(query: { archived: boolean; limit: number; cursor?: string | null }, signal?: AbortSignal): Promise<SessionPage> {
    return this.http.get(`${V1}/sessions`, { query, ...(signal ? { signal } : {}) });
  }

  search(q: string, signal?: AbortSignal): Promise<{ items: SearchHit[] }> {
    return this.http.get(`${V1}/sessions/search`, { query: { q }, ...(signal ? { signal } : {}) });
  }

  session(id: string): Promise<SessionView> {
    return this.http.get(at(id));
  }

  create(input: SessionChange): Promise<SessionView> {
    return this.http.post(`${V1}/sessions`, input);
  }

  change(id: string, change: SessionChange): Promise<SessionView> {
    return this.http.patch(at(id), change);
  }

  remove(id: string): Promise<void> {
    return this.http.delete(at(id));
  }

  messages(id: string, query: { limit: number; beforeId?: string | null }): Promise<MessagePage> {
    return this.http.get(`${at(id)}/messages`, { query });
  }

  /** The chat as a file, made by the host without secrets. */
  exported(id: string, query: { format: 'md' | 'html' | 'json'; tools: 'none' | 'full' }): Promise<ChatFile> {
    return this.http.get(`${at(id)}/export`, { query });
  }

  /** The newest runs of a chat, those of its subagents among them. */
  lastRuns(id: string): Promise<{ items: RunView[] }> {
    return this.http.get(`${V1}/runs`, { query: { sessionId: id, kind: 'chat', limit: 10 } });
  }

  run(id: string): Promise<RunView> {
    return this.http.get(runAt(id));
  }

  send(id: string, input: SendOrder): Promise<Sent> {
    return this.http.post(`${at(id)}/send`, input, { timeoutMs: SEND_TIMEOUT_MS });
  }

  /** The folder for trying things out; made by the first who asks. */
  scratch(): Promise<{ path: string }> {
    return this.http.post(`${V1}/scratch`, {});
  }

  addAgent(agent: { name: string; landConfigId: string; modelId: string; workspaceRoot: string }): Promise<WireAgentRef> {
    return this.http.post(`${V1}/agents`, agent);
  }

  /** Takes back a message that waits for its turn: its run never begins, and the message goes with it. */
  takeBack(runId: string): Promise<unknown> {
    return this.http.post(`${runAt(runId)}/abort`, {});
  }

  abort(id: string): Promise<unknown> {
    return this.http.post(`${at(id)}/abort`, {});
  }

  retry(id: string): Promise<Sent> {
    return this.http.post(`${at(id)}/retry`, {});
  }

  /** Shows another version of a message, with what followed it. */
  select(id: string, message: string): Promise<unknown> {
    return this.http.post(`${messageAt(id, message)}/select`, {});
  }

  /** A new chat that begins as this one does, up to a message. */
  fork(id: string, message: string): Promise<SessionView> {
    return this.http.post(`${messageAt(id, message)}/fork`, {});
  }

  /** Deletes a version of a message with all that hangs on it; a dry run says how much that is. */
  deleteMessage(id: string, message: string, dryRun: boolean): Promise<VersionDeleted> {
    return this.http.delete(messageAt(id, message), { query: { dryRun } });
  }

  /** A chat from a file that was exported; it is only read. */
  importChat(text: string): Promise<SessionView> {
    return this.http.post(`${V1}/sessions/import`, { text }, { timeoutMs: SEND_TIMEOUT_MS });
  }

  compact(id: string, instructions = ''): Promise<{ made?: boolean }> {
    return this.http.post(`${at(id)}/compact`, { instructions }, { timeoutMs: SEND_TIMEOUT_MS });
  }

  /** What a chat has of an agent that is another program. */
  otherAgent(session: string): Promise<AcpSession> {
    return this.http.get(`${V1}/acp/sessions/${encodeURIComponent(session)}`);
  }

  chooseOther(session: string, chosen: AcpChosen): Promise<AcpSession> {
    return this.http.post(`${V1}/acp/sessions/${encodeURIComponent(session)}`, chosen, { timeoutMs: SEND_TIMEOUT_MS });
  }

  /** Texts of the chat's project that go with its messages. */
  instructions(session: string): Promise<InstructionsView> {
    return this.http.get(`${V1}/instructions`, { query: { session } });
  }

  /** Whether they do. */
  useInstructions(session: string, consent: 'use' | 'skip'): Promise<InstructionsView> {
    return this.http.put(`${V1}/instructions`, { session, consent });
  }

  /** What can be typed behind `/`; without patience no server is asked. */
  commands(query: { session?: string; agent?: string; waitMs: number }): Promise<CommandList> {
    return this.http.get(`${V1}/commands`, { query });
  }

  /** The text a typed command becomes; nothing is sent. */
  fill(input: FillOrder): Promise<Filled> {
    return this.http.post(`${V1}/commands/fill`, input, { timeoutMs: SEND_TIMEOUT_MS });
  }

  complete(input: CompleteOrder, signal: AbortSignal): Promise<Completions> {
    return this.http.post(`${V1}/commands/complete`, input, { signal });
  }

  /** Files and resources whose path has these letters in their order; without patience no server is asked. */
  mentions(query: { session?: string; agent?: string; q: string; waitMs: number }, signal: AbortSignal): Promise<MentionList> {
    return this.http.get(`${V1}/mentions`, { query, signal });
  }

  readMentions(input: MentionOrder): Promise<MentionedFiles> {
    return this.http.post(`${V1}/mentions/read`, input, { timeoutMs: SEND_TIMEOUT_MS });
  }

  blob(url: string): Promise<Blob> {
    return this.http.blob(url);
  }

  agents(): Promise<{ items: WireAgentRef[] }> {
    return this.http.get(`${V1}/agents`);
  }

  models(): Promise<{ items: WireModelRef[] }> {
    return this.http.get(`${V1}/models`);
  }
}

export class RunsApi {
  constructor(private readonly http: Http) {}

  list(query: RunQuery, signal?: AbortSignal): Promise<{ items: RunView[]; nextCursor?: string | null }> {
    return this.http.get(`${V1}/runs`, { query: { ...query }, ...(signal ? { signal } : {}) });
  }

  get(id: string): Promise<RunView> {
    return this.http.get(runAt(id));
  }

  /** Whether tools changed files in it. */
  async changedFiles(id: string): Promise<boolean> {
    const page = await this.http.get<{ changes: unknown[] }>(`${V1}/changes`, { query: { runId: id, limit: 1 } });
    return page.changes.length > 0;
  }

  trace(id: string): Promise<TraceView> {
    return this.http.get(`${V1}/traces/${encodeURIComponent(id)}`);
  }

  act(id: string, verb: 'abort' | 'resume' | 'discard'): Promise<unknown> {
    return this.http.post(`${runAt(id)}/${verb}`, {});
  }

  steer(id: string, text: string): Promise<unknown> {
    return this.http.post(`${runAt(id)}/steer`, { text });
  }

  branch(id: string, step: number): Promise<{ sessionId?: string; id?: string }> {
    return this.http.post(`${runAt(id)}/branch`, { step });
  }

  export(id: string, format: 'otlp' | 'jsonl' | 'chatosrun'): Promise<Blob> {
    return this.http.blob(`${runAt(id)}/export?format=${format}`, { timeoutMs: 120_000 });
  }
}

function at(id: string): string {
  return `${V1}/sessions/${encodeURIComponent(id)}`;
}

function messageAt(id: string, message: string): string {
  return `${at(id)}/messages/${encodeURIComponent(message)}`;
}

function runAt(id: string): string {
  return `${V1}/runs/${encodeURIComponent(id)}`;
}
