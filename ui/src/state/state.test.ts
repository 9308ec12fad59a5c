import { describe, expect, test, vi } from 'vitest';
import { ApiError } from '../api/error';
import { i18n } from '../i18n/index.svelte';
import type { Plugin, Setting } from '../protocol';
import { describe as words } from './describe';
import { matchesPlugin, publisherName } from './plugins.svelte';
import { Resource } from './resource.svelte';
import type { Renew, SignIn } from '../protocol/wire';
import type { BrowserKey } from './keys';
import { codeFrom, Session } from './session.svelte';
import { groupBySection, matchesSetting } from './settings.svelte';
import { Toasts } from './toasts.svelte';

describe('codeFrom', () => {
  test.each([
    ['http://127.0.0.1:7878/#code=AbC-123_xyz', 'AbC-123_xyz'],
    ['  #code=AbC-123_xyz\n', 'AbC-123_xyz'],
    ['code=AbC-123_xyz', 'AbC-123_xyz'],
    ['AbC-123_xyz', 'AbC-123_xyz'],
    ['', null],
    ['http://127.0.0.1:7878/', null],
    ['http://127.0.0.1:7878/#/chat', null],
    ['two words', null],
    ['short', null],
    [`x${'y'.repeat(300)}`, null],
  ])('%s', (text, code) => {
    expect(codeFrom(text)).toBe(code);
  });
});

/** A host with browsers that stay signed in, and what it was asked. */
function door(known: boolean, good: () => boolean = () => true) {
  const asked: unknown[] = [];
  let count = 0;
  const given = (browserId: string | null) => ({ token: `token-${++count}`, expiresInMs: 1, browserId });
  const no = () => Promise.reject(new ApiError(401, 'unauthorized', 'no'));
  const answer = (body: unknown, is: boolean, id: string | null) => {
    asked.push(body);
    return is ? Promise.resolve(given(id)) : no();
  };
  return {
    asked,
    exchange: (body: SignIn) => answer(body, good(), body.publicKey ?? null),
    challenge: () => Promise.resolve({ challenge: 'c', expiresInMs: 1 }),
    renew: (body: Renew) => answer(body, known, body.browserId),
  };
}

const key: BrowserKey = { id: 'b', publicKey: 'p', sign: (text) => Promise.resolve(text) };
const keys = { load: () => Promise.resolve(key), make: () => Promise.resolve(key) };
const noKeys = { load: () => Promise.resolve(null), make: () => Promise.resolve(null) };

describe('Session', () => {
  test('a code is exchanged and gone from the address; the token is in memory only', async () => {
    sessionStorage.clear();
    const host = door(false);
    const session = new Session(host, keys);
    location.hash = '#code=one-time-code';
    session.takeCodeFromAddress();
    await session.begin();
    expect(location.hash).not.toContain('code');
    await expect.poll(() => session.status).toBe('signedIn');
    expect(session).toMatchObject({ token: 'token-1', perTab: false });
    expect(host.asked).toMatchObject([{ code: 'one-time-code', publicKey: 'p' }]);
    expect(sessionStorage.length).toBe(0);
    session.end();
    expect(session).toMatchObject({ status: 'signedOut', ended: true, token: null });
  });

  test('a browser that keeps no key signs in for this tab', async () => {
    sessionStorage.clear();
    const session = new Session(door(true), noKeys);
    await session.begin();
    expect(session.status).toBe('signedOut');
    await session.signIn('a-code-of-one-time');
    expect(session).toMatchObject({ token: 'token-1', perTab: true });
    expect(new Session(door(false), noKeys)).toMatchObject({ token: 'token-1', status: 'signedIn', perTab: true });
    session.end();
    expect(sessionStorage.getItem('chatos.token')).toBeNull();
  });

  test('a browser that is signed in goes on by itself, and asks once for many requests', async () => {
    sessionStorage.clear();
    const host = door(true);
    const session = new Session(host, keys);
    expect(session.status).toBe('asking');
    await session.begin();
    expect(session).toMatchObject({ status: 'signedIn', token: 'token-1' });
    expect(host.asked).toEqual([{ browserId: 'b', challenge: 'c', sig: `chatos-renew-v1\n${location.origin}\nb\nc` }]);
    expect(await Promise.all([1, 2, 3].map(() => session.renew('token-1')))).toEqual([true, true, true]);
    expect(await session.renew('token-1')).toBe(true);
    expect(host.asked.length).toBe(2);
    const stranger = new Session(door(false), keys);
    await stranger.begin();
    expect(stranger.status).toBe('signedOut');
  });

  test('a refused code keeps its reason; a working sign-in survives it', async () => {
    sessionStorage.clear();
    let good = false;
    const session = new Session(door(false, () => good), keys);
    await session.signIn('used-code');
    expect(session).toMatchObject({ status: 'signedOut', token: null });
    expect(session.error?.status).toBe(401);
    good = true;
    await session.signIn('fresh-code');
    good = false;
    await session.signIn('used-code');
    expect(session).toMatchObject({ status: 'signedIn', token: 'token-1' });
    session.end();
    // Of this browser, too.
    const other = new Session(door(true, () => false), keys);
    await other.signIn('used-code');
    expect(other).toMatchObject({ status: 'signedIn', token: 'token-1' });
    expect(other.error?.status).toBe(401);
  });
});

