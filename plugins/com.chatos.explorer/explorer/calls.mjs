// Calling members and remembering what came of it; the page only draws this.

import { fillIn, memberOf, members, partOf } from './members.mjs';

const MOST_EVENTS = 200;

export class Calls {
  /** By path: `{ state: 'waiting' | 'fine' | 'refused', text, ms }`. */
  results = new Map();
  /** Newest first: `{ path, at, payload }`. */
  heard = [];
  kept = {};
  #listening = new Map();
  #onChange;

  constructor(host, onChange) {
    this.host = host;
    this.#onChange = onChange;
  }

  isListening(path) {
    return this.#listening.has(path);
  }

  /** Calls a member and keeps answer or refusal; never throws. */
  async run(member, args = member.args) {
    const { path } = member;
    this.#note(path, { state: 'waiting', text: '', ms: 0 });
    const started = performance.now();
    try {
      const target = memberOf(this.host, path);
      const answer = member.kind === 'value' ? target : await target(...fillIn(args, this.kept));
      for (const [name, part] of Object.entries(member.keep ?? {})) this.kept[name] = partOf(answer, part);
      this.#note(path, { state: 'fine', text: pretty(answer), ms: since(started) });
      return true;
    } catch (error) {
      const { name, code, message, data, missing } = error;
      this.#note(path, { state: 'refused', text: missing ? '' : pretty({ name, code, message, data }), missing, ms: since(started) });
      return false;
    }
  }

  listen(member, args = member.args) {
    if (this.#listening.has(member.path)) return;
    const hear = (payload) => {
      this.heard = [{ path: member.path, at: new Date(), payload }, ...this.heard].slice(0, MOST_EVENTS);
      this.#onChange();
    };
    try {
      this.#listening.set(member.path, memberOf(this.host, member.path)(...fillIn(args, this.kept), hear));
      this.#note(member.path, { state: 'fine', text: '', ms: 0 });
    } catch (error) {
      this.#note(member.path, { state: 'refused', text: pretty({ code: error.code, message: error.message }), ms: 0 });
    }
  }

  stop(path) {
    this.#listening.get(path)?.();
    this.#listening.delete(path);
    this.#onChange();
  }

  clear() {
    this.heard = [];
    this.#onChange();
  }

  /** One after the other, because later ones use what earlier ones gave. */
  async runAll() {
    let [fine, refused] = [0, 0];
    for (const member of members) {
      if (member.shy) continue;
      if (member.kind === 'events') {
        this.listen(member);
        this.stop(member.path);
        fine += 1;
      } else if (await this.run(member)) fine += 1;
      else refused += 1;
    }
    return { fine, refused };
  }

  dispose() {
    for (const release of this.#listening.values()) release();
    this.#listening.clear();
  }

  #note(path, result) {
    this.results.set(path, result);
    this.#onChange();
  }
}

function since(started) {
  return Math.round((performance.now() - started) * 10) / 10;
}

export function pretty(value) {
  return JSON.stringify(value, null, 2) ?? 'undefined';
}
