//zh 页面：任务、进度和取消按钮。打开它就会启动后端。
//en The page: jobs, their progress, and a button that cancels. Opening it starts the backend.

import { addStyle, fill, h } from '../../common/ui/dom.mjs';

/** @param {import('../../types/host').MountArguments} given */
export function mount({ container, host, slots }) {
  const say = (zh, en) => (host.context.get().lang === 'zh' ? zh : en);
  const states = { waiting: ['等待中', 'waiting'], working: ['进行中', 'working'], done: ['已完成', 'done'], canceled: ['已取消', 'canceled'] };
  addStyle('page', '.jobs { display: grid; gap: 8px; padding: 16px; } .jobs li { display: flex; gap: 8px; align-items: center; }');
  slots.header.textContent = "__PLUGIN_NAME__";

  async function draw() {
    const { jobs } = await host.backend.invoke('jobs');
    const row = (job) => h('li', {},
      h('progress', { value: job.progress, max: 1, 'aria-label': job.taskId }),
      h('span', {}, say(...(states[job.state] ?? [job.state, job.state]))),
      h('span', {}, job.text.slice(0, 60)),
      job.state === 'done' || job.state === 'canceled' ? null : h('button', { type: 'button', onclick: () => host.backend.invoke('cancel', { taskId: job.taskId }).then(draw) }, say('取消', 'Cancel')));
    fill(container, jobs.length === 0
      ? h('p', { class: 'jobs' }, say('还没有任务。请让智能体使用 job_run。', 'No jobs yet. Let an agent use job_run.'))
      : h('ul', { class: 'jobs', role: 'list' }, jobs.map(row)));
  }

  let timer;
  async function tick() {
    await draw().catch((error) => fill(container, h('p', { class: 'jobs' }, error.message)));
    timer = setTimeout(tick, 1000);
  }
  void tick();
  return () => clearTimeout(timer);
}
