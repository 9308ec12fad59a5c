// Spawns a program, keeps its state, and appends the result to the prompt log by itself.

import { spawn } from 'node:child_process';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function createUiAppsBackend(ctx) {
  const jobs = new Map();

  async function finish(id, text) {
    await writeFile(join(ctx.dataDir, `${id}.txt`), text);
    const line = {
      ts: new Date().toISOString(), type: 'ui_prompt', action: 'request', requestId: id,
      prompt: { kind: 'result', title: `Job ${id}`, source: ctx.pluginId, markdown: text },
    };
    await appendFile(join(ctx.stateDir, 'ui-prompts.jsonl'), `${JSON.stringify(line)}\n`);
    jobs.set(id, { state: 'done', text });
  }

  return {
    methods: {
      start({ id }) {
        jobs.set(id, { state: 'running' });
        const child = spawn(process.execPath, ['-e', 'setTimeout(() => console.log("six times seven is", 6 * 7), 300)'], { stdio: ['ignore', 'pipe', 'inherit'] });
        let text = '';
        child.stdout.on('data', (data) => { text += data; });
        child.on('close', () => finish(id, text.trim()).catch((error) => jobs.set(id, { state: 'failed', text: error.message })));
        return { ok: true };
      },
      status({ id }) {
        return jobs.get(id) ?? { state: 'unknown' };
      },
      async file({ id }) {
        return readFile(join(ctx.dataDir, `${id}.txt`), 'utf8');
      },
      pid: () => process.pid,
      echo: (params) => params,
      hang: () => new Promise(() => undefined),
      refuse: () => ({ ok: false, reason: 'a value' }),
      fail({ code, message }) {
        throw Object.assign(new Error(message), { code });
      },
      notJson: () => 10n,
      nothing: () => undefined,
      slow: (_params, call) => new Promise((_resolve, reject) => {
        call.signal.addEventListener('abort', () => {
          console.log('slow was aborted');
          reject(new Error('aborted'));
        });
      }),
    },
    dispose() {},
  };
}
