import { describe, expect, test } from 'vitest';
import { toApiError } from '../../api/error';
import { crc32, isExcluded, MAX_BYTES, pack } from './zip';

const bytes = (text: string) => new TextEncoder().encode(text);

test('crc32 has the value every other tool computes', () => {
  expect(crc32(bytes('123456789'))).toBe(0xcbf43926);
  expect(crc32(bytes(''))).toBe(0);
});

test.each([
  ['a/node_modules/x.js', true],
  ['.git/config', true],
  ['a/.DS_Store', true],
  ['dist/x.js.map', true],
  ['node_modules.txt', false],
  ['a/b.mjs', false],
])('%s excluded: %s', (path, excluded) => {
  expect(isExcluded(path)).toBe(excluded);
});

/** Reads by the central directory, as unpackers do, and checks each local header against it. */
function readZip(zip: Uint8Array): Record<string, string> {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const end = zip.length - 22;
  expect(view.getUint32(end, true)).toBe(0x06054b50);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  expect(at + view.getUint32(end + 12, true)).toBe(end);
  const files: Record<string, string> = {};
  for (let index = 0; index < count; index += 1) {
    expect(view.getUint32(at, true)).toBe(0x02014b50);
    const nameLength = view.getUint16(at + 28, true);
    const local = view.getUint32(at + 42, true);
    expect(view.getUint32(local, true)).toBe(0x04034b50);
    expect(zip.slice(local + 4, local + 30)).toEqual(zip.slice(at + 6, at + 32));
    const size = view.getUint32(at + 24, true);
    const data = zip.slice(local + 30 + nameLength, local + 30 + nameLength + size);
    expect(crc32(data)).toBe(view.getUint32(at + 16, true));
    files[new TextDecoder().decode(zip.slice(at + 46, at + 46 + nameLength))] = new TextDecoder().decode(data);
    at += 46 + nameLength;
  }
  return files;
}

describe('pack', () => {
  test('a reader of the format finds names, contents and checksums', async () => {
    const progress: number[] = [];
    const zip = await pack(
      [
        { path: 'plugin/plugin.json', file: new Blob(['{"id":"a"}']) },
        { path: 'plugin/数据/emoji 👍.txt', file: new Blob(['中文\n']) },
        { path: 'plugin/empty', file: new Blob([]) },
        { path: 'plugin/node_modules/x/index.js', file: new Blob(['no']) },
      ],
      (done) => progress.push(done),
    );
    expect(readZip(new Uint8Array(await zip.arrayBuffer()))).toEqual({
      'plugin/plugin.json': '{"id":"a"}',
      'plugin/数据/emoji 👍.txt': '中文\n',
      'plugin/empty': '',
    });
    expect(progress).toEqual([10, 17, 17]);
  });

  test('refuses what the host would refuse', async () => {
    const reason = (files: Parameters<typeof pack>[0]) =>
      pack(files).then(
        () => null,
        (error: unknown) => toApiError(error).code,
      );
    expect(await reason([])).toBe('pack_empty');
    expect(await reason([{ path: '.git/x', file: new Blob(['x']) }])).toBe('pack_empty');
    const huge = { size: MAX_BYTES + 1 } as Blob;
    expect(await reason([{ path: 'a', file: huge }])).toBe('pack_too_large');
    const many = Array.from({ length: 20_001 }, (_, index) => ({ path: `f${index}`, file: new Blob([]) }));
    expect(await reason(many)).toBe('pack_too_many');
  });
});
