// The panel beside the page: one app in its compact view. Any page may open it; its width is kept in this
// browser.

export interface PanelApp {
  pluginId: string;
  appId: string;
}

const STORAGE_KEY = 'chatos.panel';
export const PANEL_LEAST = 300;
export const PANEL_MOST = 720;
const PANEL_USUAL = 400;

export class Panel {
  app: PanelApp | null = $state(null);
  /** The list of apps is shown instead of one. */
  choosing = $state(false);
  width = $state(stored());

  get open(): boolean {
    return this.app !== null || this.choosing;
  }

  openApp(pluginId: string, appId: string): void {
    this.app = { pluginId, appId };
    this.choosing = false;
  }

  /** Lets the person choose one of the apps that have a compact view. */
  choose(): void {
    this.choosing = true;
  }

  close(): void {
    this.app = null;
    this.choosing = false;
  }

  resize(width: number): void {
    this.width = Math.round(Math.min(PANEL_MOST, Math.max(PANEL_LEAST, width)));
    localStorage.setItem(STORAGE_KEY, String(this.width));
  }
}

function stored(): number {
  const width = Number(localStorage.getItem(STORAGE_KEY));
  return width >= PANEL_LEAST && width <= PANEL_MOST ? width : PANEL_USUAL;
}
