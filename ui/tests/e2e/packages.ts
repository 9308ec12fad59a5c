// Small plugins for the tests, as files in memory, in a folder, or in a zip.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pack } from '../../src/features/apps/zip';

export type Files = Record<string, string>;

export interface Sample {
  id: string;
  name?: string;
  version?: string;
  /** Merged over the manifest's top level. */
  manifest?: Record<string, unknown>;
  files?: Files;
}

/** A plugin with one page, a tool server, a prompt and a backend. */
export function plugin({ id, name = 'Sample tools', version = '1.0.0', manifest = {}, files = {} }: Sample): Files {
  const body = {
    manifestVersion: 1,
    id,
    name,
    version,
    description: 'A sample with everything.',
    publisher: { name: 'Sample Inc.' },
    backend: { entry: 'backend/index.mjs' },
    apps: [
      {
        id: 'tools',
        name: 'Tools',
        icon: 'T1',
        entry: { type: 'module', path: 'tools/index.mjs', compact: { type: 'module', path: 'tools/compact.mjs' } },
        ai: {
          mcp: { entry: 'tools/server.mjs', args: ['--mode', 'read only', ''] },
          mcpPrompt: { title: 'Tools', en: 'tools/prompt.md' },
        },
      },
    ],
    ...manifest,
  };
  return {
    'plugin.json': JSON.stringify(body, null, 2),
    'backend/index.mjs': 'export default {};\n',
    'tools/index.mjs': 'export function mount() {}\n',
    'tools/compact.mjs': 'export function mount() {}\n',
    'tools/server.mjs': 'process.stdin.resume();\n',
    'tools/prompt.md': '# How to use the tools\n',
    ...files,
  };
}

export function writeFolder(folder: string, files: Files): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The same as a person's file chooser would hand over. */
export async function zipped(name: string, files: Files): Promise<{ name: string; mimeType: string; buffer: Buffer }> {
  const zip = await pack(Object.entries(files).map(([path, text]) => ({ path, file: new Blob([text]) })));
  return { name, mimeType: 'application/zip', buffer: Buffer.from(await zip.arrayBuffer()) };
}
