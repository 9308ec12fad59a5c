import { expect, test } from 'vitest';
import { inMinutes, local, morning } from './snooze';

test('the next morning is nine on this clock, also at the end of a month', () => {
  expect(local(morning(new Date(2026, 10, 30, 23, 59)))).toBe('2026-12-01T09:00');
  expect(local(morning(new Date(2026, 10, 17, 0, 1)))).toBe('2026-11-18T09:00');
  expect(local(inMinutes(15, new Date(2026, 10, 17, 23, 50)))).toBe('2026-11-18T00:05');
});
