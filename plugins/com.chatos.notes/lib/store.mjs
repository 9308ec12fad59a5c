// The notes on disk: one Markdown file each in `<dataDir>/notes`, readable without us.
//
// Used by the page's backend and by the MCP server. Files somebody else puts there are notes too, as long as their
// names are ids; anything else in the folder is left alone.

import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { ensureDir, readText, syncDir, withLock, writeAtomic } from './files.mjs';
import { ToolError } from './mcp.mjs';
import { MAX_NOTE_BYTES, idFromTitle, normalizeText, parseId, revisionOf, tagsOf, titleOf } from './note.mjs';

const TRASH = '.trash';
const TRASH_DAYS = 30;
/** More than this is another program's folder; the answer says that it stopped. */
const MAX_NOTES = 20_000;

export class NoteStore {
  /** What the last reading of a file found, by id; valid while size and time of the file are the same. */
  #known = new Map();

  constructor(root) {
    this.root = root;
  }

  /** Newest first. */
  async list({ tag, limit = 50, offset = 0 } = {}) {
    const { notes, complete } = await this.#scan();
    const wanted = tag === undefined ? notes : notes.filter((note) => note.tags.includes(tag.toLowerCase()));
    return { notes: wanted.slice(offset, offset + limit).map(summary), total: wanted.length, complete };
  }

  async read(value) {
    const id = parseId(value);
    const note = await this.#load(id);
    if (!note) throw await this.#missing(id);
    return { ...summary(note), text: note.text };
  }

  /**
   * Creates or replaces a note. `ifRevision` is the revision the writer started from ("" = the note must be new);
   * another one on disk is a conflict, and nothing is written.
   */
  async write({ id: value, text: raw, ifRevision }) {
    const text = normalizeText(raw);
    await ensureDir(this.root);
    return withLock(this.root, async () => {
      const id = value === undefined ? await this.#freeId(idFromTitle(titleOf(text))) : parseId(value);
      const before = await this.#load(id);
      const found = before?.revision ?? '';
      if (ifRevision !== undefined && ifRevision !== found) {
        throw new ToolError('conflict', `note "${id}" was changed by somebody else; read it again before writing`, {
          expected: ifRevision,
          found,
        });
      }
      const revision = revisionOf(text);
      const changed = revision !== found;
      if (changed) await writeAtomic(this.root, `${id}.md`, text);
      const note = await this.#load(id);
      return { ...summary(note), created: !before, changed };
    });
  }

  /** Moves a note to the trash folder, where it stays for 30 days. */
  async delete(value, { ifRevision } = {}) {
    const id = parseId(value);
    await ensureDir(this.root);
    return withLock(this.root, async () => {
      const note = await this.#load(id);
      if (!note) throw await this.#missing(id);
      if (ifRevision !== undefined && ifRevision !== note.revision) {
        throw new ToolError('conflict', `note "${id}" was changed by somebody else; it was not deleted`, {
          expected: ifRevision,
          found: note.revision,
        });
      }
      const trash = join(this.root, TRASH);
      await ensureDir(trash);
      const name = `${id}-${Date.now()}.md`;
      await rename(join(this.root, `${id}.md`), join(trash, name));
      await syncDir(this.root);
      await this.#emptyTrash(trash);
      this.#known.delete(id);
      return { id, title: note.title, trash: `${TRASH}/${name}` };
    });
  }

  /** Case-insensitive, every word must occur in title or text. */
  async search(query, { limit = 20 } = {}) {
    const words = query.toLowerCase().split(/\s+/u).filter(Boolean);
    if (words.length === 0) throw new ToolError('invalid_argument', 'the query has no word in it');
    const { notes, complete } = await this.#scan();
    const hits = [];
    for (const note of notes) {
      const haystack = `${note.id}\n${note.text}`.toLowerCase();
      if (words.every((word) => haystack.includes(word))) hits.push({ ...summary(note), matches: lines(note.text, words) });
    }
    return { hits: hits.slice(0, limit), total: hits.length, complete };
  }

  /** All notes, newest first; unchanged files are not read again. */
  async #scan() {
    let names;
    try {
      names = await readdir(this.root);
    } catch (error) {
      if (error.code === 'ENOENT') return { notes: [], complete: true };
      throw error;
    }
    const ids = names.filter((name) => name.endsWith('.md') && !name.startsWith('.')).map((name) => name.slice(0, -3));
    const notes = [];
    for (const id of ids.slice(0, MAX_NOTES)) {
      const note = isId(id) ? await this.#load(id).catch(skipUnreadable) : null;
      if (note) notes.push(note);
    }
    notes.sort((a, b) => b.updatedAt.localeCompare(a.updatedAt) || a.id.localeCompare(b.id));
    return { notes, complete: ids.length <= MAX_NOTES };
  }

  async #load(id) {
    const path = join(this.root, `${id}.md`);
    const info = await lstat(path, { bigint: true }).catch((error) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (!info) {
      this.#known.delete(id);
      return null;
    }
    const key = `${info.mtimeNs} ${info.size} ${info.ino}`;
    const known = this.#known.get(id);
    if (known?.key === key) return known.note;
    const file = await readText(path, MAX_NOTE_BYTES);
    if (!file) return null;
    const note = {
      id,
      title: titleOf(file.text) || id,
      tags: tagsOf(file.text),
      revision: revisionOf(file.text),
      bytes: Buffer.byteLength(file.text),
      updatedAt: file.info.mtime.toISOString(),
      text: file.text,
    };
    this.#known.set(id, { key, note });
    return note;
  }

  async #freeId(base) {
    for (let n = 1; n < 10_000; n += 1) {
      const id = n === 1 ? base : `${base}-${n}`;
      if (!(await this.#load(id))) return id;
    }
    throw new ToolError('resource_exhausted', `there are too many notes called "${base}"`);
  }

  async #missing(id) {
    const { notes } = await this.#scan();
    const nearest = notes.map((note) => note.id).filter((other) => other.includes(id) || id.includes(other));
    const hint = nearest.length > 0 ? `; near it: ${nearest.slice(0, 3).join(', ')}` : '';
    return new ToolError('not_found', `there is no note "${id}"${hint}`, { id, nearest: nearest.slice(0, 3) });
  }

  async #emptyTrash(trash) {
    const oldest = Date.now() - TRASH_DAYS * 24 * 3600 * 1000;
    for (const name of await readdir(trash)) {
      const at = Number(/-(\d+)\.md$/u.exec(name)?.[1] ?? Number.NaN);
      if (at < oldest) await rm(join(trash, name), { force: true });
    }
  }
}

function summary({ id, title, tags, revision, bytes, updatedAt }) {
  return { id, title, tags, revision, bytes, updatedAt };
}

function isId(value) {
  try {
    return parseId(value) === value;
  } catch {
    return false;
  }
}

/** One file that cannot be read (a link, a folder, too large) hides no other. */
function skipUnreadable(error) {
  process.stderr.write(`notes: skipped a file: ${error.message}\n`);
  return null;
}

/** Up to three lines that hold a searched word, cut to a readable length around it. */
function lines(text, words) {
  const found = [];
  for (const [index, line] of text.split('\n').entries()) {
    const lower = line.toLowerCase();
    const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((position) => position >= 0));
    if (Number.isFinite(at)) {
      const start = Math.max(0, at - 40);
      found.push({ line: index + 1, text: `${start > 0 ? '…' : ''}${line.slice(start, start + 160).trim()}` });
      if (found.length === 3) break;
    }
  }
  return found;
}
