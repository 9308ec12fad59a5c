// A land_config while it is edited: every list there, and what it becomes when it is kept.

import type { Flow, FlowApp, FlowServer, LandConfig, LandConfigInput, Limits, Role, Server } from '../../protocol/admin';
import { decide } from './glob';
import { plain } from './plain';

export interface FlowDraft {
  mcpServers: FlowServer[];
  apps: FlowApp[];
  agentApps: 'none' | 'trusted';
  agentPrompts: 'listed' | 'any';
  prompts: { key: string; lang: 'auto' | 'zh' | 'en' }[];
}

export interface LandDraft {
  name: string;
  description: string;
  main: FlowDraft;
  sub: FlowDraft;
  /** As typed; empty: not limited here. */
  limits: Record<keyof Limits, string>;
}

export const LIMITS = ['maxPasses', 'maxSubDepth', 'maxTokens', 'maxCost'] as const;

function flowDraft(flow: Flow | undefined): FlowDraft {
  return {
    mcpServers: plain(flow?.mcpServers ?? []),
    apps: plain(flow?.apps ?? []),
    agentApps: flow?.agentApps ?? 'none',
    agentPrompts: flow?.agentPrompts ?? 'listed',
    prompts: (flow?.prompts ?? []).map(({ key, lang }) => ({ key, lang: lang ?? 'auto' })),
  };
}

export function landDraft(config: LandConfig | LandConfigInput | null): LandDraft {
  const text = (value: number | undefined | null) => (value === undefined || value === null ? '' : String(value));
  return {
    name: config?.name ?? '',
    description: config?.description ?? '',
    main: flowDraft(config?.main),
    sub: flowDraft(config?.sub),
    limits: {
      maxPasses: text(config?.limits?.maxPasses),
      maxSubDepth: text(config?.limits?.maxSubDepth),
      maxTokens: text(config?.limits?.maxTokens),
      maxCost: text(config?.limits?.maxCost),
    },
  };
}

const BOUNDS: Record<keyof Limits, { min: number; max: number; whole: boolean }> = {
  maxPasses: { min: 1, max: 500, whole: true },
  maxSubDepth: { min: 0, max: 1, whole: true },
  maxTokens: { min: 0, max: Number.MAX_SAFE_INTEGER, whole: true },
  maxCost: { min: 0, max: Number.MAX_SAFE_INTEGER, whole: false },
};

/** Limits that cannot be kept as typed. */
export function wrongLimits(draft: LandDraft): (keyof Limits)[] {
  return LIMITS.filter((key) => {
    const text = draft.limits[key].trim();
    if (text === '') return false;
    const value = Number(text);
    const { min, max, whole } = BOUNDS[key];
    return !Number.isFinite(value) || value < min || value > max || (whole && !Number.isInteger(value));
  });
}

export function landInput(draft: LandDraft): LandConfigInput {
  const limits: Limits = {};
  for (const key of LIMITS) {
    const text = draft.limits[key].trim();
    if (text !== '') limits[key] = Number(text);
  }
  return { name: draft.name.trim(), description: draft.description, main: flow(draft.main), sub: flow(draft.sub), limits };
}

function flow(draft: FlowDraft): Flow {
  return plain({
    mcpServers: draft.mcpServers.map((entry) => ({ ...entry, tools: filter(entry.tools) })),
    apps: draft.apps.map((entry) => ({ ...entry, tools: filter(entry.tools) })),
    agentApps: draft.agentApps,
    agentPrompts: draft.agentPrompts,
    prompts: draft.prompts,
  });
}

/** Empty lists say nothing, but for `allow`: an empty one allows nothing. */
function filter(tools: FlowServer['tools']): NonNullable<FlowServer['tools']> {
  return {
    ...(tools?.allow === undefined ? {} : { allow: tools.allow }),
    ...(tools?.deny?.length ? { deny: tools.deny } : {}),
    ...(tools?.ask?.length ? { ask: tools.ask } : {}),
  };
}

/** What an exported file holds: the document of agents §2, without what only this host says about it. */
export function exportText(config: LandConfig): string {
  const { id, name, description, main, sub, limits } = config;
  return `${JSON.stringify({ id, name, description, main, sub, limits }, null, 2)}\n`;
}

/** Reads such a file. The host checks the rest. */
export function readExport(text: string): LandConfigInput | null {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
    const ours = ['id', 'locked', 'builtin', 'usedBy', 'warnings'];
    const rest = Object.fromEntries(Object.entries(value).filter(([key]) => !ours.includes(key)));
    return typeof rest['name'] === 'string' ? (rest as unknown as LandConfigInput) : null;
  } catch {
    // Said where the text is.
    return null;
  }
}

export type Risk = 'shell' | 'write' | 'unasked_shell' | 'sampling' | 'router_in_sub';

/** Built-in servers that change files or run programs; ids are fixed (servers.md §1). */
const WRITERS = ['code_writer', 'code_maintainer'];

/** What a person should know before keeping it: each risk once, with the servers and roles it is about. */
export function risks(draft: LandDraft, servers: Server[]): { risk: Risk; roles: Role[]; servers: string[] }[] {
  const found: { role: Role; risk: Risk; server: string }[] = [];
  for (const role of ['main', 'sub'] as const) {
    for (const entry of draft[role].mcpServers) {
      const server = servers.find((one) => one.id === entry.id);
      const builtin = server?.source === 'builtin' ? server.name : null;
      const name = server?.name ?? entry.name ?? entry.id;
      if (builtin === 'shell_tasks') {
        found.push({ role, risk: decide(entry.tools, 'run_shell_command') === 'allow' ? 'unasked_shell' : 'shell', server: name });
      }
      if (builtin !== null && WRITERS.includes(builtin)) found.push({ role, risk: 'write', server: name });
      if (builtin === 'subagent_router' && role === 'sub') found.push({ role, risk: 'router_in_sub', server: name });
      if (entry.sampling) found.push({ role, risk: 'sampling', server: name });
    }
    for (const entry of draft[role].apps) {
      if (entry.sampling) found.push({ role, risk: 'sampling', server: entry.name ?? `${entry.pluginId}/${entry.appId}` });
    }
  }
  // The same in chats and as subagent is one line, and so are servers of which the same is to be said.
  const told: { risk: Risk; roles: Role[]; servers: string[] }[] = [];
  for (const { risk, server } of found) {
    const roles = (['main', 'sub'] as const).filter((role) => found.some((one) => one.role === role && one.risk === risk && one.server === server));
    const same = told.find((one) => one.risk === risk && one.roles.join() === roles.join());
    if (!same) told.push({ risk, roles, servers: [server] });
    else if (!same.servers.includes(server)) same.servers.push(server);
  }
  return told;
}
