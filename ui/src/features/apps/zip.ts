// Packs dropped or chosen files into a zip the host can install. Entries are stored, not compressed:
// the upload stays on this computer, and the host reads stored entries fastest.

import { ApiError } from '../../api/error';

export interface PackFile {
  /** Relative path with `/`, without a leading one. */
  path: string;
  file: Blob;
}

/** What the host refuses anyway is refused before a byte is read (plugins §8). */
export const MAX_BYTES = 200 * 1024 * 1024;
export const MAX_FILES = 20_000;

/** Folders and files the installer leaves out, so they need not be uploaded either. */
export function isExcluded(path: string): boolean {
  const parts = path.split('/');
  return parts.some((part) => part === 'node_modules' || part === '.git' || part === '.DS_Store') || path.endsWith('.map');
}

export type PackProblem = 'pack_empty' | 'pack_too_large' | 'pack_too_many';

function refuse(problem: PackProblem): ApiError {
  return new ApiError(0, problem, problem);
}

const TABLE = Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

export function crc32(bytes: Uint8Array, before = 0): number {
  let crc = ~before;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** Writes the archive. `onProgress` hears the bytes read so far. */
export async function pack(files: PackFile[], onProgress: (done: number, total: number) => void = () => undefined): Promise<Blob> {
  const kept = files.filter(({ path }) => !isExcluded(path));
  const total = kept.reduce((sum, { file }) => sum + file.size, 0);
  if (kept.length === 0) throw refuse('pack_empty');
  if (kept.length > MAX_FILES) throw refuse('pack_too_many');
  if (total > MAX_BYTES) throw refuse('pack_too_large');

  const parts: BlobPart[] = [];
  const directory: BlobPart[] = [];
  let offset = 0;
  let directorySize = 0;
  let done = 0;
  for (const { path, file } of kept) {
    const name = new TextEncoder().encode(path);
    const bytes = new Uint8Array(await file.arrayBuffer());
    const fields = common(name.length, crc32(bytes), bytes.length);
    const local = concat(u32(0x04034b50), fields, name);
    // Version made by 20 on FAT: no Unix modes are claimed, the browser does not know them.
    const central = concat(u32(0x02014b50), u16(20), fields, u16(0), u16(0), u16(0), u32(0), u32(offset), name);
    parts.push(local, bytes);
    directory.push(central);
    directorySize += central.length;
    offset += local.length + bytes.length;
    done += bytes.length;
    onProgress(done, total);
  }
  const end = concat(u32(0x06054b50), u16(0), u16(0), u16(kept.length), u16(kept.length), u32(directorySize), u32(offset), u16(0));
  return new Blob([...parts, ...directory, end], { type: 'application/zip' });
}

/** The fields that both headers of an entry share: version 20, UTF-8 names, stored, 1980-01-01. */
function common(nameLength: number, crc: number, size: number): Uint8Array<ArrayBuffer> {
  return concat(u16(20), u16(0x0800), u16(0), u16(0), u16(0x21), u32(crc), u32(size), u32(size), u16(nameLength), u16(0));
}

function u16(value: number): Uint8Array {
  return Uint8Array.of(value & 0xff, (value >>> 8) & 0xff);
}

function u32(value: number): Uint8Array {
  return Uint8Array.of(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, (value >>> 24) & 0xff);
}

function concat(...chunks: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
