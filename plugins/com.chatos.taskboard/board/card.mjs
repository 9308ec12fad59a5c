// One task on the board.

import { STATUSES } from '../lib/board.mjs';
import { h, relativeTime } from '../lib/dom.mjs';

/** @param {{t: object, lang: string, pinned: boolean, onPin: Function, onMove?: Function}} options */
export function card(task, { t, lang, pinned, onPin, onMove }) {
  const status = task.status ?? 'todo';
  const move = onMove && h('select', {
    'aria-label': `${t.move}: ${task.title}`,
    onchange: (event) => {
      const to = event.target.value;
      event.target.value = '';
      if (to) onMove(task, to);
    },
  }, h('option', { value: '' }, t.move),
  STATUSES.filter((other) => other !== status).map((other) => h('option', { value: other }, t.columns[other])));
  return h('article', { class: 'card', 'data-task': task.id },
    h('h3', {}, task.title),
    task.details ? h('p', {}, task.details) : null,
    h('div', { class: 'row' },
      h('span', {}, t.columns[task.priority ?? 'medium']),
      (task.tags ?? []).slice(0, 4).map((tag) => h('span', { class: 'tag' }, tag)),
      task.updatedAt ? h('span', {}, relativeTime(task.updatedAt, lang)) : null,
      h('button', { class: 'button', type: 'button', 'aria-pressed': String(pinned), onclick: () => onPin(task) }, pinned ? t.unpin : t.pin),
      move));
}
