// Reads a unified diff line by line for display. It never drops, joins or reorders a line: what it
// does not understand is shown as it is, because somebody is about to approve it. No DOM.

export type PatchKind = 'file' | 'hunk' | 'same' | 'added' | 'removed' | 'note' | 'text';

export interface PatchLine {
  kind: PatchKind;
  /** Without the leading sign for lines of a hunk; the whole line otherwise. */
  text: string;
  oldNumber: number | null;
  newNumber: number | null;
}

/** A row of the side-by-side layout: a pair of lines, or one line across both sides. */
export type PatchRow = { left: PatchLine | null; right: PatchLine | null } | { across: PatchLine };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const HEADER = /^(diff |index |old mode |new mode |deleted file mode |new file mode |similarity index |rename |copy |Index: |={10,}$)/;

export function parsePatch(diff: string): PatchLine[] {
  const lines = splitLines(diff);
  const out: PatchLine[] = [];
  let inHunk = false;
  // Lines of the hunk still to come by its header; NaN when the header did not say.
  let oldLeft = Number.NaN;
  let newLeft = Number.NaN;
  let oldAt: number | null = null;
  let newAt: number | null = null;

  lines.forEach((line, index) => {
    const open = inHunk && (Number.isNaN(oldLeft) || oldLeft > 0 || newLeft > 0);
    const hunk = HUNK.exec(line);
    if (!open || line.startsWith('@@')) {
      if (hunk || line.startsWith('@@')) {
        inHunk = true;
        oldAt = hunk ? Number(hunk[1]) : null;
        newAt = hunk ? Number(hunk[3]) : null;
        oldLeft = hunk ? Number(hunk[2] ?? 1) : Number.NaN;
        newLeft = hunk ? Number(hunk[4] ?? 1) : Number.NaN;
        out.push({ kind: 'hunk', text: line, oldNumber: null, newNumber: null });
        return;
      }
    }
    const header = (!open || Number.isNaN(oldLeft)) && (HEADER.test(line) || isFileHeader(lines, index));
    if (header) {
      inHunk = false;
      oldAt = null;
      newAt = null;
      out.push({ kind: 'file', text: line, oldNumber: null, newNumber: null });
      return;
    }
    if (line.startsWith('\\')) {
      out.push({ kind: 'note', text: line, oldNumber: null, newNumber: null });
      return;
    }
    const sign = line[0];
    if (sign === '+') {
      out.push({ kind: 'added', text: line.slice(1), oldNumber: null, newNumber: newAt });
      if (newAt !== null) newAt += 1;
      newLeft -= 1;
      return;
    }
    if (sign === '-') {
      out.push({ kind: 'removed', text: line.slice(1), oldNumber: oldAt, newNumber: null });
      if (oldAt !== null) oldAt += 1;
      oldLeft -= 1;
      return;
    }
    if (inHunk && (sign === ' ' || line === '')) {
      out.push({ kind: 'same', text: line.slice(1), oldNumber: oldAt, newNumber: newAt });
      if (oldAt !== null) oldAt += 1;
      if (newAt !== null) newAt += 1;
      oldLeft -= 1;
      newLeft -= 1;
      return;
    }
    out.push({ kind: 'text', text: line, oldNumber: null, newNumber: null });
  });
  return out;
}

/** `--- a` directly before `+++ b`, or that second line itself. */
function isFileHeader(lines: string[], index: number): boolean {
  const pair = (at: number) => lines[at]?.startsWith('--- ') === true && lines[at + 1]?.startsWith('+++ ') === true;
  return pair(index) || pair(index - 1);
}

export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  // A final newline ends the last line, it does not begin another.
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Removed and added lines that follow each other stand beside each other. */
export function sideBySide(lines: PatchLine[]): PatchRow[] {
  const rows: PatchRow[] = [];
  let index = 0;
  while (index < lines.length) {
    const line = lines[index];
    if (!line) break;
    if (line.kind === 'same') {
      rows.push({ left: line, right: line });
      index += 1;
    } else if (line.kind === 'removed' || line.kind === 'added') {
      const removed: PatchLine[] = [];
      const added: PatchLine[] = [];
      for (; lines[index]?.kind === 'removed'; index += 1) removed.push(lines[index] as PatchLine);
      for (; lines[index]?.kind === 'added'; index += 1) added.push(lines[index] as PatchLine);
      for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
        rows.push({ left: removed[at] ?? null, right: added[at] ?? null });
      }
    } else {
      rows.push({ across: line });
      index += 1;
    }
  }
  return rows;
}

/** So many lines at the beginning only repeat what a card says above them: the names of its one file and where the change
    stands. Whatever else is there is looked at. */
export function headOf(lines: PatchLine[], path: string): number {
  const [from, to, hunk, ...rest] = lines;
  const names = (sign: string, side: string) => ['/dev/null', path, `${side}/${path}`].map((name) => `${sign} ${name}`);
  if (!from || !to || hunk?.kind !== 'hunk' || rest.some(({ kind }) => kind === 'file' || kind === 'text')) return 0;
  return names('---', 'a').includes(from.text) && names('+++', 'b').includes(to.text) && /^@@ [-+,\d ]+ @@$/.test(hunk.text) ? 3 : 0;
}

export function countPatch(lines: PatchLine[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const { kind } of lines) {
    if (kind === 'added') added += 1;
    if (kind === 'removed') removed += 1;
  }
  return { added, removed };
}

/** True for what diff tools say instead of binary content, and for content with NUL bytes. */
export function isBinaryPatch(diff: string): boolean {
  return diff.includes('\u0000') || /^(GIT binary patch|Binary files .* differ)\s*$/m.test(diff);
}
