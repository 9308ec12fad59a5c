// The explorer beside the page: where the app is, and what happens while it is there.

import { cleanup, fill, h, pickLanguage } from '../lib/dom.mjs';
import { Calls, pretty } from './calls.mjs';
import { members } from './members.mjs';
import { style } from './style.mjs';
import { words } from './words.mjs';

const FOLLOWED = ['theme.onChange', 'uiPrompts.onUpdate', 'chat.events.subscribe'];

export function mount({ container, host }) {
  const undo = cleanup();
  const root = h('div', { class: 'explorer narrow' });
  const calls = new Calls(host, draw);

  function draw() {
    const t = pickLanguage(host, words);
    const feed = calls.heard.slice(0, 30).map((event) => h('article', { class: 'answer' },
      h('header', {}, h('strong', {}, event.payload?.type ?? event.path), h('span', {}, event.at.toLocaleTimeString())),
      h('pre', {}, pretty(event.path === 'uiPrompts.onUpdate' ? { changed: event.payload.changed, entries: event.payload.entries.length } : event.payload))));
    fill(root, h('div', { class: 'body' }, h('section', { class: 'detail' },
      h('strong', {}, t.context), h('article', { class: 'answer' }, h('pre', {}, pretty(host.context.get()))),
      h('p', { class: 'quiet' }, t.listening), feed.length > 0 ? feed : h('p', { class: 'quiet' }, t.heard(0)))));
  }

  container.append(h('style', {}, style), root);
  for (const path of FOLLOWED) calls.listen(members.find((member) => member.path === path));
  draw();
  undo.add(() => container.replaceChildren());
  undo.add(() => calls.dispose());
  undo.listen(window, 'chatos:context', draw);
  return { dispose: () => undo.run() };
}
