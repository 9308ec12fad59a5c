// What an agent may do in a chat, in three short facts for its card: files, commands, and what it reaches beyond this
// computer. Read from its permissions profile, its own choice and the settings, as the host reads them; what exactly
// holds, tool by tool, the host explains on the agent's page.

import type { Agent, LandConfig, Server } from '../../protocol/admin';
import { decide } from './glob';

export interface Abilities {
  files: 'none' | 'reads' | 'edits' | 'editsAsking';
  commands: 'none' | 'asks' | 'risky' | 'sandboxed' | 'free';
  reach: 'none' | 'asks' | 'network';
  /** How many servers that did not come with ChatOS, and apps: what they reach is their own affair. */
  others: number;
}

/** Settings by key, as far as they were read. */
type Setting = (key: string) => unknown;

const WRITES = ['write_file', 'edit_file'];
const COMMAND = 'run_shell_command';

export function abilities(agent: Agent, land: LandConfig, servers: Server[], setting: Setting): Abilities {
  const chosen = agent.mode === 'custom' ? agent.mcpServerIds : null;
  const entries = (land.main.mcpServers ?? []).filter(({ id }) => chosen === null || chosen.includes(id));
  const apps = agent.mode === 'custom' ? agent.uiApps.length : (land.main.apps ?? []).length;
  const known = entries.map((entry) => ({ entry, server: servers.find(({ id }) => id === entry.id) }));
  const entryOf = (...names: string[]) => known.filter(({ server }) => server?.source === 'builtin' && names.includes(server.name)).map(({ entry }) => entry);

  const writes = entryOf('code_writer', 'code_maintainer').flatMap(({ tools }) => WRITES.map((tool) => decide(tools, tool))).filter((one) => one !== 'deny');
  const asksFirst = setting('confirmFileChanges') !== false || writes.every((one) => one === 'ask');
  const reads = entryOf('project_files', 'code_writer', 'code_maintainer').length > 0;

  const runs = entryOf('shell_tasks').map(({ tools }) => decide(tools, COMMAND)).find((one) => one !== 'deny');
  const confirm = setting('shellConfirm');
  const commands = runs === undefined ? 'none' : runs === 'ask' || confirm === 'always' ? 'asks' : setting('shellSandbox') === 'off' ? 'free' : confirm === 'never' ? 'sandboxed' : 'risky';
  const network = setting('shellNetwork');
  return {
    files: writes.length > 0 ? (asksFirst ? 'editsAsking' : 'edits') : reads ? 'reads' : 'none',
    commands,
    reach: commands === 'none' || network === 'deny' ? 'none' : network === 'allow' ? 'network' : 'asks',
    others: known.filter(({ server }) => server && server.source !== 'builtin').length + apps,
  };
}
