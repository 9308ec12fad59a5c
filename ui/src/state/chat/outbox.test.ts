import { describe, expect, test } from 'vitest';
import { ApiError } from '../../api/error';
import { messageId, type Outbox, type Unsent } from './outbox';
import { type Outgoing, Sending } from './sending.svelte';

/** A browser's store, and a host that is there or not. */
class Stand {
  readonly kept = new Map<string, Unsent>();
  readonly arrived: string[] = [];
  readonly lost: string[] = [];
  readonly waits: (() => void)[] = [];
  host: 'there' | 'away' | 'refuses' | 'gone' | 'mute' = 'there';
  full = false;

  readonly outbox: Outbox = {
    put: (item) => (this.full ? Promise.reject(new Error('no room')) : (this.kept.set(item.id, structuredClone(item)), Promise.resolve())),
    remove: (id) => (this.kept.delete(id), Promise.resolve()),
    all: () => Promise.resolve([...this.kept.values()]),
  };

  page(): Sending {
    return new Sending('s', { outbox: this.outbox, post: (item) => this.#post(item), onLost: (text) => this.lost.push(text), later: (run) => this.waits.push(run) });
  }

  #post(item: Outgoing): Promise<void> {
    // Whatever happens next, it was kept before anybody was asked to take it.
    if (!this.full) expect(this.kept.has(item.id)).toBe(true);
    if (this.host === 'away') return Promise.reject(ApiError.page('page_unreachable', 'connection refused'));
    if (this.host === 'refuses') return Promise.reject(new ApiError(400, 'invalid_argument', 'no'));
    if (this.host === 'gone') return Promise.reject(new ApiError(404, 'not_found', 'no such chat'));
    if (!this.arrived.includes(item.text)) this.arrived.push(item.text);
    if (this.host === 'mute') return Promise.reject(ApiError.page('page_timeout', 'no answer'));
    return Promise.resolve();
  }
}

describe('what was said', () => {
  test('waits while the host is away, in order, and is sent once when it is back', async () => {
    const stand = new Stand();
    const page = stand.page();
    stand.host = 'away';
    expect(await page.send('one', [], 'queue')).toBe(false);
    expect(await page.send('two', [], 'queue')).toBe(false);
    expect(page.outgoing.map((item) => [item.text, item.waiting, item.kept])).toEqual([['one', true, true], ['two', true, true]]);
    stand.host = 'there';
    await page.flush();
    expect([stand.arrived, page.outgoing, stand.kept.size]).toEqual([['one', 'two'], [], 0]);
  });

  test('survives the page; two tabs that take it up send it once', async () => {
    const stand = new Stand();
    const before = stand.page();
    stand.host = 'away';
    await before.send('one', [], 'queue');
    await before.send('two', [{ name: 'a.png', mime: 'image/png', data: 'AAAA' }], 'queue');
    before.close();
    stand.host = 'there';
    const [tab, other] = [stand.page(), stand.page()];
    const all = await stand.outbox.all();
    await Promise.all([tab.restore(all), other.restore(all)]);
    expect([stand.arrived, tab.outgoing, other.outgoing, stand.kept.size]).toEqual([['one', 'two'], [], [], 0]);
  });

  test('is sent again with the same id when no answer came', async () => {
    const stand = new Stand();
    const page = stand.page();
    stand.host = 'mute';
    await page.send('one', [], 'queue');
    expect(stand.waits).toHaveLength(1);
    stand.host = 'there';
    stand.waits[0]?.();
    await expect.poll(() => page.outgoing).toEqual([]);
    expect(stand.arrived).toEqual(['one']);
  });

  test('and was refused keeps its reason and holds up no other; of a chat that is gone it is handed back', async () => {
    const stand = new Stand();
    const page = stand.page();
    stand.host = 'refuses';
    await page.send('one', [], 'queue');
    stand.host = 'there';
    expect(await page.send('two', [], 'queue')).toBe(true);
    expect(page.outgoing.map((item) => [item.text, item.error?.code])).toEqual([['one', 'invalid_argument']]);
    stand.host = 'gone';
    await page.send('three', [], 'queue');
    expect(stand.lost).toEqual(['three']);
  });

  test('is sent from memory by a browser without room, and says so while it waits', async () => {
    const stand = new Stand();
    stand.full = true;
    const page = stand.page();
    stand.host = 'away';
    await page.send('one', [], 'queue');
    expect(page.outgoing.map((item) => [item.waiting, item.kept])).toEqual([[true, false]]);
    stand.host = 'there';
    await page.flush();
    expect(stand.arrived).toEqual(['one']);
  });
});

test('ids are UUIDs of version 7, in the order of time', () => {
  const [early, late] = [messageId(1_700_000_000_000), messageId(1_700_000_000_001)];
  expect(early).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(early.slice(0, 13) < late.slice(0, 13)).toBe(true);
  expect(early.startsWith((1_700_000_000_000).toString(16).padStart(12, '0').slice(0, 8))).toBe(true);
});
