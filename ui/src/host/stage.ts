// All frames of the page: which app is open, which is seen where, and which has to go (host-api §3). An app
// that is not looked at stays mounted; only beyond twenty hidden ones the least recently used is closed, and
// never one that works in the background.

import type { Snapshot } from '../frame/wire';
import { AppFrame } from './frame';
import { type OriginMode, pageMode } from './origin';
import { Follower, hide } from './place';
import { type AppRef, keyOf, type Services, type Surface } from './services';
import { AppStorage } from './storage';

export const MOST_HIDDEN = 20;
/** How often an app that is not needed any more is looked at until it has nothing under way. */
const IDLE_MS = 500;

/** What the stage must know of an app before it opens it. */
export interface AppFacts {
  ref: AppRef;
  name: string;
  /** Paths of the modules; `compact` is null for an app that has only a full view. */
  entry: { full: string; compact: string | null };
}

export interface Actor {
  readonly id: number;
  readonly frame: AppFrame;
  /** Where it is seen now; null while it is hidden. */
  place: HTMLElement | null;
  /** A call waits for work of this app's page (AsyncTask): it must stay. */
  needed: boolean;
  seenAt: number;
}

export interface StageOptions {
  services: Services;
  onChange: () => void;
  mode?: () => Promise<OriginMode>;
}

export class Stage {
  readonly #options: StageOptions;
  readonly #actors: (Actor & { follower: Follower; entry: AppFacts['entry'] })[] = [];
  readonly #storage = new AppStorage();
  #layer: HTMLElement | null = null;
  #nextId = 1;
  #clock = 0;

  constructor(options: StageOptions) {
    this.#options = options;
  }

  get actors(): readonly Actor[] {
    return this.#actors;
  }

  find(app: AppRef, surface: Surface): Actor | undefined {
    return this.#actors.find((actor) => keyOf(actor.frame.app) === keyOf(app) && actor.frame.surface === surface);
  }

  /** Shows an app in a place, mounting it when it is not. The answer hides it again. */
  show(facts: AppFacts, surface: Surface, place: HTMLElement): { actor: Actor; leave: () => void } {
    const actor = this.find(facts.ref, surface) ?? this.#reuse(facts, surface) ?? this.#mount(facts, surface);
    actor.place = place;
    actor.seenAt = this.#tick();
    this.#arrange();
    return {
      actor,
      leave: () => {
        if (actor.place !== place) return;
        actor.place = null;
        actor.seenAt = this.#tick();
        this.#arrange();
      },
    };
  }

  /** A call waits for this app: mounts it hidden when it is not there, and keeps it. */
  need(facts: AppFacts): void {
    const actor = this.find(facts.ref, 'full') ?? this.#mount(facts, 'full');
    actor.needed = true;
    this.#arrange();
  }

  /** Nothing waits for it any more. One that nobody ever looked at goes. */
  release(app: AppRef): void {
    const actor = this.find(app, 'full');
    if (!actor?.needed) return;
    actor.needed = false;
    this.#arrange();
    this.#letGo(actor);
  }

  /** Closes one that was only there for a call, once its last word to the host is through. */
  #letGo(actor: Actor): void {
    const wanted = actor.needed || actor.place || actor.seenAt !== 0;
    if (wanted || !this.#actors.some((other) => other.id === actor.id)) return;
    if (actor.frame.busy) setTimeout(() => this.#letGo(actor), IDLE_MS);
    else void this.close(actor);
  }

  /** Loads an app again, with every module of it, in the same place. */
  async reload(actor: Actor, facts: AppFacts): Promise<void> {
    const { place, needed, seenAt, frame } = actor;
    await this.close(actor);
    const fresh = this.#mount(facts, frame.surface);
    Object.assign(fresh, { place, needed, seenAt });
    this.#arrange();
  }

  async close(actor: Actor): Promise<void> {
    const index = this.#actors.findIndex((other) => other.id === actor.id);
    const [gone] = index < 0 ? [] : this.#actors.splice(index, 1);
    gone?.follower.stop();
    this.#changed();
    await actor.frame.close();
  }

  /** Closes every frame of a plugin: it was removed, changed or is no longer trusted. */
  async closePlugin(pluginId: string): Promise<void> {
    await Promise.all(this.#of(pluginId).map((actor) => this.close(actor)));
  }

  /** The plugin is gone for good, and what its apps stored with it. */
  async forget(pluginId: string): Promise<void> {
    await this.closePlugin(pluginId);
    await this.#storage.forget(pluginId);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#actors].map((actor) => this.close(actor)));
  }

  /** Theme and language for all, capabilities for the frames of one plugin. */
  push(changed: Partial<Snapshot>, pluginId?: string): void {
    for (const actor of pluginId === undefined ? this.#actors : this.#of(pluginId)) actor.frame.push(changed);
  }

  #of(pluginId: string): Actor[] {
    return this.#actors.filter((actor) => actor.frame.app.pluginId === pluginId);
  }

  /** One module for both surfaces needs no second frame: the hidden one is told where it is now. */
  #reuse(facts: AppFacts, surface: Surface): Actor | undefined {
    if (facts.entry.full !== facts.entry.compact) return undefined;
    const other = this.find(facts.ref, surface === 'full' ? 'compact' : 'full');
    if (!other || other.place || other.frame.phase !== 'mounted') return undefined;
    other.frame.push({ surface });
    return other;
  }

  #mount(facts: AppFacts, surface: Surface): Actor {
    const frame: AppFrame = new AppFrame({
      app: facts.ref,
      appName: facts.name,
      surface,
      services: this.#options.services,
      storage: this.#storage,
      layer: this.#stage(),
      onChange: () => {
        this.#arrange();
        this.#changed();
      },
    });
    const actor = { id: this.#nextId, frame, place: null, needed: false, seenAt: 0, follower: new Follower(), entry: facts.entry };
    this.#nextId += 1;
    this.#actors.push(actor);
    void frame.open((this.#options.mode ?? pageMode)());
    return actor;
  }

  #arrange(): void {
    for (const { frame, place, follower } of this.#actors) {
      if (!frame.element) continue;
      // Until it is mounted the page shows its own words in the place.
      if (place && frame.phase === 'mounted') follower.follow(frame.element, place);
      else {
        follower.stop();
        hide(frame.element);
      }
    }
    this.#makeRoom();
  }

  #makeRoom(): void {
    const hidden = this.#actors.filter((actor) => !actor.place);
    const idle = hidden.filter((actor) => !actor.needed && !actor.frame.busy).sort((a, b) => a.seenAt - b.seenAt);
    for (const actor of idle.slice(0, Math.max(0, hidden.length - MOST_HIDDEN))) void this.close(actor);
  }

  #stage(): HTMLElement {
    if (this.#layer) return this.#layer;
    const layer = document.createElement('div');
    layer.className = 'app-frames';
    document.body.append(layer);
    this.#layer = layer;
    return layer;
  }

  #tick(): number {
    this.#clock += 1;
    return this.#clock;
  }

  #changed(): void {
    this.#options.onChange();
  }
}
