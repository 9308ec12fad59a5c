// `host.chat.*`: agents, sessions, messages (host-api §6.4). What of them an app reaches is decided by the server,
// which knows the app by the header of each call; an app without further rights has what its plugin made.

import { HostError } from '../../frame/wire';
import { type Fields, needObject, needText, optionalInteger, optionalObject, optionalText, pick, refuse } from '../check';
import { toHostError } from '../failure';
import type { Asker, Call } from '../methods';

interface Page<T> {
  items: T[];
  nextCursor?: string | null;
}

interface Stored extends Fields {
  id: string;
  updatedAt?: string;
  modelId?: string | null;
  agentId?: string;
  /** The plugin whose app made it. */
  madeBy?: string;
  pendingRoot?: string;
}

const AGENT_KEYS = [
  'name', 'description', 'mode', 'landConfigId', 'modelId', 'prompt', 'workspaceRoot', 'promptLang', 'promptIds', 'mcpServerIds',
  'subagentIds', 'skills', 'uiApps',
];
const APP_AGENT_KEYS = ['name', 'description', 'prompt', 'modelId', 'promptIds', 'subagentIds', 'skills', 'mcpServerIds'];
const SESSION_KEYS = ['id', 'title', 'agentId', 'workspaceRoot', 'createdAt', 'updatedAt'];
/** The agent every installation begins with. */
const DEFAULT_AGENT = 'agent_default';
const MOST_IMAGES = 4;
const IMAGE = /^data:(image\/[a-z0-9.+-]+)(?:;[a-z0-9=.+-]+)*(?:;base64)?,/i;
/** Lists are read whole, but not without end. */
const MOST_PAGES = 50;

/** A whole list, as the server lets the app see it. */
async function all(path: string, { app, services }: Asker, signal: AbortSignal): Promise<Stored[]> {
  const items: Stored[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await services.request<Page<Stored>>(app, 'GET', path, { query: { cursor }, signal });
    items.push(...answer.items);
    if (!answer.nextCursor) break;
    cursor = answer.nextCursor;
  }
  return items;
}

/** Those of them that this plugin made, the newest change first. */
async function own(path: string, asker: Asker, signal: AbortSignal): Promise<Stored[]> {
  const made = (await all(path, asker, signal)).filter(({ madeBy }) => madeBy === asker.app.pluginId);
  return newestFirst(made);
}

/** The question about a folder the app wished for, beside what was made. */
function pending({ pendingRoot }: Stored): { pendingRoot?: string } {
  return typeof pendingRoot === 'string' ? { pendingRoot } : {};
}

/** Newest change first; records without a time keep their place at the end. */
function newestFirst(items: Stored[]): Stored[] {
  return [...items].sort((a, b) => (b.updatedAt ?? '').localeCompare(a.updatedAt ?? ''));
}

function session(record: Fields): Fields {
  return pick(record, SESSION_KEYS);
}

async function createAgent(asker: Asker, fields: Fields, signal: AbortSignal): Promise<Stored> {
  return asker.services.request<Stored>(asker.app, 'POST', 'agents', { body: fields, signal });
}

/** The app's own agent: the newest, or a first one with the app's name. */
async function ensureAgent(asker: Asker, signal: AbortSignal): Promise<Stored> {
  const [newest] = await own('agents', asker, signal);
  if (newest) return newest;
  const models = await asker.services.own<Page<Fields>>('GET', 'models', { signal });
  if (models.items.length === 0) throw new HostError('unavailable', 'No models configured');
  return agentForApp(asker, { name: asker.appName }, signal);
}

async function agentForApp(asker: Asker, given: Fields, signal: AbortSignal): Promise<Stored> {
  const { pluginId, appId } = asker.app;
  // The model comes from the default agent, as long as there is one.
  const { items } = await asker.services.own<Page<Stored>>('GET', 'agents', { signal });
  const standard = items.find(({ id }) => id === DEFAULT_AGENT) ?? items[0];
  return createAgent(
    asker,
    {
      ...(standard?.modelId ? { modelId: standard.modelId } : {}),
      ...given,
      name: typeof given['name'] === 'string' && given['name'].trim() !== '' ? given['name'] : `${asker.appName} Agent`,
      uiApps: [{ pluginId, appId, mcp: true, prompt: true }],
    },
    signal,
  );
}

/** True when the land_config of the agent does not let it use this app's server. */
async function needsGrant(asker: Asker, agentId: string, signal: AbortSignal): Promise<boolean> {
  const { app, services } = asker;
  const identity = `app:${app.pluginId}/${app.appId}`;
  const explained = await services.own<{ servers?: { identity: string; granted: boolean; code?: string }[] }>(
    'GET', `agents/${encodeURIComponent(agentId)}/explain`, { query: { role: 'main' }, signal },
  );
  return explained.servers?.some((server) => server.identity === identity && !server.granted && server.code === 'not_in_land_config') ?? false;
}

const createForApp: Call = async ([payload], asker, signal) => {
  const agent = await agentForApp(asker, pick(optionalObject(payload, 'payload'), APP_AGENT_KEYS), signal);
  return { ok: true, agent, ...((await needsGrant(asker, agent.id, signal)) ? { needsGrant: true } : {}) };
};

async function createSession(asker: Asker, payload: unknown, signal: AbortSignal): Promise<Fields> {
  const given = pick(optionalObject(payload, 'payload'), ['title', 'agentId', 'workspaceRoot']);
  const agentId = optionalText(given, 'agentId') ?? (await ensureAgent(asker, signal)).id;
  const made = await asker.services.request<Stored>(asker.app, 'POST', 'sessions', { body: { ...given, agentId }, signal });
  return { ok: true, session: session(made), ...pending(made) };
}

