import { expect, test } from 'vitest';
import { withoutAddress } from './address';

test('a text loses only the paragraphs that repeat the address shown beside it', () => {
  const url = 'https://login.example.com:8443/authorize?state=a%20b';
  const text = (host: string, shown: string) => `Sign in to \`notes\` on this page.\n\n${host}\n\n\`${shown}\`\n\nA warning.`;
  expect(withoutAddress(text('Host: **login.example.com**', url), url)).toBe('Sign in to `notes` on this page.\n\nA warning.');
  expect(withoutAddress(text('主机：**login.example.com**', url), url)).toBe('Sign in to `notes` on this page.\n\nA warning.');
  // Another address or host is a word of the asker, to be seen.
  const other = text('Host: **bank.example.com**', 'https://bank.example.com/');
  expect(withoutAddress(other, url)).toBe(other);
  expect(withoutAddress('see `x`', 'not an address')).toBe('see `x`');
});

test('an address of this computer is the same in brackets and without', () => {
  expect(withoutAddress('Go\n\nHost: **::1**', 'http://[::1]:9000/x')).toBe('Go');
});
