// The explorer: a tree of members, what one of them answers, what was heard, and the tokens of the theme.

import { createTree } from '../common/ui/tree.mjs';
import { cleanup, fill, h, pickLanguage } from '../lib/dom.mjs';
import { Calls, pretty } from './calls.mjs';
import { members } from './members.mjs';
import { style } from './style.mjs';
import { tokenNames } from './tokens.mjs';
import { words } from './words.mjs';

const TABS = ['members', 'events', 'tokens'];

export function mount({ container, host, slots }) {
  const undo = cleanup();
  const page = new Explorer(host, slots.header);
  container.append(h('style', {}, style), page.root);
  undo.add(() => container.replaceChildren());
  undo.add(() => page.calls.dispose());
  undo.add(host.theme.onChange(() => page.draw()));
  // The language of the host may change while the app is open.
  undo.listen(window, 'chatos:context', () => page.speak());
  return () => undo.run();
}

class Explorer {
  #tab = 'members';
  #chosen = members[0].path;
  #drafts = new Map();
  #filter = '';
  #busy = false;
  #summary = '';
  #scheduled = false;

  constructor(host, header) {
    this.host = host;
    this.header = header;
    this.calls = new Calls(host, () => this.#later());
    this.bar = h('div', { class: 'bar' });
    this.body = h('div', { class: 'body' });
    this.root = h('div', { class: 'explorer' }, this.bar, this.body);
    this.detail = h('section', { class: 'detail', 'aria-live': 'polite' });
    this.side = h('nav', { class: 'side' });
    this.speak();
  }

  /** Draws everything in the language of the moment. */
  speak() {
    this.t = pickLanguage(this.host, words);
    this.header.textContent = '';
    this.tree = createTree({
      items: this.#items(),
      label: this.t.tree,
      selected: this.#chosen,
      expanded: this.#groups().flatMap((name) => [name, `${name}.`]),
      onSelect: (id) => {
        if (!members.some((member) => member.path === id)) return;
        this.#chosen = id;
        this.#drawDetail();
      },
    });
    fill(this.side, this.tree.element);
    this.draw();
  }

  draw() {
    this.#drawBar();
    if (this.#tab === 'members') {
      fill(this.body, h('div', { class: 'split' }, this.side, this.detail));
      this.tree.update(this.#items());
      this.#drawDetail();
    } else if (this.#tab === 'events') this.#drawEvents();
    else this.#drawTokens();
  }

  /** Once per frame: events may come in crowds. */
  #later() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      // What the person types or selects is left alone.
      if (this.#tab === 'members') {
        this.tree.update(this.#items());
        this.#drawAnswer();
      } else if (this.#tab === 'events') this.#drawEvents();
    });
  }

  #groups() {
    return [...new Set(members.map((member) => member.path.split('.').slice(0, -1).join('.')))];
  }

  #items() {
    const marks = { fine: '✓', refused: '✕', waiting: '…' };
    return this.#groups().map((group) => ({
      id: group,
      label: group,
      children: members.filter((member) => member.path.slice(0, member.path.lastIndexOf('.')) === group).map((member) => ({
        id: member.path,
        label: member.path.slice(group.length + 1),
        badge: this.calls.isListening(member.path) ? '●' : (marks[this.calls.results.get(member.path)?.state] ?? ''),
      })),
    }));
  }

  #drawBar() {
    const { t } = this;
    const tabs = TABS.map((name) => h('button', {
      type: 'button', role: 'tab', 'aria-selected': String(this.#tab === name),
      onclick: () => {
        this.#tab = name;
        this.draw();
      },
    }, t.tabs[name]));
    fill(this.bar, h('div', { role: 'tablist' }, tabs),
      h('button', { class: 'button', type: 'button', disabled: this.#busy, onclick: () => this.#tryAll() }, this.#busy ? t.allBusy : t.all),
      h('span', { class: 'state', role: 'status' }, this.#summary || t.members(members.length)));
  }

  async #tryAll() {
    this.#busy = true;
    this.#drawBar();
    const { fine, refused } = await this.calls.runAll();
    this.#busy = false;
    this.#summary = this.t.summary(fine, refused);
    this.draw();
  }

  #drawDetail() {
    const { t } = this;
    const member = members.find((known) => known.path === this.#chosen);
    const area = h('textarea', { spellcheck: 'false', 'aria-label': t.args, oninput: () => this.#drafts.set(member.path, area.value) });
    area.value = this.#drafts.get(member.path) ?? pretty(member.args);
    const act = () => this.#act(member, area.value);
    const listening = this.calls.isListening(member.path);
    const label = member.kind === 'events' ? (listening ? t.stop : t.listen) : t.run;
    this.answer = h('div', {});
    fill(this.detail,
      h('div', { class: 'row' }, h('h2', {}, `host.${member.path}`), h('span', { class: 'pill' }, t.kinds[member.kind])),
      member.kind === 'value' ? null : h('label', {}, t.args, area),
      h('div', { class: 'row' }, h('button', { class: 'button primary', type: 'button', onclick: act }, label)),
      this.answer);
    this.#drawAnswer();
  }

  #act(member, text) {
    let args;
    try {
      args = JSON.parse(text);
      if (!Array.isArray(args)) throw new Error(typeof args);
    } catch (error) {
      fill(this.answer, h('p', { class: 'quiet', role: 'alert' }, this.t.badJson(error.message)));
      return;
    }
    if (member.kind !== 'events') void this.calls.run(member, args);
    else if (this.calls.isListening(member.path)) this.calls.stop(member.path);
    else this.calls.listen(member, args);
    if (member.kind === 'events') this.#drawDetail();
  }

  #drawAnswer() {
    const { t } = this;
    if (!this.answer) return;
    const result = this.calls.results.get(this.#chosen);
    const heard = this.calls.heard.filter((event) => event.path === this.#chosen);
    if (heard.length > 0) {
      fill(this.answer, h('p', { class: 'quiet' }, t.heard(heard.length)), box('fine', heard[0].at.toLocaleTimeString(), '', pretty(heard[0].payload)));
      return;
    }
    if (!result) fill(this.answer, h('p', { class: 'quiet' }, t.notYet));
    else if (result.missing) fill(this.answer, h('p', { class: 'quiet', role: 'alert' }, t.missing(result.missing)));
    else if (result.state === 'waiting') fill(this.answer, h('p', { class: 'quiet' }, t.running));
    else if (result.text !== '') fill(this.answer, box(result.state, result.state === 'fine' ? t.answered : t.refused, t.took(result.ms), result.text));
  }

  #drawEvents() {
    const { t } = this;
    const { heard } = this.calls;
    if (heard.length === 0) {
      fill(this.body, h('p', { class: 'empty' }, t.noEvents));
      return;
    }
    fill(this.body, h('div', { class: 'feed' },
      h('div', { class: 'row' }, h('span', { class: 'quiet' }, t.heard(heard.length)), h('button', { class: 'button', type: 'button', onclick: () => this.calls.clear() }, t.clear)),
      heard.slice(0, 50).map((event) => box('', `host.${event.path}`, event.at.toLocaleTimeString(), pretty(event.payload)))));
  }

  #drawTokens() {
    const { t } = this;
    const list = h('div', { class: 'tokens' });
    const show = () => {
      const look = getComputedStyle(document.documentElement);
      fill(list, tokenNames.filter((name) => name.includes(this.#filter)).map((name) => token(name, look.getPropertyValue(name).trim())));
    };
    const field = h('input', {
      type: 'search', value: this.#filter, placeholder: t.filter, 'aria-label': t.filter,
      oninput: (event) => {
        this.#filter = event.target.value;
        show();
      },
    });
    show();
    fill(this.body, h('div', { class: 'feed' }, field), list);
  }
}

function box(state, title, note, text) {
  return h('article', { class: `answer ${state}` }, h('header', {}, h('strong', {}, title), h('span', {}, note)), h('pre', { tabindex: '0' }, text));
}

function token(name, value) {
  const swatch = h('i', { 'aria-hidden': 'true' });
  const paint = /shadow/u.test(name) ? 'boxShadow' : 'background';
  swatch.style[paint] = `var(${name})`;
  return h('div', { class: 'token' }, swatch, h('span', {}, h('code', { title: name }, name), h('code', { class: 'quiet', title: value }, value)));
}
