// `host.admin.*`: what the person configured, without a digit of any secret (host-api §6.2).

import type { Call } from '../methods';

interface Page<T> {
  items: T[];
}

const MASK = '********';

/** Only what describes a model; whatever else the host keeps of it stays there. */
const MODEL_KEYS = [
  'id', 'name', 'provider', 'model', 'description', 'isDefault', 'supportsVision', 'supportsReasoning', 'supportsTools',
  'contextWindow', 'maxOutputTokens', 'source', 'usable',
];

function model(entry: Record<string, unknown>): Record<string, unknown> {
  const known = Object.fromEntries(MODEL_KEYS.filter((key) => key in entry).map((key) => [key, entry[key]]));
  return { description: '', isDefault: false, supportsVision: false, supportsReasoning: false, ...known };
}

function secret(entry: Record<string, unknown>): Record<string, unknown> {
  const { id, name, description } = entry;
  return { id: id ?? name, name, description: description ?? '', value: MASK, hasValue: entry['hasValue'] ?? true };
}

export const adminMethods: [string, Call][] = [
  ['admin.state', (_args, { app, services }, signal) => services.request(app, 'GET', 'admin/state', { signal })],
  [
    'admin.models.list',
    async (_args, { app, services }, signal) => {
      const { items } = await services.request<Page<Record<string, unknown>>>(app, 'GET', 'models', { signal });
      return items.map(model);
    },
  ],
  [
    'admin.secrets.list',
    async (_args, { app, services }, signal) => {
      const { items } = await services.request<Page<Record<string, unknown>>>(app, 'GET', 'secrets', { signal });
      return items.map(secret);
    },
  ],
];
