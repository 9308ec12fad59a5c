// What a person dropped or chose, as something that can be installed.

import type { InstallSource } from '../../state/install.svelte';
import { pack, type PackFile } from './zip';

type Progress = (done: number, total: number) => void;

/** Null when it is neither one .zip nor only folders. Must be called inside the drop event. */
export function sourceFromDrop(items: DataTransferItemList, onProgress: Progress): InstallSource | null {
  const entries = [...items]
    .filter((item) => item.kind === 'file')
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const [first] = entries;
  if (!first) return null;
  if (entries.length === 1 && first.file && first.entry?.isDirectory !== true) return sourceFromZip(first.file);
  const folders = entries.map(({ entry }) => entry).filter((entry): entry is FileSystemDirectoryEntry => entry?.isDirectory === true);
  if (folders.length !== entries.length) return null;
  const name = folders.map((folder) => folder.name).join(', ');
  return {
    kind: 'zip',
    name: `${name}.zip`,
    zip: async () => {
      const files: PackFile[] = [];
      for (const folder of folders) await walk(folder, files);
      return pack(files, onProgress);
    },
  };
}

export function sourceFromZip(file: File): InstallSource | null {
  if (!/\.zip$/i.test(file.name)) return null;
  return { kind: 'zip', name: file.name, zip: () => Promise.resolve(file) };
}

/** Files of `<input webkitdirectory>`; their relative paths begin with the folder's name. */
export function sourceFromFolder(list: FileList, onProgress: Progress): InstallSource | null {
  const files = [...list].map((file): PackFile => ({ path: file.webkitRelativePath || file.name, file }));
  const [first] = files;
  if (!first) return null;
  return { kind: 'zip', name: `${first.path.split('/')[0] ?? 'folder'}.zip`, zip: () => pack(files, onProgress) };
}

async function walk(folder: FileSystemDirectoryEntry, into: PackFile[]): Promise<void> {
  // Left out before it is read: a node_modules folder may hold more files than the rest together.
  if (folder.name === 'node_modules' || folder.name === '.git') return;
  const reader = folder.createReader();
  for (;;) {
    // The reader hands out at most a hundred entries at a time; an empty answer ends it.
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return;
    for (const entry of batch) {
      if (entry.isDirectory) await walk(entry as FileSystemDirectoryEntry, into);
      else into.push({ path: entry.fullPath.replace(/^\//, ''), file: await fileOf(entry as FileSystemFileEntry) });
    }
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}
