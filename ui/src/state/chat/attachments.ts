// Files a person adds to a message, as base64 for the host: at most four pictures (agents §7), and texts of any kind
// (code, logs, tables), which the model gets as text. Ten MiB each.

import type { Attachment } from '../../protocol/wire';

export const MAX_IMAGES = 4;
/** Texts of one message; the host takes 16 files, and views may add some. */
export const MAX_TEXTS = 10;
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
/** So much pasted at once is a file, not something that was written. */
export const LONG_PASTE = 8_000;

export interface Picture {
  key: string;
  name: string;
  size: number;
  wire: Attachment;
  /** For the preview. */
  url: string;
}

export type TextFile = Omit<Picture, 'url'>;

export type Refusal = { name: string; why: 'type' | 'size' | 'count' | 'texts' | 'unreadable' };

export interface Taken {
  pictures: Picture[];
  texts: TextFile[];
  refused: Refusal[];
}

/** Sorts files into those that can go with the message and those that cannot, with the reason. */
export async function takeFiles(files: readonly File[], already: { pictures: number; texts: number }): Promise<Taken> {
  const taken: Taken = { pictures: [], texts: [], refused: [] };
  for (const file of files) {
    const picture = IMAGE_TYPES.some((type) => type === file.type);
    const name = file.name || (picture ? `picture.${file.type.split('/')[1] ?? 'png'}` : 'file.txt');
    const refuse = (why: Refusal['why']) => taken.refused.push({ name, why });
    try {
      if (file.size > MAX_FILE_BYTES) refuse('size');
      else if (picture && already.pictures + taken.pictures.length >= MAX_IMAGES) refuse('count');
      else if (!picture && !(await isText(file))) refuse('type');
      else if (!picture && already.texts + taken.texts.length >= MAX_TEXTS) refuse('texts');
      else {
        const url = await dataUrl(file);
        const data = url.slice(url.indexOf(',') + 1);
        const one = { key: crypto.randomUUID(), name, size: file.size };
        if (picture) taken.pictures.push({ ...one, url, wire: { name, mime: file.type, data } });
        else taken.texts.push({ ...one, wire: { name, mime: 'text/plain', data } });
      }
    } catch {
      // Said to the person by name.
      refuse('unreadable');
    }
  }
  return taken;
}

/** By its bytes: names and types say little about code. */
async function isText(file: File): Promise<boolean> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    // Not UTF-8, so nothing a model could read.
    return false;
  }
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('unreadable'));
    reader.readAsDataURL(file);
  });
}
