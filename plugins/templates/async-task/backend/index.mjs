//zh 后端：找出等待中的任务，逐个完成，并把结果写给宿主。应用打开时它就在运行；
//zh 有调用在等待结果时，宿主会在后台打开应用。
//en The backend: finds jobs that wait, does them one by one and hands each result to the host. It runs while the app is
//en open; where a call waits for a result, the host opens the app unseen.

import { appendResult } from '../lib/prompt-log.mjs';
import { cancelJob, isCanceled, listJobs, saveJob } from '../lib/jobs.mjs';

const STEPS = 10;

/** @type {import('../types/backend').CreateUiAppsBackend} */
export async function createUiAppsBackend({ dataDir, stateDir, stepMs = 200 }) {
  let working = null;
  const look = () => {
    working ??= work(dataDir, stateDir, stepMs).catch(console.error).finally(() => { working = null; });
  };
  const timer = setInterval(look, 500);
  look();
  return {
    methods: {
      jobs: async () => ({ jobs: await listJobs(dataDir) }),
      cancel: async ({ taskId }) => {
        await cancelJob(dataDir, taskId);
        return { ok: true };
      },
    },
    async dispose() {
      clearInterval(timer);
    },
  };
}

async function work(dataDir, stateDir, stepMs) {
  const jobs = await listJobs(dataDir);
  //zh “working” 也算：上次进程结束时没做完的任务要继续。
  //en “working” counts too: a job the last process did not finish goes on.
  for (const job of jobs.filter(({ state }) => state === 'waiting' || state === 'working').reverse()) {
    for (let step = 1; step <= STEPS; step += 1) {
      if (await isCanceled(dataDir, job.taskId)) break;
      await new Promise((resolve) => setTimeout(resolve, stepMs));
      await saveJob(dataDir, { ...job, state: 'working', progress: step / STEPS });
    }
    const canceled = await isCanceled(dataDir, job.taskId);
    const words = job.text.split(/\s+/u).filter(Boolean).length;
    //zh 先交出结果再标记完成：宁可重复，也不丢失。取消也是一种结果。
    //en The result first, then the mark: rather twice than never. Being canceled is a result, too.
    await appendResult({
      stateDir,
      taskId: job.taskId,
      title: '__PLUGIN_ID__',
      markdown: canceled ? 'The job was canceled. 任务已取消。' : `${words} words. 共 ${words} 个词。`,
      isError: canceled,
    });
    await saveJob(dataDir, { ...job, state: canceled ? 'canceled' : 'done', progress: 1 });
  }
}
