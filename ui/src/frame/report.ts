// What goes wrong in an app's frame, told to the host page for its problem panel: uncaught errors, refused
// promises, refused loads, and what the app writes to its console as an error or a warning.

import type { LogLevel } from './wire';

export type Send = (level: LogLevel, message: string, stack?: string) => void;

const MAX_TEXT = 8_000;
/** More in one second say nothing new; the rest is dropped. */
const PER_SECOND = 20;

export function describeError(error: unknown): { message: string; stack?: string } {
  if (error instanceof Error) {
    const message = clip(error.message === '' ? error.name : error.message);
    return error.stack ? { message, stack: clip(error.stack) } : { message };
  }
  return { message: clip(text(error)) };
}

/** Watches a window; `send` gets what it sees, within limits. */
export function watch(window: Window & typeof globalThis, send: Send): void {
  let left = PER_SECOND;
  let since = 0;
  const limited: Send = (level, message, stack) => {
    const now = performance.now();
    if (now - since > 1000) {
      since = now;
      left = PER_SECOND;
    }
    if (left <= 0) return;
    left -= 1;
    send(level, clip(message), stack === undefined ? undefined : clip(stack));
  };
  window.addEventListener('error', (event) => {
    if (event.message?.startsWith('ResizeObserver loop')) return;
    const { message, stack } = describeError(event.error ?? event.message);
    limited('error', message, stack ?? `${event.filename}:${event.lineno}`);
  });
  window.addEventListener('unhandledrejection', (event) => {
    const { message, stack } = describeError(event.reason);
    limited('error', message, stack);
  });
  window.document.addEventListener('securitypolicyviolation', (event) => {
    limited('policy', `${event.effectiveDirective}: ${event.blockedURI}`, `${event.sourceFile}:${event.lineNumber}`);
  });
  for (const level of ['error', 'warn'] as const) {
    const original = window.console[level].bind(window.console);
    window.console[level] = (...values: unknown[]) => {
      original(...values);
      limited(level, values.map((value) => (value instanceof Error ? describeError(value).message : text(value))).join(' '));
    };
  }
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // A cycle, or an object that refuses to be read.
    return Object.prototype.toString.call(value);
  }
}

function clip(value: string): string {
  return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
}
