// What a frame may follow: each topic turns events of the host's stream into payloads for one subscription.

import type { EventFrame } from '../protocol';
import { type Fields, optionalObject, optionalText, optionalTexts } from './check';
import { toHostError } from './failure';
import type { Asker } from './methods';
import { readLog } from './methods/prompts';

export type Emit = (payload: unknown) => void;
/** Starts following; the answer stops it. Throws for a filter it does not understand. */
export type Topic = (filter: unknown, asker: Asker, emit: Emit, onProblem: (thrown: unknown) => void) => () => void;

/** At most four a second (host-api §6.2) and ten a second (§6.3). */
const ADMIN_EVERY_MS = 250;
const PROMPTS_EVERY_MS = 100;

/** Topics of the stream that change something `admin.state` shows. */
const ADMIN_TOPICS = new Set(['admin', 'servers', 'plugins', 'agents', 'models', 'runs']);

/** Runs `work` at most once per `everyMs`, the last wish always; never two at a time. */
export function paced(everyMs: number, work: () => Promise<void>): { poke: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy = false;
  let wanted = false;
  let stopped = false;
  let last = -Infinity;
  const run = async () => {
    timer = undefined;
    wanted = false;
    busy = true;
    last = performance.now();
    try {
      await work();
    } finally {
      busy = false;
      if (wanted) plan();
    }
  };
  const plan = () => {
    if (stopped || timer !== undefined) return;
    timer = setTimeout(() => void run(), Math.max(0, last + everyMs - performance.now()));
  };
  return {
    poke: () => {
      wanted = true;
      if (!busy) plan();
    },
    stop: () => {
      stopped = true;
      wanted = false;
      clearTimeout(timer);
    },
  };
}

const admin: Topic = (_filter, { app, services }, emit, onProblem) => {
  let before = '';
  let stopped = false;
  const pace = paced(ADMIN_EVERY_MS, async () => {
    try {
      const state = await services.request(app, 'GET', 'admin/state');
      const text = JSON.stringify(state);
      if (stopped || text === before) return;
      before = text;
      emit(state);
    } catch (thrown) {
      if (!stopped) onProblem(thrown);
    }
  });
  const off = [
    services.onEvent((frame) => {
      if (ADMIN_TOPICS.has(frame.topic)) pace.poke();
    }),
    services.onResync(pace.poke),
  ];
  return () => {
    stopped = true;
    pace.stop();
    off.forEach((release) => release());
  };
};

const prompts: Topic = (_filter, asker, emit, onProblem) => {
  const changed = new Set<string>();
  let stopped = false;
  const pace = paced(PROMPTS_EVERY_MS, async () => {
    const ids = [...changed];
    changed.clear();
    try {
      const log = await readLog(asker);
      if (!stopped) emit({ ...log, changed: ids });
    } catch (thrown) {
      if (!stopped) onProblem(thrown);
    }
  });
  const off = [
    asker.services.onEvent((frame) => {
      if (frame.topic !== 'prompts' || frame.type === 'prompt_counts') return;
      const id = promptOf(frame);
      if (id !== null) changed.add(id);
      pace.poke();
    }),
    asker.services.onResync(pace.poke),
  ];
  return () => {
    stopped = true;
    pace.stop();
    off.forEach((release) => release());
  };
};

/** The prompt an event is about; `prompt_forged` wraps its item. */
export function promptOf(frame: EventFrame): string | null {
  const data = frame.data as { requestId?: unknown; item?: { requestId?: unknown } } | null;
  const id = data?.item?.requestId ?? data?.requestId;
  return typeof id === 'string' ? id : null;
}

export interface ChatEventData extends Fields {
  type: string;
  sessionId: string | null;
}

/** The chat event in a frame of the stream, or null. */
export function chatEventOf(frame: EventFrame): ChatEventData | null {
  if (!frame.topic.startsWith('chat:') && frame.topic !== 'chat') return null;
  if (typeof frame.data !== 'object' || frame.data === null) return null;
  const data = frame.data as Fields;
  const sessionId = typeof data['sessionId'] === 'string' ? data['sessionId'] : null;
  return { seq: frame.seq, ...data, type: frame.type, sessionId };
}

/** Whose a chat is, asked once; an event that comes meanwhile waits for the answer, in order. */
class Whose {
  readonly #known = new Map<string, boolean | (() => void)[]>();

  constructor(
    private readonly asker: Asker,
    private readonly onProblem: (thrown: unknown) => void,
  ) {}

  /** Runs `then` for a chat the app may follow, now or when that is known. */
  pass(sessionId: string, then: () => void): void {
    if (this.asker.may('chat.read')) {
      then();
      return;
    }
    const known = this.#known.get(sessionId);
    if (known === true) then();
    else if (Array.isArray(known)) known.push(then);
    else if (known === undefined) {
      this.#known.set(sessionId, [then]);
      void this.#ask(sessionId);
    }
  }

  async #ask(sessionId: string): Promise<void> {
    let own = false;
    try {
      const { app, services } = this.asker;
      const { madeBy } = await services.own<{ madeBy?: string }>('GET', `sessions/${encodeURIComponent(sessionId)}`);
      own = madeBy === app.pluginId;
    } catch (thrown) {
      // A chat that is gone is nobody's; anything else is said, and nothing is let through.
      if (toHostError(thrown).code !== 'not_found') this.onProblem(thrown);
    }
    const waiting = this.#known.get(sessionId);
    this.#known.set(sessionId, own);
    if (own && Array.isArray(waiting)) waiting.forEach((then) => then());
  }
}

const chat: Topic = (given, asker, emit, onProblem) => {
  const { app, services } = asker;
  const filter = optionalObject(given, 'filter');
  const sessionId = optionalText(filter, 'sessionId');
  const types = optionalTexts(filter, 'types');
  const whose = new Whose(asker, onProblem);
  if (sessionId !== undefined && !asker.may('chat.read')) {
    // Somebody else's chat is refused by the server, which remembers that it was wanted.
    const unknown = (thrown: unknown) => toHostError(thrown).code === 'not_found';
    services.request(app, 'GET', `sessions/${encodeURIComponent(sessionId)}`).catch((thrown: unknown) => {
      if (!unknown(thrown)) onProblem(thrown);
    });
  }
  return services.onEvent((frame) => {
    const event = chatEventOf(frame);
    if (!event) return;
    // What concerns the whole host passes every session filter (host-api §7.1).
    if (sessionId !== undefined && event.sessionId !== null && event.sessionId !== sessionId) return;
    if (types && !types.includes(event.type)) return;
    if (event.sessionId === null) emit(event);
    else whose.pass(event.sessionId, () => emit(event));
  });
};

export const TOPICS: ReadonlyMap<string, Topic> = new Map([
  ['admin.onUpdate', admin],
  ['uiPrompts.onUpdate', prompts],
  ['chat.events.subscribe', chat],
]);
