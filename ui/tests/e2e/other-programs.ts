// Programs of other makers that ask at this desk: their hooks as they write them, and MCP clients through the gateway.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Host } from './host';
import { chatosBinary } from './programs';

const children: ChildProcess[] = [];

/** Ends those that still wait. Before the host: they use its state. */
export async function endPrograms(): Promise<void> {
  const gone = children.splice(0).map(async (child) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exit;
  });
  await Promise.all(gone);
}

function start(host: Host, words: string[], cwd: string, language = 'en'): ChildProcess {
  mkdirSync(cwd, { recursive: true });
  const child = spawn(chatosBinary(), [...words, '--state-dir', host.ready.stateDir, '--lang', language], { cwd, stdio: ['pipe', 'pipe', 'ignore'], env: { PATH: process.env['PATH'], HOME: host.home, LANG: 'C.UTF-8' } });
  children.push(child);
  return child;
}

/** A program's hook asks about a call, as that program writes it; what it is told comes on standard output. */
export function hook(host: Host, program: string, project: string, input: Record<string, unknown>, language = 'en'): ChildProcess {
  const cwd = join(host.home, project);
  const child = start(host, ['hook', program], cwd, language);
  const where = program === 'opencode' ? { directory: cwd } : { cwd };
  child.stdin?.end(JSON.stringify({ ...input, ...where }));
  return child;
}

/** An MCP client calls a tool through the gateway. */
export async function client(host: Host, name: string, project: string, language = 'en'): Promise<void> {
  const child = start(host, ['gateway', '--tools', 'all'], join(host.home, project), language);
  const say = (message: Record<string, unknown>) => child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let text = '';
  child.stdout?.on('data', (bytes: Buffer) => (text += String(bytes)));
  const reply = async (id: number): Promise<{ tools?: { name: string }[] }> => {
    await expect.poll(() => text.split('\n').some((line) => line.includes(`"id":${id}`))).toBe(true);
    const line = text.split('\n').find((each) => each.includes(`"id":${id}`)) ?? '{}';
    return (JSON.parse(line) as { result: { tools?: { name: string }[] } }).result;
  };
  say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1.9.0' } } });
  await reply(1);
  say({ method: 'notifications/initialized' });
  say({ id: 2, method: 'tools/list', params: {} });
  const { tools = [] } = await reply(2);
  const write = tools.find((tool) => tool.name.endsWith('write_file'))?.name;
  say({ id: 3, method: 'tools/call', params: { name: write, arguments: { path: 'notes.md', contents: '# Notes\n\nFirst line.\n' } } });
}
