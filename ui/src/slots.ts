// Parts of one feature that another one shows. Features never import one another, so the page that
// needs a part asks here, and its code is loaded when it is first shown.

import type { Component } from 'svelte';
import type { DraftNote } from './state/chat.svelte';
import type { ServerUser } from './protocol/admin';
import type { NeededApp } from './state/needed.svelte';
import type { PromptItem } from './state/prompts/item';

export type PromptDockProps = {
  /** The questions, oldest first. */
  items: PromptItem[];
  /** The last one was answered here. */
  ondone: () => void;
};

export interface PromptDockHandle {
  [name: string]: unknown;
  /** Puts the cursor on the question itself, never on a button. */
  focusTitle: () => Promise<void>;
}

export type McpViewProps = {
  server: string;
  tool: string;
  /** The arguments of the call. */
  input: Record<string, unknown>;
  /** The result as MCP has it; null while the call runs. */
  result: Record<string, unknown> | null;
  canceled?: string | null;
  /** The chat it is shown in, and the agent whose grants count. */
  sessionId?: string | null;
  agentId?: string | null;
  /** Sends a message of the person to that chat. */
  onmessage?: ((text: string) => Promise<boolean>) | null;
  /** What the view adds to the person's next message in that chat; null when nothing, or no longer. */
  onnote?: ((note: Omit<DraftNote, 'key'> | null) => void) | null;
};

export interface Slots {
  /** Questions of a chat, in place of its composer. */
  promptDock: () => Promise<{ default: Component<PromptDockProps, PromptDockHandle> }>;
  /** The page a server brings for the results of a tool; see `state/views` for which tools have one. */
  mcpView: () => Promise<{ default: Component<McpViewProps> }>;
  /** What a call says that waits for the page of an app; see `state/needed`. */
  neededApp: () => Promise<{ default: Component<{ app: NeededApp }> }>;
  /** Which agents can use a server, or the servers of a plugin. */
  whoUses: () => Promise<{ default: Component<{ name: string; fits: (server: ServerUser) => boolean }> }>;
}

export const slots: Slots = {
  promptDock: () => import('./features/prompts/Dock.svelte'),
  mcpView: () => import('./features/views/McpView.svelte'),
  neededApp: () => import('./features/apps/NeededApp.svelte'),
  whoUses: () => import('./features/agents/give/WhoUses.svelte'),
};
