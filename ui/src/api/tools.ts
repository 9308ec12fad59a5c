// The tool routes as functions.

import type { ToolCallInput, ToolLogPage, ToolLogQuery, ToolResult, ToolServer } from '../protocol/tools';
import type { Http } from './http';

const V1 = '/api/v1';
/** A call may wait for a person; the tool's own deadline ends it, not the page. */
const CALL_TIMEOUT_MS = 24 * 3_600_000;

export class ToolsApi {
  constructor(private readonly http: Http) {}

  servers(): Promise<{ servers: ToolServer[] }> {
    return this.http.get(`${V1}/tools`);
  }

  /** One server with the schemas of its tools. */
  server(name: string): Promise<ToolServer> {
    return this.http.get(`${V1}/tools/${encodeURIComponent(name)}`);
  }

  call(server: string, tool: string, input: ToolCallInput): Promise<ToolResult> {
    const path = `${V1}/tools/${encodeURIComponent(server)}/${encodeURIComponent(tool)}/call`;
    return this.http.post(path, input, { timeoutMs: CALL_TIMEOUT_MS });
  }

  cancel(callId: string): Promise<{ canceled: boolean }> {
    return this.http.post(`${V1}/tools/calls/${encodeURIComponent(callId)}/cancel`, {});
  }

  log(query: ToolLogQuery, signal?: AbortSignal): Promise<ToolLogPage> {
    return this.http.get(`${V1}/tool-log`, { query: { ...query }, ...(signal ? { signal } : {}) });
  }
}
