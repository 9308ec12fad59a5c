// The routes of servers and of the tools people have to approve.

import type { Server, ServerImport, ServerInput, ServerLogLine, ServerTool, SignInStart, ToolPin } from '../protocol/admin';
import type { ToolResult } from '../protocol/tools';
import type { Http } from './http';

const V1 = '/api/v1';
/** A server may take the ten minutes it can be given to start, and as long to name its tools. */
const START_TIMEOUT_MS = 1_260_000;

export type ServerAction = 'connect' | 'restart' | 'stop';

export class ServersApi {
  constructor(private readonly http: Http) {}

  list(): Promise<{ items: Server[] }> {
    return this.http.get(`${V1}/mcp-servers`);
  }

  get(id: string): Promise<Server> {
    return this.http.get(path(id));
  }

  add(input: ServerInput): Promise<Server> {
    return this.http.post(`${V1}/mcp-servers`, input, { timeoutMs: START_TIMEOUT_MS });
  }

  change(id: string, input: ServerInput): Promise<Server> {
    return this.http.put(path(id), input, { timeoutMs: START_TIMEOUT_MS });
  }

  remove(id: string): Promise<unknown> {
    return this.http.delete(path(id));
  }

  act(id: string, action: ServerAction): Promise<unknown> {
    return this.http.post(`${path(id)}/${action}`, {}, { timeoutMs: START_TIMEOUT_MS });
  }

  /** Begins a sign-in: the place of it is looked up and asked, which may take a while. */
  signIn(id: string, issuer?: string): Promise<SignInStart> {
    return this.http.post(`${path(id)}/sign-in`, issuer === undefined ? {} : { issuer }, { timeoutMs: START_TIMEOUT_MS });
  }

  signOut(id: string): Promise<{ revoked: boolean }> {
    return this.http.delete(`${path(id)}/sign-in`, { timeoutMs: START_TIMEOUT_MS });
  }

  tools(id: string): Promise<{ items: ServerTool[]; problems?: string[] }> {
    return this.http.get(`${path(id)}/tools`, { timeoutMs: START_TIMEOUT_MS });
  }

  /** What the built-in server for code knows: which language servers are installed, which run. */
  languages(): Promise<ToolResult> {
    return this.http.post(`${V1}/tools/lsp_bridge/list_lsp_servers/call`, { arguments: {} });
  }

  log(id: string, limit: number): Promise<{ items: ServerLogLine[] }> {
    return this.http.get(`${path(id)}/log`, { query: { limit } });
  }

  /** Reads another client's file; nothing is kept until `apply`. */
  import(text: string, apply: boolean): Promise<ServerImport> {
    return this.http.post(`${V1}/mcp-servers/import`, { text, apply });
  }

  pins(): Promise<{ items: ToolPin[] }> {
    return this.http.get(`${V1}/tool-pins`);
  }

  /** Approves exactly what was shown. */
  approve(identity: string, tools: { tool: string; digest: string }[]): Promise<unknown> {
    return this.http.post(`${V1}/tool-pins/approve`, { identity, tools });
  }
}

function path(id: string): string {
  return `${V1}/mcp-servers/${encodeURIComponent(id)}`;
}
