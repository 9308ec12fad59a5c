// Parts of one feature that another one shows. Features never import one another, so the page that
// needs a part asks here, and its code is loaded when it is first shown.

import type { Component } from 'svelte';
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
  focusTitle: () => void;
}

export interface Slots {
  /** Questions of a chat, in place of its composer. */
  promptDock: () => Promise<{ default: Component<PromptDockProps, PromptDockHandle> }>;
}

export const slots: Slots = {
  promptDock: () => import('./features/prompts/Dock.svelte'),
};
