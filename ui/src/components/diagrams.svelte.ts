// Diagrams of chats: what draws them (diagram-pictures.svelte.ts) is loaded with the first one.

import type { Diagram } from './diagram-pictures.svelte';

let pictures: ((source: string) => Diagram) | null = $state.raw(null);
let asked = false;

async function load(): Promise<void> {
  if (asked) return;
  asked = true;
  try {
    pictures = (await import('./diagram-pictures.svelte')).pictureOf;
  } catch {
    // The code stays; the page says by itself when parts of it cannot be loaded any more.
    asked = false;
  }
}

export function diagramOf(source: string): Diagram {
  if (pictures) return pictures(source);
  void load();
  return {};
}
