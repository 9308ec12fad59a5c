// The MCP servers the host knows, with their state as it changes, their tools, and tools that wait for a
// person's approval.

import type { ServerAction, ServersApi } from '../../api/servers';
import { shippedServer } from '../shipped';
import type { EventFrame } from '../../protocol';
import type { Server, ServerInput, ServerSignIn, ServerState, ServerTool, SignInStart, ToolPin } from '../../protocol/admin';
import { SvelteMap } from 'svelte/reactivity';
import { Resource } from '../resource.svelte';
import { asObject } from '../tools/fields';
import { waitingPins } from './pins';

/** What a server offers, and what of it was left out. */
export interface ServerTools {
  items: ServerTool[];
  problems?: string[];
}

/** A language server, as `list_lsp_servers` has it. */
export interface LanguageServer {
  id: string;
  command: string;
  file_extensions: string[];
  installed: boolean;
  running: boolean;
  version?: string;
  analysing?: string;
  install?: string;
}

export class Servers {
  readonly list: Resource<Server[]>;
  readonly languages: Resource<LanguageServer[]>;
  readonly pins: Resource<ToolPin[]>;
  readonly #api: ServersApi;
  readonly #tools = new Map<string, Resource<ServerTools>>();
  readonly #said = new SvelteMap<string, number>();

  constructor(api: ServersApi) {
    this.#api = api;
    this.list = new Resource(async () => (await api.list()).items.map(shippedServer));
    this.pins = new Resource(async () => (await api.pins()).items);
    this.languages = new Resource(async () => {
      const { isError, content, structuredContent } = await api.languages();
      // The list is a file of the person's too: what is wrong with it is said there.
      if (isError) throw new Error(content.map((block) => ('text' in block ? block.text : '')).join('\n'));
      const { data } = structuredContent as unknown as { data: { servers: LanguageServer[] } };
      return data.servers;
    });
  }

  get all(): Server[] {
    return this.list.data ?? [];
  }

  find(id: string): Server | null {
    return this.all.find((server) => server.id === id) ?? null;
  }

  /** Tools that wait for a person, by the identity of their server. */
  get waiting(): Map<string, ToolPin[]> {
    return waitingPins(this.pins.data ?? []);
  }

  /** Counts how often a server was told to have written something; changes when its log does. */
  said(id: string): number {
    return this.#said.get(id) ?? 0;
  }

  tools(id: string): Resource<ServerTools> {
    const known = this.#tools.get(id);
    if (known) return known;
    const made = new Resource(() => this.#api.tools(id));
    this.#tools.set(id, made);
    return made;
  }

  async add(input: ServerInput): Promise<Server> {
    const made = await this.#api.add(input);
    await this.list.load();
    return made;
  }

  async change(id: string, input: ServerInput): Promise<Server> {
    const changed = await this.#api.change(id, input);
    this.#keep(changed);
    void this.list.refresh();
    return changed;
  }

  async remove(id: string): Promise<void> {
    await this.#api.remove(id);
    if (this.list.data) this.list.put(this.all.filter((server) => server.id !== id));
    else void this.list.refresh();
    this.#tools.delete(id);
  }

  async act(id: string, action: ServerAction): Promise<void> {
    await this.#api.act(id, action);
    // What it offers is compared with what was approved when it is listed.
    if (action !== 'stop') await this.tools(id).load();
    await Promise.all([this.list.load(), this.pins.load()]);
  }

  /** Begins a sign-in; the person goes to the address it gives. */
  async signIn(id: string, issuer?: string): Promise<SignInStart> {
    try {
      return await this.#api.signIn(id, issuer);
    } finally {
      void this.list.refresh();
    }
  }

  /** Whether the other side confirmed the end. */
  async signOut(id: string): Promise<boolean> {
    const { revoked } = await this.#api.signOut(id);
    await this.list.load();
    return revoked;
  }

  async approve(identity: string, pins: ToolPin[]): Promise<void> {
    const shown = pins.map(({ tool, digest }) => ({ tool, digest }));
    await this.#api.approve(identity, shown);
    await Promise.all([this.pins.load(), ...[...this.#tools.values()].map((one) => one.refresh())]);
  }

  onEvent({ type, data }: EventFrame): void {
    const said = asObject(data);
    const id = typeof said?.['id'] === 'string' ? said['id'] : null;
    if (type === 'server_state') {
      const state = asObject(said?.['state']) as unknown as ServerState | null;
      const known = id === null ? null : this.find(id);
      const signIn = asObject(said?.['signIn']) as unknown as ServerSignIn | null;
      if (known && state) this.#keep({ ...known, state, ...(signIn ? { signIn } : {}) });
      else void this.list.refresh();
      // A server that has just come up may have other tools than before. The list may have told that it is up
      // already, so that says nothing about its tools.
      if (id !== null && state?.phase === 'ready') void this.#tools.get(id)?.refresh();
    } else if (type === 'server_log') {
      if (id !== null) this.#said.set(id, this.said(id) + 1);
    } else if (type === 'server_changed' || type === 'server_removed') {
      void this.list.refresh();
    } else if (type === 'tools_changed') {
      void this.list.refresh();
      void this.pins.refresh();
      // The event may name it by its identity.
      const known = this.all.find((server) => server.id === id || server.identity === id);
      if (known) void this.#tools.get(known.id)?.refresh();
    } else if (type === 'pins_changed') {
      void this.pins.refresh();
    }
  }

  async resync(): Promise<void> {
    await Promise.all([this.list.refresh(), this.pins.refresh(), ...[...this.#tools.values()].map((one) => one.refresh())]);
  }

  clear(): void {
    this.list.clear();
    this.languages.clear();
    this.pins.clear();
    this.#tools.clear();
  }

  #keep(server: Server): void {
    if (this.list.data) this.list.put(this.all.map((one) => (one.id === server.id ? shippedServer(server) : one)));
  }
}
