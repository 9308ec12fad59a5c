// Formulas as MathML, by KaTeX, which is loaded with the first one (decision 0027). Until it is here, and when it does
// not understand a formula, the TeX is shown as it was written.

import type { KatexOptions } from 'katex';
import { escapeHtml } from './code-languages';

type Render = (tex: string, options: KatexOptions) => string;

/** A longer one is no formula a person reads, and its time would be the page's. */
const MAX_TEX = 4_000;
/** Macros that write macros end here. */
const MAX_EXPANSIONS = 300;
/** In em; a formula does not fill the page. */
const MAX_SIZE = 20;

class Formulas {
  #render: Render | null = $state.raw(null);
  #asked = false;

  /** HTML of a formula. Whoever draws it draws it again when KaTeX is there. */
  html(tex: string, display: boolean): string {
    const plain = `<code class="tex">${escapeHtml(tex)}</code>`;
    if (tex.length > MAX_TEX) return plain;
    if (!this.#render) {
      this.#load();
      return plain;
    }
    try {
      const html = this.#render(tex, { output: 'mathml', displayMode: display, throwOnError: true, trust: false, strict: 'ignore', maxExpand: MAX_EXPANSIONS, maxSize: MAX_SIZE });
      // The page's policy refuses style attributes; a formula without one is still that formula.
      return `<span class="math">${html.replaceAll(/ style="[^"]*"/gu, '')}</span>`;
    } catch {
      return plain;
    }
  }

  #load(): void {
    if (this.#asked) return;
    this.#asked = true;
    import('katex').then(
      ({ default: katex }) => (this.#render = (tex, options) => katex.renderToString(tex, options)),
      // The TeX stays; the page says by itself when parts of it cannot be loaded any more.
      () => (this.#asked = false),
    );
  }
}

const formulas = new Formulas();

export const mathHtml = (tex: string, display: boolean): string => formulas.html(tex, display);
