//zh 测试用：启动一个工具服务器并按协议与它对话，就像宿主那样。
//en For tests: starts a tool server and speaks to it as a host does.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function tempDir(t) {
  const dir = await mkdtemp(join(tmpdir(), 'plugin-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export async function connect(t, script, { dataDir, stateDir = dataDir } = {}) {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'], env: { PATH: process.env.PATH } });
  t.after(() => child.kill());
  const waiting = new Map();
  let rest = '';
  let next = 0;
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
    }
  });
  const ask = (method, params) => new Promise((resolve, reject) => {
    next += 1;
    waiting.set(next, (message) => (message.error ? reject(new Error(message.error.message)) : resolve(message.result)));
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: next, method, params })}\n`);
  });
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '0' } });
  return {
    tools: async () => (await ask('tools/list')).tools.map((tool) => tool.name),
    call: async (name, args = {}, meta = {}) => {
      const place = dataDir ? { chatos: { uiApp: { dataDir, stateDir } } } : {};
      const result = await ask('tools/call', { name, arguments: args, _meta: { ...place, ...meta } });
      return { text: result.content[0].text, data: result.structuredContent, isError: result.isError };
    },
  };
}
