// A model while it is filled in: presets of vendors, the fields as text, and what they become.

import type { Model, ModelInput, Recognised } from '../../protocol/admin';

export interface Preset {
  id: string;
  name: string;
  provider: string;
  baseUrl: string;
  apiKeyName: string;
  /** A model of theirs, as an example. */
  example: string;
}

/** Addresses of the vendors (agents §1.2). A preset fills the form in; nothing is asked of anybody. */
export const PRESETS: Preset[] = [
  { id: 'openai', name: 'OpenAI', provider: 'openai', baseUrl: 'https://api.openai.com/v1', apiKeyName: 'OPENAI_API_KEY', example: 'gpt-5' },
  { id: 'anthropic', name: 'Anthropic', provider: 'anthropic', baseUrl: 'https://api.anthropic.com', apiKeyName: 'ANTHROPIC_API_KEY', example: 'claude-sonnet-4-5' },
  { id: 'gemini', name: 'Gemini', provider: 'gemini', baseUrl: 'https://generativelanguage.googleapis.com/v1beta', apiKeyName: 'GEMINI_API_KEY', example: 'gemini-2.5-pro' },
  { id: 'deepseek', name: 'DeepSeek', provider: 'openai', baseUrl: 'https://api.deepseek.com/v1', apiKeyName: 'DEEPSEEK_API_KEY', example: 'deepseek-chat' },
  { id: 'qwen', name: 'Qwen', provider: 'openai', baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1', apiKeyName: 'DASHSCOPE_API_KEY', example: 'qwen-plus' },
  { id: 'kimi', name: 'Kimi', provider: 'openai', baseUrl: 'https://api.moonshot.cn/v1', apiKeyName: 'MOONSHOT_API_KEY', example: 'kimi-k2-0905-preview' },
  { id: 'glm', name: 'GLM', provider: 'openai', baseUrl: 'https://open.bigmodel.cn/api/paas/v4', apiKeyName: 'ZHIPU_API_KEY', example: 'glm-4.6' },
  { id: 'openrouter', name: 'OpenRouter', provider: 'openai', baseUrl: 'https://openrouter.ai/api/v1', apiKeyName: 'OPENROUTER_API_KEY', example: 'vendor/model' },
  { id: 'ollama', name: 'Ollama', provider: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', apiKeyName: '', example: 'qwen3:8b' },
  { id: 'lmstudio', name: 'LM Studio', provider: 'lmstudio', baseUrl: 'http://127.0.0.1:1234/v1', apiKeyName: '', example: 'local-model' },
];

export const PROVIDERS = ['openai', 'anthropic', 'gemini', 'ollama', 'lmstudio'] as const;
export const EFFORTS = ['', 'minimal', 'low', 'medium', 'high'] as const;

export function emptyModel(): ModelInput {
  return {
    name: '',
    provider: 'openai',
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

/** The form for what was recognised, with the first model chosen. */
export function fromRecognised(found: Recognised, taken: string[]): ModelInput {
  const preset = PRESETS.find((one) => one.provider === found.provider && sameHost(one.baseUrl, found.baseUrl));
  const model = found.models?.[0] ?? '';
  const name = model || preset?.name || hostOf(found.baseUrl) || found.provider;
  return { ...emptyModel(), provider: found.provider, baseUrl: found.baseUrl, apiKeyName: found.apiKeyName ?? '', model, name: freeName(name, taken) };
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

function sameHost(a: string, b: string): boolean {
  return hostOf(a) !== '' && hostOf(a) === hostOf(b);
}
