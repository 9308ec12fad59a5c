// Whether this browser keeps frames off the network (inbox §8.2, L1), measured once per page: a hidden frame that
// carries the header tries one request to this page's own address. A second one without the header tries the same;
// only if that one got through, a refusal of the first says anything.

import type { Confinement } from '../frame/wire';
import { LOCAL_NAMES, openProbe } from './origin';

/** A request from inside a frame at this address: it left, it did not, or nobody answered. */
export type Try = (url: string, opaque: boolean) => Promise<boolean | null>;

export async function findConfinement(place: Location, attempt: Try = tryFromFrame): Promise<Confinement> {
  const measure = async (base: string, opaque: boolean) => {
    const [free, confined] = await Promise.all([attempt(`${base}/__chatos/probe`, opaque), attempt(`${base}/__chatos/confined`, opaque)]);
    return free === null || confined === null ? null : free && !confined;
  };
  const own = LOCAL_NAMES.has(place.hostname) ? await measure(`http://p-probe.localhost:${place.port}`, false) : null;
  // Where plugins have no origins of their own, their frames are below the page's.
  return (own ?? (await measure(`${place.origin}/plugin-frame/probe`, true))) === true ? 'full' : 'partial';
}

function tryFromFrame(url: string, opaque: boolean): Promise<boolean | null> {
  return new Promise((resolve) => {
    openProbe(url, opaque, {
      onMessage: ({ left }, frame) => {
        if (typeof left === 'boolean') return left;
        frame.postMessage({ chatos: 'try' }, '*');
        return undefined;
      },
      onEnd: resolve,
    });
  });
}

let found: Promise<Confinement> | null = null;

/** The answer for this page. */
export function pageConfinement(): Promise<Confinement> {
  found ??= findConfinement(location);
  return found;
}
