// The board as an MCP server over stdio. Started by the host, or by hand with CHATOS_DATA_DIR set.

import { createServer, serveStdio } from '../lib/mcp.mjs';
import { boardTools } from './tools.mjs';

// The one argument is a promise that stdout is ours; another one is a mistake worth a message.
const unknown = process.argv.slice(2).filter((argument) => argument !== '--stdio');
if (unknown.length > 0) {
  process.stderr.write(`unknown argument: ${unknown[0]}\nusage: node board/mcp-server.mjs [--stdio]\n`);
  process.exit(2);
}

const server = createServer({
  name: 'com.chatos.taskboard.board',
  title: 'Task board',
  version: '0.1.0',
  instructions:
    'Views over the tasks of the task server. Get tasks with list_tasks, then call board.arrange with them. ' +
    'To change a task use the task server; the board only groups, filters and pins.',
  tools: boardTools(),
});

await serveStdio(server);
