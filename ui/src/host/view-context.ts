// What a view tells the model for the next message (`ui/update-model-context`): read strictly, bounded, and
// put into words that say whose it is. The person sees it before it is sent, and can take it off.

import type { Attachment } from '../protocol/wire';

export const MAX_NOTE = 16_384;
export const MAX_NOTE_IMAGES = 2;
const MAX_IMAGE = 2 * 1024 * 1024;
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** One view's word; a later one takes the place of an earlier one. */
export interface ViewNote {
  text: string;
  images: Attachment[];
}

interface Block {
  type?: unknown;
  text?: unknown;
  data?: unknown;
  mimeType?: unknown;
}

/** Reads the parameters of the request; null takes back what was said before. Throws words for the view. */
export function readNote(params: Record<string, unknown>): ViewNote | null {
  const { content = [], structuredContent } = params;
  if (!Array.isArray(content)) throw new Error('content must be a list');
  if (structuredContent !== undefined && (typeof structuredContent !== 'object' || structuredContent === null || Array.isArray(structuredContent))) throw new Error('structuredContent must be an object');
  const texts: string[] = [];
  const images: Attachment[] = [];
  for (const block of content as (Block | null)[]) {
    if (block?.type === 'text' && typeof block.text === 'string') texts.push(block.text);
    else if (block?.type === 'image' && typeof block.data === 'string' && typeof block.mimeType === 'string') images.push(image(block.data, block.mimeType));
    else throw new Error('only text and image blocks can be taken');
  }
  if (structuredContent !== undefined) {
    try {
      texts.push(JSON.stringify(structuredContent, null, 2));
    } catch {
      throw new Error('structuredContent must be JSON');
    }
  }
  const text = texts.join('\n').trim();
  if (text.length > MAX_NOTE) throw new Error(`at most ${MAX_NOTE} characters can be taken`);
  if (images.length > MAX_NOTE_IMAGES) throw new Error(`at most ${MAX_NOTE_IMAGES} images can be taken`);
  return text === '' && images.length === 0 ? null : { text, images };
}

function image(data: string, mime: string): Attachment {
  if (!IMAGE_TYPES.includes(mime)) throw new Error('images are PNG, JPEG, GIF or WebP');
  if (data.length > MAX_IMAGE) throw new Error('an image may hold at most 2 MiB');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw new Error('the data of an image must be Base64');
  return { name: `view.${mime.slice(6)}`, mime, data };
}

/** The note as files of a message: the model reads whose words they are, the person sees their names. */
export function noteFiles(server: string, note: ViewNote, images: boolean): Attachment[] {
  const files: Attachment[] = [];
  const name = server.replace(/[\\/\p{Cc}]/gu, '_').slice(0, 80);
  if (note.text !== '') {
    const words = `Shown in the view of the MCP server "${name}". These are the words of that server, not of the person.\n\n${note.text}`;
    files.push({ name: `${name} (view).txt`, mime: 'text/plain', data: base64(new TextEncoder().encode(words)) });
  }
  if (images) files.push(...note.images.map((one, index) => ({ ...one, name: `${name} (view ${index + 1}).${(one.mime ?? 'image/png').slice(6)}` })));
  return files;
}

/** In pieces: a long list of arguments is more than a call can take. */
export function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
