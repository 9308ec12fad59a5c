// Formulas, task lists and footnotes of a chat (issue 21, fault 9), also when they are meant to do harm.

import { describe, expect, test, vi } from 'vitest';
import { GrowingMarkdown } from './markdown';
import { mathHtml } from './math.svelte';

const WORDS = { link: (host: string) => host, copy: 'Copy', math: (tex: string, display: boolean) => `<math data-display="${display}">${tex.replaceAll('<', '&lt;')}</math>` };
const render = (source: string, final = true) => new GrowingMarkdown(WORDS).update(source, final).join('');

/** What the browser would make of it. */
function dom(html: string): HTMLElement {
  const element = document.createElement('div');
  element.innerHTML = html;
  return element;
}

const formulas = (source: string) => [...dom(render(source)).querySelectorAll('math')].map((one) => [one.textContent, one.dataset['display']]);

describe('formulas', () => {
  test.each([
    ['Euler: $e^{i\\pi} = -1$.', [['e^{i\\pi} = -1', 'false']]],
    ['Euler: \\(e^{i\\pi}\\), and \\[x^2\\]', [['e^{i\\pi}', 'false'], ['x^2', 'true']]],
    ['$$\na \\\\\nb\n$$', [['a \\\\\nb', 'true']]],
    ['\\[\n\\frac{a}{b}\n\\]', [['\\frac{a}{b}', 'true']]],
    ['- one\n\n  $$x$$\n', [['x', 'true']]],
  ])('%j', (source, found) => {
    expect(formulas(source)).toEqual(found);
  });

  test.each(['It costs $5 and $10.', 'a $ b $ c', '`$x$`', '```\n$x$\n```', '\\$x\\$', '$x', '$$\nnever closed', 'US$ 3'])('no formula: %j', (source) => {
    expect(formulas(source)).toEqual([]);
  });

  test('a formula that is still being written is text, and nothing of it is lost', () => {
    const growing = new GrowingMarkdown(WORDS);
    expect(dom(growing.update('Then $$\na + ', false).join('')).textContent).toContain('a +');
    expect(dom(growing.update('Then\n\n$$\na + b\n$$\n\nand so on', false).join('')).querySelectorAll('math')).toHaveLength(1);
  });

  test('KaTeX draws MathML without styles, links or scripts; what it refuses is shown as written', async () => {
    await vi.waitFor(() => expect(mathHtml('x', false)).toContain('<math'), { timeout: 30_000 });
    expect(dom(mathHtml('\\frac{a}{b}', true)).querySelector('mfrac')).not.toBeNull();
    const hostile = ['\\href{javascript:alert(1)}{x}', '\\htmlStyle{color:red}{x}', '\\includegraphics{http://127.0.0.1/x.png}', '\\url{https://example.com}', '\\rule{99999em}{99999em}', '\\def\\a{\\a\\a}\\a', '\\unknowncommand', '<img src=x onerror=alert(1)>', 'x'.repeat(10_000)];
    for (const tex of hostile) {
      const drawn = dom(mathHtml(tex, true));
      expect(drawn.querySelector('script, img, a[href], [style], [onerror]'), tex.slice(0, 60)).toBeNull();
      expect(drawn.textContent?.trim(), tex.slice(0, 60)).not.toBe('');
    }
  });
});

test('task lists have boxes, and only they', () => {
  const drawn = dom(render('- [ ] open\n- [x] done\n- plain [x]\n\n[ ] no list'));
  expect([...drawn.querySelectorAll('li.task')].map((item) => item.textContent?.trim())).toEqual(['☐ open', '☑ done']);
  expect(drawn.querySelectorAll('.task-box')).toHaveLength(2);
});

test('footnotes are numbered and listed, and lead nowhere', () => {
  const drawn = dom(render('A claim.[^1] Another.[^long]\n\n[^1]: The source.\n[^long]: A *longer* one <b>x</b>.\n'));
  expect([...drawn.querySelectorAll('sup.note-ref')].map((one) => one.textContent)).toEqual(['[1]', '[2]']);
  expect([...drawn.querySelectorAll('.notes li')].map((one) => one.textContent?.trim())).toEqual(['The source.', 'A longer one <b>x</b>.']);
  expect(drawn.querySelectorAll('a, [id]')).toHaveLength(0);
});

describe('diagrams', () => {
  const asked: string[] = [];
  const diagram = {
    of: (source: string) => {
      asked.push(source);
      return source.includes('broken') ? { problem: 'line 1: "x" <b>' } : { url: 'data:image/svg+xml,"><script>' };
    },
    label: 'Diagram',
    code: 'Source',
    failed: 'Not drawn',
  };
  const growing = () => new GrowingMarkdown({ ...WORDS, diagram });
  const fence = (source: string) => `\`\`\`mermaid\n${source}\n\`\`\`\n`;

  test('a picture with its source below; nothing of either becomes an element', () => {
    const found = dom(growing().update(fence('graph LR'), true).join(''));
    expect(found.querySelector('img')?.getAttribute('src')).toBe('data:image/svg+xml,"><script>');
    expect(found.querySelector('details code')?.textContent).toBe('graph LR\n');
    expect(found.querySelector('script')).toBeNull();
  });

  test('what cannot be drawn is code, and says so', () => {
    const found = dom(growing().update(fence('broken'), true).join(''));
    expect([found.querySelector('img'), found.querySelector('.not-drawn')?.textContent]).toEqual([null, 'Not drawn']);
    expect(found.querySelector('.not-drawn')?.getAttribute('title')).toBe('line 1: "x" <b>');
    expect(found.querySelector('code')?.textContent).toBe('broken\n');
  });

  test('one that is still being written is not drawn', () => {
    asked.length = 0;
    const text = growing();
    text.update('Look:\n\n```mermaid\ngraph', false);
    text.update('Look:\n\n```mermaid\ngraph LR\n A --> B', false);
    expect(asked).toEqual([]);
    text.update(`Look:\n\n${fence('graph LR\n A --> B')}\nThere.`, false);
    expect(asked).toEqual(['graph LR\n A --> B\n']);
  });
});
