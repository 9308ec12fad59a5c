import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CodeAnswer, CodeColours, type CodeQuestion, type CodeWorker } from './code-colours.svelte';
import { MAX_CODE } from './code-languages';

/** A worker that answers when told to. */
class Scripted implements CodeWorker {
  onmessage: CodeWorker['onmessage'] = null;
  onerror: CodeWorker['onerror'] = null;
  readonly asked: CodeQuestion[] = [];
  ended = false;

  postMessage(question: CodeQuestion): void {
    this.asked.push(question);
  }

  terminate(): void {
    this.ended = true;
  }

  answer(html: string | null): void {
    const id = this.asked.at(-1)?.id ?? 0;
    this.onmessage?.({ data: { id, html } } as MessageEvent<CodeAnswer>);
  }
}

let workers: Scripted[] = [];
let colours: CodeColours;

beforeEach(() => {
  vi.useFakeTimers();
  workers = [];
  colours = new CodeColours(() => {
    const worker = new Scripted();
    workers.push(worker);
    return worker;
  });
});
afterEach(() => vi.useRealTimers());

describe('colours of code blocks', () => {
  test('no worker starts for what has no grammar or is too long', () => {
    expect(colours.html('<b>', 'nobody-knows')).toBe('&lt;b&gt;');
    expect(colours.html('<b>', '')).toBe('&lt;b&gt;');
    expect(colours.html('x'.repeat(MAX_CODE + 1), 'js')).toHaveLength(MAX_CODE + 1);
    expect(workers).toEqual([]);
  });

  test('code is plain until the answer, and asked for once', () => {
    expect(colours.html('a < b', 'rs')).toBe('a &lt; b');
    expect(colours.html('a < b', 'rust')).toBe('a &lt; b');
    expect(workers[0]?.asked).toMatchObject([{ language: 'rust', code: 'a < b' }]);
    workers[0]?.answer('<i>a</i>');
    expect(colours.html('a < b', 'rs')).toBe('<i>a</i>');
    expect(workers[0]?.asked).toHaveLength(1);
  });

  test('a block that grows keeps the colours of its beginning, and only its newest state is asked for', () => {
    colours.html('a', 'js');
    for (const grown of ['a\nb', 'a\nb\nc', 'a\nb\nc\n<']) colours.html(grown, 'js');
    workers[0]?.answer('<i>a</i>');
    expect(workers[0]?.asked.map(({ code }) => code)).toEqual(['a', 'a\nb\nc\n<']);
    expect(colours.html('a\nb\nc\n<', 'js')).toBe('<i>a</i>\nb\nc\n&lt;');
    workers[0]?.answer('<i>all</i>');
    expect(colours.html('a\nb\nc\n<', 'js')).toBe('<i>all</i>');
  });

  test('a text that keeps the worker busy stays plain, and the next one has a worker of its own', () => {
    colours.html('<hostile>', 'js');
    colours.html('fine', 'js');
    vi.advanceTimersByTime(15_000);
    expect(workers.map(({ ended, asked }) => [ended, asked.map(({ code }) => code)])).toEqual([
      [true, ['<hostile>']],
      [false, ['fine']],
    ]);
    workers[1]?.answer('<i>fine</i>');
    expect(colours.html('fine', 'js')).toBe('<i>fine</i>');
    expect(colours.html('<hostile>', 'js')).toBe('&lt;hostile&gt;');
    expect(workers[1]?.asked).toHaveLength(1);
  });

  test('a worker that cannot start costs the colours and nothing else', () => {
    colours.html('<a>', 'js');
    workers[0]?.onerror?.({} as ErrorEvent);
    expect(colours.html('<a>', 'js')).toBe('&lt;a&gt;');
    expect(workers).toHaveLength(1);
  });

  test('what is long out of sight is forgotten, what is on screen is not', () => {
    const block = (at: number) => `${at}\n${'x'.repeat(MAX_CODE - 10)}`;
    for (let at = 0; at < 30; at += 1) {
      colours.html(block(at), 'js');
      workers[0]?.answer(String(at));
    }
    expect(colours.html(block(0), 'js')).toBe('0');
    vi.advanceTimersByTime(120_000);
    expect(colours.html(block(1), 'js')).toBe('1');
    colours.html('one more', 'js');
    workers[0]?.answer('more');
    expect(colours.html(block(1), 'js')).toBe('1');
    expect(colours.html(block(0), 'js')).not.toBe('0');
  });
});
