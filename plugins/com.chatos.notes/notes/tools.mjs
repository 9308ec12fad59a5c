// The tools of the notes server: what a model may do with the notes.

import { randomUUID } from 'node:crypto';
import { isAbsolute, join } from 'node:path';

import { dataDirOf, readText } from '../lib/files.mjs';
import { ToolError } from '../lib/mcp.mjs';
import { NoteStore } from '../lib/store.mjs';
import { appendResult } from '../lib/prompt-log.mjs';

const ID = { type: 'string', minLength: 1, maxLength: 180, description: 'Note id, as notes.list gives it.' };
const REVISION = {
  type: 'string',
  maxLength: 16,
  description: 'The revision you read. If the note has another one by now, nothing is changed ("" = must be new).',
};
const TEMPLATES = ['meeting', 'decision', 'journal'];
const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** @param {{templatesDir: string}} options where the templates are when the host does not say. */
export function noteTools({ templatesDir }) {
  const stores = new Map();
  /** Exports being made, by task id, so that the cancel tool finds them. */
  const exports = new Map();

  const storeFor = (meta) => {
    const root = absolute(meta.notes?.root) ?? join(dataDirOf(meta), 'notes');
    if (!stores.has(root)) stores.set(root, new NoteStore(root));
    return stores.get(root);
  };

  const list = {
    name: 'notes.list',
    title: 'List notes',
    description: 'Titles, ids, tags and revisions of the notes, newest first. Use notes.search to look for words.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        tag: { type: 'string', minLength: 1, maxLength: 40, description: 'Only notes with this #tag.' },
        limit: { type: 'integer', minimum: 1, maximum: 200, description: 'At most this many (default 50).' },
        offset: { type: 'integer', minimum: 0, maximum: 100_000, description: 'Leave out this many first (default 0).' },
      },
    },
    annotations: { title: 'List notes', ...READ_ONLY },
    async run(args, { meta }) {
      const data = await storeFor(meta).list(args);
      const rows = data.notes.map((note) => `- ${note.title} (id: ${note.id}${tagText(note)}, changed ${note.updatedAt})`);
      const head = `${data.total} ${data.total === 1 ? 'note' : 'notes'}${data.notes.length < data.total ? `, ${data.notes.length} shown` : ''}`;
      return { text: [head, ...rows].join('\n'), data };
    },
  };

  const read = {
    name: 'notes.read',
    title: 'Read a note',
    description: 'The whole Markdown text of one note, with its revision for a later notes.write.',
    inputSchema: { type: 'object', additionalProperties: false, required: ['id'], properties: { id: ID } },
    annotations: { title: 'Read a note', ...READ_ONLY },
    async run({ id }, { meta }) {
      const note = await storeFor(meta).read(id);
      return { text: `# ${note.id} (revision ${note.revision})\n\n${note.text}`, data: { note } };
    },
  };

  const write = {
    name: 'notes.write',
    title: 'Write a note',
    description:
      'Creates a note, or replaces the whole text of an existing one. Without id a new note is made, named after its ' +
      'first heading. Give the revision you read as ifRevision, so that you never overwrite a change of the person.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['text'],
      properties: {
        id: ID,
        text: { type: 'string', minLength: 1, maxLength: 1_048_576, description: 'Markdown. Words like #idea become tags.' },
        template: { type: 'string', enum: TEMPLATES, description: 'Put the text under the headings of this template.' },
        ifRevision: REVISION,
      },
    },
    annotations: { title: 'Write a note', readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async run({ id, text, template, ifRevision }, { meta }) {
      const whole = template ? await fill(absolute(meta.notes?.templates) ?? templatesDir, template, text) : text;
      const note = await storeFor(meta).write({ id, text: whole, ifRevision });
      const verb = note.created ? 'Created' : note.changed ? 'Changed' : 'Nothing to change in';
      return { text: `✓ ${verb} note "${note.title}" (id: ${note.id}, revision ${note.revision})`, data: { note } };
    },
  };

  const remove = {
    name: 'notes.delete',
    title: 'Delete a note',
    description: 'Moves one note to the trash, where it can be found for 30 days. Ask the person before you do it.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['id'],
      properties: { id: ID, ifRevision: REVISION },
    },
    annotations: { title: 'Delete a note', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    async run({ id, ifRevision }, { meta }) {
      const deleted = await storeFor(meta).delete(id, { ifRevision });
      return { text: `✓ Moved note "${deleted.title}" to the trash (${deleted.trash})`, data: { deleted } };
    },
  };

  const search = {
    name: 'notes.search',
    title: 'Search notes',
    description: 'Notes whose title or text holds all the words of the query, with the lines that match.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['query'],
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 200, description: 'Words; upper and lower case are the same.' },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'At most this many notes (default 20).' },
      },
    },
    annotations: { title: 'Search notes', ...READ_ONLY },
    async run({ query, limit }, { meta }) {
      const data = await storeFor(meta).search(query, { limit });
      if (data.total === 0) return { text: `No note matches "${query}".`, data };
      const rows = data.hits.flatMap((hit) => [
        `- ${hit.title} (id: ${hit.id})`,
        ...hit.matches.map((match) => `    line ${match.line}: ${match.text}`),
      ]);
      return { text: [`${data.total} of the notes match "${query}":`, ...rows].join('\n'), data };
    },
  };

  const exportAll = {
    name: 'notes.export',
    title: 'Export notes',
    description:
      'Puts all notes, or those with one tag, into one Markdown document. In ChatOS it answers at once and the ' +
      'document arrives as a result; other clients get it as the answer.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: { tag: { type: 'string', minLength: 1, maxLength: 40, description: 'Only notes with this #tag.' } },
    },
    annotations: { title: 'Export notes', readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async run({ tag }, { meta, signal }) {
      const store = storeFor(meta);
      const log = absolute(meta.notes?.promptLog);
      if (!log || typeof meta.taskId !== 'string') {
        const markdown = await document(store, tag, meta, signal);
        return { text: markdown, data: { markdown } };
      }
      const taskId = meta.taskId || `task_${randomUUID()}`;
      const controller = new AbortController();
      exports.set(taskId, controller);
      const finished = deliver({ store, tag, meta, log, taskId, signal: controller.signal });
      finished.catch((error) => process.stderr.write(`export ${taskId}: ${error.message}\n`)).finally(() => exports.delete(taskId));
      return { text: `Accepted; the document will arrive as task ${taskId}.`, data: { status: 'accepted', taskId } };
    },
  };

  const cancelExport = {
    name: 'notes.export_cancel',
    title: 'Cancel an export',
    description: 'Stops an export that is being made. The host calls it when the person cancels.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['taskId'],
      properties: { taskId: { type: 'string', minLength: 1, maxLength: 256, description: 'The id of the task.' } },
    },
    annotations: { title: 'Cancel an export', readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async run({ taskId }) {
      const controller = exports.get(taskId);
      controller?.abort();
      return {
        text: controller ? `✓ Canceled task ${taskId}` : `= Task ${taskId} is not running`,
        data: { taskId, canceled: Boolean(controller) },
      };
    },
  };

  return [list, read, write, remove, search, exportAll, cancelExport];
}

