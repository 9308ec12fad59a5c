// `host.chat.*`: agents, sessions, messages (host-api §6.4). Who may abort or change what is decided by the
// server, which knows the app by the header of each call.

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
}

const AGENT_KEYS = [
  'name', 'description', 'mode', 'landConfigId', 'modelId', 'prompt', 'workspaceRoot', 'promptLang', 'promptIds', 'mcpServerIds',
  'subagentIds', 'skills', 'uiApps',
];
const APP_AGENT_KEYS = ['name', 'description', 'prompt', 'modelId', 'promptIds', 'subagentIds', 'skills', 'mcpServerIds'];
const SESSION_KEYS = ['id', 'title', 'agentId', 'workspaceRoot', 'createdAt', 'updatedAt'];
const MOST_IMAGES = 4;
const IMAGE = /^data:(image\/[a-z0-9.+-]+)(?:;[a-z0-9=.+-]+)*(?:;base64)?,/i;
/** Lists are read whole, but not without end. */
const MOST_PAGES = 50;

/** A whole list: as the app may see it, or as the page itself when a member only needs to choose from it. */
async function all(path: string, { app, services }: Asker, signal: AbortSignal, as: 'app' | 'page' = 'page'): Promise<Stored[]> {
  const items: Stored[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const options = { query: { cursor }, signal };
    const answer = await (as === 'app' ? services.request<Page<Stored>>(app, 'GET', path, options) : services.own<Page<Stored>>('GET', path, options));
    items.push(...answer.items);
    if (!answer.nextCursor) break;
    cursor = answer.nextCursor;
  }
  return items;
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

async function ensureAgent(asker: Asker, signal: AbortSignal): Promise<Stored> {
  const [newest] = newestFirst(await all('agents', asker, signal));
  if (newest) return newest;
  const models = await asker.services.own<Page<Fields>>('GET', 'models', { signal });
  if (models.items.length === 0) throw new HostError('unavailable', 'No models configured');
  return createAgent(asker, { name: 'ChatOS' }, signal);
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
  const given = pick(optionalObject(payload, 'payload'), APP_AGENT_KEYS);
  const { pluginId, appId } = asker.app;
  // The model comes from the default agent, as long as there is one.
  const [standard] = newestFirst(await all('agents', asker, signal));
  const agent = await createAgent(
    asker,
    {
      ...(standard?.modelId ? { modelId: standard.modelId } : {}),
      ...given,
      name: typeof given['name'] === 'string' && given['name'].trim() !== '' ? given['name'] : `${asker.appName} Agent`,
      uiApps: [{ pluginId, appId, mcp: true, prompt: true }],
    },
    signal,
  );
  return { ok: true, agent, ...((await needsGrant(asker, agent.id, signal)) ? { needsGrant: true } : {}) };
};

async function createSession(asker: Asker, payload: unknown, signal: AbortSignal): Promise<Fields> {
  const given = pick(optionalObject(payload, 'payload'), ['title', 'agentId', 'workspaceRoot']);
  const agentId = optionalText(given, 'agentId') ?? (await ensureAgent(asker, signal)).id;
  return session(await asker.services.request<Fields>(asker.app, 'POST', 'sessions', { body: { ...given, agentId }, signal }));
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
  ['chat.agents.list', async (_args, asker, signal) => ({ ok: true, agents: newestFirst(await all('agents', asker, signal, 'app')) })],
  ['chat.agents.ensureDefault', async (_args, asker, signal) => ({ ok: true, agent: await ensureAgent(asker, signal) })],
  [
    'chat.agents.create',
    async ([payload], asker, signal) => ({ ok: true, agent: await createAgent(asker, pick(needObject(payload, 'agent'), AGENT_KEYS), signal) }),
  ],
  [
    'chat.agents.update',
    async ([id, patch], { app, services }, signal) => {
      const path = `agents/${encodeURIComponent(needText(id, 'id'))}`;
      const changes = pick(needObject(patch, 'patch'), AGENT_KEYS);
      const before = await services.own<Fields>('GET', path, { signal });
      const body = { ...pick(before, AGENT_KEYS), ...changes };
      return { ok: true, agent: await services.request<Stored>(app, 'PUT', path, { body, signal }) };
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
      const sessions = await all('sessions', asker, signal, 'app');
      return { ok: true, sessions: sessions.map((record) => ({ ...session(record), running: record['running'] === true })) };
    },
  ],
  [
    'chat.sessions.ensureDefault',
    async ([payload], asker, signal) => {
      const given = optionalObject(payload, 'payload');
      const agentId = optionalText(given, 'agentId');
      const known = newestFirst(await all('sessions', asker, signal)).find((record) => agentId === undefined || record.agentId === agentId);
      return { ok: true, session: known ? session(known) : await createSession(asker, given, signal) };
    },
  ],
  ['chat.sessions.create', async ([payload], asker, signal) => ({ ok: true, session: await createSession(asker, payload, signal) })],
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