describe('Resource', () => {
  test('calls while loading cause exactly one more', async () => {
    const waiting: ((value: number) => void)[] = [];
    const resource = new Resource(() => new Promise<number>((resolve) => waiting.push(resolve)));
    const done = resource.load();
    void resource.load();
    void resource.load();
    waiting[0]?.(1);
    await expect.poll(() => waiting.length).toBe(2);
    waiting[1]?.(2);
    await done;
    expect(resource).toMatchObject({ data: 2, loading: false, error: null });
    expect(waiting).toHaveLength(2);
  });

  test('keeps the old value beside a new error', async () => {
    let fail = false;
    const resource = new Resource(() => (fail ? Promise.reject(new ApiError(503, 'unavailable', 'no')) : Promise.resolve('old')));
    await resource.load();
    fail = true;
    await resource.load();
    expect(resource.data).toBe('old');
    expect(resource.error?.code).toBe('unavailable');
  });

  test('an answer that arrives after clear is dropped', async () => {
    let answer: (value: string) => void = () => undefined;
    const resource = new Resource(() => new Promise<string>((resolve) => (answer = resolve)));
    const done = resource.load();
    resource.clear();
    answer('of another session');
    await done;
    expect(resource.data).toBeNull();
    expect(resource.loading).toBe(false);
  });

  test('refresh reads only what was read before', async () => {
    let calls = 0;
    const resource = new Resource(() => Promise.resolve((calls += 1)));
    await resource.refresh();
    expect(calls).toBe(0);
    await resource.load();
    await resource.refresh();
    expect(calls).toBe(2);
  });
});

test('news during the first load is not missed', async () => {
  const waiting: ((value: string) => void)[] = [];
  const resource = new Resource(() => new Promise<string>((resolve) => waiting.push(resolve)));
  const done = resource.load();
  void resource.refresh();
  waiting[0]?.('before the change');
  await expect.poll(() => waiting.length).toBe(2);
  waiting[1]?.('after it');
  await done;
  expect(resource.data).toBe('after it');
});

test('what was taken from an answer is not overwritten by a load that began before it', async () => {
  const waiting: ((value: string) => void)[] = [];
  const resource = new Resource(() => new Promise<string>((resolve) => waiting.push(resolve)));
  const done = resource.load();
  resource.put('after the change');
  waiting[0]?.('before it');
  await expect.poll(() => waiting.length).toBe(2);
  expect(resource.data).toBe('after the change');
  waiting[1]?.('after it, from the host');
  await done;
  expect(resource).toMatchObject({ data: 'after it, from the host', loading: false });
  resource.put('alone');
  expect(waiting).toHaveLength(2);
});

