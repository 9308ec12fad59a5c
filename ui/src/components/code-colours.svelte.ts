// Colours of code blocks, asked of a worker that starts with the first block. Until it answers, code is shown in
// one colour; who drew it so draws it again when the colours are there.

import { escapeHtml, languageOf, MAX_CODE } from './code-languages';

export interface CodeQuestion {
  id: number;
  language: string;
  code: string;
}

export interface CodeAnswer {
  id: number;
  /** Null when there are no colours to be had. */
  html: string | null;
}

/** What of a worker is used. */
export interface CodeWorker {
  onmessage: ((event: MessageEvent<CodeAnswer>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  postMessage: (question: CodeQuestion) => void;
  terminate: () => void;
}

interface Code {
  language: string;
  code: string;
}

interface Coloured extends Code {
  html: string;
  /** When it was last drawn. */
  used: number;
}

/** A grammar that is busy for longer is ended with its worker: the text was made to keep it busy, or the machine is
    so slow that colours do not matter. */
const PATIENCE_MS = 15_000;
/** Characters of code whose colours are remembered, in about five times as much memory; what is on screen is
    remembered in any case, or it would be asked for without end. */
const REMEMBERED = 1_000_000;
const ON_SCREEN_MS = 60_000;

export class CodeColours {
  readonly #start: () => CodeWorker;
  #worker: CodeWorker | null = null;
  readonly #known = new Map<string, Coloured>();
  #size = 0;
  /** Waiting for the worker, oldest first. */
  readonly #wanted = new Map<string, Code>();
  #asked: { key: string; of: Code; id: number; timer: ReturnType<typeof setTimeout> } | null = null;
  #id = 0;
  #news = $state(0);

  constructor(start: () => CodeWorker) {
    this.#start = start;
  }

  /** The code as HTML, in colours as far as they are known. */
  html(code: string, name: string): string {
    const language = languageOf(name);
    if (language === null || code.length > MAX_CODE || code.trim() === '') return escapeHtml(code);
    // Read so that whoever draws this draws it again.
    void this.#news;
    const key = `${language}\n${code}`;
    const known = this.#known.get(key);
    if (known) {
      known.used = Date.now();
      return known.html;
    }
    this.#want(key, { language, code });
    const start = this.#startOf(language, code);
    return start ? start.html + escapeHtml(code.slice(start.code.length)) : escapeHtml(code);
  }

  /** The longest beginning with colours, for a block that grows. */
  #startOf(language: string, code: string): Coloured | null {
    let best: Coloured | null = null;
    for (const one of this.#known.values()) {
      if (one.language === language && one.code.length > (best?.code.length ?? 0) && code.startsWith(one.code)) best = one;
    }
    return best;
  }

  #want(key: string, one: Code): void {
    if (this.#asked?.key === key) return;
    // Of a block that grows only the newest state is of interest.
    for (const [other, { language, code }] of this.#wanted) {
      if (language === one.language && one.code.startsWith(code)) this.#wanted.delete(other);
    }
    this.#wanted.set(key, one);
    this.#next();
  }

  #next(): void {
    const [first] = this.#wanted;
    if (this.#asked || !first) return;
    const [key, of] = first;
    this.#wanted.delete(key);
    const worker = (this.#worker ??= this.#begin());
    const id = (this.#id += 1);
    this.#asked = { key, of, id, timer: setTimeout(() => this.#giveUp(), PATIENCE_MS) };
    worker.postMessage({ id, ...of });
  }

  #begin(): CodeWorker {
    const worker = this.#start();
    worker.onmessage = ({ data }) => {
      if (data.id === this.#asked?.id) this.#answered(data.html);
    };
    worker.onerror = () => this.#giveUp();
    return worker;
  }

  #giveUp(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#answered(null);
  }

  #answered(html: string | null): void {
    if (!this.#asked) return;
    const { key, of, timer } = this.#asked;
    clearTimeout(timer);
    this.#asked = null;
    this.#remember(key, { ...of, html: html ?? escapeHtml(of.code), used: Date.now() });
    this.#news += 1;
    this.#next();
  }

  #remember(key: string, one: Coloured): void {
    for (const [other, { language, code, used }] of this.#known) {
      const outgrown = language === one.language && one.code.startsWith(code);
      const old = this.#size > REMEMBERED && used < one.used - ON_SCREEN_MS;
      if (!outgrown && !old) continue;
      this.#known.delete(other);
      this.#size -= code.length;
    }
    this.#known.set(key, one);
    this.#size += one.code.length;
  }
}

const colours = new CodeColours(() => new Worker(new URL('./code.worker.ts', import.meta.url), { type: 'module' }));

export const codeHtml = (code: string, language: string): string => colours.html(code, language);
