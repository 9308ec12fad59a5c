import { describe, expect, test } from 'vitest';
import { highlight } from './highlight';

/** What a person reads and copies. */
function text(html: string): string {
  const box = document.createElement('pre');
  box.innerHTML = html;
  return box.textContent ?? '';
}

const SAMPLES: [string, string][] = [
  ['rust', 'fn main() {\n    // hi <b>\n    println!("a \\" b {}", 0x1F);\n}\n'],
  ['ts', 'const a = `x ${y}`; /* never closed <script>'],
  ['py', 'def f(x):  # comment\n    """doc\n    string"""\n    return x#y\n'],
  ['sql', "SELECT * FROM t -- c\nWHERE a = 'it''s'"],
  ['html', '<a href="x">&amp;</a><!-- <b> -->'],
  ['json', '{"key": "value", "n": 1.5e3, "t": true}'],
  ['diff', '--- a\n+++ b\n@@ -1 +1 @@\n-<old>\n+new'],
  ['nobody-knows', '<img src=x onerror=alert(1)>'],
  ['js', '"unterminated\nnext'],
  ['', ''],
];

describe('highlight', () => {
  test.each(SAMPLES)('%s: no character is lost, and nothing but our spans is made', (language, code) => {
    const html = highlight(code, language);
    expect(text(html)).toBe(code);
    const box = document.createElement('pre');
    box.innerHTML = html;
    expect([...box.querySelectorAll('*')].filter((element) => element.tagName !== 'SPAN' || !/^c-[a-z]+$/.test(element.className))).toEqual([]);
  });

  test('finds what it looks for', () => {
    expect(highlight('return f(1) // x', 'js')).toBe('<span class="c-keyword">return</span> <span class="c-title">f</span>(<span class="c-number">1</span>) <span class="c-comment">// x</span>');
    expect(highlight('{"a": "b"}', 'json')).toContain('<span class="c-attr">&quot;a&quot;</span>');
  });

  test.each(['"\\', '/*', '"'.repeat(3), 'a', '<!--'])('a hostile text %# is gone through once', (piece) => {
    const code = piece.repeat(2_000);
    for (const language of ['js', 'py', 'sql', 'html']) expect(text(highlight(code, language))).toBe(code);
  });
});
