import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { backoff, EventSocket } from './socket';

class FakeSocket {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  onerror: (() => void) | null = null;
  sent: string[] = [];
  closed = false;

  constructor(
    readonly url: string,
    readonly protocols: string[],
  ) {}

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.closed = true;
  }

  frame(seq: number, topic: string, type: string, data: unknown = null): void {
    this.onmessage?.({ data: JSON.stringify({ seq, topic, type, data }) });
  }

  hello(seq: number, bootId: string, resumed: boolean): void {
    this.frame(seq, 'host', 'hello', { version: '1', bootId, resumed });
  }
}

function setup(ticket: () => Promise<string> = () => Promise.resolve('T')) {
  const sockets: FakeSocket[] = [];
  const states: string[] = [];
  const events: number[] = [];
  const resync = vi.fn();
  const problems: string[] = [];
  const socket = new EventSocket({
    url: 'ws://host/events',
    ticket,
    random: () => 0,
    open: (url, protocols) => {
      const fake = new FakeSocket(url, protocols);
      sockets.push(fake);
      return fake as unknown as WebSocket;
    },
    onState: (state) => states.push(state),
    onEvent: (frame) => events.push(frame.seq),
    onResync: resync,
    onProblem: (message) => problems.push(message),
  });
  const last = () => {
    const fake = sockets.at(-1);
    if (!fake) throw new Error('no socket was opened');
    return fake;
  };
  return { socket, sockets, last, states, events, resync, problems };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('backoff', () => {
  test('doubles, is capped, and jitter only shortens', () => {
    expect([0, 1, 2, 3].map((n) => backoff(n, 0))).toEqual([400, 800, 1600, 3200]);
    expect(backoff(50, 0)).toBe(15_000);
    expect(backoff(50, 1)).toBe(10_000);
  });
});

describe('EventSocket', () => {
  test('sends the ticket as a subprotocol, never in the address', async () => {
    const { socket, last } = setup();
    socket.start();
    await settle();
    expect(last().url).toBe('ws://host/events');
    expect(last().protocols).toEqual(['chatos.v1', 'ticket.T']);
  });

  test('the first hello asks to read everything', async () => {
    const { socket, last, resync, states } = setup();
    socket.start();
    await settle();
    last().hello(10, 'boot', false);
    expect(resync).toHaveBeenCalledTimes(1);
    expect(states.at(-1)).toBe('open');
    expect(socket.lastSeq).toBe(10);
  });

  test('resumes after the last frame and drops repeated ones', async () => {
    const { socket, sockets, last, events, resync } = setup();
    socket.start();
    await settle();
    last().hello(10, 'boot', false);
    last().frame(11, 'admin', 'x');
    last().frame(12, 'admin', 'x');
    last().onclose?.();
    await vi.advanceTimersByTimeAsync(400);
    expect(sockets).toHaveLength(2);
    expect(last().url).toBe('ws://host/events?since=12');
    last().hello(14, 'boot', true);
    last().frame(12, 'admin', 'x');
    last().frame(13, 'admin', 'x');
    last().frame(14, 'admin', 'x');
    expect(events).toEqual([11, 12, 13, 14]);
    expect(resync).toHaveBeenCalledTimes(1);
  });

  test('another boot means reading everything, even when its numbers are smaller', async () => {
    const { socket, last, events, resync } = setup();
    socket.start();
    await settle();
    last().hello(100, 'first', false);
    last().onclose?.();
    await vi.advanceTimersByTimeAsync(400);
    last().hello(3, 'second', true);
    last().frame(4, 'admin', 'x');
    expect(resync).toHaveBeenCalledTimes(2);
    expect(events).toEqual([4]);
  });

  test('a resync frame moves the position', async () => {
    const { socket, last, resync } = setup();
    socket.start();
    await settle();
    last().hello(1, 'boot', false);
    last().frame(90, 'host', 'resync');
    expect(resync).toHaveBeenCalledTimes(2);
    expect(socket.lastSeq).toBe(90);
  });

  test('a host that no longer has what was missed answers `resync`, and the connection is a good one', async () => {
    const { socket, last, states, events, resync } = setup();
    socket.start();
    await settle();
    last().hello(10, 'boot', true);
    last().onclose?.();
    await vi.advanceTimersByTimeAsync(400);
    last().frame(90, 'host', 'resync', { version: '1', bootId: 'boot', resumed: false });
    expect([states.at(-1), socket.lastSeq, resync.mock.calls.length]).toEqual(['open', 90, 2]);
    last().frame(91, 'admin', 'x');
    expect(events).toEqual([91]);
  });

  test('a connection that never says hello is given up', async () => {
    const { socket, sockets, last, states } = setup();
    socket.start();
    await settle();
    await vi.advanceTimersByTimeAsync(30_000);
    expect([sockets[0]?.closed, states.at(-1)]).toEqual([true, 'waiting']);
    await vi.advanceTimersByTimeAsync(400);
    last().hello(1, 'boot', true);
    expect(states.at(-1)).toBe('open');
  });

  test('waits longer each time and starts over after a good connection', async () => {
    let fail = true;
    const { socket, last, sockets } = setup(() => (fail ? Promise.reject(new Error('down')) : Promise.resolve('T')));
    socket.start();
    await settle();
    await vi.advanceTimersByTimeAsync(400 + 800 + 1600);
    expect(sockets).toHaveLength(0);
    fail = false;
    await vi.advanceTimersByTimeAsync(3200);
    expect(sockets).toHaveLength(1);
    last().hello(1, 'boot', false);
    last().onclose?.();
    await vi.advanceTimersByTimeAsync(399);
    expect(sockets).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sockets).toHaveLength(2);
  });

  test('retryNow skips the wait', async () => {
    const { socket, sockets, last } = setup();
    socket.start();
    await settle();
    last().onclose?.();
    socket.retryNow();
    await settle();
    expect(sockets).toHaveLength(2);
  });

  test('stops for good when the session is over', async () => {
    const { socket, sockets, states } = setup(() => Promise.reject(Object.assign(new Error('401'), { status: 401 })));
    socket.start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sockets).toHaveLength(0);
    expect(states.at(-1)).toBe('stopped');
  });

  test('asks a silent socket and replaces it when no answer comes', async () => {
    const { socket, sockets, last } = setup();
    socket.start();
    await settle();
    const first = last();
    first.hello(1, 'boot', false);
    await vi.advanceTimersByTimeAsync(25_000);
    expect(first.sent).toEqual(['{"type":"ping"}']);
    first.frame(1, 'host', 'pong');
    await vi.advanceTimersByTimeAsync(24_000);
    expect(first.closed).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000 + 10_000);
    expect(first.closed).toBe(true);
    await vi.advanceTimersByTimeAsync(400);
    expect(sockets).toHaveLength(2);
  });

  test('an unreadable frame is reported and the stream goes on', async () => {
    const { socket, last, events, problems } = setup();
    socket.start();
    await settle();
    last().hello(1, 'boot', false);
    last().onmessage?.({ data: '{"seq":' });
    last().onmessage?.({ data: new ArrayBuffer(2) });
    last().onmessage?.({ data: '{"seq":"2","topic":"a","type":"b"}' });
    last().frame(2, 'admin', 'x');
    expect(problems).toHaveLength(3);
    expect(events).toEqual([2]);
  });

  test('a stopped socket ignores what is still on its way', async () => {
    const { socket, last, events, states } = setup();
    socket.start();
    await settle();
    const fake = last();
    const { onmessage } = fake;
    socket.stop();
    onmessage?.({ data: '{"seq":2,"topic":"a","type":"b","data":null}' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(events).toEqual([]);
    expect(states.at(-1)).toBe('stopped');
    expect(fake.closed).toBe(true);
  });
});
