//zh 磁盘上的笔记：<数据目录>/notes 下每条一个 Markdown 文件，文件夹就是文件夹，没有我们也能读。
//zh 后端和工具服务器是两个进程，都用这个模块；索引随时由文件重建，别人放进来的文件也算。
//en The notes on disk: one Markdown file each below <data directory>/notes; folders are folders, readable without us.
//en The backend and the tool server are two processes and both use this module. The index is rebuilt from the files
//en whenever it is needed, so files somebody else puts there count, too.

import { mkdir, open, readFile, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const MAX_BYTES = 1024 * 1024;

export class NoteError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

//zh “work/june/plan” 这样的 id：各部分用 / 隔开，不能越出笔记目录。
//en An id such as “work/june/plan”: parts with / between them, none of which leads out of the notes.
export function checkPath(value, what) {
  const parts = typeof value === 'string' ? value.split('/') : [''];
  const fine = parts.every((part) => part !== '' && !part.startsWith('.') && part === part.trim() && !/[\\:*?"<>|\u0000-\u001f]/u.test(part) && Buffer.byteLength(part) <= 120);
  if (!fine || parts.length > 16) throw new NoteError('invalid_argument', `${what} is names with "/" between them, such as work/plan`);
  return value;
}

export class NoteStore {
  /** What the last look at a file found, by id; valid while its time and size are the same. */
  #known = new Map();

  constructor(dataDir) {
    this.root = join(dataDir, 'notes');
  }

  async folders() {
    const { folders } = await this.#scan();
    return folders;
  }

  async createFolder(path) {
    await mkdir(join(this.root, checkPath(path, 'path')), { recursive: true });
    return { path };
  }

  async deleteFolder(path) {
    try {
      await rmdir(join(this.root, checkPath(path, 'path')));
    } catch (error) {
      if (error.code === 'ENOENT') throw new NoteError('not_found', `there is no folder ${path}`);
      if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') throw new NoteError('conflict', `the folder ${path} is not empty`);
      throw error;
    }
    return { path };
  }

  async list({ folder = '', tag } = {}) {
    const { notes } = await this.#scan();
    const inside = (note) => folder === '' || note.id.startsWith(`${folder}/`);
    return notes.filter((note) => inside(note) && (!tag || note.tags.includes(tag.toLowerCase()))).map(summary);
  }

  async get(id) {
    const note = await this.#load(checkPath(id, 'id'));
    if (!note) throw new NoteError('not_found', `there is no note ${id}`);
    return note;
  }

  async create({ id, text = '' }) {
    if (await this.#load(checkPath(id, 'id'))) throw new NoteError('conflict', `there is a note ${id} already`);
    return this.#write(id, text);
  }

  async update({ id, text }) {
    await this.get(id);
    return this.#write(id, text);
  }

  async delete(id) {
    const note = await this.get(id);
    await rm(this.#path(id));
    return summary(note);
  }

  //zh 每个词都要出现；不分大小写。
  //en Every word has to occur, in any case of letters.
  async search(query) {
    const words = String(query).toLowerCase().split(/\s+/u).filter(Boolean);
    if (words.length === 0) throw new NoteError('invalid_argument', 'the query has no word in it');
    const { notes } = await this.#scan();
    const found = notes.filter((note) => words.every((word) => `${note.id}\n${note.text}`.toLowerCase().includes(word)));
    return found.map((note) => ({ ...summary(note), line: note.text.split('\n').find((line) => words.some((word) => line.toLowerCase().includes(word))) ?? '' }));
  }

  #path(id) {
    return join(this.root, `${id}.md`);
  }

  //zh 先写到旁边，落盘，再改名：断电也只会看到旧的或新的。
  //en Beside its place, flushed, then renamed: a power cut leaves the old text or the new one.
  async #write(id, text) {
    if (typeof text !== 'string') throw new NoteError('invalid_argument', 'text must be a string');
    if (Buffer.byteLength(text) > MAX_BYTES) throw new NoteError('resource_exhausted', 'a note may have at most 1 MiB');
    const path = this.#path(id);
    await mkdir(dirname(path), { recursive: true });
    const beside = `${path}.${process.pid}.new`;
    const file = await open(beside, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
    return this.get(id);
  }

  async #load(id) {
    const info = await stat(this.#path(id)).catch(absent);
    if (!info?.isFile() || info.size > MAX_BYTES) return null;
    const stamp = `${info.mtimeMs} ${info.size}`;
    const known = this.#known.get(id);
    if (known?.stamp === stamp) return known.note;
    const text = await readFile(this.#path(id), 'utf8');
    const title = /^#+\s+(.+)$/mu.exec(text)?.[1].trim() || id.split('/').at(-1);
    const tags = [...new Set([...text.matchAll(/(?:^|\s)#([\p{L}\p{N}_-]+)/gu)].map(([, tag]) => tag.toLowerCase()))];
    const note = { id, title, tags, text, updatedAt: info.mtime.toISOString() };
    this.#known.set(id, { stamp, note });
    return note;
  }

  async #scan() {
    const entries = (await readdir(this.root, { recursive: true, withFileTypes: true }).catch(absent)) ?? [];
    const folders = [];
    const notes = [];
    for (const entry of entries) {
      const below = join(entry.parentPath ?? entry.path, entry.name).slice(this.root.length + 1).replaceAll('\\', '/');
      if (entry.isDirectory()) folders.push(below);
      else if (entry.isFile() && below.endsWith('.md')) {
        const note = await this.#load(below.slice(0, -3));
        if (note) notes.push(note);
      }
    }
    notes.sort((a, b) => b.updatedAt.localeCompare(a.updatedAt) || a.id.localeCompare(b.id));
    return { folders: folders.sort(), notes };
  }
}

function summary({ id, title, tags, updatedAt }) {
  return { id, title, tags, updatedAt };
}

function absent(error) {
  if (error.code === 'ENOENT') return null;
  throw error;
}
