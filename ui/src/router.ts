// A hash router: the address after `#/` names a page, the rest is its path, then an optional query.
// Pages are few and known, so there are no patterns; a page reads its own `rest`.

import { createSubscriber } from 'svelte/reactivity';

export const PAGES = ['chat', 'queue', 'apps', 'agents', 'tasks', 'runs', 'changes', 'settings'] as const;
export type PageName = (typeof PAGES)[number];

export interface Route {
  /** Null: the address names no page there is. */
  page: PageName | null;
  /** Decoded path parts after the page name. */
  rest: string[];
  query: Record<string, string>;
}

/** What the rail leads to: pages, and parts of pages that people look for by their name. */
export type PlaceName = PageName | 'models' | 'servers';
/** In groups: where one works, what one builds with, what has been. */
export const PLACES: readonly (readonly PlaceName[])[] = [['chat', 'queue', 'tasks'], ['apps', 'agents', 'models', 'servers'], ['runs', 'changes'], ['settings']];
/** The addresses of those parts, the first of each its own. */
const PARTS = { models: ['agents', 'models', 'usage'], servers: ['settings', 'servers', 'tools', 'tool-log'] } as const;

/** The place an address belongs to. */
export function placeOf({ page, rest }: Route): PlaceName | null {
  const within = (name: keyof typeof PARTS) => page === PARTS[name][0] && PARTS[name].slice(1).some((part) => part === rest[0]);
  return within('models') ? 'models' : within('servers') ? 'servers' : page;
}

/** Where a place is. */
export function addressOf(place: PlaceName): [PageName, string[]] {
  if (place !== 'models' && place !== 'servers') return [place, []];
  const [page, part] = PARTS[place];
  return [page, [part]];
}

const HOME: Route = { page: 'chat', rest: [], query: {} };

/** Reads a hash such as `#/settings/doctor?q=node`. An empty one leads home. */
export function parseHash(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const cut = text.indexOf('?');
  const path = cut < 0 ? text : text.slice(0, cut);
  const [name, ...rest] = path.split('/').filter((part) => part !== '').map(decodePart);
  if (name === undefined || !hash.startsWith('#/')) return HOME;
  const page = PAGES.find((known) => known === name) ?? null;
  const query = Object.fromEntries(new URLSearchParams(cut < 0 ? '' : text.slice(cut + 1)));
  return { page, rest, query };
}

/** Builds the hash that `parseHash` reads back to the same route. Empty query values are left out. */
export function toHash(page: PageName, rest: string[] = [], query: Record<string, string> = {}): string {
  const path = [page, ...rest].map(encodeURIComponent).join('/');
  const params = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return params === '' ? `#/${path}` : `#/${path}?${params}`;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A stray percent sign typed by hand is an ordinary character.
    return part;
  }
}

/** Whether the page may go from one place to another; asked before anything is drawn. */
export type Guard = (from: Route, to: Route) => boolean | Promise<boolean>;

class Router {
  /** The address the page was last drawn for, or has given itself. */
  #drawn = '';
  #guard: Guard = () => true;
  /** An address that may be gone to without being asked. */
  #free: string | null = null;

  constructor() {
    // Before all others: who must not leave yet does not see the new address either.
    addEventListener('hashchange', (event) => this.#check(event));
  }

  /** One for the whole page. */
  guard(guard: Guard): void {
    this.#guard = guard;
  }

  readonly #subscribe = createSubscriber((update) => {
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  });

  /** The route on screen; reading it in a component follows it. */
  get current(): Route {
    this.#subscribe();
    this.#drawn = location.hash;
    return parseHash(location.hash);
  }

  go(page: PageName, rest: string[] = [], query: Record<string, string> = {}): void {
    location.hash = toHash(page, rest, query);
  }

  /** Leaves a form that has done its work: nobody is asked about it. */
  done(page: PageName, rest: string[] = []): void {
    const hash = toHash(page, rest);
    // Without a change of the address nothing would use up the leave.
    if (hash === location.hash) return;
    this.#free = hash;
    location.hash = hash;
  }

  /** Changes the address without a step in the history, for state such as a search text. An address
      that somebody has gone to but that is not drawn yet wins: browsers say `hashchange` a little later,
      and what the page wants until then it wants of the address before. */
  replace(page: PageName, rest: string[] = [], query: Record<string, string> = {}): void {
    const hash = toHash(page, rest, query);
    if (hash === location.hash || location.hash !== this.#drawn) return;
    const oldURL = location.href;
    history.replaceState(history.state, '', hash);
    this.#drawn = location.hash;
    dispatchEvent(new HashChangeEvent('hashchange', { oldURL, newURL: location.href }));
  }

  #check(event: HashChangeEvent): void {
    const [from, to] = [new URL(event.oldURL).hash, new URL(event.newURL).hash];
    if (this.#free === to) {
      this.#free = null;
      return;
    }
    const may = this.#guard(parseHash(from), parseHash(to));
    if (may === true) return;
    event.stopImmediatePropagation();
    // The address is again that of what is on screen. Whether a link or the browser's own buttons led away cannot be
    // known, so it is a new step: nothing before it is lost.
    history.pushState(history.state, '', from === '' ? '#/' : from);
    void Promise.resolve(may).then((leave) => {
      if (!leave) return;
      this.#free = to;
      location.hash = to;
    });
  }
}

export const router = new Router();
