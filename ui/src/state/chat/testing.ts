// A stand-in for the host's chat routes: a store of messages that tests change at will, and answers that
// wait until a test lets them go.

import type { ChatApi } from '../../api/chat';
import type { ChatEvent } from '../../protocol/chat';
import type { MessagePage, MessageView, RunView, SendOrder, Sent, SessionView } from '../../protocol/wire';

export const AT = '2026-01-01T00:00:00.000Z';

export function message(id: string, seq: number, role: MessageView['role'], content: string, more: Partial<MessageView> = {}): MessageView {
  return { id, sessionId: 's', runId: 'r', seq, role, kind: 'normal', content, createdAt: AT, partial: false, ...more };
}

export function session(more: Partial<SessionView> = {}): SessionView {
  return { id: 's', title: 'A chat', agentId: 'agent', workspaceRoot: '', pinned: false, createdAt: AT, updatedAt: AT, running: false, ...more };
}

export function run(state: RunView['state'], more: Partial<RunView> = {}): RunView {
  return {
    id: 'r', kind: 'chat', sessionId: 's', agentId: 'agent', landConfigId: 'land', rootRunId: 'r', role: 'main', modelId: 'model', task: '', state,
    traceId: 'trace', spanId: 'span', passes: 1, createdAt: AT, updatedAt: AT, ...more,
  };
}

export class FakeHost {
  session: SessionView = session();
  messages: MessageView[] = [];
  runs: RunView[] = [];
  reads = 0;
  sent: SendOrder[] = [];
  takenBack: string[] = [];
  /** What `send` answers, or throws. */
  onSend: (input: SendOrder) => Sent = (input) => ({ runId: 'r', userMessageId: input.clientMessageId ?? 'u', queued: false });
  #gate: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;

  /** Answers wait from now on; the call lets them go. What they say is fixed when they are asked for. */
  hold(): () => void {
    this.#gate = new Promise((resolve) => (this.#release = resolve));
    return () => {
      this.#gate = Promise.resolve();
      this.#release();
    };
  }

  get api(): ChatApi {
    const fake = {
      session: async () => {
        const copy = structuredClone(this.session);
        await this.#gate;
        return copy;
      },
      messages: async (_id: string, query: { limit: number; beforeId?: string | null }): Promise<MessagePage> => {
        this.reads += 1;
        const all = [...this.messages].sort((one, other) => one.seq - other.seq);
        const end = query.beforeId ? all.findIndex((one) => one.id === query.beforeId) : all.length;
        const start = Math.max(0, end - query.limit);
        const page = { messages: structuredClone(all.slice(start, end)), hasMore: start > 0, summaries: [] };
        await this.#gate;
        return page;
      },
      lastRuns: async () => {
        const items = structuredClone(this.runs);
        await this.#gate;
        return { items };
      },
      send: async (_id: string, input: SendOrder) => {
        this.sent.push(input);
        await this.#gate;
        return this.onSend(input);
      },
      takeBack: (runId: string) => Promise.resolve(this.takenBack.push(runId)),
      abort: () => Promise.resolve({ ok: true }),
    };
    return fake as unknown as ChatApi;
  }
}

let seq = 0;
export function event(type: string, more: Record<string, unknown> = {}): ChatEvent {
  seq += 1;
  return { seq, ts: AT, type, sessionId: 's', runId: 'r', ...more };
}

export function delta(messageId: string, offset: number, text: string): ChatEvent {
  return event('assistant_delta', { messageId, offset, delta: text });
}
