// Everything a frame may ask of the page, by name (security T5: an allow-list with a check per member). The
// capability of each is in frame/members.ts, the one table both halves share.

import type { AppRef, Services, Surface } from './services';
import { adminMethods } from './methods/admin';
import { chatMethods } from './methods/chat';
import { promptMethods } from './methods/prompts';
import { optionalInteger, optionalObject, refuse } from './check';
import { HostError } from '../frame/wire';
import { readLink } from './link';
import type { Capability } from '../frame/members';
import { parseMenu } from '../frame/menus';
import { appPath } from './services';

/** What a member knows of the frame that asks. */
export interface Asker {
  app: AppRef;
  appName: string;
  surface: () => Surface;
  services: Services;
  /** The person has just clicked or pressed a key in this very frame. */
  gesture: () => boolean;
  /** Whether it has a capability now; the server decides again. */
  may: (capability: Capability) => boolean;
  /** Work that goes on after the call, which keeps a hidden app mounted (host-api §3). */
  work: Background;
}

export interface Background {
  promptAsked: (requestId: string) => void;
  /** The question asked last that still waits for its answer. */
  promptOpen: () => string | undefined;
  runStarted: (sessionId: string) => void;
}

export type Call = (args: unknown[], asker: Asker, signal: AbortSignal) => Promise<unknown>;
export type Fire = (args: unknown[], asker: Asker) => void;

const LEAST_TIMEOUT_MS = 1_000;
const MOST_TIMEOUT_MS = 7_200_000;
const DEFAULT_TIMEOUT_MS = 600_000;
/** The host ends the call at its own time; the page only gives up on a host that does not answer at all. */
const ANSWER_WITHIN_MS = 30_000;

const invoke: Call = async ([method, params, given], { app, services }, signal) => {
  if (typeof method !== 'string' || method === '') refuse('method is required');
  const timeoutMs = optionalInteger(optionalObject(given, 'options'), 'timeoutMs', LEAST_TIMEOUT_MS, MOST_TIMEOUT_MS);
  const callId = crypto.randomUUID();
  const onAbort = () => {
    // Best effort: the server also cancels when the connection of the call goes.
    services.request(app, 'POST', `apps/calls/${callId}/cancel`, { body: {}, keepalive: true }).catch(() => undefined);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const answer = await services.request<{ result: unknown }>(app, 'POST', appPath(app, 'backend'), {
      body: { method, params: params ?? null, callId, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
      signal,
      timeoutMs: (timeoutMs ?? DEFAULT_TIMEOUT_MS) + ANSWER_WITHIN_MS,
    });
    return answer?.result ?? null;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

const openExternal: Call = async ([given], { appName, gesture, services }) => {
  const link = readLink(given, location);
  if (typeof link === 'string') refuse(link);
  if (!gesture()) throw new HostError('permission_denied', 'a link can be opened only after a click or a key in the app');
  return { opened: await services.openLink(link, appName) };
};

export const CALLS: ReadonlyMap<string, Call> = new Map<string, Call>([
  ['ui.openExternal', openExternal],
  ['registry.list', (_args, { app, services }) => services.request(app, 'GET', 'plugins')],
  ['backend.invoke', invoke],
  ...adminMethods,
  ...promptMethods,
  ...chatMethods,
]);

export const FIRES: ReadonlyMap<string, Fire> = new Map<string, Fire>([
  ['ui.navigate', ([menu], { app, appName, surface, services }) => services.navigate(parseMenu(menu), { app, appName, surface: surface() })],
  // What an app asked last is what it wants to be seen.
  ['uiPrompts.open', (_args, { services, work }) => services.hub('open', work.promptOpen())],
  ['uiPrompts.close', (_args, { services }) => services.hub('close')],
  ['uiPrompts.toggle', (_args, { services }) => services.hub('toggle')],
]);
