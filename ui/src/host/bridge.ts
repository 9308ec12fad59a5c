// The page's end of one frame's port. Whose frame it is, is known from the port alone: ids in messages are
// never read (security T5). Every message is measured, parsed and checked before anything happens; what is
// no message is counted and ignored.

import { type Capability, deniedMessage, MEMBERS, type MemberPath } from '../frame/members';
import { decode, type Downward, encode, HostError, MAX_OUTSTANDING, type Snapshot, TokenBucket } from '../frame/wire';
import { toHostError } from './failure';
import { type Asker, CALLS, FIRES } from './methods';
import { Outbox } from './outbox';
import { appPath } from './services';
import { TOPICS } from './topics';
import { traced } from './trace';

const MAX_SUBSCRIPTIONS = 256;
/** A frame that sends so much that is refused or no message at all is not an app any more. */
const MAX_NOISE = 20_000;
/** A frame is asked this often whether it is there. */
const PING_EVERY_MS = 2_000;
/** Unanswered for so long it is said to be silent: about five seconds after it stopped. */
const SILENT_AFTER_MS = 3_900;

export interface BridgeEvents {
  onMounted: () => void;
  onMountError: (message: string, stack: string | undefined) => void;
  onDisposed: (message: string | undefined, stack: string | undefined) => void;
  onLog: (level: 'error' | 'warn' | 'policy', message: string, stack: string | undefined) => void;
  /** The app wrote to the storage the page lends it. */
  onStore: (key: string | null, value: string | null) => void;
  /** The frame stopped answering, or answers again. */
  onSilent: (silent: boolean) => void;
  /** The frame floods the page; it should be removed. */
  onFlood: () => void;
}

export class Bridge {
  readonly #port: MessagePort;
  readonly #asker: Asker;
  readonly #events: BridgeEvents;
  readonly #calls = new Map<number, AbortController>();
  readonly #subscriptions = new Map<number, () => void>();
  readonly #bucket: TokenBucket;
  readonly #outbox: Outbox;
  #capabilities: ReadonlySet<string>;
  readonly #refused = new Set<Capability>();
  #noise = 0;
  #closed = false;
  #pings = 0;
  /** Since when a ping waits for anything from the frame; null when none does. */
  #askedAt: number | null = null;
  #watchedAt = performance.now();
  #silent = false;
  #pingTimer: ReturnType<typeof setInterval> | undefined;
  /** Numbers of the pings that confirm a batch of events. */
  readonly #confirming = new Set<number>();

