// Diagrams of chats as pictures. A frame of its own draws them (diagram-frame.ts) and is loaded with the first one;
// until then, and where there is no drawing, the diagram is the code it was written as. Pictures run no script and
// load nothing, whatever is in them.

import type { Colours, Drawing } from '../diagram/wire';
import { MAX_SOURCE } from '../diagram/wire';

/** What is known of one diagram: its picture, why there is none, or nothing yet. */
export interface Diagram {
  url?: string;
  problem?: string;
}

/** Drawings that are remembered; what is on screen is asked for again at once. */
const REMEMBERED = 60;

class Diagrams {
  readonly #known = new Map<string, Diagram>();
  readonly #asked = new Set<string>();
  #news = $state(0);
  #watching = false;

  of(source: string): Diagram {
    if (source.length > MAX_SOURCE || source.trim() === '') return {};
    this.#watch();
    // Read so that whoever draws this draws it again.
    void this.#news;
    const key = `${document.documentElement.dataset['theme'] ?? ''}\n${source}`;
    const known = this.#known.get(key);
    if (!known) void this.#ask(key, source);
    return known ?? {};
  }

  async #ask(key: string, source: string): Promise<void> {
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    let drawing: Drawing;
    try {
      const { draw } = await import('./diagram-frame');
      drawing = await draw(source, colours());
    } catch {
      // The code stays; the page says by itself when parts of it cannot be loaded any more.
      this.#asked.delete(key);
      return;
    }
    this.#asked.delete(key);
    this.#known.set(key, 'svg' in drawing ? { url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing.svg)}` } : { problem: drawing.problem });
    const [oldest] = this.#known.keys();
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    this.#news += 1;
  }

  /** Another theme has other colours. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    new MutationObserver(() => (this.#news += 1)).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  }
}

function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--ds-${name}`).trim();
  return {
    dark: document.documentElement.dataset['theme'] === 'dark',
    background: of('code-bg'),
    surface: of('accent-soft'),
    border: of('accent'),
    line: of('text-muted'),
    text: of('text-primary'),
    note: of('change-bg-warning'),
    parts: ['accent', 'accent-2', 'accent-app', 'code-attr', 'code-built-in', 'code-keyword', 'code-string', 'text-muted'].map(of),
  };
}

const diagrams = new Diagrams();

export const pictureOf = (source: string): Diagram => diagrams.of(source);
