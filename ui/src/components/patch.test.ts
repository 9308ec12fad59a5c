import { describe, expect, test } from 'vitest';
import { countPatch, isBinaryPatch, parsePatch, type PatchLine, sideBySide, headOf } from './patch';

const DIFF = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,4 +1,4 @@ fn main
 one
--- two
+++ two
 three
\\ No newline at end of file
@@ -10 +10,2 @@
-ten
+TEN
+eleven
diff --git a/b b/b
`;

const SIGN: Record<string, string> = { same: ' ', added: '+', removed: '-' };
const whole = (line: PatchLine) => `${SIGN[line.kind] ?? ''}${line.text}`;

describe('parsePatch', () => {
  test('numbers follow the hunk headers; a removed line may look like a file header', () => {
    const shown = parsePatch(DIFF).map((line) => `${line.kind} ${line.oldNumber ?? '-'} ${line.newNumber ?? '-'} ${line.text}`);
    expect(shown).toEqual([
      'file - - diff --git a/a.txt b/a.txt',
      'file - - index 1..2 100644',
      'file - - --- a/a.txt',
      'file - - +++ b/a.txt',
      'hunk - - @@ -1,4 +1,4 @@ fn main',
      'same 1 1 one',
      'removed 2 - -- two',
      'added - 2 ++ two',
      'same 3 3 three',
      'note - - \\ No newline at end of file',
      'hunk - - @@ -10 +10,2 @@',
      'removed 10 - ten',
      'added - 10 TEN',
      'added - 11 eleven',
      'file - - diff --git a/b b/b',
    ]);
    expect(countPatch(parsePatch(DIFF))).toEqual({ added: 3, removed: 2 });
  });

  test('a hunk header without numbers, as in seed 004', () => {
    const kinds = parsePatch('--- a/x\n+++ b/x\n@@ ...\n-old\n+new\n same').map((line) => [line.kind, line.oldNumber]);
    expect(kinds).toEqual([['file', null], ['file', null], ['hunk', null], ['removed', null], ['added', null], ['same', null]]);
  });

  test('lines beyond what a hunk header announced are still shown as what they are', () => {
    const lines = parsePatch('@@ -1,1 +1,1 @@\n a\n+sneaked in\n-sneaked out');
    expect(lines.map((line) => line.kind)).toEqual(['hunk', 'same', 'added', 'removed']);
  });

  test('what is no diff is shown as it is', () => {
    expect(parsePatch('hello\n  world')).toEqual([
      { kind: 'text', text: 'hello', oldNumber: null, newNumber: null },
      { kind: 'text', text: '  world', oldNumber: null, newNumber: null },
    ]);
    expect(parsePatch('')).toEqual([]);
  });

  test('never drops, joins or reorders a line, whatever the text', () => {
    const parts = ['+', '-', ' ', '@@ -1,2 +3,4 @@', '@@', '--- a', '+++ b', '\\ No', 'diff --git', 'x', '', '-', '+++', '---', '\t', '\r'];
    let seed = 3;
    const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
    for (let round = 0; round < 500; round += 1) {
      const lines = Array.from({ length: 1 + Math.floor(random() * 12) }, () => parts[Math.floor(random() * parts.length)] ?? '');
      lines.push('end');
      const out = parsePatch(lines.join('\n'));
      // An empty line inside a hunk is an unchanged empty line; its sign was trimmed by somebody.
      expect(out.map((line) => whole(line).trimEnd())).toEqual(lines.map((line) => line.trimEnd()));
      const rows = sideBySide(out).flatMap((row) => ('across' in row ? [row.across] : row.left === row.right ? [row.left] : [row.left, row.right]));
      expect(rows.filter((line) => line !== null)).toHaveLength(out.length);
    }
  });
});

test('side by side: removed and added lines stand beside each other', () => {
  const rows = sideBySide(parsePatch('@@ -1,3 +1,2 @@\n-a\n-b\n+A\n c'));
  const text = rows.map((row) => ('across' in row ? row.across.kind : `${row.left?.text ?? '∅'}|${row.right?.text ?? '∅'}`));
  expect(text).toEqual(['hunk', 'a|A', 'b|∅', 'c|c']);
});

test('binary content is recognized', () => {
  expect(isBinaryPatch('Binary files a/x.png and b/x.png differ\n')).toBe(true);
  expect(isBinaryPatch('diff\nGIT binary patch\nliteral 3')).toBe(true);
  expect(isBinaryPatch('a\u0000b')).toBe(true);
  expect(isBinaryPatch('+the words Binary files are in a line')).toBe(false);
});

describe('the beginning of a patch', () => {
  const head = (diff: string, path = 'a.txt') => headOf(parsePatch(diff), path);

  test('is left out only where it says nothing but the name of the file', () => {
    expect(head('--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-x\n+y\n')).toBe(3);
    expect(head('--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+y\n')).toBe(3);
    // Another name, words beside the place, a second file, lines outside of a change, another mode.
    expect(head('--- a/a.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+y\n')).toBe(0);
    expect(head('--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@ fn main\n-x\n+y\n')).toBe(0);
    expect(head('--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\n--- a/c\n+++ b/c\n@@ -1 +1 @@\n-x\n+y\n')).toBe(0);
    expect(head('--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\nrun me\n')).toBe(0);
    expect(head('new file mode 100755\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+y\n')).toBe(0);
    expect(head('')).toBe(0);
  });
});
