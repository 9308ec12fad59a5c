// How the outcome of a tool call looks, and what a call is about in a few words.

import type { IconName } from '../../components/Icon.svelte';
import type { ToolCall } from '../../state/chat/entry.svelte';
import { aboutOf } from '../../state/tools/about';

export type Tone = 'neutral' | 'accent' | 'success' | 'warning' | 'danger';

export function toneOf(status: string | null, isError: boolean): Tone {
  if (status === null) return isError ? 'danger' : 'success';
  if (status === 'ok' || status === 'noop') return 'success';
  if (status === 'partial' || status === 'needs_input' || status === 'canceled') return 'warning';
  return 'danger';
}

/** The arguments as an object, also when they came as text. */
export function argumentsOf(call: ToolCall): Record<string, unknown> | null {
  const value = typeof call.args === 'string' ? parse(call.args) : call.args;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A preview that was cut is no longer JSON; it is shown as it is.
    return null;
  }
}

export function targetOf(call: ToolCall): string {
  return aboutOf(argumentsOf(call));
}

export function iconOf(call: ToolCall): IconName {
  const name = call.label;
  if (call.job || /sub_agent/u.test(name)) return 'agents';
  if (/shell|command|session_|terminal/u.test(name)) return 'terminal';
  if (/prompt/u.test(name)) return 'queue';
  if (/task/u.test(name)) return 'tasks';
  if (/search|find|grep/u.test(name)) return 'search';
  if (name.startsWith('lsp_')) return 'code';
  if (/time|clock/u.test(name)) return 'clock';
  if (/dir|list_files|folder/u.test(name)) return 'folder';
  if (/file|path|patch|read|write|edit/u.test(name)) return 'file';
  return 'plug';
}

/** Tools that leave changed files behind when they succeed. A command may or may not. */
const CHANGING = new Set(['write_file', 'edit_file', 'delete_path', 'apply_patch', 'move_path', 'copy_path']);

/** Tools that only show the change unless they are told to make it. */
const PREVIEWING = new Set(['lsp_rename', 'lsp_format_document', 'lsp_code_actions']);

/** The call was to change nothing yet. */
export function onlyTried(call: ToolCall): boolean {
  const args = argumentsOf(call);
  // Without a title code actions are only listed, which is no try.
  if (call.label === 'lsp_code_actions' && args?.['title'] === undefined) return false;
  return PREVIEWING.has(call.label) ? args?.['apply'] !== true : args?.['dry_run'] === true;
}

/** The call changed files, which then are on the Changes page. */
export function changedFiles(call: ToolCall): boolean {
  const { result } = call;
  if (!result || result.isError || result.status === 'noop') return false;
  if (PREVIEWING.has(call.label)) return argumentsOf(call)?.['apply'] === true;
  if (CHANGING.has(call.label)) return !onlyTried(call);
  const files = (result.structured as { data?: { changed_files?: unknown } } | null)?.data?.changed_files;
  return Array.isArray(files) && files.length > 0;
}

/** A change to files that the call made or asks for: a patch, or two texts. */
export type Change = { patch: string } | { path: string; before: string; after: string } | null;

export function changeOf(call: ToolCall): Change {
  const data = (call.result?.structured as { data?: Record<string, unknown> } | null)?.data ?? null;
  const told = data?.['result'] as { change?: Record<string, unknown> } | undefined;
  for (const holder of [data, told as Record<string, unknown> | undefined, told?.change, argumentsOf(call)]) {
    const patch = holder?.['diff'] ?? holder?.['patch'];
    if (typeof patch === 'string' && patch.trim() !== '') return { patch };
  }
  const args = argumentsOf(call);
  const [before, after] = [args?.['old_string'] ?? args?.['old_text'], args?.['new_string'] ?? args?.['new_text']];
  if (typeof before === 'string' && typeof after === 'string') return { path: String(args?.['path'] ?? ''), before, after };
  if (call.label === 'write_file' && typeof args?.['contents'] === 'string') return { path: String(args['path'] ?? ''), before: '', after: args['contents'] };
  return null;
}
