// A server while it is typed in: the fields as text, what is wrong with them, and what is sent.

import type { AuthInput, Server, ServerInput } from '../../protocol/admin';
import type { JsonObject } from '../../protocol/tools';
import { asObject } from '../tools/fields';

export interface ServerDraft {
  name: string;
  kind: string;
  argv: string[];
  url: string;
  description: string;
  /** `keep` leaves what is sealed; its value cannot be shown. */
  auth: string;
  token: string;
  user: string;
  password: string;
  /** A kept one has its name and no value. */
  headers: { name: string; value: string }[];
  env: { name: string; value: string }[];
  cwd: string;
  allowPrivate: boolean;
  /** One folder a line. */
  roots: string;
  /** In seconds, as typed. */
  timeout: string;
  maxTimeout: string;
  startTimeout: string;
  callMeta: string;
  clientId: string;
  /** Empty: the kept one stays. */
  clientSecret: string;
  scopes: string;
}

export type ServerIssue = 'name' | 'argv' | 'url' | 'token' | 'user' | 'headers' | 'env' | 'timeout' | 'maxTimeout' | 'startTimeout' | 'callMeta';

const seconds = (ms: number | null | undefined) => (ms ? String(ms / 1000) : '');

const kept = (names: string[] | undefined, none: { name: string; value: string }[]) => (names?.length ? names.map((name) => ({ name, value: '' })) : none);

export function serverDraft(server: Server | null): ServerDraft {
  const callMeta = server?.callMeta && Object.keys(server.callMeta).length > 0 ? JSON.stringify(server.callMeta, null, 2) : '';
  const command = server === null || (server.argv?.length ?? 0) > 0;
  return {
    name: server?.name ?? '',
    kind: command ? 'command' : 'url',
    argv: server?.argv?.length ? [...server.argv] : [''],
    url: command ? '' : (server?.url ?? ''),
    description: server?.description ?? '',
    auth: server?.auth.hasValue ? 'keep' : 'none',
    token: '',
    user: '',
    password: '',
    headers: kept(server?.auth.headerNames, [{ name: '', value: '' }]),
    env: kept(server?.auth.envNames, []),
    cwd: server?.cwd ?? '',
    allowPrivate: server?.allowPrivate ?? false,
    roots: server?.roots?.join('\n') ?? '',
    timeout: seconds(server?.timeoutMs),
    maxTimeout: seconds(server?.maxTimeoutMs),
    startTimeout: seconds(server?.startTimeoutMs),
    callMeta,
    clientId: server?.auth.oauth?.clientId ?? '',
    clientSecret: '',
    scopes: server?.auth.oauth?.scopes.join(' ') ?? '',
  };
}

function badSeconds(text: string): boolean {
  const value = Number(text);
  return text.trim() !== '' && !(Number.isFinite(value) && value > 0);
}

function readMeta(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    // Said at the field.
    return null;
  }
}

/** A value may be left empty where one is kept under that name. */
function incomplete(pairs: { name: string; value: string }[], names: string[] | undefined): boolean {
  return pairs.some(({ name, value }) => name.trim() === '' || (value === '' && !(names ?? []).includes(name.trim())));
}

export function serverIssues(draft: ServerDraft, server: Server | null = null): ServerIssue[] {
  const found: ServerIssue[] = [];
  if (draft.name.trim() === '') found.push('name');
  if (draft.kind === 'command') {
    if ((draft.argv[0] ?? '').trim() === '') found.push('argv');
    if (incomplete(draft.env, server?.auth.envNames)) found.push('env');
  } else {
    if (!/^(https?|wss?):\/\/[^\s/]/i.test(draft.url.trim())) found.push('url');
    if (draft.auth === 'token' && draft.token === '') found.push('token');
    if (draft.auth === 'basic' && draft.user === '') found.push('user');
    if (draft.auth === 'headers' && (draft.headers.length === 0 || incomplete(draft.headers, server?.auth.headerNames))) found.push('headers');
  }
  if (badSeconds(draft.timeout)) found.push('timeout');
  if (badSeconds(draft.maxTimeout)) found.push('maxTimeout');
  if (badSeconds(draft.startTimeout)) found.push('startTimeout');
  if (draft.callMeta.trim() !== '' && readMeta(draft.callMeta) === null) found.push('callMeta');
  return found;
}

/** An empty value keeps what is sealed. */
function values(pairs: { name: string; value: string }[]): Record<string, string | null> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name.trim(), value === '' ? null : value]));
}

function authInput(draft: ServerDraft): AuthInput | null {
  switch (draft.auth) {
    case 'keep':
      return null;
    case 'token':
      return { kind: 'token', token: draft.token };
    case 'basic':
      return { kind: 'basic', username: draft.user, password: draft.password };
    case 'headers':
      return { kind: 'headers', headers: values(draft.headers) };
    default:
      return { kind: 'none' };
  }
}

/** Nothing typed is nothing kept; a secret goes with its client. */
function oauthInput(draft: ServerDraft): ServerInput['oauth'] {
  const clientId = draft.clientId.trim();
  const scopes = draft.scopes.split(/\s+/).filter(Boolean);
  if (clientId === '' && scopes.length === 0) return null;
  const secret = clientId === '' ? { clientSecret: '' } : draft.clientSecret === '' ? {} : { clientSecret: draft.clientSecret };
  return { clientId, scopes, ...secret };
}

export function serverInput(draft: ServerDraft): ServerInput {
  const ms = (text: string) => (text.trim() === '' ? null : Math.round(Number(text) * 1000));
  const auth = draft.kind === 'command' ? null : authInput(draft);
  return {
    name: draft.name.trim(),
    ...(draft.kind === 'command' ? { argv: draft.argv, cwd: draft.cwd.trim(), env: values(draft.env) } : { url: draft.url.trim(), allowPrivate: draft.allowPrivate, oauth: oauthInput(draft) }),
    description: draft.description.trim(),
    roots: draft.roots
      .split('\n')
      .map((root) => root.trim())
      .filter(Boolean),
    timeoutMs: ms(draft.timeout),
    maxTimeoutMs: ms(draft.maxTimeout),
    startTimeoutMs: ms(draft.startTimeout),
    callMeta: draft.callMeta.trim() === '' ? null : readMeta(draft.callMeta),
    ...(auth === null ? {} : { auth }),
  };
}
