// Where frames come from: each plugin's own origin when the browser reaches `*.localhost`, else the opaque
// fallback below the page's own address (host-api §2.1). Asked once per page.

export type OriginMode = 'plugin' | 'fallback';

/** Counted from the moment the browser has loaded the probe, or what it shows in its place: a machine that is
    busy starting a process for the frame is slow, not unable. */
const PROBE_MS = 1_500;
const PROBE_MOST_MS = 12_000;
const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

export const SANDBOX = 'allow-scripts allow-same-origin allow-forms allow-modals allow-downloads allow-popups';
export const SANDBOX_FALLBACK = SANDBOX.split(' ').filter((token) => token !== 'allow-same-origin').join(' ');
export const ALLOW = 'clipboard-read; clipboard-write';

/** The page may not connect to other origins, so the probe is a frame (security T3). */
export async function findMode(place: Location, reach: (url: string, limitMs: number) => Promise<boolean> = reachByFrame): Promise<OriginMode> {
  if (!LOCAL_NAMES.has(place.hostname)) return 'fallback';
  return (await reach(`http://p-probe.localhost:${place.port}/__chatos/probe`, PROBE_MS)) ? 'plugin' : 'fallback';
}

let found: Promise<OriginMode> | null = null;

/** The answer for this page, asked for when it is first needed. */
export function pageMode(): Promise<OriginMode> {
  found ??= findMode(location);
  return found;
}

/** A hidden frame on the probe's address posts one word when its page could be loaded. */
function reachByFrame(url: string, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const frame = document.createElement('iframe');
    const origin = new URL(url).origin;
    const end = (reached: boolean) => {
      removeEventListener('message', onMessage);
      clearTimeout(timer);
      frame.remove();
      resolve(reached);
    };
    const onMessage = (event: MessageEvent<unknown>) => {
      if (event.source !== frame.contentWindow || event.origin !== origin) return;
      if ((event.data as { chatos?: unknown } | null)?.chatos === 'probe') end(true);
    };
    let timer = setTimeout(() => end(false), PROBE_MOST_MS);
    frame.addEventListener('load', () => {
      clearTimeout(timer);
      timer = setTimeout(() => end(false), limitMs);
    });
    addEventListener('message', onMessage);
    frame.setAttribute('sandbox', 'allow-scripts allow-same-origin');
    frame.hidden = true;
    frame.src = url;
    document.body.append(frame);
  });
}
