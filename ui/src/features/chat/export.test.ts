// A chat as a file (issue 21): what is in it, and that nothing in it does anything.

import { describe, expect, test } from 'vitest';
import type { MessageView } from '../../protocol/wire';
import { type ExportOptions, exportChat, fileName } from './export';

const words = { untitled: 'Untitled', you: 'You', assistant: 'Assistant', note: 'Note', file: 'File', result: 'Result', language: 'en', moment: (iso: string) => iso.slice(0, 10), link: (host: string) => host };
const session = { id: 's', title: 'A <b>title</b>' };

function message(role: string, content: string, more: Partial<MessageView> = {}): MessageView {
  return { id: content.slice(0, 3), sessionId: 's', seq: 1, role, kind: 'normal', content, partial: false, createdAt: '2026-01-02T03:04:05Z', ...more } as MessageView;
}

const messages = [
  message('user', 'See <script>alert(1)</script>', { attachments: [{ id: 'f', name: 'a.png', mime: 'image/png', size: 3, url: '/f' }] }),
  message('assistant', 'Reading.', { toolCalls: [{ callId: 'c', name: 'files_read', server: 'files', tool: 'read_file', args: '{"path":"a"}' }] }),
  message('tool', 'one\n```\ntwo', { tool: 'read_file' }),
  message('assistant', '**Done** <img src=x onerror=alert(1)> ![x](http://127.0.0.1:9/x.png) [go](javascript:alert(1))'),
];
const run = (options: ExportOptions) => exportChat({ json: JSON.stringify({ format: 'chatos-chat/1', session, messages }), picture: () => Promise.resolve('data:image/png;base64,AAAA') }, options, words);

describe('export of a chat', () => {
  test('HTML: pictures inside, no script, nothing to load', async () => {
    const { name, text } = await run({ tools: true });
    expect(name).toBe('A b title b.html');
    expect((await run({ tools: false })).text).not.toContain('read_file');
    const page = new DOMParser().parseFromString(text, 'text/html');
    expect(page.querySelectorAll('script, iframe, link, object').length).toBe(0);
    expect([...page.querySelectorAll('img')].map((one) => one.getAttribute('src'))).toEqual(['data:image/png;base64,AAAA']);
    expect([...page.querySelectorAll('*')].flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith('on'))).toEqual([]);
    expect([...page.querySelectorAll('a')].map((one) => one.getAttribute('href')).filter((href) => href?.startsWith('javascript'))).toEqual([]);
    expect(page.querySelector('.user')?.textContent).toContain('<script>alert(1)</script>');
    expect(page.querySelector('strong')?.textContent).toBe('Done');
    expect(page.querySelector('meta[http-equiv]')?.getAttribute('content')).toContain("default-src 'none'");
  });

  test.each([['a/b\\c:*?"<>|d', 'a b c d'], ['..', 'chat'], ['  ', 'chat'], ['会话 一', '会话 一'], ['x'.repeat(200), 'x'.repeat(80)]])('file name of %j', (title, name) => {
    expect(fileName(title)).toBe(name);
  });
});
