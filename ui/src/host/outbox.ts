// Events on their way to a frame. A frame that keeps up gets each at once; one that is slow gets pieces of
// streamed text merged while it catches up, and never loses one (host-api §7.1).

interface Delta {
  type: 'assistant_delta' | 'assistant_reasoning_delta';
  messageId: string;
  delta: string;
  offset: number;
}

interface Waiting {
  sid: number;
  payload: unknown;
}

/** So many unconfirmed batches may be under way before merging begins. */
const WINDOW = 4;

export class Outbox {
  #waiting: Waiting[] = [];
  #unconfirmed = 0;
  #scheduled = false;

  /** `send` posts one event; `confirm` asks the frame to say that it has come so far. */
  constructor(
    private readonly send: (sid: number, payload: unknown) => void,
    private readonly confirm: () => void,
  ) {}

  get size(): number {
    return this.#waiting.length;
  }

  put(sid: number, payload: unknown): void {
    if (!this.#merge(sid, payload)) this.#waiting.push({ sid, payload });
    if (this.#scheduled || this.#unconfirmed >= WINDOW) return;
    this.#scheduled = true;
    queueMicrotask(() => this.#flush());
  }

  /** The frame has handled a batch. */
  confirmed(): void {
    this.#unconfirmed = Math.max(0, this.#unconfirmed - 1);
    if (this.#waiting.length > 0) this.#flush();
  }

  /** A subscription was released: nothing more of it goes out. */
  drop(sid: number): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting.sid !== sid);
  }

  #flush(): void {
    this.#scheduled = false;
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    this.#unconfirmed += 1;
    for (const { sid, payload } of batch) this.send(sid, payload);
    this.confirm();
  }

  /** Appends to the last waiting event of this subscription when both are pieces of one text. */
  #merge(sid: number, payload: unknown): boolean {
    const piece = asDelta(payload);
    if (!piece) return false;
    for (let index = this.#waiting.length - 1; index >= 0; index -= 1) {
      const waiting = this.#waiting[index];
      if (waiting?.sid !== sid) continue;
      const before = asDelta(waiting.payload);
      if (!before || before.type !== piece.type || before.messageId !== piece.messageId) return false;
      waiting.payload = { ...(payload as object), delta: before.delta + piece.delta, offset: before.offset };
      return true;
    }
    return false;
  }
}

function asDelta(payload: unknown): Delta | null {
  const event = payload as Partial<Delta> | null;
  const streamed = event?.type === 'assistant_delta' || event?.type === 'assistant_reasoning_delta';
  return streamed && typeof event.delta === 'string' && typeof event.messageId === 'string' ? (event as Delta) : null;
}
