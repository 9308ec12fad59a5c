// chatos hook opencode: written by `chatos hook opencode --install`, removed by `--remove`.
import { spawn } from 'node:child_process';

const COMMAND = __COMMAND__;
const READS = new Set(['read', 'glob', 'grep', 'list', 'todoread', 'todowrite', 'lsp', 'skill', 'question', 'task']);

/** Asks in ChatOS; anything but its yes is a no. */
function ask(input) {
  return new Promise((resolve, reject) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('error', (error) => reject(new Error(`ChatOS could not be asked: ${error.message}`)));
    child.on('close', (code) => {
      let decision;
      try {
        decision = JSON.parse(stdout).decision;
      } catch {
        decision = undefined;
      }
      if (code === 0 && (decision === 'allow' || decision === 'none')) resolve(decision);
      else reject(new Error(stderr.trim() || 'ChatOS gave no answer, so this was not done'));
    });
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(input));
  });
}

export const ChatOS = async ({ client, directory }) => {
  const agreed = new Set();
  return {
    'tool.execute.before': async (input, output) => {
      if (READS.has(input.tool)) return;
      const { tool, sessionID, callID } = input;
      const decision = await ask({ tool, args: output.args, sessionID, callID, directory });
      if (decision === 'allow') agreed.add(callID);
    },
    // What a person allowed here is not asked again by opencode itself.
    event: async ({ event }) => {
      if (event.type !== 'permission.asked') return;
      const { id, sessionID, tool } = event.properties;
      if (!tool || !agreed.delete(tool.callID)) return;
      await client.postSessionIdPermissionsPermissionId({
        path: { id: sessionID, permissionID: id },
        body: { response: 'once' },
      });
    },
  };
};
