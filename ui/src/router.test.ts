import { describe, expect, test } from 'vitest';
import { PAGES, parseHash, router, toHash } from './router';

describe('parseHash', () => {
  test.each([
    ['', { page: 'chat', rest: [], query: {} }],
    ['#', { page: 'chat', rest: [], query: {} }],
    ['#/', { page: 'chat', rest: [], query: {} }],
    ['#/settings/doctor', { page: 'settings', rest: ['doctor'], query: {} }],
    ['#/settings?q=a%20b', { page: 'settings', rest: [], query: { q: 'a b' } }],
    ['#/apps/plugin/com.example.tools/db-client', { page: 'apps', rest: ['plugin', 'com.example.tools', 'db-client'], query: {} }],
    ['#/apps/a%2Fb', { page: 'apps', rest: ['a/b'], query: {} }],
    ['#/apps/100%', { page: 'apps', rest: ['100%'], query: {} }],
    ['#//apps//', { page: 'apps', rest: [], query: {} }],
    // Said, not guessed: there is no such page.
    ['#/nowhere/else', { page: null, rest: ['else'], query: {} }],
    ['#/__proto__', { page: null, rest: [], query: {} }],
    ['#code=abc', { page: 'chat', rest: [], query: {} }],
  ])('%s', (hash, route) => {
    expect(parseHash(hash)).toEqual(route);
  });
});

test('every page and awkward text survives the way to the address and back', () => {
  for (const page of PAGES) {
    const rest = ['a/b', 'ä?#%', '中文'];
    const query = { q: 'x&y=z #1', lang: '中' };
    expect(parseHash(toHash(page, rest, query))).toEqual({ page, rest, query });
  }
});

test('empty query values are left out', () => {
  expect(toHash('settings', [], { q: '' })).toBe('#/settings');
});

describe('replace', () => {
  /** Browsers tell of a new address after the code that set it, not during it. */
  const goQuietly = (hash: string) => history.pushState(null, '', hash);

  test('changes the address the page was drawn for', () => {
    goQuietly('#/queue');
    expect(router.current.page).toBe('queue');
    router.replace('queue', ['needsYou', 'a']);
    expect(location.hash).toBe('#/queue/needsYou/a');
  });

  test('can be changed twice before the page is drawn again', () => {
    goQuietly('#/queue');
    expect(router.current.page).toBe('queue');
    router.replace('queue', ['results']);
    router.replace('queue', ['history']);
    expect(location.hash).toBe('#/queue/history');
  });

  test('does not change the one somebody has gone to since', () => {
    goQuietly('#/queue');
    expect(router.current.page).toBe('queue');
    goQuietly('#/queue/needsYou/wanted');
    router.replace('queue', ['needsYou', 'first']);
    expect(router.current.rest).toEqual(['needsYou', 'wanted']);
    router.replace('queue', ['needsYou', 'next']);
    expect(location.hash).toBe('#/queue/needsYou/next');
  });
});
