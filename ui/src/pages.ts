// The code of the pages, loaded when first shown, and what of it is brought before somebody asks: the pages of the rail,
// one by one, when the first view stands and the browser has nothing to do; and at once where a pointer or the focus
// comes to a link of the rail.

import type { Component } from 'svelte';
import { addressOf, PLACES, type PageName, type PlaceName } from './router';

type PageModule = { default: Component };
export const pages: Record<PageName, () => Promise<PageModule>> = {
  chat: () => import('./features/chat/ChatPage.svelte'),
  queue: () => import('./features/prompts/QueuePage.svelte'),
  apps: () => import('./features/apps/AppsPage.svelte'),
  agents: () => import('./features/agents/AgentsPage.svelte'),
  tasks: () => import('./features/tasks/TasksPage.svelte'),
  runs: () => import('./features/runs/RunsPage.svelte'),
  changes: () => import('./features/changes/ChangesPage.svelte'),
  settings: () => import('./features/settings/SettingsPage.svelte'),
};

/** Parts that a page loads by itself and that a place of the rail shows first. */
const parts: Partial<Record<PlaceName, () => Promise<unknown>>> = {
  agents: () => import('./features/agents/agents/AgentsTab.svelte'),
  models: () => import('./features/agents/models/ModelsTab.svelte'),
  servers: () => import('./features/settings/servers/ServersTab.svelte'),
};

/** The mark in the browser's own list of times: what was asked for before it is the first view. */
export const FIRST_VIEW = 'chatos-first-view';

/** Brings the code of a place. What cannot be had now is asked for again when it is shown, and said there. */
export async function bring(place: PlaceName): Promise<void> {
  await Promise.allSettled([pages[addressOf(place)[0]](), parts[place]?.()]);
}

const idle = () => new Promise<void>((resolve) => {
  // Safari has no such call.
  if (typeof requestIdleCallback === 'function') requestIdleCallback(() => resolve());
  else setTimeout(resolve, 200);
});

/** Brings the pages of the rail, each in a moment without other work. Who has asked the browser to save data gets them
    when they are wanted. */
export async function bringAll(): Promise<void> {
  await idle();
  performance.mark(FIRST_VIEW);
  if ((navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true) return;
  for (const place of PLACES.flat()) {
    await idle();
    await bring(place);
  }
}
