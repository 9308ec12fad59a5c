// What travels between an app's frame and the host page, and its limits (host-api §2.4). Both ends import this
// file. Messages on the port are JSON texts: the receiver measures and parses, so nothing but plain data arrives.

export const VERSION = 1;
/** One message, in bytes of UTF-8. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
export const MAX_OUTSTANDING = 256;
export const CALLS_PER_SECOND = 200;
export const CALL_BURST = 400;

export const ERROR_CODES = [
  'invalid_argument',
  'not_found',
  'permission_denied',
  'timeout',
  'canceled',
  'conflict',
  'resource_exhausted',
  'unavailable',
  'not_supported',
  'rate_limited',
  'needs_input',
  'internal',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export interface WireError {
  code: ErrorCode;
  message: string;
  data?: unknown;
}

/** `full`: pages of apps reach no network in this browser; `partial`: it cannot keep them off it. */
export type Confinement = 'full' | 'partial';

/** What the synchronous members answer from; `capabilities` is for refusing early, the page checks again. */
export interface Snapshot {
  pluginId: string;
  appId: string;
  theme: 'light' | 'dark';
  surface: 'full' | 'compact';
  lang: 'zh' | 'en';
  storage: 'persistent' | 'memory';
  /** Whether this browser keeps the frame off the network, as the page measured it. */
  confinement: Confinement;
  hostVersion: string;
  capabilities: string[];
}

/** Frame to page. */
export type Upward =
  | { type: 'call'; id: number; path: string; args: unknown[] }
  | { type: 'cancel'; id: number }
  | { type: 'sub'; sid: number; topic: string; filter?: unknown }
  | { type: 'unsub'; sid: number }
  | { type: 'fire'; path: string; args: unknown[] }
  | { type: 'mounted' }
  | { type: 'mountError'; message: string; stack?: string }
  | { type: 'disposed'; message?: string; stack?: string }
  | { type: 'log'; level: LogLevel; message: string; stack?: string }
  | { type: 'store'; key: string | null; value: string | null }
  | { type: 'pong'; n: number };

/** Page to frame. */
export type Downward =
  | { type: 'ret'; id: number; ok: true; value: unknown }
  | { type: 'ret'; id: number; ok: false; error: WireError }
  | { type: 'event'; sid: number; payload: unknown }
  | { type: 'snap'; snapshot: Partial<Snapshot> }
  | { type: 'dispose' }
  | { type: 'stored'; key: string | null; value: string | null }
  | { type: 'ping'; n: number };

export type LogLevel = 'error' | 'warn' | 'policy';

/** The messages that are posted to windows instead of the port: `ready`, `init`, and asides. */
export interface Ready {
  chatos: 'ready';
  v: number;
  nonce: string;
  /** The browser refuses the frame a storage of its own; the page may lend one. */
  storage: 'own' | 'none';
}
/** What the first script of a frame says to the window around it: a link was taken, something is amiss. */
export type Aside = { chatos: 'open'; v: 1; url: string } | { chatos: 'problem'; v: 1; message: string };

/** The aside in a message, or null for anything else. */
export function readAside(data: unknown): Aside | null {
  const aside = data as { chatos?: unknown; v?: unknown; url?: unknown; message?: unknown } | null;
  if (typeof aside !== 'object' || aside?.v !== VERSION) return null;
  if (aside.chatos === 'open' && typeof aside.url === 'string') return { chatos: 'open', v: 1, url: aside.url };
  if (aside.chatos === 'problem' && typeof aside.message === 'string') return { chatos: 'problem', v: 1, message: aside.message.slice(0, 1_000) };
  return null;
}

export interface Init {
  chatos: 'init';
  v: number;
  snapshot: Snapshot;
  entry: string;
  /** Items of the storage the page lends; absent when the frame has its own, or gets none. */
  stored?: Record<string, string>;
}

export class HostError extends Error {
  override readonly name = 'HostError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    if (data === undefined) delete (this as { data?: unknown }).data;
  }
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return ERROR_CODES.includes(code as ErrorCode);
}

/** Bytes of a text in UTF-8, without encoding it when the answer is plain. */
export function tooLong(text: string, limit = MAX_MESSAGE_BYTES): boolean {
  if (text.length > limit) return true;
  if (text.length * 3 <= limit) return false;
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // Each half of a surrogate pair counts two: together the four bytes of the character.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
    if (bytes > limit) return true;
  }
  return false;
}

/** A message as text; cycles and BigInt are the caller's mistake. */
export function encode(message: Upward | Downward): string {
  let text: string;
  try {
    text = JSON.stringify(message);
  } catch (error) {
    throw new HostError('invalid_argument', `the value is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (tooLong(text)) throw new HostError('resource_exhausted', 'a message may hold at most 32 MiB');
  return text;
}

/** The message in a text, or null for anything that is none. */
export function decode(data: unknown): Record<string, unknown> | null {
  if (typeof data !== 'string' || tooLong(data)) return null;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    // The caller counts it as malformed.
    return null;
  }
}

/** 200 calls a second on average, 400 at once. */
export class TokenBucket {
  #tokens: number;
  #at: number;

  constructor(
    readonly rate = CALLS_PER_SECOND,
    readonly burst = CALL_BURST,
    readonly now: () => number = () => performance.now(),
  ) {
    this.#tokens = burst;
    this.#at = now();
  }

  take(): boolean {
    const at = this.now();
    this.#tokens = Math.min(this.burst, this.#tokens + ((at - this.#at) / 1000) * this.rate);
    this.#at = at;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
