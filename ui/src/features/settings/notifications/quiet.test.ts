import { expect, test } from 'vitest';
import { readQuiet, writeQuiet } from './quiet';

test('quiet hours are read and written as the setting has them', () => {
  for (const text of ['22:00-07:00', '22:00-07:00 mon-fri', '12:30-13:00 sat,sun']) {
    const hours = readQuiet(text);
    expect(hours && writeQuiet(hours)).toBe(text);
  }
  for (const odd of ['', 'always', null, 7, '22:00']) expect(readQuiet(odd)).toBeNull();
});
