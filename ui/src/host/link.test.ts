import { expect, test } from 'vitest';
import { MAX_LINK, readLink } from './link';

const PLACE = { hostname: '127.0.0.1', port: '7878' };

test('pages of the web may be opened, other servers on this computer too', () => {
  for (const good of ['https://example.com/a?b#c', 'http://example.com', 'http://127.0.0.1:8080/', 'http://localhost:3000/x', 'mailto:a@example.com?subject=x']) {
    expect(String(readLink(good, PLACE))).toBe(new URL(good).href);
  }
});

test('nothing but whole web addresses, and none of this host', () => {
  for (const bad of [
    undefined, 7, '', 'x', '//example.com', 'javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'blob:https://a/b', 'tel:1',
    'http://127.0.0.1:7878/', 'http://localhost:7878/#/settings', 'http://[::1]:7878/', 'http://p-probe.localhost:7878/x', `https://example.com/${'x'.repeat(MAX_LINK)}`,
  ]) {
    expect(typeof readLink(bad, PLACE)).toBe('string');
  }
});
