// The board page: tasks in columns, views to switch between, a line to the agent.

import { DEFAULT_VIEW, GROUPINGS, SORTS, arrange } from '../lib/board.mjs';
import { cleanup, debounce, fill, h, pickLanguage } from '../lib/dom.mjs';
import { card } from './card.mjs';
import { style } from './style.mjs';
import { BoardData } from './tasks.mjs';
import { words } from './words.mjs';

export async function mount({ container, host }) {
  const undo = cleanup();
  const page = new BoardPage(host, pickLanguage(host, words), undo);
  container.append(h('style', {}, style), page.root);
  undo.add(() => container.replaceChildren());
  undo.add(host.admin.onUpdate((state) => page.update(state)));
  undo.listen(window, 'chatos:context', () => page.speak(pickLanguage(host, words)));
  await page.load();
  return () => undo.run();
}

class BoardPage {
  /** The view on the screen; a copy, so that trying out a filter changes nothing saved. */
  #view = { ...DEFAULT_VIEW };

  constructor(host, t, undo) {
    this.host = host;
    this.t = t;
    this.lang = host.context.get().lang;
    this.data = new BoardData(host);
    this.redraw = debounce(150, () => this.draw());
    undo.add(this.redraw.cancel);
    this.bar = h('div', { class: 'bar' });
    this.notice = h('div', { role: 'status' });
    this.columns = h('div', { class: 'columns' });
    this.root = h('div', { class: 'board' }, this.bar, this.notice, this.columns, this.#askForm());
  }

  /** The language of the host changed. */
  speak(t) {
    if (t === this.t) return;
    this.t = t;
    this.lang = this.host.context.get().lang;
    this.root.lastElementChild.replaceWith(this.#askForm());
    this.draw();
  }

  async load() {
    await this.#attempt(() => this.data.load());
    this.draw();
  }

  update(state) {
    this.data.takeState(state);
    this.redraw();
  }

  draw() {
    this.#drawBar();
    this.#drawColumns();
  }

  #drawBar() {
    const { t } = this;
    const choice = (label, value, options, onchange) =>
      h('label', {}, label, h('select', { onchange: (event) => onchange(event.target.value) },
        options.map(([key, name]) => h('option', { value: key, selected: key === value }, name))));
    const views = this.data.views.map((view) => [view.id, view.id === DEFAULT_VIEW.id ? t.allTasks : view.name]);
    const filter = h('input', {
      type: 'search',
      value: this.#view.filter?.text ?? '',
      placeholder: t.filter,
      'aria-label': t.filter,
      oninput: (event) => {
        this.#view = { ...this.#view, filter: { ...this.#view.filter, text: event.target.value } };
        this.#drawColumns();
      },
    });
    const saved = this.#view.id !== DEFAULT_VIEW.id && this.data.views.some((view) => view.id === this.#view.id);
    fill(this.bar,
      choice(t.view, this.#view.id, views, (id) => this.#openView(id)),
      choice(t.groupBy, this.#view.groupBy, GROUPINGS.map((key) => [key, t.groupings[key]]), (groupBy) => this.#change({ groupBy })),
      choice(t.sort, this.#view.sort, SORTS.map((key) => [key, t.sorts[key]]), (sort) => this.#change({ sort })),
      filter,
      h('button', { class: 'button', type: 'button', onclick: () => this.#askForName() }, t.saveView),
      saved ? h('button', { class: 'button', type: 'button', onclick: () => this.#deleteView() }, t.deleteView) : null,
      h('button', { class: 'button', type: 'button', onclick: (event) => this.#standup(event.target) }, t.standup));
  }

  #drawColumns() {
    const { t } = this;
    const { tasks } = this.data;
    if (tasks.length === 0) {
      fill(this.columns, h('div', { class: 'empty' }, h('p', {}, t.noTasks), h('p', {}, t.noTasksHint)));
      return;
    }
    const board = arrange(this.#view, tasks);
    const onMove = this.#view.groupBy === 'status' ? (task, status) => this.#move(task, status) : undefined;
    fill(this.columns, board.columns.map((column) =>
      h('section', { class: 'column', 'data-column': column.key },
        h('h2', {}, t.columns[column.key] ?? column.key,
          h('span', { class: 'count' }, String(column.tasks.length)),
          column.over ? h('span', { class: 'over' }, t.over(column.limit)) : null),
        column.tasks.map((task) => card(task, {
          t, lang: this.lang, pinned: this.data.isPinned(task.id), onPin: (pinned) => this.#pin(pinned), onMove,
        })))));
  }

  #openView(id) {
    const view = this.data.views.find((other) => other.id === id) ?? DEFAULT_VIEW;
    this.#view = { ...view };
    this.draw();
  }

  #change(part) {
    this.#view = { ...this.#view, ...part };
    this.draw();
  }

  #askForName() {
    const { t } = this;
    const name = h('input', { type: 'text', 'aria-label': t.viewName, placeholder: t.viewName, maxlength: '80' });
    const save = () => this.#attempt(async () => {
      const { id, ...view } = this.#view;
      this.#view = { ...(await this.data.saveView({ ...view, name: name.value })) };
      fill(this.notice);
      this.draw();
    });
    fill(this.notice, h('div', { class: 'notice' }, name,
      h('button', { class: 'button primary', type: 'button', onclick: save }, t.save),
      h('button', { class: 'button', type: 'button', onclick: () => fill(this.notice) }, t.cancel)));
    name.focus();
  }

  #deleteView() {
    return this.#attempt(async () => {
      await this.data.deleteView(this.#view.id);
      this.#openView(DEFAULT_VIEW.id);
    });
  }

  #pin(task) {
    return this.#attempt(async () => {
      await this.data.togglePin(task);
      this.#drawColumns();
    });
  }

  #move(task, status) {
    return this.#attempt(async () => {
      const session = await this.data.say(this.t.moveText(task.id, status));
      this.#tell(this.t.moving(task.title), session);
    });
  }

  #standup(button) {
    button.disabled = true;
    fill(this.notice, h('div', { class: 'notice' }, this.t.standupBusy));
    return this.#attempt(async () => {
      const { text } = await this.host.backend.invoke('standup.write', { tasks: this.data.tasks, lang: this.lang });
      fill(this.notice, h('div', { class: 'notice' }, text));
    }).finally(() => {
      button.disabled = false;
    });
  }

  #askForm() {
    const { t } = this;
    const field = h('input', { type: 'text', placeholder: t.askPlaceholder, 'aria-label': t.ask, maxlength: '4000' });
    const send = (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (text === '') return undefined;
      return this.#attempt(async () => {
        const session = await this.data.say(text);
        field.value = '';
        this.#tell(t.asked, session);
      });
    };
    return h('form', { onsubmit: send }, field, h('button', { class: 'button primary', type: 'submit' }, t.send));
  }

  #tell(text, session) {
    fill(this.notice, h('div', { class: 'notice' }, text,
      h('button', { class: 'button', type: 'button', onclick: () => this.host.ui.navigate(`chat/session/${session}`) }, this.t.openChat)));
  }

  async #attempt(work) {
    try {
      await work();
    } catch (error) {
      fill(this.notice, h('div', { class: 'notice error', role: 'alert' }, this.t.failed(error.message)));
    }
  }
}
