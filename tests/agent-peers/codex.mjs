// One task for codex, through its app server as its editors use it: `codex exec` never asks, so its hook for
// permissions is never called there. `node codex.mjs PROGRAM TASK`; whatever codex asks
// here itself is declined, but for calls of MCP tools.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [program, task] = process.argv.slice(2);
const child = spawn(program, ['app-server'], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
let last = 0;

const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const ask = (method, params) =>
  new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject });
    send({ id: last, method, params });
  });
const over = new Promise((resolve) => {
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method && message.id !== undefined) {
      console.log(`asked here: ${line}`);
      // A tool of a server: the server asks itself before it acts. Everything else is the hook's to decide.
      const tool = message.method === 'mcpServer/elicitation/request';
      send({ id: message.id, result: tool ? { action: 'accept', content: {} } : { decision: 'decline' } });
    } else if (message.method) {
      if (message.method.startsWith('item/') || message.method.startsWith('hook/')) console.log(line);
      if (message.method === 'turn/completed') resolve(0);
      if (message.method === 'error') console.log(line);
    } else {
      const { resolve: done, reject } = waiting.get(message.id) ?? {};
      if (message.error) reject?.(new Error(JSON.stringify(message.error)));
      else done?.(message.result);
    }
  });
  child.once('exit', (code) => resolve(code ?? 1));
});

await ask('initialize', { clientInfo: { name: 'chatos-tests', version: '0' } });
send({ method: 'initialized' });
// The hook is the one the test has installed itself; nobody is there to accept it under /hooks.
const config = { bypass_hook_trust: true };
const { thread } = await ask('thread/start', { cwd: process.cwd(), approvalPolicy: 'on-request', sandbox: 'read-only', config });
await ask('turn/start', { threadId: thread.id, input: [{ type: 'text', text: task, text_elements: [] }] });
const code = await over;
child.kill();
process.exit(code);
