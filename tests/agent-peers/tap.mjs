// Stands between a client and a server on stdio and writes down which version of the protocol each request speaks:
// `node tap.mjs FILE COMMAND…`. Every byte is passed on.

import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [file, command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
let rest = '';
process.stdin.on('data', (bytes) => {
  server.stdin.write(bytes);
  const lines = (rest + bytes).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    try {
      const { method, params } = JSON.parse(line);
      const version = params?._meta?.['io.modelcontextprotocol/protocolVersion'] ?? null;
      if (method) appendFileSync(file, `${JSON.stringify({ method, version })}\n`);
    } catch {
      // The server says what is wrong with it.
    }
  }
});
process.stdin.on('end', () => server.stdin.end());
server.stdin.on('error', () => {});
server.stdout.pipe(process.stdout);
server.on('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => server.kill(signal));
