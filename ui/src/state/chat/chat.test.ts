import { describe, expect, test } from 'vitest';
import type { ChatApi } from '../../api/chat';
import type { EventFrame } from '../../protocol';
import { Chat } from '../chat.svelte';
import { IMAGE_TYPES, MAX_FILE_BYTES, MAX_BYTES, MAX_FILES, takeFiles } from './attachments';
import { inOrder } from './sessions.svelte';
import { delta, event, FakeHost, message, session } from './testing';
import { addUsage, readUsage } from './usage';

class Stream {
  readonly #listeners = new Map<string, (frame: EventFrame) => void>();
  frames: (() => void)[] = [];
  seq = 0;

  follow = (topic: string, listener: (frame: EventFrame) => void) => {
    this.#listeners.set(topic, listener);
    return () => void this.#listeners.delete(topic);
  };

  tell(sessionId: string, data: { type: string }): void {
    this.#listeners.get(`chat:${sessionId}`)?.({ seq: (this.seq += 1), topic: `chat:${sessionId}`, type: data.type, data });
  }

  get topics(): number {
    return this.#listeners.size;
  }

  draw(): number {
    const due = this.frames.splice(0);
    due.forEach((run) => run());
    return due.length;
  }
}

function chatOn(api: ChatApi): { chat: Chat; stream: Stream } {
  const stream = new Stream();
  const chat = new Chat({ api, follow: stream.follow, schedule: (run) => stream.frames.push(run) });
  return { chat, stream };
}

describe('Chat', () => {
  test('two sessions stream at once, each its own text, one update per frame', async () => {
    const { chat, stream } = chatOn(new FakeHost().api);
    const [one, two] = [chat.transcript('one'), chat.transcript('two')];
    await Promise.all([one.open(), two.open()]);
    stream.tell('one', event('assistant_start', { message: message('a', 1, 'assistant', '', { partial: true, sessionId: 'one' }) }));
    stream.tell('two', event('assistant_start', { message: message('b', 1, 'assistant', '', { partial: true, sessionId: 'two' }) }));
    for (let at = 0; at < 1_000; at += 1) {
      stream.tell('one', delta('a', at, 'x'));
      stream.tell('two', delta('b', at, 'y'));
    }
    expect(stream.draw()).toBe(1);
    expect(one.entry('a')?.content.text).toBe('x'.repeat(1_000));
    expect(two.entry('b')?.content.text).toBe('y'.repeat(1_000));
    expect(one.entry('b')).toBeNull();
  });

  test('a session that is deleted says so to whoever looks at it, also while it is read', async () => {
    const { chat } = chatOn(new FakeHost().api);
    const [read, reading] = [chat.transcript('one'), chat.transcript('two')];
    await read.open();
    const opened = reading.open();
    for (const id of ['one', 'two']) chat.onEvent({ seq: 1, topic: 'sessions', type: 'session_removed', data: { id } });
    await opened;
    for (const transcript of [read, reading]) expect([transcript.ready, transcript.error?.status]).toEqual([false, 404]);
  });

  test('the same session is the same object; only so many are followed', () => {
    const { chat, stream } = chatOn(new FakeHost().api);
    const first = chat.transcript('s0');
    for (let at = 1; at < 20; at += 1) chat.transcript(`s${at}`);
    expect(stream.topics).toBe(8);
    expect(chat.transcript('s19')).toBe(chat.transcript('s19'));
    expect(chat.transcript('s0')).not.toBe(first);
  });

  test('after a gap in the stream every open session is read again', async () => {
    const host = new FakeHost();
    const { chat } = chatOn(host.api);
    await chat.transcript('s').open();
    host.messages = [message('u', 1, 'user', 'from another window')];
    chat.resync();
    await expect.poll(() => chat.transcript('s').rows.length).toBe(1);
  });

  test('a first page that was on its way during a gap is read once more', async () => {
    const host = new FakeHost();
    const { chat } = chatOn(host.api);
    const release = host.hold();
    const opened = chat.transcript('s').open();
    host.messages = [message('u', 1, 'user', 'from another window')];
    chat.resync();
    release();
    await opened;
    expect([chat.transcript('s').rows.length, host.reads]).toEqual([1, 2]);
  });

  test('what is being written survives a reload and is kept per chat', () => {
    const { chat } = chatOn(new FakeHost().api);
    chat.draft('s').write('half a sen');
    expect(chat.draft('other').text).toBe('');
    expect(chatOn(new FakeHost().api).chat.draft('s').text).toBe('half a sen');
    chat.draft('s').clear();
    expect(chatOn(new FakeHost().api).chat.draft('s').text).toBe('');
  });
});

