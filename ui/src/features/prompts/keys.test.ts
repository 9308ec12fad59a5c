import { describe, expect, test } from 'vitest';
import { item } from '../../state/prompts/testing';
import { MOST, tick, tickable, tickAll, ticked } from './bulk';
import { actOf, isCardAct, isHarmless } from './keys';
import { afterSpot, GROUP_HEIGHT, idOf, indexAt, nextPrompt, ROW_HEIGHT, type Rows, spotOf, topOf, windowOf } from './rows';
import { arrangedRows } from './tabs';

const press = (key: string, more: object = {}) => actOf({ key, repeat: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

test('a letter means one thing, and nothing with a modifier or when it is held', () => {
  expect(['a', 'A', 'x', 'X', '*', '/'].map((key) => press(key))).toEqual(['approve', 'always', 'tick', 'range', 'all', 'search']);
  expect([press('a', { repeat: true }), press('x', { repeat: true }), press('a', { ctrlKey: true }), press('a', { metaKey: true })]).toEqual([null, null, null, null]);
  expect([press('j', { repeat: true }), press('k', { repeat: true })]).toEqual(['down', 'up']);
  expect([press('constructor'), press('z'), press('1')]).toEqual([null, null, null]);
});

test('what answers is never what works from anywhere', () => {
  for (const key of 'jkoxX*arcAend/fG') {
    const act = press(key);
    expect(act !== null && isCardAct(act) && isHarmless(act), key).toBe(false);
  }
});

function listOf(count: number): Rows {
  const items = Array.from({ length: count }, (_, index) => item({ kind: 'choice', options: [], allowCancel: index !== 2 }, { requestId: `q${index}` }));
  return { count, at: (index) => (items[index] ? { item: items[index] } : null), indexOf: (id) => items.findIndex((other) => other.id === id) };
}

test('ticks go on and off, over a range, and only where there is something to refuse', () => {
  const rows = listOf(6);
  const one = tick(rows, new Set(), 'q1', null);
  expect([...one]).toEqual(['q1']);
  expect([...tick(rows, one, 'q1', null)]).toEqual([]);
  expect([...tick(rows, one, 'q2', null)]).toEqual(['q1']);
  expect(ticked(rows, tick(rows, one, 'q4', 'q1')).map(({ id }) => id)).toEqual(['q1', 'q3', 'q4']);
  expect(ticked(rows, tick(rows, one, 'q0', 'q1')).map(({ id }) => id)).toEqual(['q0', 'q1']);
  // What has left the list is ticked no more; a range from it is a single tick.
  expect([...tick(rows, new Set(['gone', 'q1']), 'q3', 'gone')]).toEqual(['q1', 'q3']);
  expect(tick(listOf(MOST + 50), new Set(), `q${MOST + 40}`, 'q0').size).toBe(MOST);
});

describe('groups', () => {
  const of = (...names: string[]) => names.map((id) => item({ kind: 'choice', options: [] }, { requestId: id }));
  const groups = [
    { key: 'p', label: 'P', title: '', items: of('a', 'b') },
    { key: 'q', label: 'Q', title: '', items: of('c') },
    { key: '', label: '', title: '', items: of('d', 'e') },
  ];
  const rowsWith = (folded: string[], complete = true) => arrangedRows({ groups, fitting: groups.flatMap(({ items }) => items) }, true, new Set(folded), complete);

  test('heads are lower than questions, and every height leads back to its row', () => {
    const rows = rowsWith(['q'], false);
    // P a b Q Other d e …
    expect(rows.count).toBe(8);
    expect(topOf(rows, rows.count)).toBe(3 * GROUP_HEIGHT + 5 * ROW_HEIGHT);
    for (let index = 0; index < rows.count; index += 1) expect([indexAt(rows, topOf(rows, index)), indexAt(rows, topOf(rows, index + 1) - 1)]).toEqual([index, index]);
    expect(windowOf(0, 600, rows)).toEqual({ start: 0, count: 8 });
    expect([rows.indexOf('b'), rows.indexOf('c'), rows.at(7)]).toEqual([2, -1, null]);
  });

  test('keys stop at heads, answers pass them', () => {
    const rows = rowsWith([]);
    expect([nextPrompt(rows, 2, 1), nextPrompt(rows, 2, 1, true)]).toEqual([4, 3]);
    const spot = spotOf(rows, 'c');
    expect(spot).toMatchObject({ next: 'd', previous: 'b' });
    expect(spot && afterSpot(rows, spot)).toBe('d');
    const folded = rowsWith(['', 'p']);
    const alone = spotOf(folded, 'c');
    expect(alone).toMatchObject({ next: null, previous: null });
    expect(idOf(folded.at(nextPrompt(folded, -1, 1)))).toBe('c');
  });

  test('a group is ticked as one, also folded, and unticked when all of it is', () => {
    const rows = rowsWith(['p']);
    const inside = rows.arranged?.within('p') ?? [];
    const one = tickAll(rows, new Set(['c']), inside);
    expect([...one].sort()).toEqual(['a', 'b', 'c']);
    expect(ticked(rows, one).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect([...tickAll(rows, one, inside)]).toEqual(['c']);
    expect(tickable(rows).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(tickAll(listOf(MOST + 50), new Set(), tickable(listOf(MOST + 50))).size).toBe(MOST);
  });
});
