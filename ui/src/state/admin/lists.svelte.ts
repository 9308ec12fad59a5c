// The lists the pages of agents work with; each is read again when the host says that it changed.

import type { AgentsApi } from '../../api/agents';
import type { ModelsApi } from '../../api/models';
import { shippedProfile, shippedSubagents } from '../shipped';
import type { EventFrame } from '../../protocol';
import type { Agent, LandConfig, Model, Secret, ServerUser, SubagentCatalogue, SystemPrompt } from '../../protocol/admin';
import { Resource } from '../resource.svelte';

/** The first word of an event's type says which list it is about. */
const TOPICS = {
  models: /^models?_/,
  secrets: /^secrets?_/,
  agents: /^agents?_/,
  land: /^land_configs?_/,
  prompts: /^system_prompts?_/,
  subagents: /^subagents?_/,
};

export class Lists {
  readonly models: Resource<Model[]>;
  readonly secrets: Resource<Secret[]>;
  readonly agents: Resource<Agent[]>;
  readonly land: Resource<LandConfig[]>;
  readonly prompts: Resource<SystemPrompt[]>;
  readonly subagents: Resource<SubagentCatalogue>;
  /** Who can use which server; follows from all the others. */
  readonly users: Resource<ServerUser[]>;

  constructor(agents: AgentsApi, models: ModelsApi) {
    this.models = new Resource(async () => (await models.list()).items);
    this.secrets = new Resource(async () => (await models.secrets()).items);
    this.agents = new Resource(async () => (await agents.agents()).items);
    this.land = new Resource(async () => (await agents.landConfigs()).items.map(shippedProfile));
    this.prompts = new Resource(async () => (await agents.prompts()).items);
    this.subagents = new Resource(async () => shippedSubagents(await agents.subagents()));
    this.users = new Resource(async () => (await agents.serverUsers()).items);
  }

  onEvent({ type }: EventFrame): void {
    for (const [name, pattern] of Object.entries(TOPICS) as [keyof typeof TOPICS, RegExp][]) {
      if (pattern.test(type)) void this[name].refresh();
    }
    // A model is usable or not by its key; an agent has problems or not by what it refers to.
    if (TOPICS.secrets.test(type)) void this.models.refresh();
    if (TOPICS.models.test(type) || TOPICS.land.test(type) || TOPICS.prompts.test(type)) void this.agents.refresh();
    // Who uses a land_config is said with it.
    if (TOPICS.agents.test(type)) void this.land.refresh();
    if (TOPICS.agents.test(type) || TOPICS.land.test(type)) void this.users.refresh();
  }

  async resync(): Promise<void> {
    await Promise.all([this.users.refresh(), ...Object.keys(TOPICS).map((name) => this[name as keyof typeof TOPICS].refresh())]);
  }

  clear(): void {
    for (const name of Object.keys(TOPICS)) this[name as keyof typeof TOPICS].clear();
    this.users.clear();
  }
}
