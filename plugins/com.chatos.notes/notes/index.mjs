// The notes page: list and search on the left, one note on the right, edited or previewed.
//
// The person's text is never lost: it is saved a moment after typing stops, and a note that was changed elsewhere
// meanwhile is a question with two answers, not an overwritten note.

import { cleanup, debounce, fill, h, pickLanguage, relativeTime } from '../lib/dom.mjs';
import { renderMarkdown } from '../lib/markdown.mjs';
import { style } from './style.mjs';
import { words } from './words.mjs';

const SAVE_AFTER_MS = 800;
const REFRESH_MS = 5_000;

export async function mount({ container, host, slots }) {
  const t = pickLanguage(host, words);
  const undo = cleanup();
  const app = new NotesApp({ host, t, lang: host.context.get().lang, undo });
  // The host's own line above the frame names the app; the slot stays free.
  slots.header.replaceChildren();
  container.append(h('style', {}, style), app.root);
  undo.listen(window, 'chatos:context', () => app.speak(pickLanguage(host, words), host.context.get().lang));
  undo.add(() => container.replaceChildren());
  undo.listen(document, 'visibilitychange', () => document.visibilityState === 'visible' && app.refresh());
  undo.every(REFRESH_MS, () => document.visibilityState === 'visible' && app.refresh());
  await app.refresh();
  return async () => {
    await app.saveNow();
    undo.run();
  };
}

class NotesApp {
  #notes = [];
  #query = '';
  /** The note on the right: `{id?, title, text, revision, saved}`; no id until it was saved once. */
  #open = null;
  #mode = 'edit';
  #notice = null;
  #saving = null;

  constructor({ host, t, lang, undo }) {
    this.host = host;
    this.t = t;
    this.lang = lang;
    this.#buildFrame(undo);
  }

  /** The language of the host changed: everything is drawn again, what is being typed stays. */
  speak(t, lang) {
    if (lang === this.lang) return;
    Object.assign(this, { t, lang });
    this.#label();
    this.#drawList(this.#query.trim());
    this.#drawMain();
  }

