import { describe, expect, test } from 'vitest';
import { Grammars } from './code-grammar';
import { LANGUAGES, languageOf } from './code-languages';

/** What a person reads and copies. */
function text(html: string): string {
  const box = document.createElement('pre');
  box.innerHTML = html;
  return box.textContent ?? '';
}

function kinds(html: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [, kind = '', inner = ''] of html.matchAll(/<span class="c-([a-z-]+)">([^<]*)<\/span>/g)) (found[kind] ??= []).push(inner.trim());
  return found;
}

const SAMPLES: [string, string][] = [
  ['rust', 'fn main() {\n    // hi <b>\n    println!("a \\" b {}", 0x1F);\n}\n'],
  ['typescript', 'const a = `x ${y}`; /* never closed <script>'],
  ['python', 'def f(x):  # comment\n    """doc\n    string"""\n    return x#y\n'],
  ['sql', "SELECT * FROM t -- c\r\nWHERE a = 'it''s'\r\n"],
  ['html', '<a href="x">&amp;</a><!-- <b> --><script>let a = 1</script>'],
  ['json', '{"key": "value", "n": 1.5e3, "t": true}'],
  ['diff', '--- a\n+++ b\n@@ -1 +1 @@\n-<old>\n+new'],
  ['javascript', '"unterminated\nnext'],
  ['shellscript', 'for f in *.rs; do\n  echo "$f"\ndone\n\n\n'],
  ['yaml', 'a: 1\nb:\n  - "<x>"\n'],
];

const grammars = new Grammars();

describe('code in colours', () => {
  test.each(SAMPLES)('%s: no character is lost, and nothing but our spans is made', async (language, code) => {
    const html = await grammars.colour(code, language);
    expect(text(html).replaceAll('\r\n', '\n')).toBe(code.replaceAll('\r\n', '\n'));
    const box = document.createElement('pre');
    box.innerHTML = html;
    expect([...box.querySelectorAll('*')].filter((element) => element.tagName !== 'SPAN' || !/^c-[a-z-]+$/.test(element.className))).toEqual([]);
    expect(box.querySelectorAll('span').length).toBeGreaterThan(0);
  });

  test.each(LANGUAGES)('%s has a grammar, under the name it is listed by', async (language) => {
    expect(languageOf(language)).toBe(language);
    expect(text(await grammars.colour('a "b" 1\n', language))).toBe('a "b" 1\n');
  });

  test('words of one language are not words of another', async () => {
    expect(kinds(await grammars.colour('fn f(x: u8) -> bool { x == 1 } // y', 'rust'))).toMatchObject({ keyword: ['fn'], title: ['f'], comment: ['// y'] });
    expect(kinds(await grammars.colour('fn = select', 'python'))['keyword']).toBeUndefined();
    expect(kinds(await grammars.colour('{"a": "b", "n": 1}', 'json'))).toMatchObject({ attr: ['&quot;a&quot;', '&quot;n&quot;'], string: ['&quot;b&quot;'], number: ['1'] });
    expect(kinds(await grammars.colour('-gone\n+came', 'diff'))).toMatchObject({ deleted: ['-gone'], string: ['+came'] });
  });

  test.each(SAMPLES)('%s: a text that grows ends as the whole would', async (language, code) => {
    let html = '';
    for (let end = 3; end < code.length + 3; end += 3) html = await grammars.colour(code.slice(0, end), language);
    // Another text in between, so that it is begun anew.
    await grammars.colour('-', language);
    expect(html).toBe(await grammars.colour(code, language));
  });

  test.each(['"\\', '/*', '"""', 'a', '<!--', '((', '\\u{'])('a hostile text %# is gone through', async (piece) => {
    const code = `${piece.repeat(400)}\n`.repeat(10) + piece.repeat(4_000);
    for (const language of ['javascript', 'python', 'sql', 'html', 'shellscript']) expect(text(await grammars.colour(code, language))).toBe(code);
  });
});
