// Files a person adds to a message, as base64 for the host: at most four pictures (agents §7), texts of any kind (code,
// logs, tables) and documents (PDF, office files), which the model gets as text. Ten files, 25 MiB each, 50 together;
// the host looks closer than this page does.

import type { Attachment } from '../../protocol/wire';

export const MAX_IMAGES = 4;
export const MAX_FILES = 10;
export const MAX_FILE_BYTES = 25 * 1024 * 1024;
export const MAX_BYTES = 50 * 1024 * 1024;
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

export type Refusal = { name: string; why: 'type' | 'size' | 'count' | 'texts' | 'total' | 'unreadable' };

export interface Taken {
  pictures: Picture[];
  texts: TextFile[];
  refused: Refusal[];
}

/** Sorts files into those that can go with the message and those that cannot, with the reason. */
export async function takeFiles(files: readonly File[], already: { pictures: number; texts: number; bytes: number }): Promise<Taken> {
  const taken: Taken = { pictures: [], texts: [], refused: [] };
  let whole = already.bytes;
  for (const file of files) {
    const picture = IMAGE_TYPES.some((type) => type === file.type);
    const name = file.name || (picture ? `picture.${file.type.split('/')[1] ?? 'png'}` : 'file.txt');
    const refuse = (why: Refusal['why']) => taken.refused.push({ name, why });
    try {
      if (file.size > MAX_FILE_BYTES) refuse('size');
      else if (picture && already.pictures + taken.pictures.length >= MAX_IMAGES) refuse('count');
      else if (!picture && !(await isReadable(file))) refuse('type');
      else if (already.pictures + already.texts + taken.pictures.length + taken.texts.length >= MAX_FILES) refuse('texts');
      else if (whole + file.size > MAX_BYTES) refuse('total');
      else {
        whole += file.size;
        const url = await dataUrl(file);
        const data = url.slice(url.indexOf(',') + 1);
        const one = { key: crypto.randomUUID(), name, size: file.size };
        if (picture) taken.pictures.push({ ...one, url, wire: { name, mime: file.type, data } });
        else taken.texts.push({ ...one, wire: { name, mime: '', data } });
      }
    } catch {
      // Said to the person by name.
      refuse('unreadable');
    }
  }
  return taken;
}

const OFFICE = /\.(?:docx|docm|pptx|pptm|xlsx|xlsm|odt|odp|ods)$/iu;

/** By its bytes: names and types say little about code. */
async function isReadable(file: File): Promise<boolean> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 1024));
  if (head.includes('%PDF-') || (head.startsWith('PK\x03\x04') && OFFICE.test(file.name))) return true;
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
