import { expect, test } from 'vitest';
import { item } from '../../state/prompts/testing';
import { MOST, tick, ticked } from './bulk';
import { actOf, isCardAct, isHarmless } from './keys';
import type { Rows } from './rows';

const press = (key: string, more: object = {}) => actOf({ key, repeat: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

test('a letter means one thing, and nothing with a modifier or when it is held', () => {
  expect(['a', 'A', 'x', 'X', '*', '/'].map((key) => press(key))).toEqual(['approve', 'always', 'tick', 'range', 'all', 'search']);
  expect([press('a', { repeat: true }), press('x', { repeat: true }), press('a', { ctrlKey: true }), press('a', { metaKey: true })]).toEqual([null, null, null, null]);
  expect([press('j', { repeat: true }), press('k', { repeat: true })]).toEqual(['down', 'up']);
  expect([press('constructor'), press('z'), press('1')]).toEqual([null, null, null]);
});

test('what answers is never what works from anywhere', () => {
  for (const key of 'jkoxX*arcAnd/') {
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
