import { describe, expect, test, vi } from 'vitest';
import type { ChatApi } from '../../api/chat';
import type { SessionView } from '../../protocol/wire';
import { Sessions } from './sessions.svelte';
import { session } from './testing';

/** Every answer waits until it is let go, in whatever order; what it says is said then. */
function setup() {
  const pages: ((items: SessionView[]) => void)[] = [];
  const single: ((one: SessionView) => void)[] = [];
  const api = {
    sessions: () => new Promise((resolve) => pages.push((items) => resolve({ items, nextCursor: null }))),
    session: () => new Promise((resolve) => single.push(resolve)),
    change: (id: string, change: Partial<SessionView>) => Promise.resolve(session({ id, ...change })),
    remove: () => Promise.resolve({ ok: true }),
  };
  const sessions = new Sessions(api as unknown as ChatApi);
  const tell = (type: string, data: object) => sessions.onEvent({ seq: 1, topic: 'runs', type, data });
  return { sessions, tell, pages, single, titles: () => sessions.items.map((one) => `${one.id}: ${one.title}`) };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
const a = (title: string, more: Partial<SessionView> = {}) => session({ id: 'a', title, ...more });
const b = session({ id: 'b', title: 'B' });

describe('the list of chats', () => {
  test('a page that was read before a change does not undo it', async () => {
    const { sessions, pages, titles } = setup();
    const first = sessions.load();
    pages[0]?.([a('old'), b]);
    await first;
    const again = sessions.load();
    await sessions.change('a', { title: 'new' });
    await sessions.remove('b');
    sessions.put(session({ id: 'c', title: 'C' }));
    pages[1]?.([a('old'), b]);
    await again;
    expect(titles().toSorted()).toEqual(['a: new', 'c: C']);
    const last = sessions.load();
    pages[2]?.([a('newest')]);
    await last;
    expect(titles()).toEqual(['a: newest']);
  });

  test('what is told during the first load is not missed', async () => {
    vi.useFakeTimers();
    const { sessions, tell, pages, single, titles } = setup();
    const first = sessions.load();
    tell('session_changed', { id: 'a', change: 'created' });
    tell('session_changed', { id: 'b', change: 'deleted' });
    await vi.advanceTimersByTimeAsync(100);
    single[0]?.(a('just made'));
    pages[0]?.([b]);
    vi.useRealTimers();
    await first;
    expect(titles()).toEqual(['a: just made']);
  });

  test('answers that overtake each other: the one asked for last counts', async () => {
    vi.useFakeTimers();
    const { sessions, tell, pages, single, titles } = setup();
    const first = sessions.load();
    pages[0]?.([a('one')]);
    await first;
    tell('session_changed', { id: 'a', change: 'changed' });
    await vi.advanceTimersByTimeAsync(100);
    tell('session_changed', { id: 'a', change: 'changed' });
    await vi.advanceTimersByTimeAsync(100);
    vi.useRealTimers();
    single[1]?.(a('three'));
    await settle();
    single[0]?.(a('two'));
    await settle();
    expect(titles()).toEqual(['a: three']);
  });

  test('a gap in the stream during the first load has it read once more', async () => {
    const { sessions, pages, titles } = setup();
    sessions.resync();
    expect(pages).toHaveLength(0);
    void sessions.load();
    sessions.resync();
    expect(pages).toHaveLength(2);
    pages[1]?.([a('after the gap')]);
    pages[0]?.([a('before it')]);
    await settle();
    expect([titles(), sessions.loading]).toEqual([['a: after the gap'], false]);
  });

  test('a run that was over before anybody looked is news all the same', async () => {
    const { sessions, tell, pages } = setup();
    const first = sessions.load();
    pages[0]?.([a('A'), b]);
    await first;
    sessions.seen('b');
    for (const [id, sessionId] of [['r1', 'a'], ['r2', 'b']]) {
      tell('run_changed', { id, sessionId, state: 'running' });
      tell('run_changed', { id, sessionId, state: 'done' });
    }
    tell('run_changed', { id: 'r3', sessionId: 'b', state: 'done' });
    expect([...sessions.unseen]).toEqual(['a']);
  });
});
