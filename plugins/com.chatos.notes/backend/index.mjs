// The page's half of the notes: the same store as the MCP server, called by name from the frame.

import { join } from 'node:path';

import { ToolError } from '../lib/mcp.mjs';
import { NoteStore } from '../lib/store.mjs';

export async function createUiAppsBackend(ctx) {
  const store = new NoteStore(join(ctx.dataDir, 'notes'));

  const methods = {
    'notes.list': (params) => store.list(object(params)),
    'notes.read': (params) => store.read(object(params).id),
    'notes.write': (params) => {
      const { id, text, ifRevision } = object(params);
      if (typeof text !== 'string') throw new ToolError('invalid_argument', 'text is required');
      return store.write({ id, text, ifRevision });
    },
    'notes.delete': (params) => {
      const { id, ifRevision } = object(params);
      return store.delete(id, { ifRevision });
    },
    'notes.search': (params) => {
      const { query, limit } = object(params);
      if (typeof query !== 'string') throw new ToolError('invalid_argument', 'query is required');
      return store.search(query, { limit });
    },
    /** A few sentences about one note, when a model is configured. */
    'notes.summarize': async (params, call) => {
      const llm = (call ?? ctx).llm ?? ctx.llm;
      if (!llm) throw new ToolError('unavailable', 'no model is configured');
      const note = await store.read(object(params).id);
      const { content } = await llm.complete({
        systemPrompt: 'Summarise the note in at most three sentences, in the language it is written in.',
        input: note.text,
        disableTools: true,
      });
      return { id: note.id, revision: note.revision, summary: content };
    },
  };

  return { methods, async dispose() {} };
}

function object(params) {
  if (params === undefined || params === null) return {};
  if (typeof params !== 'object' || Array.isArray(params)) {
    throw new ToolError('invalid_argument', 'params must be an object');
  }
  return params;
}
