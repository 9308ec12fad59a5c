import { describe, expect, test } from 'vitest';
import type { Agent, FlowServer, LandConfig, Server } from '../../protocol/admin';
import { abilities } from './abilities';
import { emptyAgent } from './agent-draft';

const SERVERS = ['project_files', 'code_writer', 'shell_tasks', 'ui_prompter'].map((name) => ({ id: `id-${name}`, name, source: 'builtin' }) as Server);
const MINE = { id: 'mine', name: 'weather', source: 'user' } as Server;

function may(entries: (string | FlowServer)[], settings: Record<string, unknown> = {}, agent: Partial<Agent> = {}) {
  const mcpServers = entries.map((entry) => (typeof entry === 'string' ? { id: entry === 'mine' ? entry : `id-${entry}` } : entry));
  const land = { id: 'l', main: { mcpServers }, sub: {} } as unknown as LandConfig;
  const usual: Record<string, unknown> = { confirmFileChanges: true, shellConfirm: 'risky', shellSandbox: 'auto', shellNetwork: 'ask', ...settings };
  return abilities({ ...emptyAgent(), id: 'a', mode: 'flow', ...agent } as Agent, land, [...SERVERS, MINE], (key) => usual[key]);
}

describe('what an agent may do', () => {
  test('follows its profile', () => {
    expect(may(['ui_prompter'])).toEqual({ files: 'none', commands: 'none', reach: 'none', others: 0 });
    expect(may(['project_files'])).toEqual({ files: 'reads', commands: 'none', reach: 'none', others: 0 });
    expect(may(['code_writer', 'shell_tasks', 'mine'])).toEqual({ files: 'editsAsking', commands: 'risky', reach: 'asks', others: 1 });
  });

  test('follows what the profile says of single tools', () => {
    expect(may([{ id: 'id-shell_tasks', tools: { ask: ['run_*'] } }]).commands).toBe('asks');
    expect(may([{ id: 'id-shell_tasks', tools: { deny: ['*'] } }])).toMatchObject({ commands: 'none', reach: 'none' });
    expect(may([{ id: 'id-code_writer', tools: { deny: ['write_file', 'edit_file'] } }]).files).toBe('reads');
  });

  test('follows the settings', () => {
    expect(may(['code_writer'], { confirmFileChanges: false }).files).toBe('edits');
    expect(may([{ id: 'id-code_writer', tools: { ask: ['*_file'] } }], { confirmFileChanges: false }).files).toBe('editsAsking');
    expect(may(['shell_tasks'], { shellConfirm: 'never', shellNetwork: 'allow' })).toMatchObject({ commands: 'sandboxed', reach: 'network' });
    expect(may(['shell_tasks'], { shellSandbox: 'off', shellNetwork: 'deny' })).toMatchObject({ commands: 'free', reach: 'none' });
    expect(may(['shell_tasks'], { shellConfirm: 'always' }).commands).toBe('asks');
  });

  test('a custom agent has what it chose of it', () => {
    expect(may(['project_files', 'shell_tasks'], {}, { mode: 'custom', mcpServerIds: ['id-project_files'] })).toMatchObject({ files: 'reads', commands: 'none' });
    expect(may(['project_files'], {}, { mode: 'custom', mcpServerIds: null }).files).toBe('reads');
  });
});
