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

describe('the guard', () => {
  const settle = () => new Promise((done) => setTimeout(done, 0));
  /** As a browser does it: the address first, then word of it. */
  function follow(hash: string): void {
    const oldURL = location.href;
    history.pushState(null, '', hash);
    dispatchEvent(new HashChangeEvent('hashchange', { oldURL, newURL: location.href }));
  }

  test('keeps the page where it is until the answer, and lets nobody see the new address before', async () => {
    history.replaceState(null, '', '#/agents/agents/new');
    let answer: (leave: boolean) => void = () => undefined;
    const asked: (string | null)[] = [];
    router.guard((_, to) => {
      if (to.page !== 'tasks') return true;
      asked.push(to.page);
      return new Promise((resolve) => (answer = resolve));
    });
    const seen: string[] = [];
    const listen = () => seen.push(location.hash);
    addEventListener('hashchange', listen);
    try {
      follow('#/tasks');
      expect([location.hash, asked, seen]).toEqual(['#/agents/agents/new', ['tasks'], []]);
      answer(false);
      await settle();
      expect(location.hash).toBe('#/agents/agents/new');
    } finally {
      removeEventListener('hashchange', listen);
      router.guard(() => true);
    }
  });

  test('a form that has done its work leaves without a question', () => {
    history.replaceState(null, '', '#/agents/agents/new');
    let asked = 0;
    router.guard(() => ((asked += 1), false));
    try {
      const oldURL = location.href;
      router.done('agents');
      dispatchEvent(new HashChangeEvent('hashchange', { oldURL, newURL: location.href }));
      expect([location.hash, asked]).toEqual(['#/agents', 0]);
    } finally {
      router.guard(() => true);
    }
  });
});