function images(given: Fields): { name: string; mime: string; dataUrl: string }[] {
  const list = given['attachments'] ?? given['images'] ?? [];
  if (!Array.isArray(list)) refuse('attachments must be a list');
  if (list.length > MOST_IMAGES) refuse(`at most ${MOST_IMAGES} images can be sent`);
  return list.map((item: unknown, index) => {
    const fields: Fields = typeof item === 'string' ? { dataUrl: item } : needObject(item, `attachments[${index}]`);
    const dataUrl = fields['dataUrl'] ?? fields['url'];
    const mime = typeof dataUrl === 'string' ? IMAGE.exec(dataUrl)?.[1] : undefined;
    if (!mime) refuse(`attachments[${index}] must be a data:image/… address`);
    const name = typeof fields['name'] === 'string' && fields['name'] !== '' ? fields['name'] : `image-${index + 1}`;
    return { name, mime: mime.toLowerCase(), dataUrl: dataUrl as string };
  });
}

const send: Call = async ([payload], { app, services, work }, signal) => {
  const given = needObject(payload, 'payload');
  const sessionId = needText(given['sessionId'], 'sessionId');
  const attachments = images(given);
  const text = optionalText(given, 'text') ?? optionalText(given, 'content') ?? '';
  if (text.trim() === '' && attachments.length === 0) refuse('text is required');
  const agentId = optionalText(given, 'agentId');
  const body = { text, ...(attachments.length > 0 ? { attachments } : {}), ...(agentId === undefined ? {} : { agentId }) };
  const answer = await services
    .request<{ userMessageId: string; assistantMessageId: string }>(app, 'POST', `sessions/${encodeURIComponent(sessionId)}/send`, { body, signal })
    .catch((thrown: unknown) => {
      const error = toHostError(thrown);
      // host-api §6.4: a model that does not see is no mistake in the arguments.
      const blind = (error.data as { reason?: unknown } | undefined)?.reason === 'no_vision';
      throw blind ? new HostError('not_supported', error.message, error.data) : error;
    });
  work.runStarted(sessionId);
  return { ok: true, userMessageId: answer.userMessageId, assistantMessageId: answer.assistantMessageId };
};

export const chatMethods: [string, Call][] = [
  ['chat.agents.list', async (_args, asker, signal) => ({ ok: true, agents: newestFirst(await all('agents', asker, signal)) })],
  ['chat.agents.ensureDefault', async (_args, asker, signal) => ({ ok: true, agent: await ensureAgent(asker, signal) })],
  [
    'chat.agents.create',
    async ([payload], asker, signal) => {
      const { pendingRoot, ...agent } = await createAgent(asker, pick(needObject(payload, 'agent'), AGENT_KEYS), signal);
      return { ok: true, agent, ...pending({ ...agent, pendingRoot } as Stored) };
    },
  ],
  [
    'chat.agents.update',
    async ([id, patch], { app, services }, signal) => {
      const path = `agents/${encodeURIComponent(needText(id, 'id'))}`;
      const body = pick(needObject(patch, 'patch'), AGENT_KEYS);
      const { pendingRoot, ...agent } = await services.request<Stored>(app, 'PUT', path, { body, signal });
      return { ok: true, agent, ...pending({ ...agent, pendingRoot } as Stored) };
    },
  ],
  [
    'chat.agents.delete',
    async ([id], { app, services }, signal) => {
      await services.request(app, 'DELETE', `agents/${encodeURIComponent(needText(id, 'id'))}`, { signal });
      return { ok: true, removed: true };
    },
  ],
  ['chat.agents.createForApp', createForApp],
  [
    'chat.sessions.list',
    async (_args, asker, signal) => {
      const sessions = await all('sessions', asker, signal);
      return { ok: true, sessions: sessions.map((record) => ({ ...session(record), running: record['running'] === true })) };
    },
  ],
  [
    'chat.sessions.ensureDefault',
    async ([payload], asker, signal) => {
      const given = optionalObject(payload, 'payload');
      const agentId = optionalText(given, 'agentId');
      const known = (await own('sessions', asker, signal)).find((record) => agentId === undefined || record.agentId === agentId);
      return known ? { ok: true, session: session(known) } : createSession(asker, { title: asker.appName, ...given }, signal);
    },
  ],
  ['chat.sessions.create', ([payload], asker, signal) => createSession(asker, payload, signal)],
  [
    'chat.messages.list',
    async ([payload], { app, services }, signal) => {
      const given = needObject(payload, 'payload');
      const sessionId = needText(given['sessionId'], 'sessionId');
      const query = { limit: optionalInteger(given, 'limit', 1, 1_000) ?? 200, beforeId: optionalText(given, 'beforeId') };
      const answer = await services.request<{ messages: unknown[]; hasMore: boolean }>(
        app, 'GET', `sessions/${encodeURIComponent(sessionId)}/messages`, { query, signal },
      );
      return { ok: true, messages: answer.messages, hasMore: answer.hasMore };
    },
  ],
  ['chat.send', send],
  [
    'chat.abort',
    async ([payload], { app, services }, signal) => {
      const sessionId = needText(needObject(payload, 'payload')['sessionId'], 'sessionId');
      try {
        await services.request(app, 'POST', `sessions/${encodeURIComponent(sessionId)}/abort`, { body: {}, signal });
      } catch (thrown) {
        const error = toHostError(thrown);
        throw error.code === 'not_found' && !/session/i.test(error.message) ? new HostError('not_found', 'no active run', error.data) : error;
      }
      return { ok: true };
    },
  ],
];
