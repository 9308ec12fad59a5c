// What a person said in one chat on its way to the host: kept by the browser first, handed over one after the other,
// and waiting together while the host is away.

import { type ApiError, toApiError } from '../../api/error';
import type { Attachment, SendMode } from '../../protocol/wire';
import { messageId, moment, type Outbox, type Unsent } from './outbox';

/** A message on its way to the host. */
export interface Outgoing extends Unsent {
  /** The host was not there for it; it is sent when the host is back. */
  waiting: boolean;
  /** False: the browser did not keep it, it goes with this page. */
  kept: boolean;
  /** Why the host refused it. */
  error: ApiError | null;
}

export interface SendingOptions {
  /** Hands one message to the host, which knows it by its id: the same one again is no second message. */
  post: (item: Outgoing) => Promise<void>;
  /** Where what was said is kept until the host has it. */
  outbox?: Outbox;
  /** A message cannot be sent any more: its chat is gone. */
  onLost?: (text: string) => void;
  later?: (run: () => void, ms: number) => void;
}

/** How long after a host did not answer a message is sent again. */
const AGAIN_MS = 5_000;

export class Sending {
  outgoing: Outgoing[] = $state.raw([]);
  readonly #sessionId: string;
  readonly #options: SendingOptions;
  #pumping: Promise<void> | null = null;
  /** The one that is being handed over. */
  #handed: string | null = null;
  #planned = false;
  #closed = false;

  constructor(sessionId: string, options: SendingOptions) {
    this.#sessionId = sessionId;
    this.#options = options;
  }

  close(): void {
    this.#closed = true;
  }

  /** Whether the host has it. */
  async send(text: string, attachments: Attachment[], mode: SendMode, answerBy?: string): Promise<boolean> {
    const by = answerBy ? { answerBy } : {};
    const item: Outgoing = { id: messageId(), sessionId: this.#sessionId, text, attachments, mode, ...by, at: moment(), waiting: false, kept: false, error: null };
    this.outgoing = [...this.outgoing, item];
    await this.#keep(item);
    return this.#deliver(item.id);
  }

  async resend(id: string, text?: string): Promise<boolean> {
    const item = this.outgoing.find((one) => one.id === id);
    if (!item) return false;
    const fresh = this.#change(id, { text: text ?? item.text, error: null, waiting: false });
    if (fresh) await this.#keep(fresh);
    return this.#deliver(id);
  }

  /** Again, with the name alone of a file that cannot be read. */
  async resendNamed(id: string, name: string): Promise<boolean> {
    const item = this.outgoing.find((one) => one.id === id);
    if (!item) return false;
    this.#change(id, { attachments: item.attachments.map((file) => (file.name === name ? { ...file, nameOnly: true } : file)) });
    return this.resend(id);
  }

  withdraw(id: string): void {
    this.outgoing = this.outgoing.filter((one) => one.id !== id);
    // One that stays there is sent again, and the host knows it by its id.
    void this.#options.outbox?.remove(id).catch(() => undefined);
  }

  /** Whether the host is being told of it just now: taking it back needs the host then. */
  isUnderWay(id: string): boolean {
    return this.#handed === id;
  }

  /** A message is on the host: told as an event, perhaps before the answer to sending it, or read. */
  arrived(id: string): void {
    if (this.outgoing.some((one) => one.id === id)) this.withdraw(id);
  }

  async restore(items: readonly Unsent[]): Promise<void> {
    const fresh = items.filter((item) => !this.outgoing.some((one) => one.id === item.id));
    const all = [...this.outgoing, ...fresh.map((item) => ({ ...item, waiting: true, kept: true, error: null }))];
    this.outgoing = all.sort((one, other) => one.at - other.at);
    await this.flush();
  }

  async flush(): Promise<void> {
    if (this.outgoing.length === 0) return;
    this.outgoing = this.outgoing.map((one) => (one.waiting ? { ...one, waiting: false } : one));
    await this.#pump();
  }

  #change(id: string, change: Partial<Outgoing>): Outgoing | null {
    this.outgoing = this.outgoing.map((one) => (one.id === id ? { ...one, ...change } : one));
    return this.outgoing.find((one) => one.id === id) ?? null;
  }

  async #keep({ waiting: _waiting, kept: _kept, error: _error, ...unsent }: Outgoing): Promise<void> {
    if (!this.#options.outbox) return;
    const { id } = unsent;
    try {
      await this.#options.outbox.put(unsent);
      this.#change(id, { kept: true });
    } catch {
      // A browser that keeps nothing, or has no room: it is sent from memory, and says so while it waits.
      this.#change(id, { kept: false });
    }
  }

  async #deliver(id: string): Promise<boolean> {
    await this.flush();
    return !this.outgoing.some((one) => one.id === id);
  }

  /** One after the other, so that the host has them in the order they were said. */
  #pump(): Promise<void> {
    this.#pumping ??= (async () => {
      for (let next = this.#next(); next && !this.#closed; next = this.#next()) await this.#hand(next);
      this.#pumping = null;
    })();
    return this.#pumping;
  }

  #next(): Outgoing | null {
    // Behind one that waits all wait.
    if (this.outgoing.some((one) => one.waiting)) return null;
    return this.outgoing.find((one) => one.error === null) ?? null;
  }

  async #hand(item: Outgoing): Promise<void> {
    this.#handed = item.id;
    try {
      await this.#options.post(item);
      this.withdraw(item.id);
    } catch (thrown) {
      const error = toApiError(thrown);
      if (isAway(error)) this.#wait();
      else if (error.status === 404) this.#lose(item);
      else this.#change(item.id, { error });
    } finally {
      this.#handed = null;
    }
  }

  /** The host is not there: everything not refused waits for it. */
  #wait(): void {
    this.outgoing = this.outgoing.map((one) => (one.error === null ? { ...one, waiting: true } : one));
    // A new connection sends at once; this is for a host that answers too late and never went away.
    if (this.#planned) return;
    this.#planned = true;
    (this.#options.later ?? ((run, ms) => setTimeout(run, ms)))(() => {
      this.#planned = false;
      if (!this.#closed && this.outgoing.some((one) => one.waiting)) void this.flush();
    }, AGAIN_MS);
  }

  #lose(item: Outgoing): void {
    this.withdraw(item.id);
    this.#options.onLost?.(item.text);
  }
}

/** Whether it stands above the composer instead of among the messages: its turn comes later. */
export function asChip(item: Outgoing, active: boolean): boolean {
  return item.error === null && (item.waiting || (active && item.mode === 'queue'));
}

/** No word of the host about the message itself: it is away, stopping, or does not know this browser any more. */
function isAway(error: ApiError): boolean {
  return error.code === 'page_unreachable' || error.code === 'page_timeout' || error.status === 401 || (error.status >= 502 && error.status <= 504);
}