test('pinned chats first, then the newest', () => {
  const list = [
    session({ id: 'old', updatedAt: '2026-01-01T00:00:00Z' }),
    session({ id: 'new', updatedAt: '2026-01-03T00:00:00Z' }),
    session({ id: 'pinned', pinned: true, updatedAt: '2025-01-01T00:00:00Z' }),
  ];
  expect(inOrder(list).map((one) => one.id)).toEqual(['pinned', 'new', 'old']);
});

describe('usage', () => {
  test('an unknown price makes the sum unknown, never zero', () => {
    const priced = readUsage({ input: 1, output: 2, cost: 0.5, currency: 'USD' });
    const free = readUsage({ input: 3, output: 4 });
    expect(addUsage(priced, free)).toMatchObject({ input: 4, output: 6, cost: null });
    expect(addUsage(priced, priced)).toMatchObject({ cost: 1, currency: 'USD' });
  });

  test('currencies are not mixed', () => {
    const [usd, cny] = [readUsage({ input: 1, cost: 1, currency: 'USD' }), readUsage({ input: 1, cost: 7, currency: 'CNY' })];
    expect(addUsage(usd, cny)).toMatchObject({ input: 2, cost: null, currency: null });
  });
});

describe('files of a message', () => {
  const file = (name: string, type: string, bytes: number[] = [0, 1, 2]) => new File([new Uint8Array(bytes)], name, { type });
  const text = (name: string, content = 'héllo') => new File([content], name);

  test('go as base64; what cannot go is named with its reason', async () => {
    const huge = file('huge.png', 'image/png');
    Object.defineProperty(huge, 'size', { value: MAX_FILE_BYTES + 1 });
    const { pictures, texts, refused } = await takeFiles([file('a.png', 'image/png'), file('b.pdf', 'application/pdf', [...'%PDF-1.7\0'].map((c) => c.charCodeAt(0))), file('c.bin', ''), huge, text('c.rs'), ...[1, 2, 3, 4].map((n) => file(`${n}.png`, 'image/png')), file('latin.txt', 'text/plain', [0x68, 0xe9])], { pictures: 0, texts: 0, bytes: 0 });
    expect(pictures.map((one) => one.name)).toEqual(['a.png', '1.png', '2.png', '3.png']);
    expect(pictures[0]?.wire).toMatchObject({ mime: 'image/png', data: btoa('\0\x01\x02') });
    expect(texts.map((one) => one.wire)).toEqual([
      { name: 'b.pdf', mime: '', data: btoa('%PDF-1.7\0') },
      { name: 'c.rs', mime: '', data: btoa('h\xc3\xa9llo') },
    ]);
    expect(refused).toEqual([
      { name: 'c.bin', why: 'type' },
      { name: 'huge.png', why: 'size' },
      { name: '4.png', why: 'count' },
      { name: 'latin.txt', why: 'type' },
    ]);
    // A picture that is a text is shown to the model as one.
    expect(IMAGE_TYPES).not.toContain('image/svg+xml');
    expect((await takeFiles([text('b.svg', '<svg/>')], { pictures: 4, texts: 0, bytes: 0 })).texts).toHaveLength(1);
  });

  test('are at most ten, and 50 MiB together', async () => {
    const { texts, refused } = await takeFiles([text('1'), text('2')], { pictures: 4, texts: MAX_FILES - 5, bytes: 0 });
    expect([texts.map((one) => one.name), refused]).toEqual([['1'], [{ name: '2', why: 'texts' }]]);
    expect((await takeFiles([text('1')], { pictures: 0, texts: 2, bytes: MAX_BYTES - 3 })).refused).toEqual([{ name: '1', why: 'total' }]);
    const packed = file('a.docx', '', [0x50, 0x4b, 3, 4, 0]);
    expect((await takeFiles([packed, file('a.zip', '', [0x50, 0x4b, 3, 4, 0])], { pictures: 0, texts: 0, bytes: 0 })).texts).toHaveLength(1);
  });
});