  constructor(port: MessagePort, asker: Asker, capabilities: readonly string[], events: BridgeEvents, bucket = new TokenBucket()) {
    this.#port = port;
    this.#asker = asker;
    this.#events = events;
    this.#capabilities = new Set(capabilities);
    this.#bucket = bucket;
    this.#outbox = new Outbox(
      (sid, payload) => this.#post({ type: 'event', sid, payload }),
      () => {
        this.#confirming.add(this.#pings);
        this.#ping();
      },
    );
    port.onmessage = (event) => this.#receive(event.data);
    this.#pingTimer = setInterval(() => this.#watch(), PING_EVERY_MS);
  }

  /** Calls that were made and are not answered yet. */
  get outstanding(): number {
    return this.#calls.size;
  }

  /** Messages that were none. */
  get malformed(): number {
    return this.#noise;
  }

  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  /** Tells the frame what changed; a withdrawn capability counts from this moment. */
  push(changed: Partial<Snapshot>): void {
    if (changed.capabilities) this.#capabilities = new Set(changed.capabilities);
    this.#post({ type: 'snap', snapshot: changed });
  }

  /** Another frame of the plugin wrote to the storage the page lends. */
  stored(key: string | null, value: string | null): void {
    this.#post({ type: 'stored', key, value });
  }

  /** Asks the frame to dispose its app. Nothing it asks from now on is done, and nothing is told to it. */
  dispose(): void {
    this.#release();
    this.#post({ type: 'dispose' });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#pingTimer);
    this.#release();
    for (const abort of this.#calls.values()) abort.abort();
    this.#calls.clear();
    this.#port.onmessage = null;
    this.#port.close();
  }

  #receive(data: unknown): void {
    if (this.#closed) return;
    this.#heard();
    const message = decode(data);
    switch (message?.['type']) {
      case 'call':
        this.#call(message);
        break;
      case 'cancel':
        this.#cancel(message['id']);
        break;
      case 'fire':
        this.#fire(message);
        break;
      case 'sub':
        this.#subscribe(message);
        break;
      case 'unsub':
        this.#unsubscribe(message['sid']);
        break;
      case 'mounted':
        this.#events.onMounted();
        break;
      case 'mountError':
        this.#events.onMountError(text(message['message']) ?? 'unknown error', text(message['stack']));
        break;
      case 'disposed':
        this.#events.onDisposed(text(message['message']), text(message['stack']));
        break;
      case 'log':
        this.#log(message);
        break;
      case 'store':
        this.#store(message);
        break;
      case 'pong':
        if (this.#confirming.delete(Number(message['n']))) this.#outbox.confirmed();
        break;
      default:
        this.#ignore();
    }
  }

  #call({ id, path, args }: Record<string, unknown>): void {
    if (!isId(id) || this.#calls.has(id) || typeof path !== 'string' || !Array.isArray(args)) {
      this.#ignore();
      return;
    }
    const refuse = (error: HostError) => {
      traced(this.#asker.app, 'call', path, args)(false, { code: error.code, message: error.message });
      this.#answer(id, error);
    };
    if (this.#calls.size >= MAX_OUTSTANDING) {
      refuse(new HostError('resource_exhausted', `more than ${MAX_OUTSTANDING} calls are waiting for an answer`));
      return;
    }
    if (!this.#bucket.take()) {
      this.#count();
      refuse(new HostError('rate_limited', `more than ${this.#bucket.rate} calls per second`));
      return;
    }
    const method = CALLS.get(path);
    const denied = method ? this.#denied(path as MemberPath) : new HostError('not_supported', `Unknown member "${path}"`);
    if (!method || denied) {
      refuse(denied as HostError);
      return;
    }
    const abort = new AbortController();
    this.#calls.set(id, abort);
    const told = traced(this.#asker.app, 'call', path, args);
    // A wrapper of its own, so that a member that throws before its first await is a rejection, too.
    const run = async () => method(args, this.#asker, abort.signal);
    run().then(
      (value) => {
        told(true, value);
        this.#settle(id, abort, value);
      },
      (thrown: unknown) => {
        const error = toHostError(thrown);
        told(false, { code: error.code, message: error.message });
        this.#settle(id, abort, error);
      },
    );
  }

  #settle(id: number, abort: AbortController, outcome: unknown): void {
    // Canceled or closed meanwhile: the frame has answered itself.
    if (this.#calls.get(id) !== abort) return;
    this.#calls.delete(id);
    this.#answer(id, outcome);
  }

  #answer(id: number, outcome: unknown): void {
    try {
      this.#post(outcome instanceof HostError ? failed(id, outcome) : { type: 'ret', id, ok: true, value: outcome ?? null });
    } catch (thrown) {
      // The answer itself does not fit.
      this.#post(failed(id, toHostError(thrown)));
    }
  }

  #cancel(id: unknown): void {
    if (!isId(id)) {
      this.#ignore();
      return;
    }
    const abort = this.#calls.get(id);
    this.#calls.delete(id);
    abort?.abort();
  }

  #fire({ path, args }: Record<string, unknown>): void {
    const member = typeof path === 'string' ? FIRES.get(path) : undefined;
    if (!member || !Array.isArray(args)) {
      this.#ignore();
      return;
    }
    if (!this.#bucket.take()) {
      this.#count();
      return;
    }
    try {
      const denied = this.#denied(path as MemberPath);
      if (denied) throw denied;
      traced(this.#asker.app, 'fire', String(path), args)(true, null);
      member(args, this.#asker);
    } catch (thrown) {
      this.#events.onLog('error', `${String(path)}: ${toHostError(thrown).message}`, undefined);
    }
  }

  #subscribe({ sid, topic, filter }: Record<string, unknown>): void {
    const start = typeof topic === 'string' ? TOPICS.get(topic) : undefined;
    if (!start || !isId(sid) || this.#subscriptions.has(sid)) {
      this.#ignore();
      return;
    }
    if (!this.#bucket.take()) {
      this.#count();
      return;
    }
    const problem = (thrown: unknown) => this.#events.onLog('error', `${String(topic)}: ${toHostError(thrown).message}`, undefined);
    try {
      const denied = this.#denied(topic as MemberPath);
      if (denied) throw denied;
      if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
        throw new HostError('resource_exhausted', `more than ${MAX_SUBSCRIPTIONS} subscriptions`);
      }
      const emit = (payload: unknown) => {
        // A capability withdrawn later ends what it allowed.
        if (this.#subscriptions.has(sid) && !this.#denied(topic as MemberPath)) this.#outbox.put(sid, payload);
      };
      this.#subscriptions.set(sid, () => undefined);
      traced(this.#asker.app, 'subscribe', String(topic), filter ?? null)(true, null);
      this.#subscriptions.set(sid, start(filter, this.#asker, emit, problem));
    } catch (thrown) {
      this.#subscriptions.delete(sid);
      problem(thrown);
    }
  }

  #unsubscribe(sid: unknown): void {
    if (!isId(sid)) {
      this.#ignore();
      return;
    }
    this.#subscriptions.get(sid)?.();
    this.#subscriptions.delete(sid);
    this.#outbox.drop(sid);
  }

  #store({ key, value }: Record<string, unknown>): void {
    const fits = (key === null && value === null) || (typeof key === 'string' && (value === null || typeof value === 'string'));
    if (fits) this.#events.onStore(key as string | null, value as string | null);
    else this.#ignore();
  }

  #log(message: Record<string, unknown>): void {
    const level = (['error', 'warn', 'policy'] as const).find((known) => known === message['level']);
    const said = text(message['message']);
    if (!level || said === undefined) this.#ignore();
    else this.#events.onLog(level, said, text(message['stack']));
  }

  #denied(path: MemberPath): HostError | null {
    const capability: Capability | null = MEMBERS[path].capability;
    if (capability === null || this.#capabilities.has(capability)) return null;
    this.#wanted(capability);
    return new HostError('permission_denied', deniedMessage(capability, this.#asker.app.pluginId));
  }

  /** The plugin's page says what its apps wanted; once is enough. */
  #wanted(capability: Capability): void {
    if (this.#refused.has(capability)) return;
    this.#refused.add(capability);
    const { app, services } = this.#asker;
    services.request(app, 'POST', appPath(app, 'wanted'), { body: { capability } }).catch(() => this.#refused.delete(capability));
  }

  #release(): void {
    for (const release of this.#subscriptions.values()) release();
    this.#subscriptions.clear();
  }

  #ignore(): void {
    this.#count();
  }

  #count(): void {
    this.#noise += 1;
    if (this.#noise === MAX_NOISE) this.#events.onFlood();
  }

  #watch(): void {
    const now = performance.now();
    // This page itself was asleep or busy: what the frame said meanwhile may not have been read yet.
    if (now - this.#watchedAt > 2 * PING_EVERY_MS) this.#askedAt = null;
    this.#watchedAt = now;
    this.#askedAt ??= now;
    this.#ping();
    const silent = now - this.#askedAt > SILENT_AFTER_MS;
    if (silent === this.#silent) return;
    this.#silent = silent;
    this.#events.onSilent(silent);
  }

  #heard(): void {
    this.#askedAt = null;
    if (!this.#silent) return;
    this.#silent = false;
    this.#events.onSilent(false);
  }

  #ping(): void {
    this.#post({ type: 'ping', n: this.#pings });
    this.#pings += 1;
  }

  #post(message: Downward): void {
    if (!this.#closed) this.#port.postMessage(encode(message));
  }
}

function failed(id: number, { code, message, data }: HostError): Downward {
  return { type: 'ret', id, ok: false, error: data === undefined ? { code, message } : { code, message, data } };
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, 10_000) : undefined;
}
