// Where frames come from: each plugin's own origin when the browser reaches `*.localhost`, else the opaque
// fallback below the page's own address (host-api §2.1). Asked once per page.

export type OriginMode = 'plugin' | 'fallback';

/** Counted from the moment the browser has loaded the probe, or what it shows in its place: a machine that is
    busy starting a process for the frame is slow, not unable. */
const PROBE_MS = 1_500;
const PROBE_MOST_MS = 12_000;
export const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/** No windows: links go through the page, which asks (inbox §8.2). */
export const SANDBOX = 'allow-scripts allow-same-origin allow-forms allow-modals allow-downloads';
export const SANDBOX_FALLBACK = SANDBOX.split(' ').filter((token) => token !== 'allow-same-origin').join(' ');
export const ALLOW = 'clipboard-read; clipboard-write';

/** The page may not connect to other origins, so the probe is a frame (security T3). */
export async function findMode(place: Location, reach: (url: string, limitMs: number) => Promise<boolean> = reachByFrame): Promise<OriginMode> {
  if (!LOCAL_NAMES.has(place.hostname)) return 'fallback';
  return (await reach(`http://p-probe.localhost:${place.port}/__chatos/probe`, PROBE_MS)) ? 'plugin' : 'fallback';
}

let found: Promise<OriginMode> | null = null;
let chosen: OriginMode | null = null;

/** The answer for this page, asked for when it is first needed. */
export function pageMode(): Promise<OriginMode> {
  if (chosen) return Promise.resolve(chosen);
  found ??= findMode(location);
  return found;
}

/** Somebody wants to see an app in the other mode (`chatos dev`); null: what the browser can do. Frames that are
    open stay as they are until they are loaded again. */
export function choosePageMode(mode: OriginMode | null): void {
  chosen = mode;
}

/** A hidden frame on the probe's address posts one word when its page could be loaded. */
function reachByFrame(url: string, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => openProbe(url, false, { onMessage: () => true, onEnd: (reached) => resolve(reached === true) }, limitMs));
}

export interface ProbeHandlers<T> {
  /** Anything but undefined is the answer and ends it. */
  onMessage: (data: { left?: unknown }, frame: Window) => T | undefined;
  /** Null when none came in time. */
  onEnd: (answer: T | null) => void;
}

/** Opens a hidden frame on one of the host's probes. */
export function openProbe<T>(url: string, opaque: boolean, handlers: ProbeHandlers<T>, limitMs = PROBE_MS): void {
  const frame = document.createElement('iframe');
  const origin = opaque ? 'null' : new URL(url).origin;
  const end = (answer: T | null) => {
    removeEventListener('message', onMessage);
    clearTimeout(timer);
    frame.remove();
    handlers.onEnd(answer);
  };
  const onMessage = (event: MessageEvent<unknown>) => {
    const { contentWindow } = frame;
    if (!contentWindow || event.source !== contentWindow || event.origin !== origin) return;
    const data = event.data as { chatos?: unknown; left?: unknown } | null;
    const answer = data?.chatos === 'probe' ? handlers.onMessage(data, contentWindow) : undefined;
    if (answer !== undefined) end(answer);
  };
  let timer = setTimeout(() => end(null), PROBE_MOST_MS);
  frame.addEventListener('load', () => {
    clearTimeout(timer);
    timer = setTimeout(() => end(null), limitMs);
  });
  addEventListener('message', onMessage);
  frame.setAttribute('sandbox', opaque ? 'allow-scripts' : 'allow-scripts allow-same-origin');
  frame.hidden = true;
  frame.src = url;
  document.body.append(frame);
}
