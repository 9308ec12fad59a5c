//zh 给智能体用的工具：和页面相同的操作、相同的文件。
//en The tools for agents: the same operations on the same files as the page.

import { ToolError, createServer, dataDirOf, serveStdio } from '../../lib/mcp.mjs';
import { NoteError, NoteStore } from '../../lib/store.mjs';

const id = { type: 'string', description: 'Such as work/plan. 例如 work/plan。' };
const text = { type: 'string', description: 'Markdown; #tags inside it count. Markdown，其中的 #标签 有效。' };
const path = { type: 'string', description: 'A folder such as work/june. 文件夹，例如 work/june。' };

const stores = new Map();
//zh 数据目录由宿主给出，每次调用都看；同一个目录只建一个索引。
//en The host names the data directory with every call; one index per directory.
function storeOf(meta) {
  const dir = dataDirOf(meta);
  if (!stores.has(dir)) stores.set(dir, new NoteStore(dir));
  return stores.get(dir);
}

function tool(name, description, properties, required, run) {
  return {
    name,
    description,
    inputSchema: { type: 'object', properties, required },
    async run(args, { meta }) {
      try {
        return await run(storeOf(meta), args);
      } catch (error) {
        throw error instanceof NoteError ? new ToolError(error.code, error.message) : error;
      }
    },
  };
}

const tools = [
  tool('notes.list', 'Lists notes, newest first. 列出笔记，最新的在前。', { folder: path, tag: { type: 'string' } }, [], async (store, query) => ({ notes: await store.list(query) })),
  tool('notes.get', 'Reads a note. 读取一条笔记。', { id }, ['id'], (store, args) => store.get(args.id)),
  tool('notes.create', 'Writes a new note. 新建笔记。', { id, text }, ['id', 'text'], (store, args) => store.create(args)),
  tool('notes.update', 'Replaces the text of a note. 替换笔记的内容。', { id, text }, ['id', 'text'], (store, args) => store.update(args)),
  tool('notes.delete', 'Deletes a note. 删除笔记。', { id }, ['id'], (store, args) => store.delete(args.id)),
  tool('notes.search', 'Finds notes that hold every word. 查找包含全部词语的笔记。', { query: { type: 'string' } }, ['query'], async (store, args) => ({ notes: await store.search(args.query) })),
  tool('folders.list', 'Lists folders. 列出文件夹。', {}, [], async (store) => ({ folders: await store.folders() })),
  tool('folders.create', 'Makes a folder. 新建文件夹。', { path }, ['path'], (store, args) => store.createFolder(args.path)),
  tool('folders.delete', 'Removes an empty folder. 删除空文件夹。', { path }, ['path'], (store, args) => store.deleteFolder(args.path)),
];

serveStdio(createServer({ name: '__PLUGIN_ID__', version: '__VERSION__', tools }));
