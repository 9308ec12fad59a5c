// Questions of built-in servers as they ask them: with the material of an effect, from which the host writes the card.

import type { Host } from './host';

type Json = Record<string, unknown>;

async function asked(host: Host, owner: string, prompt: Json, name: string, material: Json, requestId: string): Promise<string> {
  await host.api('POST', 'prompts', { prompt, requestId, owner, effect: { name, material } });
  return requestId;
}

const root = (host: Host) => ({ path: join(host.home) });

function join(home: string): string {
  return home.replace(/\/+$/, '');
}

/** A change of one file. */
export function change(host: Host, path: string, kind: string, id: string, diff = '--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n', more: Json = {}): Promise<string> {
  const file = { path, change: kind, ...more };
  return asked(host, 'host:code_writer', { kind: 'file_change_confirm', path, diff }, 'file_change', { identity: 'builtin:code_writer', tool: 'write_file', root: root(host), files: [file] }, id);
}

/** Changes of several files. */
export function changes(host: Host, paths: string[], id: string): Promise<string> {
  const diff = paths.map((path) => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-old\n+new\n`).join('');
  const files = paths.map((path) => ({ path, change: 'modified' }));
  return asked(host, 'host:code_writer', { kind: 'file_change_confirm', path: paths[0], diff }, 'file_change', { identity: 'builtin:code_writer', tool: 'apply_patch', root: root(host), files }, id);
}

/** A command; `confined` false: without a sandbox, which is of high risk. */
export function command(host: Host, text: string, id: string, message = '', confined = true): Promise<string> {
  const facts = { text, cwd: root(host), shell: '/bin/sh', env: [], network: false, findings: [], sandbox: { level: confined ? 'full' : 'none' } };
  return asked(host, 'host:shell_tasks', { kind: 'file_change_confirm', command: text, cwd: '.', message }, 'command', { identity: 'builtin:shell_tasks', tool: 'run_shell_command', root: root(host), command: facts }, id);
}

/** A choice that decides something: a tool, a model, a budget, an uncertain step. */
export function choice(host: Host, name: string, prompt: Json, material: Json, id: string): Promise<string> {
  return asked(host, 'host:mail', { kind: 'choice', ...prompt }, name, { root: root(host), ...material }, id);
}
