// The routes of agents, land_configs, system prompts and subagents.

import type {
  AcpFound,
  AcpInput,
  Agent,
  AgentInput,
  ClientDetail,
  ClientSession,
  Explanation,
  GiveInput,
  Given,
  LandConfig,
  LandConfigInput,
  Role,
  ServerUser,
  SubagentCatalogue,
  SubagentImport,
  SystemPrompt,
  SystemPromptInput,
} from '../protocol/admin';
import type { Http } from './http';

const V1 = '/api/v1';

export class AgentsApi {
  constructor(private readonly http: Http) {}

  agents(): Promise<{ items: Agent[] }> {
    return this.http.get(`${V1}/agents`);
  }

  addAgent(input: AgentInput): Promise<Agent> {
    return this.http.post(`${V1}/agents`, input);
  }

  /** Programs of other makers on this machine; nothing is started to find out. */
  detected(): Promise<{ items: AcpFound[] }> {
    return this.http.get(`${V1}/acp/detect`);
  }

  addOther(input: AcpInput): Promise<Agent> {
    return this.http.post(`${V1}/acp/agents`, input);
  }

  /** Sessions of other programs that ask or call through this host. */
  programs(): Promise<{ sessions: ClientSession[] }> {
    return this.http.get(`${V1}/clients`);
  }

  program(id: string): Promise<ClientDetail> {
    return this.http.get(at('clients', id));
  }

  forgetProgram(id: string): Promise<unknown> {
    return this.http.post(`${V1}/clients/forget`, { id });
  }

  changeAgent(id: string, input: AgentInput): Promise<Agent> {
    return this.http.put(at('agents', id), input);
  }

  removeAgent(id: string): Promise<unknown> {
    return this.http.delete(at('agents', id));
  }

  /** What an agent could do if it were saved like this, and what that changes. */
  preview(agent: AgentInput & { id?: string }, role: Role, signal: AbortSignal): Promise<Explanation> {
    return this.http.post(`${V1}/agents/preview`, { agent, role }, { signal });
  }

  serverUsers(): Promise<{ items: ServerUser[] }> {
    return this.http.get(`${V1}/grants/servers`);
  }

  /** Gives a server to an agent or takes it back; `dryRun` only says what that would change. */
  give(input: GiveInput): Promise<Given> {
    return this.http.post(`${V1}/grants/servers`, input);
  }

  landConfigs(): Promise<{ items: LandConfig[] }> {
    return this.http.get(`${V1}/land-configs`);
  }

  addLandConfig(input: LandConfigInput): Promise<LandConfig> {
    return this.http.post(`${V1}/land-configs`, input);
  }

  changeLandConfig(id: string, input: LandConfigInput): Promise<LandConfig> {
    return this.http.put(at('land-configs', id), input);
  }

  removeLandConfig(id: string): Promise<unknown> {
    return this.http.delete(at('land-configs', id));
  }

  copyLandConfig(id: string, name: string): Promise<LandConfig> {
    return this.http.post(`${at('land-configs', id)}/copy`, { name });
  }

  prompts(): Promise<{ items: SystemPrompt[] }> {
    return this.http.get(`${V1}/system-prompts`);
  }

  addPrompt(input: SystemPromptInput): Promise<SystemPrompt> {
    return this.http.post(`${V1}/system-prompts`, input);
  }

  changePrompt(id: string, input: SystemPromptInput): Promise<SystemPrompt> {
    return this.http.put(at('system-prompts', id), input);
  }

  removePrompt(id: string): Promise<unknown> {
    return this.http.delete(at('system-prompts', id));
  }

  /** Gives a built-in text back what the program says. */
  resetPrompt(id: string): Promise<SystemPrompt> {
    return this.http.post(`${at('system-prompts', id)}/reset`, {});
  }

  subagents(): Promise<SubagentCatalogue> {
    return this.http.get(`${V1}/subagents`);
  }

  /** Reads a folder; nothing is written until `apply`, which trusts exactly what was shown. */
  importSubagents(path: string, apply: boolean, digest: string | null): Promise<SubagentImport> {
    return this.http.post(`${V1}/subagents/import`, { path, apply, ...(digest === null ? {} : { digest }) });
  }

  switchSubagents(id: string, on: boolean): Promise<unknown> {
    return this.http.post(`${at('subagents', id)}/${on ? 'enable' : 'disable'}`, {});
  }

  removeSubagents(id: string): Promise<unknown> {
    return this.http.delete(at('subagents', id));
  }
}

function at(resource: string, id: string): string {
  return `${V1}/${resource}/${encodeURIComponent(id)}`;
}
