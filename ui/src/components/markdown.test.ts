import { describe, expect, test } from 'vitest';
import { GrowingMarkdown, linkHost, renderMarkdown } from './markdown';

const note = (host: string) => `opens ${host}`;
const render = (source: string) => renderMarkdown(source, note);

/** What the browser would make of it. */
function dom(source: string): HTMLElement {
  const element = document.createElement('div');
  element.innerHTML = render(source);
  return element;
}

describe('hostile text', () => {
  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">x</a>',
    '<style>*{display:none}</style>',
    '<iframe src="https://example.com"></iframe>',
    '<svg onload=alert(1)>',
    '<!-- <b>x</b> -->',
  ])('raw HTML stays text: %s', (source) => {
    expect(dom(source).querySelector('script, img, a[href^="javascript"], style, iframe, svg, b')).toBeNull();
  });

  test.each([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](vbscript:x)',
    '[x](file:///etc/passwd)',
    '[x](data:text/html,<script>alert(1)</script>)',
    '<javascript:alert(1)>',
  ])('a link elsewhere than web and mail is no link: %s', (source) => {
    const links = [...dom(source).querySelectorAll('a')];
    expect(links.every((link) => link.getAttribute('href') === '#')).toBe(true);
  });

  test('a data: picture used as a link leads nowhere', () => {
    const link = dom('[x](data:image/png;base64,AAAA)').querySelector('a');
    expect(link?.getAttribute('href')).toBe('#');
  });

  test.each(['![a](https://example.com/x.png)', '![a](//example.com/x.png)', '![a](/x.png)', '![a](data:image/svg+xml,<svg/>)'])(
    'a picture that would be fetched is not shown: %s',
    (source) => {
      expect(dom(source).querySelector('img')).toBeNull();
    },
  );

  test('quotes cannot break out of an attribute', () => {
    const element = dom('![a" onerror="alert(1)](data:image/png;base64,AA"x)\n\n[t](https://a.example/"onmouseover="x)');
    expect(element.querySelector('[onerror], [onmouseover]')).toBeNull();
  });

  test('nothing carries a style attribute, which the CSP would refuse', () => {
    const element = dom('| a | b |\n|:-:|--:|\n| 1 | 2 |');
    expect(element.querySelectorAll('[style]')).toHaveLength(0);
    expect(element.querySelector('th')?.className).toBe('align-center');
    expect(element.querySelectorAll('td')[1]?.className).toBe('align-right');
  });
});

describe('links', () => {
  test('open apart and say where they lead', () => {
    const link = dom('[click me](https://evil.example/path)').querySelector('a');
    expect(link?.getAttribute('rel')).toBe('noopener noreferrer');
    expect(link?.getAttribute('target')).toBe('_blank');
    expect(link?.getAttribute('title')).toBe('opens evil.example');
    expect(dom('[click me](https://evil.example/path)').textContent).toContain('(evil.example)');
  });

  test('a text that looks like another host shows the real one', () => {
    expect(dom('[good.example](https://evil.example/)').textContent).toContain('(evil.example)');
  });

  test.each([
    'evil.example is the mirror of good.example',
    'good.example/evil.example',
    'https://good.example/?to=evil.example',
    'good.example.evil.example',
    'https://good.example@evil.example/',
    'evil.example.good.example',
    'evil.example@good.example',
    'evil.example:443@good.example',
    '**evil.example** good.example',
    'evil.example/\u202emoc.doog',
    'evil.example/\u200bgood.example',
    '![evil.example](data:image/png;base64,iVBORw0KGgo=)',
    '`evil.example`',
  ])('a text that only holds the host of its target does not hide it: %s', (text) => {
    expect(dom(`[${text}](https://evil.example/path)`).querySelector('.link-host')?.textContent).toBe('(evil.example)');
  });

  test.each(['https://a.example/x', 'http://a.example:8080/', 'https://a.example/路径?q=1#part', 'me@a.example'])(
    'a bare address is not repeated: %s',
    (address) => {
      const shown = dom(address);
      expect(shown.querySelector('a')).not.toBeNull();
      expect(shown.textContent?.trim()).toBe(address);
    },
  );

  test('two links in one paragraph keep their own hosts', () => {
    expect(dom('[a](https://one.example) [b](https://two.example)').textContent).toMatch(/a \(one\.example\) b \(two\.example\)/);
  });

  test('mail shows its address', () => {
    expect(linkHost('mailto:a@b.example')).toBe('a@b.example');
  });
});

test('ordinary Markdown, Chinese emphasis included', () => {
  const element = dom('# 标题\n\n一段**重点**和 `code`。\n\n- 一\n- 二\n\n```js\nlet a = 1 < 2;\n```');
  expect(element.querySelector('h1')?.textContent).toBe('标题');
  expect(element.querySelector('strong')?.textContent).toBe('重点');
  expect(element.querySelectorAll('li')).toHaveLength(2);
  expect(element.querySelector('pre')?.textContent).toContain('1 < 2');
});

test('inline pictures whose bytes are here are shown', () => {
  expect(dom('![dot](data:image/png;base64,iVBORw0KGgo=)').querySelector('img')?.alt).toBe('dot');
});

describe('GrowingMarkdown', () => {
  const words = { link: (host: string) => `to ${host}` };
  const texts = [
    'One paragraph\ngoes on.\n\n# Title\n\n- a\n- b\n\n  still b\n\n- c\n\n```ts\nlet x = 1;\n\nlet y;\n```\n\nAfter **that** [link](https://example.com).\n\n1. one\n2. two\n\n> quote\n> more\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\nend',
    'A heading\n===\n\ntext\n---\nmore\n\n    indented code\n\n    more code\n\nend 中文**强调**。',
    '```\nnever closed\n\n# not a title\n',
    '[ref] is defined below.\n\nand here\n\n[ref]: https://example.com/x\n',
    '<script>alert(1)</script>\n\n<b>no html</b>\n\n![x](https://evil.example/x.png)\n',
    '',
    '\n\n\n',
  ];

  test.each(texts)('text %#, in pieces of any size, ends as the whole would', (text) => {
    const whole = renderMarkdown(text, words.link);
    for (const size of [1, 2, 3, 7, 50]) {
      const growing = new GrowingMarkdown(words);
      for (let at = 0; at < text.length; at += size) growing.update(text.slice(0, at), false);
      expect(growing.update(text, true).join(''), `pieces of ${size}`).toBe(whole);
    }
  });

  test('a closed block is not rendered again', () => {
    const growing = new GrowingMarkdown(words);
    const [first] = growing.update('first\n\nsec', false);
    const later = growing.update('first\n\nsecond\n\nthird', false);
    expect(later).toHaveLength(3);
    expect(later[0]).toBe(first);
  });

  test('a chat may lead to another page of ours, and to no other place of it', () => {
    const link = (target: string) => new GrowingMarkdown({ ...words, copy: 'Copy' }).update(`[x](${target})`, true).join('');
    expect(link('#/agents/models')).toBe('<p><a href="#/agents/models">x</a></p>\n');
    expect(link('#code=abcdefgh')).not.toContain('<a');
    expect(link('javascript:alert(1)')).not.toContain('<a');
    expect(renderMarkdown('[x](#/agents)', words.link)).not.toContain('<a');
  });

  test('a text that was taken back starts over', () => {
    const growing = new GrowingMarkdown(words);
    growing.update('wrong\n\nwrong too\n\nand', false);
    expect(growing.update('right', false)).toEqual(['<p>right</p>\n']);
  });
});
