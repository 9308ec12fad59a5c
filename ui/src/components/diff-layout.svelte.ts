// In one column or side by side: one choice for all differences on the page, remembered in this browser.

const KEY = 'chatos.diffLayout';

class DiffLayout {
  #value: 'unified' | 'split' = $state(localStorage.getItem(KEY) === 'split' ? 'split' : 'unified');

  get value(): 'unified' | 'split' {
    return this.#value;
  }

  choose(next: string): void {
    this.#value = next === 'split' ? 'split' : 'unified';
    localStorage.setItem(KEY, this.#value);
  }
}

export const diffLayout = new DiffLayout();

/** Two columns need this many pixels. */
export const SPLIT_WIDTH = 640;
