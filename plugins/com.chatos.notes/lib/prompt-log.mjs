// Hands the result of a long task to the person and to whoever waits for it: one line in `ui-prompts.jsonl`.
//
// This is the AsyncTask protocol seen from a server: acknowledge the call at once, work, then append a `result` entry
// whose requestId is the task id. The file belongs to the host; we only append to it, a whole line with one write.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** @param {{path: string, taskId: string, source: string, title: string, markdown: string, isError?: boolean}} result */
export async function appendResult({ path, taskId, source, title, markdown, isError = false }) {
  const entry = {
    ts: new Date().toISOString(),
    type: 'ui_prompt',
    action: 'request',
    requestId: taskId,
    prompt: { kind: 'result', title, source, markdown, ...(isError ? { isError: true } : {}) },
  };
  const flags = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | constants.O_NOFOLLOW;
  const handle = await open(path, flags, 0o600);
  try {
    // If somebody's last line was torn, ours still starts on a line of its own.
    const start = (await endsWithNewline(handle)) ? '' : '\n';
    const line = Buffer.from(`${start}${escapeSeparators(JSON.stringify(entry))}\n`);
    for (let written = 0; written < line.length; ) {
      written += (await handle.write(line, written)).bytesWritten;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function endsWithNewline(handle) {
  const { size } = await handle.stat();
  if (size === 0) return true;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === 10;
}

/** JSON allows two line separators that line readers of other languages split at. */
function escapeSeparators(json) {
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
