// Desktop notifications and the app badge (ui-prompts §13). Permission is asked only by a button that
// the person presses; a page in view says nothing here, because it shows the count itself.

import { i18n } from '../../i18n/index.svelte';
import type { PromptItem } from './item';
import { type Note, Notifier, SEVERAL_ID, type Shown } from './notifier';
import { titleOf } from './words';

export interface DesktopOptions {
  /** Setting `promptNotifications`. */
  enabled: () => boolean;
  /** Setting `uiPromptLogMode = minimal`: kind and source only. */
  minimal: () => boolean;
  isClosed: (id: string) => boolean;
  open: (id: string | null) => void;
}

/** Most results go straight to a waiting tool call; those are not news. */
const RESULT_WAIT_MS = 1_000;

export class Desktop {
  permission: NotificationPermission | 'unsupported' = $state(
    typeof Notification === 'undefined' ? 'unsupported' : Notification.permission,
  );
  readonly #options: DesktopOptions;
  readonly #notifier: Notifier;

  constructor(options: DesktopOptions) {
    this.#options = options;
    this.#notifier = new Notifier({
      show: (note) => this.#show(note),
      several: (count) => ({ title: i18n.t.prompts.notify.several(count), body: i18n.t.prompts.notify.severalBody }),
    });
  }

  async ask(): Promise<void> {
    if (this.permission === 'unsupported') return;
    this.permission = await Notification.requestPermission();
  }

  arrivals(items: PromptItem[]): void {
    if (this.permission !== 'granted' || !this.#options.enabled()) return;
    for (const item of items) {
      if (item.kind === 'result') setTimeout(() => this.#tell(item), RESULT_WAIT_MS);
      else this.#tell(item);
    }
  }

  /** The number on the icon of the tab, and on the installed app's icon where the system has one. */
  badge(count: number): void {
    document.querySelector('link[rel="icon"]')?.setAttribute('href', iconWith(count));
    if (!('setAppBadge' in navigator)) return;
    const shown = count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge();
    // Refused where the page is not installed; the title has the count in any case.
    shown.catch(() => undefined);
  }

  #tell(item: PromptItem): void {
    if (this.#options.isClosed(item.id) || looking()) return;
    const { kinds, notify } = i18n.t.prompts;
    const kind = item.kind ? kinds[item.kind] : kinds.problem;
    const source = item.source ?? notify.unknownSource;
    const body = this.#options.minimal() ? source : notify.body(titleOf(item), source);
    this.#notifier.add({ id: item.id, title: kind, body });
  }

  #show(note: Note): Shown | null {
    try {
      const shown = new Notification(note.title, { body: note.body, tag: note.id, lang: i18n.tag });
      shown.onclick = () => {
        window.focus();
        this.#options.open(note.id === SEVERAL_ID ? null : note.id);
        shown.close();
      };
      return shown;
    } catch {
      // Some systems have the permission but not the constructor; title and badge still tell.
      return null;
    }
  }
}

function looking(): boolean {
  return document.visibilityState === 'visible' && document.hasFocus();
}

/** The smile with a number in its corner; the plain one for none. A tab has room for two characters. */
function iconWith(count: number): string {
  if (count <= 0) return '/favicon.svg';
  const face = '<circle cx="16" cy="16" r="15" fill="#ffc94d"/><path d="M11 11.5V14M21 11.5V14M9.5 18.5c1.5 3.2 3.8 4.8 6.5 4.8s5-1.6 6.5-4.8" fill="none" stroke="#3a2a00" stroke-width="2.6"/>';
  const number = `<circle cx="21" cy="21" r="11" fill="#b42318"/><text x="21" y="26.5" font-family="sans-serif" font-size="15" font-weight="bold" text-anchor="middle" fill="#fff">${count > 9 ? '9+' : count}</text>`;
  return `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${face}${number}</svg>`)}`;
}
