// The notes as an MCP server over stdio. Started by the host, or by hand with CHATOS_DATA_DIR set.

import { fileURLToPath } from 'node:url';

import { createServer, serveStdio } from '../lib/mcp.mjs';
import { noteTools } from './tools.mjs';

const server = createServer({
  name: 'com.chatos.notes.notes',
  title: 'Notes',
  version: '0.1.0',
  instructions:
    'Markdown notes of the person. Search before you create a note on a subject. Read a note before you write it and ' +
    'pass its revision as ifRevision. Never delete a note without being asked to.',
  tools: noteTools({ templatesDir: fileURLToPath(new URL('../assets/templates', import.meta.url)) }),
});

await serveStdio(server);
