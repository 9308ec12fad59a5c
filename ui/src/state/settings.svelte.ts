// All settings of the host, kept up to date by `settings_changed`.

import type { Client } from '../api/client';
import type { EventFrame, JsonValue, Setting } from '../protocol';
import { Resource } from './resource.svelte';

export class Settings {
  readonly list: Resource<Setting[]>;
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
    this.list = new Resource(async () => (await client.settings()).items);
  }

  /** The effective value, when it has been read. */
  value(key: string): JsonValue | undefined {
    return this.list.data?.find((setting) => setting.key === key)?.value;
  }

  async put(key: string, value: JsonValue): Promise<Setting> {
    return this.#keep(await this.#client.putSetting(key, value));
  }

  async reset(key: string): Promise<Setting> {
    return this.#keep(await this.#client.resetSetting(key));
  }

  onEvent(frame: EventFrame): void {
    if (frame.type === 'settings_changed') void this.list.refresh();
  }

  clear(): void {
    this.list.clear();
  }

  #keep(setting: Setting): Setting {
    const items = this.list.data;
    // Not read yet: one setting is no list, and the page on its way may be older.
    if (items) this.list.put(items.map((item) => (item.key === setting.key ? setting : item)));
    else void this.list.refresh();
    return setting;
  }
}

/** True when the setting's label, key, description or value in any language contains every word. */
export function matchesSetting(setting: Setting, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const { label, description } = setting;
  const haystack = [setting.key, label.zh, label.en, description.zh, description.en, setting.section, JSON.stringify(setting.value)]
    .join('\n')
    .toLowerCase();
  return words.every((word) => haystack.includes(word));
}

/** Groups in the order in which the host lists them. */
export function groupBySection(settings: Setting[]): { section: string; items: Setting[] }[] {
  const groups = new Map<string, Setting[]>();
  for (const setting of settings) {
    const group = groups.get(setting.section);
    if (group) group.push(setting);
    else groups.set(setting.section, [setting]);
  }
  return [...groups].map(([section, items]) => ({ section, items }));
}
