// Where lists open, what they show, and what is sent.

import { describe, expect, it } from 'vitest';
import type { ChatApi } from '../../api/chat';
import type { CommandView } from '../../protocol/wire';
import { expand, Gone, matching, wantedAt } from './slash';

const command = (name: string, description = ''): CommandView => ({
  name,
  key: `cmd:user:${name}`,
  kind: 'text',
  title: '',
  description,
  argumentHint: '',
  arguments: [],
  source: 'user',
});

describe('wantedAt', () => {
  it('opens commands at the very beginning and files behind an @ that begins a word', () => {
    const at = (text: string) => wantedAt(text, text.length);
    expect(at('/')).toEqual({ kind: 'command', from: 0, query: '' });
    expect(at('/rev')).toEqual({ kind: 'command', from: 0, query: 'rev' });
    expect(at('look at @src/ma')).toEqual({ kind: 'file', from: 8, query: 'src/ma' });
    expect(at('/review @a')).toEqual({ kind: 'file', from: 8, query: 'a' });
    for (const none of ['//x', '//', 'a /b', ' /b', '/review x', 'me@example.com', '@a b', '']) expect(at(none), none).toBeNull();
    expect(wantedAt('/review now', 4)).toEqual({ kind: 'command', from: 0, query: 'rev' });
  });
});

describe('matching', () => {
  it('prefers names that begin with what was typed', () => {
    const all = [command('preview'), command('other', 'write a Review'), command('review'), command('reviewer'), command('none')];
    expect(matching(all, 'review').map(({ name }) => name)).toEqual(['review', 'reviewer', 'preview', 'other']);
    expect(matching(all, '')).toHaveLength(5);
  });
});

describe('expand', () => {
  const api = {
    fill: (order: { text: string }) => Promise.resolve({ kind: 'text', key: 'k', text: `filled ${order.text}`, mentions: ['b.txt', 'a.txt'], notices: ['note'] }),
    readMentions: ({ paths }: { paths: string[] }) =>
      Promise.resolve({
        files: paths.filter((path) => path !== 'gone').map((name) => ({ name, mime: 'text/plain', data: '' })),
        missing: paths.filter((path) => path === 'gone'),
      }),
  } as unknown as ChatApi;

  it('fills commands, sends // as one slash, and reads what still stands in the text', async () => {
    expect(await expand(api, {}, 'plain', [])).toEqual({ text: 'plain', files: [], notices: [] });
    expect((await expand(api, {}, '//etc/hosts', [])).text).toBe('/etc/hosts');
    const filled = await expand(api, { session: 's' }, '/go @a.txt', ['a.txt', 'removed.txt']);
    expect(filled.text).toBe('filled /go @a.txt');
    expect(filled.files.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
    await expect(expand(api, {}, 'see @gone', ['gone'])).rejects.toThrow(Gone);
  });
});
