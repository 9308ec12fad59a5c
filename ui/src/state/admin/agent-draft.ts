// An agent while it is edited, and what saving it would clear.

import type { Agent, AgentInput, Explanation, ExplainedServer, UiApp } from '../../protocol/admin';
import { plain } from './plain';

/** New agents are custom, bounded by Safe default, with nothing chosen and the default model (agents §3). */
export function emptyAgent(): AgentInput {
  return {
    name: '',
    description: '',
    mode: 'custom',
    landConfigId: '',
    modelId: null,
    prompt: '',
    workspaceRoot: '',
    promptLang: 'auto',
    promptIds: [],
    mcpServerIds: null,
    subagentIds: null,
    skills: [],
    uiApps: [],
  };
}

export function agentInput(agent: Agent | AgentInput): AgentInput {
  const empty = emptyAgent();
  const given = agent as unknown as Record<string, unknown>;
  const keys = Object.keys(empty) as (keyof AgentInput)[];
  const input = Object.fromEntries(keys.map((key) => [key, given[key] ?? empty[key]])) as unknown as AgentInput;
  return plain(input);
}

export function newUiApp(pluginId: string, appId: string): UiApp {
  return { pluginId, appId, mcp: true, prompt: true, promptLang: 'auto', mcpServerIds: [], promptIds: [] };
}

/** What only counts in custom mode. */
export type Clearable = 'prompt' | 'promptIds' | 'mcpServerIds' | 'subagentIds' | 'skills' | 'uiApps';

/** What saving as a flow agent would clear (agents §3). */
export function clearedByFlow(agent: AgentInput): Clearable[] {
  const cleared: Clearable[] = [];
  if (agent.prompt.trim() !== '') cleared.push('prompt');
  if (agent.promptIds.length > 0) cleared.push('promptIds');
  if (agent.mcpServerIds !== null) cleared.push('mcpServerIds');
  if (agent.subagentIds !== null) cleared.push('subagentIds');
  if (agent.skills.length > 0) cleared.push('skills');
  if (agent.uiApps.length > 0) cleared.push('uiApps');
  return cleared;
}

/** As it would be kept: a flow agent has nothing of its own. */
export function asSaved(agent: AgentInput): AgentInput {
  const trimmed = { ...plain(agent), name: agent.name.trim(), workspaceRoot: agent.workspaceRoot.trim() };
  if (agent.mode === 'custom') return trimmed;
  const { prompt, promptIds, mcpServerIds, subagentIds, skills, uiApps } = emptyAgent();
  return { ...trimmed, prompt, promptIds, mcpServerIds, subagentIds, skills, uiApps };
}

/** What grants are decided from: the rest may still be half typed. */
export function forPreview(agent: AgentInput, name: string): AgentInput {
  return { ...asSaved(agent), name, description: '', workspaceRoot: '' };
}

export function sameAgent(a: AgentInput, b: AgentInput): boolean {
  return JSON.stringify(agentInput(a)) === JSON.stringify(agentInput(b));
}

/** Servers and tools that match every word of a question such as “write file”. A server that matches keeps
    all its tools; otherwise only those that match. */
export function search(explanation: Explanation, text: string): ExplainedServer[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return explanation.servers;
  const fits = (...parts: (string | null | undefined)[]) => words.every((word) => parts.some((part) => part?.toLowerCase().includes(word)));
  return explanation.servers.flatMap((server) => {
    if (fits(server.name, server.identity ?? '')) return [server];
    const tools = (server.tools ?? []).filter((tool) => fits(server.name, tool.tool, tool.message));
    return tools.length > 0 ? [{ ...server, tools }] : fits(server.name, server.message) ? [{ ...server, tools: [] }] : [];
  });
}

export function counts(explanation: Explanation): { servers: number; granted: number; tools: number; ask: number } {
  const granted = explanation.servers.filter((server) => server.granted);
  const tools = granted.flatMap((server) => server.tools ?? []).filter((tool) => tool.granted);
  return { servers: explanation.servers.length, granted: granted.length, tools: tools.length, ask: tools.filter((tool) => tool.ask).length };
}
