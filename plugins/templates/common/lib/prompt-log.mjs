//zh 交出一个长任务的结果：向 ui-prompts.jsonl 追加一行（AsyncTask 协议）。
//zh 这个文件属于宿主；我们只追加，一次写入一整行。
//en Hands over the result of a long task: one line appended to ui-prompts.jsonl (the AsyncTask protocol).
//en The file belongs to the host; we only append, a whole line with one write.

import { open } from 'node:fs/promises';
import { join } from 'node:path';

export async function appendResult({ stateDir, taskId, title, markdown, isError = false }) {
  const entry = {
    ts: new Date().toISOString(),
    type: 'ui_prompt',
    action: 'request',
    requestId: taskId,
    prompt: { kind: 'result', title, markdown, ...(isError ? { isError: true } : {}) },
  };
  const file = await open(join(stateDir, 'ui-prompts.jsonl'), 'a', 0o600);
  try {
    await file.appendFile(`${JSON.stringify(entry)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
