// The keys of the Inbox (inbox §3.5). Each presses a button, ticks a row or goes somewhere: nothing can be done by a
// key alone.

/** Buttons of the open card, by the letter that presses them. */
export type CardAct = 'approve' | 'reject' | 'stop' | 'near' | 'always' | 'edit';
export type Act = CardAct | 'down' | 'up' | 'open' | 'tick' | 'range' | 'all' | 'clear' | 'note' | 'whole' | 'search' | 'filter' | 'group' | 'snooze' | 'fold' | 'unfold';

const ACTS: Record<string, Act> = {
  j: 'down', k: 'up', o: 'open', x: 'tick', X: 'range', '*': 'all', Escape: 'clear',
  a: 'approve', r: 'reject', R: 'stop', c: 'near', A: 'always', e: 'edit', n: 'note', d: 'whole', s: 'snooze', '/': 'search',
  // `g` alone begins a jump to another page everywhere.
  f: 'filter', G: 'group', ArrowLeft: 'fold', ArrowRight: 'unfold',
};

/** The letter on a button, and as `aria-keyshortcuts` has it. */
export const LETTERS: Record<CardAct, { shown: string; aria: string }> = {
  approve: { shown: 'a', aria: 'a' },
  reject: { shown: 'r', aria: 'r' },
  stop: { shown: 'R', aria: 'Shift+R' },
  near: { shown: 'c', aria: 'c' },
  always: { shown: 'A', aria: 'Shift+A' },
  edit: { shown: 'e', aria: 'e' },
};

/** What a key means; a key that is held moves on and does nothing else. */
export function actOf(event: Pick<KeyboardEvent, 'key' | 'repeat' | 'ctrlKey' | 'metaKey' | 'altKey'>): Act | null {
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(ACTS, event.key)) return null;
  const act = ACTS[event.key] ?? null;
  return event.repeat && act !== 'down' && act !== 'up' ? null : act;
}

/** Those that change nothing, hence work wherever the focus is on the page. */
export function isHarmless(act: Act): boolean {
  return act === 'down' || act === 'up' || act === 'search' || act === 'filter' || act === 'group';
}

export function isCardAct(act: Act): act is CardAct {
  return Object.hasOwn(LETTERS, act);
}
