import { describe, expect, test, vi } from 'vitest';
import { AppStorage, type Items, type Keeper, QUOTA } from './storage';

function setUp() {
  const kept = new Map<string, Items>();
  const of = (id: string) => kept.get(id) ?? {};
  const keeper: Keeper = {
    load: async (id) => ({ ...of(id) }),
    save: async (id, key, value) => {
      const rest = Object.entries(of(id)).filter(([name]) => name !== key);
      kept.set(id, Object.fromEntries(value === null ? rest : [...rest, [key, value]]));
    },
    clear: async (id) => void kept.delete(id),
  };
  return { storage: new AppStorage(keeper), kept, again: () => new AppStorage(keeper) };
}

describe('storage of apps kept by the page', () => {
  test('each plugin has its own, and it lasts', async () => {
    const { storage, again } = setUp();
    const nobody = () => undefined;
    await storage.write('a', 'x', '1', nobody);
    await storage.write('b', 'x', '2', nobody);
    await storage.write('a', '__proto__', '3', nobody);
    expect(await again().items('a')).toEqual(Object.fromEntries([['x', '1'], ['__proto__', '3']]));
    await storage.write('a', 'x', null, nobody);
    expect(Object.keys(await storage.items('a'))).toEqual(['__proto__']);
    await storage.write('a', null, null, nobody);
    expect(await again().items('a')).toEqual({});
    expect(await again().items('b')).toEqual({ x: '2' });
    await storage.forget('b');
    expect(await again().items('b')).toEqual({});
  });

  test('other frames of the plugin hear of a change, the writer and strangers do not', async () => {
    const { storage } = setUp();
    const [mine, other, stranger] = [vi.fn(), vi.fn(), vi.fn()];
    storage.follow('a', mine);
    const stop = storage.follow('a', other);
    storage.follow('b', stranger);
    await storage.write('a', 'x', '1', mine);
    expect(other.mock.calls).toEqual([['x', '1']]);
    stop();
    await storage.write('a', 'x', '2', mine);
    expect([mine.mock.calls.length, other.mock.calls.length, stranger.mock.calls.length]).toEqual([0, 1, 0]);
  });

  test('five million characters and no more', async () => {
    const { storage } = setUp();
    const nobody = () => undefined;
    expect(await storage.write('a', 'x', 'y'.repeat(QUOTA - 1), nobody)).toBe(true);
    expect(await storage.write('a', 'z', '', nobody)).toBe(false);
    expect(await storage.write('a', 'x', 'short', nobody)).toBe(true);
    expect(await storage.write('a', 'z', '', nobody)).toBe(true);
  });
});
