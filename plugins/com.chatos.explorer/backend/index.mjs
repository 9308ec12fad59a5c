// Methods to try `host.backend.invoke` with: values, errors, time, files, a model.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const MOST_MS = 60_000;

export async function createUiAppsBackend(ctx) {
  const started = Date.now();
  const counter = join(ctx.dataDir, 'counter.txt');

  const methods = {
    /** Gives back what it got. */
    echo: (params) => params ?? null,
    /** What a backend knows of itself. */
    about: (_params, call) => ({
      pluginId: call.pluginId,
      node: process.version,
      pid: process.pid,
      upMs: Date.now() - started,
      hasModel: call.llm !== null,
      callId: call.callId,
    }),
    /** A file in the data folder that grows by one. */
    count: async () => {
      const before = Number(await readFile(counter, 'utf8').catch(() => '0')) || 0;
      await writeFile(counter, String(before + 1));
      return { count: before + 1 };
    },
    /** Takes its time; a caller that cancels is noticed. */
    wait: (params, call) => new Promise((resolve, reject) => {
      const ms = Math.min(MOST_MS, Math.max(0, Number(params?.ms) || 0));
      const timer = setTimeout(() => resolve({ waitedMs: ms }), ms);
      call.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        console.log('wait was canceled');
        reject(Object.assign(new Error('canceled'), { code: 'canceled' }));
      });
    }),
    /** Throwing rejects, with the code if it is one of the host's. */
    fail: (params) => {
      throw Object.assign(new Error(String(params?.message ?? 'on purpose')), { code: params?.code });
    },
    /** A returned `ok: false` is a value. */
    refuse: () => ({ ok: false, why: 'a value, not an error' }),
    /** Asks the configured model. */
    complete: async (params, call) => {
      if (!call.llm) throw Object.assign(new Error('No models configured'), { code: 'unavailable' });
      return call.llm.complete({ input: String(params?.input ?? 'Say hello.') });
    },
  };

  return { methods, async dispose() {} };
}
