// What a note is: its id, its title, its tags, its revision. Pure; knows no files.

import { createHash } from 'node:crypto';

import { ToolError } from './mcp.mjs';

/** A note is text a person reads; a megabyte is a long book chapter. */
export const MAX_NOTE_BYTES = 1024 * 1024;

/** File systems allow 255 bytes for a name; `.md` and a temporary prefix need room. */
const MAX_ID_BYTES = 180;

/** Letters and digits of any script, `-` and `_` inside: no dot, no slash, no space, so never a path. */
export const ID_PATTERN = '^[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M}_-]*$';

const ID = new RegExp(ID_PATTERN, 'u');

/** The id as it is stored, or a refusal that says what an id may be. */
export function parseId(value) {
  const id = typeof value === 'string' ? value.trim().normalize('NFC') : '';
  if (!ID.test(id) || Buffer.byteLength(id) > MAX_ID_BYTES) {
    throw new ToolError(
      'invalid_argument',
      `note id ${JSON.stringify(value)} may only hold letters, digits, "-" and "_", and at most ${MAX_ID_BYTES} bytes`,
    );
  }
  return id;
}

/** An id made from a title, so that a folder of notes reads well: "Trip to 北京!" → "trip-to-北京". */
export function idFromTitle(title) {
  const words = title.normalize('NFC').toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  let id = '';
  for (const word of words) {
    const longer = id === '' ? word : `${id}-${word}`;
    if (Buffer.byteLength(longer) > 60) break;
    id = longer;
  }
  return ID.test(id) ? id : 'note';
}

/** The first heading, else the first line that is not empty. */
export function titleOf(text) {
  let fallback = '';
  for (const line of text.split('\n')) {
    const heading = /^#{1,6}\s+(.+?)\s*#*\s*$/u.exec(line);
    if (heading) return clip(withoutTags(heading[1]));
    if (fallback === '') fallback = line.trim();
  }
  return clip(withoutTags(fallback));
}

/** "Trip #travel" is called "Trip"; a line of tags only keeps them. */
function withoutTags(line) {
  const rest = line.replaceAll(/(?:^|\s)#[\p{L}\p{N}][\p{L}\p{N}\p{M}_-]*/gu, '').trim();
  return rest === '' ? line.trim() : rest;
}

/** `#tag` words outside code, lower case, in order of appearance. */
export function tagsOf(text) {
  const tags = new Set();
  let fenced = false;
  for (const line of text.split('\n')) {
    if (/^\s*(```|~~~)/u.test(line)) fenced = !fenced;
    else if (!fenced) {
      const plain = line.replaceAll(/`[^`]*`/gu, ' ');
      for (const match of plain.matchAll(/(?:^|\s)#([\p{L}\p{N}][\p{L}\p{N}\p{M}_-]{0,39})/gu)) tags.add(match[1].toLowerCase());
    }
  }
  return [...tags];
}

/** Names the text, so that two writers can tell whether they started from the same one. */
export function revisionOf(text) {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 16);
}

/** The text as it is stored: line feeds, one at the end, no NUL, not too long. */
export function normalizeText(value) {
  if (value.includes('\0')) throw new ToolError('invalid_argument', 'a note may not hold NUL characters');
  const text = `${value.replaceAll('\r\n', '\n').trimEnd()}\n`;
  if (text.trim() === '') throw new ToolError('invalid_argument', 'a note may not be empty');
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_NOTE_BYTES) {
    throw new ToolError('resource_exhausted', `the note has ${bytes} bytes; at most ${MAX_NOTE_BYTES} are allowed`);
  }
  return text;
}

function clip(text) {
  const characters = [...text];
  return characters.length > 120 ? `${characters.slice(0, 119).join('')}…` : text;
}