  #label() {
    const { t } = this;
    this.side.setAttribute('aria-label', t.title);
    this.createButton.textContent = t.newNote;
    this.field.placeholder = t.search;
    this.field.setAttribute('aria-label', t.search);
  }

  #buildFrame(undo) {
    const search = debounce(200, () => this.refresh());
    undo.add(search.cancel);
    this.autosave = debounce(SAVE_AFTER_MS, () => this.save());
    undo.add(this.autosave.cancel);
    this.list = h('ul', { class: 'list' });
    this.main = h('section', { class: 'main' });
    this.field = h('input', {
      type: 'search',
      oninput: (event) => {
        this.#query = event.target.value;
        search();
      },
    });
    this.createButton = h('button', { class: 'button primary', type: 'button', onclick: () => this.create() });
    this.side = h('nav', { class: 'side' }, this.createButton, this.field, this.list);
    this.root = h('div', { class: 'notes' }, this.side, this.main);
    this.#label();
    this.#drawMain();
  }

  /** Reads the list again, and the open note's state with it. */
  async refresh() {
    const query = this.#query.trim();
    try {
      const answer = query
        ? await this.#invoke('notes.search', { query, limit: 100 })
        : await this.#invoke('notes.list', { limit: 200 });
      if (query !== this.#query.trim()) return;
      this.#notes = query ? answer.hits : answer.notes;
      this.#drawList(query);
      this.#followOpenNote();
    } catch (error) {
      this.#tell(error);
    }
  }

  /** An agent may have changed the open note. Untouched text follows; touched text becomes a conflict on saving. */
  #followOpenNote() {
    const open = this.#open;
    const now = open?.id && this.#notes.find((note) => note.id === open.id);
    if (now && now.revision !== open.revision && open.saved && !this.autosave.pending()) this.openNote(open.id);
  }

  async openNote(id) {
    await this.saveNow();
    try {
      const note = await this.#invoke('notes.read', { id });
      this.#show({ id, title: note.title, text: note.text, revision: note.revision, saved: true });
    } catch (error) {
      this.#tell(error);
    }
  }

  async create() {
    await this.saveNow();
    this.#mode = 'edit';
    this.#show({ title: '', text: '', revision: '', saved: true });
    this.main.querySelector('textarea')?.focus();
  }

  #show(note) {
    this.#open = note;
    this.#notice = null;
    this.#drawList(this.#query.trim());
    this.#drawMain();
  }

  async saveNow() {
    this.autosave.cancel();
    await this.save();
  }

  /** Saves what is on the page; calls that come meanwhile wait for their turn. */
  save() {
    this.#saving = (this.#saving ?? Promise.resolve()).then(() => this.#saveOnce());
    return this.#saving;
  }

  async #saveOnce() {
    const note = this.#open;
    if (!note || note.saved || note.text.trim() === '') return;
    const { text } = note;
    this.#state(this.t.saving);
    try {
      const saved = await this.#invoke('notes.write', { id: note.id, text, ifRevision: note.revision });
      Object.assign(note, { id: saved.id, title: saved.title, revision: saved.revision, saved: note.text === text });
      this.#state(note.saved ? this.t.saved : this.t.unsaved);
      await this.refresh();
    } catch (error) {
      if (error.code === 'conflict') this.#askAboutConflict(note);
      else this.#tell(error);
    }
  }

  #askAboutConflict(note) {
    const { t } = this;
    this.#notice = h('div', { class: 'notice', role: 'alert' }, t.conflict,
      h('button', { class: 'button', type: 'button', onclick: () => {
        note.saved = true;
        this.openNote(note.id);
      } }, t.takeTheirs),
      h('button', { class: 'button', type: 'button', onclick: async () => {
        const theirs = await this.#invoke('notes.read', { id: note.id });
        note.revision = theirs.revision;
        this.#notice = null;
        this.#drawMain();
        await this.save();
      } }, t.keepMine));
    this.#drawMain();
  }

  /** Deleting is asked in the host's queue, like every question of ChatOS. */
  async remove() {
    const { t, host } = this;
    const note = this.#open;
    if (!note?.id) return;
    this.#notice = h('div', { class: 'notice', role: 'status' }, t.waiting);
    this.#drawMain();
    try {
      const { requestId } = await host.uiPrompts.request({
        prompt: {
          kind: 'choice',
          title: t.removeTitle,
          message: t.removeMessage(note.title),
          options: [{ value: 'delete', label: t.remove }, { value: 'keep', label: t.keep }],
          default: 'keep',
        },
      });
      host.uiPrompts.open();
      const answer = await host.uiPrompts.wait(requestId);
      this.#notice = null;
      if (answer.status === 'ok' && answer.selection === 'delete') {
        note.saved = true;
        this.autosave.cancel();
        await this.#invoke('notes.delete', { id: note.id });
        this.#open = null;
        this.#notice = h('div', { class: 'notice', role: 'status' }, t.deleted(note.title));
      }
      this.#drawMain();
      await this.refresh();
    } catch (error) {
      this.#tell(error);
    }
  }

  #invoke(method, params) {
    return this.host.backend.invoke(method, params);
  }

  #tell(error) {
    this.#notice = h('div', { class: 'notice error', role: 'alert' }, this.t.failed(error.message));
    this.#drawMain();
  }

  #state(text) {
    const place = this.main.querySelector('.state');
    if (place) place.textContent = text;
  }

  #drawList(query) {
    const { t } = this;
    if (this.#notes.length === 0) {
      // That there is nothing yet is said once, beside the invitation to write.
      const words = query ? t.nothingFound(query) : this.#open ? t.empty : null;
      fill(this.list, words && h('li', { class: 'empty' }, words));
      return;
    }
    fill(this.list, this.#notes.map((note) =>
      h('li', {}, h('button', {
        type: 'button',
        'aria-current': this.#open?.id === note.id ? 'true' : undefined,
        onclick: () => this.openNote(note.id),
      },
      h('span', { class: 'name' }, note.title),
      h('span', { class: 'info' }, note.tags.slice(0, 3).map((tag) => h('span', { class: 'tag' }, tag)), relativeTime(note.updatedAt, this.lang))))));
  }

  #drawMain() {
    const { t } = this;
    const note = this.#open;
    if (!note) {
      const invitation = this.#notes.length === 0 && this.#query.trim() === ''
        ? [h('p', {}, t.empty), h('p', {}, t.emptyHint), h('button', { class: 'button primary', type: 'button', onclick: () => this.create() }, t.emptyButton)]
        : [h('p', {}, t.choose)];
      fill(this.main, this.#notice, h('div', { class: 'empty' }, invitation));
      return;
    }
    const tab = (mode, label) => h('button', {
      class: 'button',
      type: 'button',
      'aria-pressed': String(this.#mode === mode),
      onclick: () => {
        this.#mode = mode;
        this.#drawMain();
      },
    }, label);
    fill(this.main,
      h('div', { class: 'bar' }, tab('edit', t.edit), tab('preview', t.preview),
        h('button', { class: 'button', type: 'button', disabled: !note.id, onclick: () => this.remove() }, t.remove),
        h('span', { class: 'state', role: 'status' }, note.saved ? (note.id ? t.saved : '') : t.unsaved)),
      this.#notice,
      this.#mode === 'edit' ? this.#editor(note) : h('article', { class: 'page' }, renderMarkdown(note.text)));
  }

  #editor(note) {
    const area = h('textarea', {
      'aria-label': this.t.text,
      placeholder: this.t.placeholder,
      spellcheck: 'true',
      oninput: () => {
        note.text = area.value;
        note.saved = false;
        this.#state(this.t.unsaved);
        this.autosave();
      },
      onkeydown: (event) => {
        if ((event.ctrlKey || event.metaKey) && event.key === 's') {
          event.preventDefault();
          this.saveNow();
        }
      },
    });
    area.value = note.text;
    return area;
  }
}
