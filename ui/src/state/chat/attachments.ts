// Pictures a person adds to a message: at most four, ten MiB each (agents §7), as base64 for the host.

import type { Attachment } from '../../protocol/wire';

export const MAX_IMAGES = 4;
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024;
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

export interface Picture {
  key: string;
  name: string;
  size: number;
  wire: Attachment;
  /** For the preview. */
  url: string;
}

export type Refusal = { name: string; why: 'type' | 'size' | 'count' | 'unreadable' };

/** Sorts files into pictures that can go with the message and those that cannot, with the reason. */
export async function takePictures(files: readonly File[], already: number): Promise<{ pictures: Picture[]; refused: Refusal[] }> {
  const pictures: Picture[] = [];
  const refused: Refusal[] = [];
  for (const file of files) {
    const why = refusal(file, already + pictures.length);
    if (why) {
      refused.push({ name: file.name, why });
      continue;
    }
    try {
      const url = await dataUrl(file);
      const data = url.slice(url.indexOf(',') + 1);
      const name = file.name || `picture.${file.type.split('/')[1] ?? 'png'}`;
      pictures.push({ key: crypto.randomUUID(), name, size: file.size, url, wire: { name, mime: file.type, data } });
    } catch {
      // Said to the person by name.
      refused.push({ name: file.name, why: 'unreadable' });
    }
  }
  return { pictures, refused };
}

function refusal(file: File, count: number): Refusal['why'] | null {
  if (!IMAGE_TYPES.some((type) => type === file.type)) return 'type';
  if (file.size > MAX_IMAGE_BYTES) return 'size';
  return count >= MAX_IMAGES ? 'count' : null;
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('unreadable'));
    reader.readAsDataURL(file);
  });
}
