// The same call as a command line.

import type { JsonObject } from '../../../protocol/tools';

/** Quoted for a POSIX shell: nothing inside single quotes means anything but the quote itself. */
function quote(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function commandFor(server: string, tool: string, args: JsonObject): string {
  const words = ['chatos', 'tools', 'call', quote(server), quote(tool)];
  if (Object.keys(args).length > 0) words.push('--args', quote(JSON.stringify(args)));
  return words.join(' ');
}