test('a call in the moment a load ends is served', async () => {
  let calls = 0;
  const resource = new Resource(() => Promise.resolve((calls += 1)));
  void resource.load();
  for (let turn = 0; turn < 8; turn += 1) {
    await Promise.resolve();
    if (!resource.loading) break;
  }
  await resource.load();
  expect(resource.data).toBe(2);
});

describe('words for errors', () => {
  test("the host's own words win; ours stand in where it gave none", async () => {
    await i18n.choose('zh');
    expect(words(new ApiError(409, 'conflict', '已被占用', '稍后再试'))).toEqual({ message: '已被占用', hint: '稍后再试' });
    expect(words(ApiError.page('page_unreachable', 'Failed to fetch')).message).toBe('无法连接 ChatOS。');
    expect(words(new ApiError(403, 'permission_denied', 'HTTP 403')).message).toBe('没有权限。');
  });

  test('the same failure is shown once; a canceled call not at all', () => {
    const toasts = new Toasts();
    toasts.failure(new ApiError(500, 'internal', 'boom'));
    toasts.failure(new ApiError(500, 'internal', 'boom'));
    toasts.failure(ApiError.page('page_canceled', 'x'));
    expect(toasts.items.map((item) => item.message)).toEqual(['boom']);
    toasts.dismiss(toasts.items[0]?.id ?? 0);
    expect(toasts.items).toEqual([]);
  });

  test('three at a time, the others in turn; each has five seconds, more while somebody reads', () => {
    vi.useFakeTimers();
    try {
      const toasts = new Toasts();
      const shown = () => toasts.items.map((item) => item.message);
      for (const name of ['a', 'b', 'c', 'd']) toasts.success(name);
      expect(shown()).toEqual(['a', 'b', 'c']);
      vi.advanceTimersByTime(4_999);
      expect(shown()).toEqual(['a', 'b', 'c']);
      vi.advanceTimersByTime(1);
      expect(shown()).toEqual(['d']);
      toasts.hold(true);
      vi.advanceTimersByTime(60_000);
      expect(shown()).toEqual(['d']);
      toasts.hold(false);
      vi.advanceTimersByTime(5_000);
      expect(shown()).toEqual([]);
      // Errors stay, and do not keep what comes later from being said.
      for (const name of ['x', 'y', 'z', 'news']) toasts.error(name);
      vi.advanceTimersByTime(60_000);
      expect(shown()).toEqual(['y', 'z', 'news']);
    } finally {
      vi.useRealTimers();
    }
  });
});

test('settings are found by key, label in either language, description and value', () => {
  const setting = {
    key: 'shellTimeoutMs',
    value: 300_000,
    section: 'Limits',
    label: { zh: '命令时限', en: 'Command time limit' },
    description: { zh: '', en: 'ended' },
  } as Setting;
  for (const text of ['', 'shelltimeout', '时限', 'time command', '300000', 'ENDED']) {
    expect(matchesSetting(setting, text), text).toBe(true);
  }
  expect(matchesSetting(setting, 'command network')).toBe(false);
  expect(groupBySection([setting, { ...setting, section: 'A' }, setting]).map((group) => [group.section, group.items.length]))
    .toEqual([['Limits', 2], ['A', 1]]);
});

test('plugins are found by their apps; publishers in any form', () => {
  const plugin = { id: 'com.example.a', name: 'A', description: '', publisher: null, apps: [{ id: 'db', name: '数据库', description: '' }] };
  expect(matchesPlugin(plugin as unknown as Plugin, '数据库')).toBe(true);
  expect(matchesPlugin(plugin as unknown as Plugin, 'zebra')).toBe(false);
  const publisher = (value: Plugin['publisher']) => publisherName({ ...plugin, publisher: value } as unknown as Plugin);
  expect([publisher(null), publisher({ name: 'P' }), publisher({ name: null, url: 'u' }), publisher({})]).toEqual([null, 'P', 'u', null]);
});
