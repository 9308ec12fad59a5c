import { describe, expect, test, vi } from 'vitest';
import type { AgentsApi } from '../../api/agents';
import type { ModelsApi } from '../../api/models';
import type { ServersApi } from '../../api/servers';
import type { Server } from '../../protocol/admin';
import { emptyAgent } from './agent-draft';
import { Lists } from './lists.svelte';
import { AgentPreview } from './preview.svelte';
import { Servers } from './servers.svelte';

const SERVER = {
  id: 's1',
  identity: 'admin:s1',
  name: 'mine',
  enabled: true,
  state: { phase: 'starting', tools: 0, inFlight: 0, restarts: 0 },
} as unknown as Server;

function setup() {
  const api = {
    list: vi.fn(() => Promise.resolve({ items: [SERVER] })),
    tools: vi.fn(() => Promise.resolve({ items: [{ name: 'echo' }] })),
    pins: vi.fn(() => Promise.resolve({ items: [] })),
    act: vi.fn(() => Promise.resolve({})),
    remove: vi.fn(() => Promise.resolve({})),
  };
  const servers = new Servers(api as unknown as ServersApi);
  const event = (type: string, data: unknown) => servers.onEvent({ seq: 1, topic: 'servers', type, data });
  return { api, servers, event };
}

describe('servers', () => {
  test('follow their state, and read their tools again when they come up', async () => {
    const { api, servers, event } = setup();
    await servers.list.load();
    await servers.tools('s1').load();
    event('server_state', { id: 's1', state: { phase: 'ready', tools: 1, inFlight: 0, restarts: 0 } });
    expect(servers.find('s1')?.state.phase).toBe('ready');
    expect(api.list).toHaveBeenCalledTimes(1);
    await vi.waitFor(() => expect(api.tools).toHaveBeenCalledTimes(2));
    event('server_state', { id: 'unknown', state: { phase: 'ready' } });
    await vi.waitFor(() => expect(api.list).toHaveBeenCalledTimes(2));
  });

  test('tools are read again when a server is up, also when the list told so first', async () => {
    const { api, servers, event } = setup();
    await servers.list.load();
    await servers.tools('s1').load();
    servers.list.put(servers.all.map((one) => ({ ...one, state: { ...one.state, phase: 'ready' } })));
    event('server_state', { id: 's1', state: { phase: 'ready' } });
    await vi.waitFor(() => expect(api.tools).toHaveBeenCalledTimes(2));
  });

  test('tell whoever shows a log that it has grown', () => {
    const { servers, event } = setup();
    const before = servers.said('s1');
    event('server_log', { id: 's1' });
    event('server_log', { id: 's2' });
    event('server_log', null);
    expect(servers.said('s1')).toBe(before + 1);
  });

  test('nothing is read for an event about what nobody looked at', () => {
    const { api, event } = setup();
    event('tools_changed', { id: 's1' });
    event('server_changed', { id: 's1' });
    event('server_state', null);
    expect(api.list).not.toHaveBeenCalled();
    expect(api.pins).not.toHaveBeenCalled();
  });
});

test('a list is read again when its own events come, and with those it depends on', async () => {
  const calls: string[] = [];
  const note = (name: string, answer: object) => () => {
    calls.push(name);
    return Promise.resolve(answer);
  };
  const lists = new Lists(
    { agents: note('agents', { items: [] }), landConfigs: note('land', { items: [] }), prompts: note('prompts', { items: [] }), subagents: note('subagents', { plugins: [] }) } as unknown as AgentsApi,
    { list: note('models', { items: [] }), secrets: note('secrets', { items: [] }) } as unknown as ModelsApi,
  );
  await Promise.all([lists.models.load(), lists.agents.load(), lists.secrets.load()]);
  calls.length = 0;
  lists.onEvent({ seq: 1, topic: 'admin', type: 'secrets_changed', data: {} });
  await vi.waitFor(() => expect(calls.toSorted()).toEqual(['models', 'secrets']));
  lists.onEvent({ seq: 2, topic: 'admin', type: 'settings_changed', data: {} });
  lists.onEvent({ seq: 3, topic: 'admin', type: 'land_configs_changed', data: {} });
  await vi.waitFor(() => expect(calls.toSorted()).toEqual(['agents', 'models', 'secrets']));
});

test('the preview asks once after typing, and only the newest answer counts', async () => {
  vi.useFakeTimers();
  const asked: { name: string; role: string; answer: (value: unknown) => void }[] = [];
  const api = { preview: (agent: { name: string }, role: string) => new Promise((answer) => asked.push({ name: agent.name, role, answer })) };
  const preview = new AgentPreview(api as unknown as AgentsApi);
  preview.ask({ ...emptyAgent(), name: 'a' });
  preview.ask({ ...emptyAgent(), name: 'ab' });
  await vi.runAllTimersAsync();
  expect(asked.map(({ name, role }) => `${name} ${role}`)).toEqual(['ab main', 'ab sub']);
  preview.ask({ ...emptyAgent(), name: 'abc' });
  await vi.runAllTimersAsync();
  for (const { name, role, answer } of asked) answer({ role, name });
  await vi.runAllTimersAsync();
  expect(preview.of('main')).toMatchObject({ name: 'abc' });
  expect(preview.loading).toBe(false);
  vi.useRealTimers();
});