/** The result of an export, whatever it is, reaches the log: a waiter must not wait for nothing. */
async function deliver({ store, tag, meta, log, taskId, signal }) {
  const source = typeof meta.notes?.source === 'string' ? meta.notes.source : 'com.chatos.notes:notes';
  const base = { path: log, taskId, source, title: 'Notes export' };
  let markdown;
  try {
    markdown = await document(store, tag, meta, signal);
  } catch (error) {
    await appendResult({ ...base, markdown: `The export failed: ${error.message}`, isError: true });
    return;
  }
  await appendResult({ ...base, markdown });
}

async function document(store, tag, meta, signal) {
  const { notes, total } = await store.list({ tag, limit: 200 });
  const project = typeof meta.notes?.project === 'string' ? meta.notes.project.split('/').at(-1) : '';
  const parts = [`# ${total} notes${tag ? ` tagged #${tag}` : ''}${project ? ` (${project})` : ''}`];
  for (const { id } of notes) {
    if (signal.aborted) throw new ToolError('canceled', 'canceled');
    const note = await store.read(id);
    parts.push(`---\n\n<!-- ${note.id}, ${note.updatedAt} -->\n\n${note.text.trimEnd()}`);
  }
  if (notes.length < total) parts.push(`---\n\n${total - notes.length} more notes are not in this document.`);
  return parts.join('\n\n');
}

async function fill(dir, template, text) {
  const file = await readText(join(dir, `${template}.md`), 64 * 1024);
  if (!file) throw new ToolError('not_found', `the template "${template}" is missing`);
  return file.text.replaceAll('{{date}}', new Date().toISOString().slice(0, 10)).replace('{{text}}', () => text);
}

function tagText(note) {
  return note.tags.length > 0 ? `, ${note.tags.map((tag) => `#${tag}`).join(' ')}` : '';
}

function absolute(value) {
  return typeof value === 'string' && isAbsolute(value) ? value : undefined;
}
