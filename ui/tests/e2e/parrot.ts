// An agent whose one tool, of another server, has to be asked for: it says back what it is told.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';

const FIXTURE = join(import.meta.dirname, 'mcp-fixture.mjs');

/** Hires it; the answer begins a chat with it in a folder of its own. */
export async function parrot(host: Host): Promise<(folder: string) => Promise<string>> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = (body) => {
    const { role, text } = lastOf(body);
    return role === 'tool' ? { text: `got ${text}` } : { call: { tool: 'echo', args: { text } } };
  };
  const model = await host.api<{ id: string }>('POST', 'models', { name: 'Says', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
  const server = await host.api<{ id: string }>('POST', 'mcp-servers', { name: 'parrot', argv: [process.execPath, FIXTURE] });
  const land = await host.api<{ id: string }>('POST', 'land-configs', { name: 'Asks', main: { mcpServers: [{ id: server.id, tools: { ask: ['echo'] } }] }, sub: {} });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Helper', mode: 'flow', landConfigId: land.id, modelId: model.id });
  // A chat in a folder of its own.
  return async (folder) => {
    const workspaceRoot = join(host.home, folder);
    mkdirSync(workspaceRoot, { recursive: true });
    return (await host.api<{ id: string }>('POST', 'sessions', { title: folder, agentId: agent.id, workspaceRoot })).id;
  };
}

export const say = (host: Host, chat: string, text: string) => host.api<{ runId: string }>('POST', `sessions/${chat}/send`, { text });
