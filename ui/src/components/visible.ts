// Text of strangers with nothing hidden: characters that cannot be seen, or that change the order in
// which others are seen, are shown by their number (plugins §7).

export interface Piece {
  text: string;
  /** True for a stand-in such as `U+202E`. */
  special: boolean;
}

// Control characters, soft hyphen, zero-width and bidi controls, line and paragraph separators,
// invisible operators, variation selectors, tags, the object replacement character and the BOM.
/* eslint-disable no-control-regex, no-misleading-character-class -- these are the characters that are looked for */
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffc]|[\u{e0000}-\u{e0fff}]|[\u{1d173}-\u{1d17a}]/gu;
/* eslint-enable no-control-regex, no-misleading-character-class */

/** Splits a text into what can be read as it is and numbers for what cannot. With `lines`, line feeds
    and tabs are left as they are, for texts that may have several lines. */
export function visiblePieces(text: string, lines = false): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (lines && (match[0] === '\n' || match[0] === '\t')) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), special: false });
    pieces.push({ text: codeOf(match[0]), special: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), special: false });
  return pieces;
}

/** The text with stand-ins such as `⟨U+202E⟩`, for where it has to be one text; lines and tabs are left as they are. */
export function visibleText(text: string): string {
  return visiblePieces(text, true)
    .map(({ text: piece, special }) => (special ? `⟨${piece}⟩` : piece))
    .join('');
}

function codeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point === 0x0a) return '\\n';
  if (point === 0x09) return '\\t';
  if (point === 0x0d) return '\\r';
  return `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
}
