//zh 给智能体用的工具。job_run 只登记任务并马上确认；干活的是后端。
//en The tools for agents. job_run only files the job and acknowledges at once; the backend does the work.

import { ToolError, createServer, dataDirOf, serveStdio } from '../../lib/mcp.mjs';
import { cancelJob, saveJob } from '../../lib/jobs.mjs';

const run = {
  name: 'job_run',
  description: 'Counts the words of a text, slowly; the result comes when it is done. 慢慢统计文字的词数，完成后给出结果。',
  inputSchema: { type: 'object', properties: { text: { type: 'string', description: 'The text. 文字。' } }, required: ['text'] },
  async run({ text }, { meta }) {
    //zh 任务 id 由宿主给出；结果那一行必须使用同一个 id。
    //en The host gives the task id; the line with the result must carry the same one.
    const taskId = meta.taskId;
    if (!taskId) throw new ToolError('unavailable', 'this tool answers later and needs a host that waits for it');
    await saveJob(dataDirOf(meta), { taskId, text, state: 'waiting', progress: 0, createdAt: new Date().toISOString() });
    return { status: 'accepted', taskId };
  },
};

//zh plugin.json 的 cancelTool 指向它：用户停止运行时，宿主会调用它，任务才会真的停下。
//en Named by cancelTool in plugin.json: the host calls it when the person stops the run, so that the job really ends.
const cancel = {
  name: 'job_cancel',
  description: 'Stops a job. 停止一个任务。',
  inputSchema: { type: 'object', properties: { taskId: { type: 'string' } }, required: ['taskId'] },
  async run({ taskId }, { meta }) {
    try {
      await cancelJob(dataDirOf(meta), taskId);
    } catch (error) {
      throw error.code ? new ToolError(error.code, error.message) : error;
    }
    return { status: 'canceled', taskId };
  },
};

serveStdio(createServer({ name: '__PLUGIN_ID__', version: '__VERSION__', tools: [run, cancel] }));
