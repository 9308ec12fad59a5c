// The notes in a side drawer: write something down quickly, see what is recent.

import { cleanup, fill, h, pickLanguage, relativeTime } from '../lib/dom.mjs';
import { renderMarkdown } from '../lib/markdown.mjs';
import { style } from './style.mjs';
import { words } from './words.mjs';

const REFRESH_MS = 5_000;

export async function mount({ container, host }) {
  const t = pickLanguage(host, words);
  const { lang, pluginId, appId } = host.context.get();
  const undo = cleanup();
  const list = h('ul', { class: 'list' });
  const page = h('div', { class: 'page', hidden: true });
  const notice = h('div', { role: 'status' });
  const field = h('input', { type: 'text', placeholder: t.quick, 'aria-label': t.quick, maxlength: '2000' });
  const form = h('form', { onsubmit: add }, field, h('button', { class: 'button primary', type: 'submit' }, t.add));
  const side = h('div', { class: 'side' }, form, notice, h('strong', {}, t.recent), list,
    h('button', { class: 'button', type: 'button', onclick: () => host.ui.navigate(`apps/plugin/${pluginId}/${appId}`) }, t.openFull));
  const root = h('div', { class: 'notes narrow' }, side, page);

  async function add(event) {
    event.preventDefault();
    const text = field.value.trim();
    if (text === '') return;
    await attempt(async () => {
      await host.backend.invoke('notes.write', { text: `# ${text}` });
      field.value = '';
      await refresh();
    });
  }

  async function open(id) {
    await attempt(async () => {
      const note = await host.backend.invoke('notes.read', { id });
      side.hidden = true;
      page.hidden = false;
      fill(page, h('button', { class: 'button', type: 'button', onclick: close }, `← ${t.back}`), renderMarkdown(note.text));
    });
  }

  function close() {
    page.hidden = true;
    side.hidden = false;
  }

  async function refresh() {
    const { notes } = await host.backend.invoke('notes.list', { limit: 20 });
    fill(list, notes.length === 0 ? h('li', { class: 'empty' }, t.empty) : notes.map((note) =>
      h('li', {}, h('button', { type: 'button', onclick: () => open(note.id) },
        h('span', { class: 'name' }, note.title), h('span', { class: 'info' }, relativeTime(note.updatedAt, lang))))));
  }

  async function attempt(work) {
    try {
      await work();
      fill(notice);
    } catch (error) {
      fill(notice, h('div', { class: 'notice error', role: 'alert' }, t.failed(error.message)));
    }
  }

  container.append(h('style', {}, style), root);
  undo.add(() => container.replaceChildren());
  undo.every(REFRESH_MS, () => document.visibilityState === 'visible' && attempt(refresh));
  await attempt(refresh);
  return { dispose: () => undo.run() };
}
