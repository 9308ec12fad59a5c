import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export async function createUiAppsBackend(ctx) {
  const done = new Set();
  const jobs = () => {
    const file = join(ctx.dataDir, 'jobs.jsonl');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)) : [];
  };
  return {
    methods: {
      open: () => jobs().filter(({ taskId }) => !done.has(taskId)),
      finish({ taskId, markdown }) {
        done.add(taskId);
        const entry = { ts: new Date().toISOString(), type: 'ui_prompt', action: 'request', requestId: taskId, prompt: { kind: 'result', title: 'Painted', source: ctx.pluginId, markdown } };
        appendFileSync(join(ctx.stateDir, 'ui-prompts.jsonl'), `${JSON.stringify(entry)}\n`);
        return { ok: true };
      },
    },
  };
}
