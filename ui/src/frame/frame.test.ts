// The pieces inside the frame: menus, module forms, disposers, storage stand-ins, sizes.

import { describe, expect, test, vi } from 'vitest';
import type { Host } from '../../../sdk/host';
import { parseMenu } from './menus';
import { findDisposer, findMount, MountedApp, NO_MOUNT } from './mount';
import { MemoryStorage, memoryStorage } from './storage';
import { decode, encode, HostError, TokenBucket, tooLong } from './wire';

describe('menus', () => {
  test.each([
    ['chat', { page: 'chat' }],
    ['chat/rooms', { page: 'chat' }],
    ['chat/session', { page: 'chat' }],
    ['chat/session/ses%2F1', { page: 'session', sessionId: 'ses/1' }],
    ['chat/agents', { page: 'agents' }],
    ['apps', { page: 'apps' }],
    ['apps/home', { page: 'apps' }],
    ['apps/plugin/com.example.a/my%20app', { page: 'app', pluginId: 'com.example.a', appId: 'my app' }],
    ['admin/settings', { page: 'admin', section: 'models' }],
    ['admin/land_configs', { page: 'admin', section: 'land_configs' }],
    ['cli', { page: 'chat' }],
    ['cli/anything/here', { page: 'chat' }],
    ['workspace', { page: 'chat' }],
  ])('%s', (menu, expected) => expect(parseMenu(menu)).toEqual(expected));

  test.each([undefined, null, 7, '', '   '])('%s is no menu', (menu) => {
    expect(() => parseMenu(menu)).toThrow(expect.objectContaining({ code: 'invalid_argument', message: 'menu is required' }));
  });

  test.each(['x', 'chat/x', 'apps/plugin/a', 'apps/plugin/a/b/c', 'apps/plugin//b', 'admin', 'admin/x', 'admin/models/y', 'chat/session/a/b', 'apps/plugin/%/x', 'https://example.com/'])(
    'Unknown menu %s',
    (menu) => expect(() => parseMenu(menu)).toThrow(`Unknown menu "${menu}"`),
  );
});

describe('the module of an app', () => {
  const mount = () => undefined;
  test('mount wins, then default.mount, then a default function', () => {
    const other = () => undefined;
    expect(findMount({ mount, default: other })).toBe(mount);
    expect(findMount({ default: { mount } })).toBe(mount);
    expect(findMount({ default: mount })).toBe(mount);
    expect(findMount({ mount: 'no', default: { mount: 7 } })).toBeNull();
    expect(findMount(null)).toBeNull();
  });

  test('a disposer is a function or has one; anything else is none', () => {
    expect(findDisposer(mount)).toBe(mount);
    const object = { n: 0, dispose() { this.n += 1; } };
    findDisposer(object)?.();
    expect(object.n).toBe(1);
    for (const junk of [undefined, null, 7, 'x', {}, { dispose: 1 }, []]) expect(findDisposer(junk)).toBeNull();
  });

  function app() {
    const events = { onMounted: vi.fn(), onFailed: vi.fn(), onDisposed: vi.fn() };
    return { events, app: new MountedApp(events) };
  }
  const start = (mounted: MountedApp, module: unknown) => mounted.start(async () => module, {} as Host, document.createElement('div'), document.createElement('div'));

  test('mount gets its three things and is reported', async () => {
    const { app: mounted, events } = app();
    const seen = vi.fn();
    await start(mounted, { mount: seen });
    expect(Object.keys(seen.mock.calls[0]?.[0] as object).sort()).toEqual(['container', 'host', 'slots']);
    expect(events.onMounted).toHaveBeenCalledOnce();
    await mounted.dispose();
    expect(events.onDisposed).toHaveBeenCalledWith();
  });

  test.each([
    ['no export', {}, NO_MOUNT],
    ['throws', { mount: () => { throw new Error('boom'); } }, 'boom'],
    ['rejects', { mount: () => Promise.reject(new Error('later')) }, 'later'],
  ])('%s', async (_name, module, message) => {
    const { app: mounted, events } = app();
    await start(mounted, module);
    expect(events.onFailed).toHaveBeenCalledWith(expect.objectContaining({ message }));
    expect(events.onMounted).not.toHaveBeenCalled();
  });

  test('closed while mounting: the disposer runs as soon as mount has settled, once', async () => {
    const { app: mounted, events } = app();
    const dispose = vi.fn();
    let settle: (value: unknown) => void = () => undefined;
    const running = start(mounted, { mount: () => new Promise((resolve) => (settle = resolve)) });
    await Promise.resolve();
    await Promise.resolve();
    await mounted.dispose();
    await mounted.dispose();
    expect(dispose).not.toHaveBeenCalled();
    settle(dispose);
    await running;
    expect(dispose).toHaveBeenCalledOnce();
    expect(events.onMounted).not.toHaveBeenCalled();
    expect(events.onDisposed).toHaveBeenCalledOnce();
  });

  test('a disposer that throws is told', async () => {
    const { app: mounted, events } = app();
    await start(mounted, { mount: () => () => { throw new Error('no'); } });
    await mounted.dispose();
    expect(events.onDisposed).toHaveBeenCalledWith(expect.objectContaining({ message: 'no' }));
  });
});

