// A line diff by Myers' method, cut into hunks. No DOM.

export type LineKind = 'same' | 'added' | 'removed';

export interface DiffLine {
  kind: LineKind;
  text: string;
  /** Line numbers from 1; null on the side where the line does not exist. */
  oldNumber: number | null;
  newNumber: number | null;
}

export interface Hunk {
  lines: DiffLine[];
  /** Unchanged lines left out before this hunk. */
  skipped: number;
}

/** Beyond this many differing lines the exact answer costs too much; everything counts as replaced. */
const MAX_EDITS = 1_500;

function split(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  // A final newline ends the last line, it does not begin another.
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** All lines of both texts in order. */
export function diffLines(oldText: string, newText: string): DiffLine[] {
  const a = split(oldText);
  const b = split(newText);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;

  const middle = edits(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const kinds: LineKind[] = [...new Array<LineKind>(head).fill('same'), ...middle, ...new Array<LineKind>(tail).fill('same')];

  let oldAt = 0;
  let newAt = 0;
  return kinds.map((kind): DiffLine => {
    if (kind === 'removed') {
      oldAt += 1;
      return { kind, text: a[oldAt - 1] ?? '', oldNumber: oldAt, newNumber: null };
    }
    newAt += 1;
    if (kind === 'added') return { kind, text: b[newAt - 1] ?? '', oldNumber: null, newNumber: newAt };
    oldAt += 1;
    return { kind, text: b[newAt - 1] ?? '', oldNumber: oldAt, newNumber: newAt };
  });
}

/** The shortest edit script between two lists of lines. */
function edits(a: string[], b: string[]): LineKind[] {
  if (a.length === 0) return b.map(() => 'added');
  if (b.length === 0) return a.map(() => 'removed');
  const trace = search(a, b);
  if (trace === null) return [...a.map((): LineKind => 'removed'), ...b.map((): LineKind => 'added')];

  const kinds: LineKind[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const row = trace[d];
    if (!row) continue;
    const k = x - y;
    const at = (diagonal: number) => row[diagonal + d + 1] ?? -1;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const previousK = down ? k + 1 : k - 1;
    const previousX = Math.max(0, at(previousK));
    const previousY = previousX - previousK;
    while (x > previousX && y > previousY && x > 0 && y > 0) {
      kinds.push('same');
      x -= 1;
      y -= 1;
    }
    if (d === 0) break;
    kinds.push(down ? 'added' : 'removed');
    x = previousX;
    y = previousY;
  }
  return kinds.reverse();
}

/** Furthest-reaching points per number of edits, kept to walk back (row `d` covers diagonals -d-1
    to d+1); null when there are too many edits. */
function search(a: string[], b: string[]): Int32Array[] | null {
  const limit = Math.min(a.length + b.length, MAX_EDITS);
  const zero = limit + 1;
  const furthest = new Int32Array(2 * limit + 3).fill(-1);
  furthest[zero + 1] = 0;
  const trace: Int32Array[] = [];
  for (let d = 0; d <= limit; d += 1) {
    trace.push(furthest.slice(zero - d - 1, zero + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const left = furthest[zero + k - 1] ?? -1;
      const right = furthest[zero + k + 1] ?? -1;
      let x = k === -d || (k !== d && left < right) ? right : left + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      furthest[zero + k] = x;
      if (x >= a.length && y >= b.length) return trace;
    }
  }
  return null;
}

/** Changed places with `context` unchanged lines around them. */
export function hunksOf(lines: DiffLine[], context = 3): Hunk[] {
  const keep = new Array<boolean>(lines.length).fill(false);
  lines.forEach((line, index) => {
    if (line.kind === 'same') return;
    keep.fill(true, Math.max(0, index - context), Math.min(lines.length, index + context + 1));
  });
  const hunks: Hunk[] = [];
  let skipped = 0;
  let current: DiffLine[] | null = null;
  lines.forEach((line, index) => {
    if (!keep[index]) {
      skipped += 1;
      current = null;
      return;
    }
    if (!current) {
      current = [];
      hunks.push({ lines: current, skipped });
      skipped = 0;
    }
    current.push(line);
  });
  return hunks;
}

export function countChanges(lines: DiffLine[]): { added: number; removed: number } {
  return {
    added: lines.filter((line) => line.kind === 'added').length,
    removed: lines.filter((line) => line.kind === 'removed').length,
  };
}
