// One page per day: write, it saves itself; step to other days; ask an agent about the day.

import { cleanup, debounce, fill, h, pickLanguage } from '../lib/dom.mjs';
import { style } from '../notes/style.mjs';
import { words } from '../notes/words.mjs';

const SAVE_AFTER_MS = 800;

export default async function mount({ container, host }) {
  const t = pickLanguage(host, words);
  const { lang } = host.context.get();
  const undo = cleanup();
  let day = today();
  let revision = '';
  let loaded = '';
  let agentId = null;

  const area = h('textarea', { 'aria-label': t.text, placeholder: t.dailyPlaceholder, oninput: () => autosave() });
  const label = h('strong', { 'aria-live': 'polite' });
  const state = h('span', { class: 'state', role: 'status' });
  const notice = h('div', { role: 'status' });
  const button = (text, onclick) => h('button', { class: 'button', type: 'button', onclick }, text);
  const bar = h('div', { class: 'bar' },
    button(`← ${t.previousDay}`, () => go(shift(day, -1))), label, button(`${t.nextDay} →`, () => go(shift(day, 1))),
    button(t.today, () => go(today())), button(t.askAgent, ask), state);
  const root = h('div', { class: 'notes narrow' }, h('section', { class: 'main' }, bar, notice, area));
  const autosave = debounce(SAVE_AFTER_MS, save);
  undo.add(autosave.cancel);

  /** The page starts with its date; what the person typed follows. */
  async function save() {
    const text = area.value;
    if (text === loaded || (text.trim() === '' && revision === '')) return;
    state.textContent = t.saving;
    await attempt(async () => {
      const whole = text.startsWith('# ') ? text : `# ${day}\n\n${text}`;
      const saved = await host.backend.invoke('notes.write', { id: idOf(day), text: whole, ifRevision: revision });
      revision = saved.revision;
      loaded = text;
      state.textContent = t.saved;
    });
  }

  async function go(next) {
    autosave.cancel();
    await save();
    day = next;
    label.textContent = new Date(`${day}T12:00:00`).toLocaleDateString(lang === 'zh' ? 'zh-CN' : 'en', {
      weekday: 'long', year: 'numeric', month: 'long', day: 'numeric',
    });
    revision = '';
    loaded = '';
    area.value = '';
    state.textContent = '';
    try {
      const note = await host.backend.invoke('notes.read', { id: idOf(day) });
      revision = note.revision;
      loaded = note.text;
      area.value = note.text;
      fill(notice);
    } catch (error) {
      // A day without a note is an empty page, not a problem.
      if (error.code !== 'not_found') show(error);
    }
  }

  async function ask() {
    await attempt(async () => {
      autosave.cancel();
      await save();
      if (agentId === null) agentId = (await host.chat.agents.createForApp()).agent.id;
      const { session } = await host.chat.sessions.create({ title: idOf(day), agentId });
      await host.chat.send({ sessionId: session.id, text: t.askText(idOf(day)) });
      fill(notice, h('div', { class: 'notice' }, t.asked));
      host.ui.navigate(`chat/session/${session.id}`);
    });
  }

  async function attempt(work) {
    try {
      await work();
    } catch (error) {
      show(error);
    }
  }

  function show(error) {
    state.textContent = '';
    if (error.code !== 'conflict') {
      fill(notice, h('div', { class: 'notice error', role: 'alert' }, t.failed(error.message)));
      return;
    }
    // Somebody else wrote this day's page meanwhile; the typed text stays until the person has chosen.
    fill(notice, h('div', { class: 'notice', role: 'alert' }, t.conflict,
      button(t.takeTheirs, () => {
        loaded = area.value;
        return go(day);
      }),
      button(t.keepMine, () => attempt(async () => {
        revision = (await host.backend.invoke('notes.read', { id: idOf(day) })).revision;
        fill(notice);
        await save();
      }))));
  }

  container.append(h('style', {}, style), root);
  undo.add(() => container.replaceChildren());
  await go(day);
  return async () => {
    autosave.cancel();
    await save();
    undo.run();
  };
}

function idOf(day) {
  return `daily-${day}`;
}

/** The person's date, not the one in Greenwich. */
function today(now = new Date()) {
  const part = (number) => String(number).padStart(2, '0');
  return `${now.getFullYear()}-${part(now.getMonth() + 1)}-${part(now.getDate())}`;
}

function shift(day, days) {
  const date = new Date(`${day}T12:00:00`);
  date.setDate(date.getDate() + days);
  return today(date);
}
