// `host.uiPrompts.*`: questions of this app, stamped with its identity (host-api §6.3, ui-prompts §5 to §7).

import { HostError } from '../../frame/wire';
import { needObject, needText, optionalInteger, optionalObject, pick } from '../check';
import type { Asker, Call } from '../methods';
import { type AppRef, keyOf } from '../services';

/** The server lets one wait last so long; the page asks again. */
const WAIT_MS = 50_000;
const ANSWER_WITHIN_MS = 15_000;

interface Log {
  path: string;
  entries: LogEntry[];
}

interface LogEntry {
  action?: string;
  requestId?: string;
  response?: Record<string, unknown>;
  chatos?: { owner?: string };
}

function promptPath(id: string, rest = ''): [string, { id?: string }] {
  // Browsers fold `.` and `..` out of a path even when escaped, so such an id travels in the query.
  return id === '.' || id === '..' ? [`prompts/_${rest}`, { id }] : [`prompts/${encodeURIComponent(id)}${rest}`, {}];
}

export async function readLog({ app, services }: Pick<Asker, 'app' | 'services'>, signal?: AbortSignal): Promise<Log> {
  const log = await services.request<Log>(app, 'GET', 'prompts/log', { query: { app: keyOf(app) }, ...(signal ? { signal } : {}) });
  return { path: 'ui-prompts.jsonl', entries: log.entries };
}

function owner(app: AppRef): string {
  return `app:${keyOf(app)}`;
}

/** The response of an own prompt as this app may see it, private values included; null while there is none. */
async function answerOf(asker: Asker, requestId: string, signal: AbortSignal): Promise<Record<string, unknown> | null> {
  const { entries } = await readLog(asker, signal);
  const mine = entries.filter((entry) => entry.requestId === requestId);
  if (mine.length === 0) throw new HostError('not_found', `there is no prompt "${requestId}"`, { reason: 'unknown_request' });
  return mine.find((entry) => entry.action === 'response')?.response ?? null;
}

const wait: Call = async ([id, given], asker, signal) => {
  const requestId = needText(id, 'requestId');
  const timeoutMs = optionalInteger(optionalObject(given, 'options'), 'timeoutMs', 0, 2_147_483_647);
  const { app, services } = asker;
  const [path, query] = promptPath(requestId, '/wait');
  const until = timeoutMs === undefined || timeoutMs === 0 ? Infinity : performance.now() + timeoutMs;
  await own(asker, requestId, signal);
  for (;;) {
    const known = await answerOf(asker, requestId, signal);
    if (known) return known;
    const left = until - performance.now();
    if (left <= 0) throw new HostError('timeout', `no answer to "${requestId}" within ${timeoutMs} ms`);
    const patience = Math.max(1, Math.round(Math.min(WAIT_MS, left)));
    await services.request(app, 'GET', path, { query: { ...query, timeoutMs: patience }, signal, timeoutMs: patience + ANSWER_WITHIN_MS });
  }
};

/** Refuses other people's prompts before anything of them is read. */
async function own({ app, services }: Asker, requestId: string, signal: AbortSignal): Promise<void> {
  const [path, query] = promptPath(requestId);
  const item = await services.own<{ owner?: string | null }>('GET', path, { query, signal });
  if (item.owner !== owner(app)) {
    throw new HostError('permission_denied', `the prompt "${requestId}" was asked by somebody else`, { reason: 'not_owner' });
  }
}

export const promptMethods: [string, Call][] = [
  ['uiPrompts.read', (_args, asker, signal) => readLog(asker, signal)],
  [
    'uiPrompts.request',
    async ([payload], { app, services, work }, signal) => {
      const given = needObject(payload, 'payload');
      const prompt = needObject(given['prompt'], 'prompt');
      const source = typeof prompt['source'] === 'string' && prompt['source'].trim() !== '' ? prompt['source'] : `${app.pluginId}:${app.appId}`;
      const body = { ...pick(given, ['requestId', 'runId']), prompt: { ...prompt, source }, owner: owner(app) };
      const { requestId } = await services.request<{ requestId: string }>(app, 'POST', 'prompts', { body, signal });
      work.promptAsked(requestId);
      return { ok: true, requestId };
    },
  ],
  [
    'uiPrompts.respond',
    async ([payload], { app, services }, signal) => {
      const given = needObject(payload, 'payload');
      const requestId = needText(given['requestId'], 'requestId');
      const [path, query] = promptPath(requestId, '/response');
      const body = { ...pick(given, ['runId', 'response']), app: keyOf(app) };
      await services.request(app, 'POST', path, { body, query, signal });
      return { ok: true };
    },
  ],
  ['uiPrompts.wait', wait],
  [
    'uiPrompts.consume',
    async ([id], { app, services }, signal) => {
      const [path, query] = promptPath(needText(id, 'requestId'), '/consume');
      await services.request(app, 'POST', path, { body: { owner: owner(app) }, query, signal });
      return { ok: true };
    },
  ],
];
