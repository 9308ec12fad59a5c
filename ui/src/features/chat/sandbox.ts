// What the result of a command says about its sandbox. The data is a tool's: every field is looked at before it is used.

import type { AccessKind } from '../../protocol/wire';

/** Something a command was refused. */
export interface Denied {
  access: 'read' | 'write' | 'execute' | 'network';
  path: string | null;
  host: string | null;
  /** The setting with which a person opens it; nothing does where there is none. */
  setting: string | null;
  /** What opened to the commands of the project lifts it. */
  opens: { kind: AccessKind; value: string } | null;
}

const ACCESS: readonly string[] = ['read', 'write', 'execute', 'network'];
const KINDS: readonly AccessKind[] = ['read', 'write', 'host'];

/** What is certain of the refusals, each once. */
export function deniedOf(data: unknown): Denied[] {
  const listed = record(record(data)?.['sandbox'])?.['denied'];
  if (!Array.isArray(listed)) return [];
  const all = listed.slice(0, 8).map(record).filter((one) => one !== null && one['certain'] === true && ACCESS.includes(String(one['access'])));
  const seen = new Set<string>();
  return all.flatMap((one) => {
    const found: Denied = { access: String(one?.['access']) as Denied['access'], path: text(one?.['path']), host: text(one?.['host']), setting: text(one?.['setting']), opens: opensOf(record(one?.['opens'])) };
    const key = found.access + (found.path ?? found.host ?? '');
    if (seen.has(key)) return [];
    seen.add(key);
    return [found];
  });
}

/** The folder to whose commands something is opened. */
export function rootOf(data: unknown): string | null {
  return text(record(record(data)?.['sandbox'])?.['root']);
}

/** Whether there is anything to say. */
export function hasNotes(data: unknown): boolean {
  return deniedOf(data).length > 0 || noticeOf(data) !== null;
}

/** How commands run in this project, said with the first of them. */
export function noticeOf(data: unknown): string | null {
  const findings = record(data)?.['findings'];
  if (!Array.isArray(findings)) return null;
  const found = findings.map(record).find((one) => one?.['id'] === 'first_use');
  return text(found?.['message']);
}

function opensOf(one: Record<string, unknown> | null): Denied['opens'] {
  const value = text(one?.['value']);
  const kind = KINDS.find((known) => known === one?.['kind']);
  return value === null || kind === undefined ? null : { kind, value };
}

function record(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