describe('messages', () => {
  test('cycles and BigInt are the mistake of the caller; functions and undefined vanish', () => {
    const cycle: Record<string, unknown> = {};
    cycle['me'] = cycle;
    const call = (value: unknown) => encode({ type: 'call', id: 1, path: 'x', args: [value] });
    expect(() => call(cycle)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    expect(() => call(1n)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    expect(JSON.parse(call({ f: () => 1, u: undefined, d: new Date(0) })).args[0]).toEqual({ d: '1970-01-01T00:00:00.000Z' });
  });

  test('sizes are counted in UTF-8', () => {
    expect(tooLong('aaaa', 4)).toBe(false);
    expect(tooLong('aaaaa', 4)).toBe(true);
    expect(tooLong('éé', 4)).toBe(false);
    expect(tooLong('ééa', 4)).toBe(true);
    expect(tooLong('笔', 3)).toBe(false);
    expect(tooLong('笔a', 3)).toBe(true);
    expect(tooLong('😀', 4)).toBe(false);
    expect(tooLong('😀a', 4)).toBe(true);
  });

  test('anything that is no object in a text is no message', () => {
    for (const junk of [null, 7, {}, [], 'x', '7', '[]', 'null', '{"a":', new ArrayBuffer(2)]) expect(decode(junk)).toBeNull();
    expect(decode('{"type":"ping"}')).toEqual({ type: 'ping' });
  });

  test('an error without data has no such member', () => {
    expect('data' in new HostError('internal', 'x')).toBe(false);
    expect(new HostError('conflict', 'x', { reason: 'y' })).toMatchObject({ name: 'HostError', code: 'conflict', data: { reason: 'y' } });
  });

  test('400 at once, then 200 a second', () => {
    let now = 0;
    const bucket = new TokenBucket(200, 400, () => now);
    const taken = () => Array.from({ length: 1_000 }, () => bucket.take()).filter(Boolean).length;
    expect(taken()).toBe(400);
    now = 500;
    expect(taken()).toBe(100);
    now = 60_000;
    expect(taken()).toBe(400);
  });
});

test('storage in memory behaves like the real one', () => {
  const storage = memoryStorage();
  storage.setItem('a', '1');
  storage['b'] = 2;
  expect(storage.getItem('b')).toBe('2');
  expect(storage['a']).toBe('1');
  expect(storage.length).toBe(2);
  expect(Object.keys(storage).sort()).toEqual(['a', 'b']);
  expect('a' in storage).toBe(true);
  delete storage['a'];
  expect(storage.getItem('a')).toBeNull();
  expect(storage.key(0)).toBe('b');
  expect(storage.getItem('missing')).toBeNull();
  storage.clear();
  expect(storage.length).toBe(0);
});

test('storage the page lends: starts with what was kept, tells every write, takes what others wrote', () => {
  const told = vi.fn();
  const inner = new MemoryStorage({ kept: 'yes' }, told);
  const storage = memoryStorage(inner);
  expect(storage.getItem('kept')).toBe('yes');
  storage['a'] = '1';
  storage.removeItem('missing');
  storage.removeItem('kept');
  storage.clear();
  expect(told.mock.calls).toEqual([['a', '1'], ['kept', null], [null, null]]);
  expect(inner.take('b', '2')).toBeNull();
  expect(storage.getItem('b')).toBe('2');
  expect(inner.take('b', null)).toBe('2');
  expect(told).toHaveBeenCalledTimes(3);
  expect(() => storage.setItem('big', 'x'.repeat(5 * 1024 * 1024))).toThrow(expect.objectContaining({ name: 'QuotaExceededError' }));
});
