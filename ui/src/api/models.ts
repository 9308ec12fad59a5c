// The routes of models, secrets and usage.

import type { FoundModel, Model, ModelInput, ModelTest, OfferedModels, Preset, Recognised, Secret, UsageBy, UsageRow } from '../protocol/admin';
import type { Http } from './http';

const V1 = '/api/v1';
/** One call to a model that may have to be loaded from disk first. */
const TEST_TIMEOUT_MS = 120_000;
/** A list of a vendor far away. */
const LIST_TIMEOUT_MS = 30_000;

export class ModelsApi {
  constructor(private readonly http: Http) {}

  list(): Promise<{ items: Model[] }> {
    return this.http.get(`${V1}/models`);
  }

  /** With a key: it is sealed under `apiKeyName`, and not at all when the model is refused. */
  add(input: ModelInput, apiKey = ''): Promise<Model> {
    return this.http.post(`${V1}/models`, apiKey === '' ? input : { ...input, apiKey });
  }

  presets(): Promise<{ items: Preset[] }> {
    return this.http.get(`${V1}/models/presets`);
  }

  change(id: string, input: ModelInput): Promise<Model> {
    return this.http.put(path(id), input);
  }

  remove(id: string): Promise<unknown> {
    return this.http.delete(path(id));
  }

  makeDefault(id: string): Promise<unknown> {
    return this.http.post(`${path(id)}/default`, {});
  }

  test(id: string): Promise<ModelTest> {
    return this.http.post(`${path(id)}/test`, {}, { timeoutMs: TEST_TIMEOUT_MS });
  }

  /** Tries a model that is not kept yet, with a key that is not kept yet. */
  tryOut(input: ModelInput, apiKey: string): Promise<ModelTest> {
    const body = apiKey === '' ? input : { ...input, apiKey };
    return this.http.post(`${V1}/models/test`, body, { timeoutMs: TEST_TIMEOUT_MS });
  }

  /** Chat models of a vendor or server, by its own list; the key is not kept. */
  offered(input: ModelInput, apiKey: string): Promise<OfferedModels> {
    return this.http.post(`${V1}/models/offered`, apiKey === '' ? input : { ...input, apiKey }, { timeoutMs: LIST_TIMEOUT_MS });
  }

  /** Asks the vendors what they say about the models now. */
  refresh(): Promise<unknown> {
    return this.http.post(`${V1}/models/refresh`, {}, { timeoutMs: LIST_TIMEOUT_MS });
  }

  /** Forgets what a person said about the facts of a model. */
  reset(id: string): Promise<Model> {
    return this.http.post(`${path(id)}/reset`, {}, { timeoutMs: LIST_TIMEOUT_MS });
  }

  detect(): Promise<{ found: FoundModel[] }> {
    return this.http.post(`${V1}/models/detect`, {});
  }

  recognise(text: string): Promise<Recognised> {
    return this.http.post(`${V1}/models/recognise`, { text });
  }

  secrets(): Promise<{ items: Secret[] }> {
    return this.http.get(`${V1}/secrets`);
  }

  setSecret(name: string, value: string, description?: string): Promise<{ created: boolean }> {
    const body = description === undefined ? { value } : { value, description };
    return this.http.put(`${V1}/secrets/${encodeURIComponent(name)}`, body);
  }

  removeSecret(name: string): Promise<unknown> {
    return this.http.delete(`${V1}/secrets/${encodeURIComponent(name)}`);
  }

  usage(by: UsageBy, since: string | null): Promise<{ items: UsageRow[] }> {
    return this.http.get(`${V1}/usage`, { query: { by, since } });
  }
}

function path(id: string): string {
  return `${V1}/models/${encodeURIComponent(id)}`;
}
