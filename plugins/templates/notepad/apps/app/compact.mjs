//zh 紧凑视图：最新的笔记，点开即可阅读。
//en The compact view: the newest notes, opened by a click.

import { fill, h } from '../../common/ui/dom.mjs';
import { renderMarkdown } from '../../common/ui/markdown.mjs';
import { words } from './words.mjs';

/** @param {import('../../types/host').MountArguments} given */
export function mount({ container, host }) {
  const t = words(host.context.get().lang);
  const list = async () => {
    const { notes } = await host.backend.invoke('notes.list');
    const item = (note) => h('li', {}, h('button', { type: 'button', onclick: () => show(note.id) }, note.title));
    fill(container, notes.length === 0 ? h('p', {}, t.empty) : h('ul', { role: 'list' }, notes.slice(0, 50).map(item)));
  };
  const show = async (id) => {
    const note = await host.backend.invoke('notes.get', { id });
    fill(container, h('button', { type: 'button', onclick: () => draw(list()) }, '←'), renderMarkdown(note.text));
  };
  const draw = (work) => work.catch((error) => fill(container, h('p', {}, error.message)));
  void draw(list());
  return () => container.replaceChildren();
}
