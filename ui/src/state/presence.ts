// Tells the host while somebody uses this page: then other channels keep silent (inbox §5.1). Loaded after the first
// view.

import { http, session } from './index';

/** A page that is used says so this often at most. */
const EVERY_MS = 20_000;

const page = crypto.randomUUID();
let told = 0;
let present = false;

function tell(visible: boolean): void {
  if (session.status !== 'signedIn' || session.lapsed) return;
  told = Date.now();
  present = visible;
  // What is not heard only means that another channel speaks as well.
  http.post('/api/v1/presence', { page, visible }, { keepalive: !visible }).catch(() => undefined);
}

function used(): void {
  if (document.visibilityState === 'visible' && (!present || Date.now() - told > EVERY_MS)) tell(true);
}

function hidden(): void {
  if (document.visibilityState === 'hidden' && present) tell(false);
}

export function watchPresence(): void {
  for (const kind of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const) {
    addEventListener(kind, used, { passive: true, capture: true });
  }
  document.addEventListener('visibilitychange', () => (document.visibilityState === 'hidden' ? hidden() : used()));
  addEventListener('pagehide', hidden);
  used();
}
