// Light, dark, or what the system says. The choice is kept in this browser.

export type ThemeChoice = 'light' | 'dark' | 'system';

const STORAGE_KEY = 'chatos.theme';

export class Theme {
  choice: ThemeChoice = $state(stored());
  #systemDark = $state(false);
  readonly resolved: 'light' | 'dark' = $derived(
    this.choice === 'system' ? (this.#systemDark ? 'dark' : 'light') : this.choice,
  );

  constructor() {
    const media = matchMedia('(prefers-color-scheme: dark)');
    this.#systemDark = media.matches;
    media.addEventListener('change', (event) => {
      this.#systemDark = event.matches;
      this.apply();
    });
    // Paper is white, whatever the screen is.
    addEventListener('beforeprint', () => (document.documentElement.dataset['theme'] = 'light'));
    addEventListener('afterprint', () => this.apply());
    this.apply();
  }

  choose(choice: ThemeChoice): void {
    this.choice = choice;
    localStorage.setItem(STORAGE_KEY, choice);
    this.apply();
  }

  /** Writes the theme where the stylesheet looks for it. */
  apply(): void {
    document.documentElement.dataset['theme'] = this.resolved;
  }
}

function stored(): ThemeChoice {
  const value = localStorage.getItem(STORAGE_KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}
