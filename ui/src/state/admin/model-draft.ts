// A model while it is filled in, and what it becomes.

import type { Model, ModelInput } from '../../protocol/admin';

export const PROVIDERS = ['openai_compatible', 'openai', 'openai_responses', 'anthropic', 'gemini', 'ollama', 'lmstudio'] as const;
export const EFFORTS = ['', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export function emptyModel(): ModelInput {
  return {
    name: '',
    provider: 'openai_compatible',
    model: '',
    baseUrl: '',
    apiKeyName: '',
    description: '',
    enabled: true,
    contextTokens: 0,
    maxOutputTokens: 0,
    temperature: null,
    reasoningEffort: '',
    supportsVision: false,
    supportsReasoning: false,
    supportsTools: true,
    supportsParallelTools: false,
    toolFollowup: 'auto',
    extraHeaders: {},
    extraBody: {},
    priceInput: null,
    priceOutput: null,
    priceCacheRead: null,
    priceCacheWrite: null,
    currency: '',
  };
}

/** Only what may be sent back. */
export function modelInput(model: Model | ModelInput): ModelInput {
  const empty = emptyModel();
  const keys = Object.keys(empty) as (keyof ModelInput)[];
  const given = model as unknown as Record<string, unknown>;
  return Object.fromEntries(keys.map((key) => [key, given[key] ?? empty[key]])) as unknown as ModelInput;
}

/** A name nobody has yet; names of models are unique whatever their case. */
export function freeName(wanted: string, taken: string[]): string {
  const used = new Set(taken.map((name) => name.toLowerCase()));
  if (!used.has(wanted.toLowerCase())) return wanted;
  let n = 2;
  while (used.has(`${wanted} ${n}`.toLowerCase())) n += 1;
  return `${wanted} ${n}`;
}

/** A name that may hold a secret (state §3.2), made of anything. */
export function secretName(wanted: string): string {
  const name = wanted.toUpperCase().replaceAll(/[^A-Z0-9_]+/g, '_').replaceAll(/^_+|_+$/g, '');
  return name === '' ? 'MODEL_API_KEY' : /^\d/.test(name) ? `KEY_${name}` : name;
}

export function isSecretName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

/** Whether a pasted text is an address; everything else is taken for a key. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text.trim()) || /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/i.test(text.trim());
}

/** The form for a vendor or for what was recognized, with the first model chosen. */
export function fromVendor(vendor: { provider: string; name: string; baseUrl: string; apiKeyName: string; models: string[] }, taken: string[]): ModelInput {
  const { provider, baseUrl, apiKeyName, models } = vendor;
  const model = models[0] ?? '';
  const name = model || vendor.name || hostOf(baseUrl) || provider;
  return { ...emptyModel(), provider, baseUrl, apiKeyName, model, name: freeName(name, taken) };
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}
