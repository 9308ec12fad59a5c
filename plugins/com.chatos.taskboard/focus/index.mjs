// Focus: what is in progress or pinned, nothing else. The full page and the drawer are the same list.

import { cleanup, fill, h, pickLanguage } from '../lib/dom.mjs';
import { card } from '../board/card.mjs';
import { style } from '../board/style.mjs';
import { BoardData } from '../board/tasks.mjs';
import { words } from '../board/words.mjs';

export default {
  async mount({ container, host }) {
    const t = pickLanguage(host, words);
    const { lang, pluginId } = host.context.get();
    const undo = cleanup();
    const data = new BoardData(host);
    const list = h('ul', { class: 'list' });
    const notice = h('div', { role: 'status' });

    function draw() {
      const pinned = (task) => data.isPinned(task.id);
      const focus = data.tasks.filter((task) => (task.status === 'doing' || pinned(task)) && task.status !== 'done');
      focus.sort((a, b) => Number(pinned(b)) - Number(pinned(a)));
      if (focus.length === 0) {
        fill(list, h('li', { class: 'empty' }, h('p', {}, t.nothingInFocus), h('p', {}, t.nothingInFocusHint),
          h('button', { class: 'button', type: 'button', onclick: () => host.ui.navigate(`apps/plugin/${pluginId}/board`) }, t.openBoard)));
        return;
      }
      fill(list, focus.map((task) => h('li', {}, card(task, { t, lang, pinned: pinned(task), onPin: toggle }))));
    }

    async function toggle(task) {
      await attempt(() => data.togglePin(task));
      draw();
    }

    async function attempt(work) {
      try {
        await work();
        fill(notice);
      } catch (error) {
        fill(notice, h('div', { class: 'notice error', role: 'alert' }, t.failed(error.message)));
      }
    }

    container.append(h('style', {}, style), h('div', { class: 'board' }, notice, list));
    undo.add(() => container.replaceChildren());
    undo.add(host.admin.onUpdate((state) => {
      data.takeState(state);
      draw();
    }));
    await attempt(() => data.load());
    draw();
    return { dispose: () => undo.run() };
  },
};
