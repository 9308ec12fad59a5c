//zh 给智能体用的工具。
//en The tools for agents.

import { appendResult } from '../../lib/prompt-log.mjs';
import { ToolError, createServer, dataDirOf, serveStdio } from '../../lib/mcp.mjs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const echo = {
  name: 'echo',
  description: 'Returns the text it is given. 原样返回给定的文字。',
  inputSchema: { type: 'object', properties: { text: { type: 'string', description: 'What to say. 要说的话。' } }, required: ['text'] },
  run: ({ text }) => text,
};

//zh plugin.json 的 asyncTask 里列出了它：马上确认，结果稍后作为一行写入 ui-prompts.jsonl。
//en Listed under asyncTask in plugin.json: it acknowledges at once, and its result is a line in ui-prompts.jsonl later.
const reportRun = {
  name: 'report_run',
  description: 'Writes a report in the background; its text comes as the result. 在后台撰写报告，完成后给出全文。',
  inputSchema: { type: 'object', properties: { topic: { type: 'string', description: 'What it is about. 报告主题。' } }, required: ['topic'] },
  run({ topic }, { meta }) {
    const taskId = meta.taskId;
    const stateDir = meta.chatos?.uiApp?.stateDir;
    if (!taskId || !stateDir) throw new ToolError('unavailable', 'this tool answers later and needs a host that waits for it');
    //zh 不等待：确认必须马上返回。失败也要写成结果，否则调用会一直等到超时。
    //en Not waited for: the acknowledgement goes out now. A failure is written as a result too, or the call would wait until its time is up.
    void report(topic, dataDirOf(meta))
      .then((markdown) => appendResult({ stateDir, taskId, title: topic, markdown }))
      .catch((error) => appendResult({ stateDir, taskId, title: topic, markdown: error.message, isError: true }))
      .catch(console.error);
    return { status: 'accepted', taskId };
  },
};

async function report(topic, dataDir) {
  const markdown = `# ${topic}\n\n${new Date().toISOString()}\n`;
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, 'last-report.md'), markdown);
  return markdown;
}

serveStdio(createServer({ name: '__PLUGIN_ID__', version: '__VERSION__', tools: [echo, reportRun] }));
