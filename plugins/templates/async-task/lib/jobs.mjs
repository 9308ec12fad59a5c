//zh 任务就是数据目录里的文件。工具服务器和后端是两个进程，它们只通过这些文件互通：
//zh   jobs/<任务 id>.json    任务和它的进度，由后端更新
//zh   jobs/<任务 id>.cancel  有人要求停止
//en Jobs are files in the data directory. The tool server and the backend are two processes and speak by these only:
//en   jobs/<task id>.json    the job and its progress, kept by the backend
//en   jobs/<task id>.cancel  somebody wants it stopped

import { mkdir, readFile, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ID = /^[A-Za-z0-9_-]{8,128}$/;

export function jobsDir(dataDir) {
  return join(dataDir, 'jobs');
}

function pathOf(dataDir, taskId, ending) {
  if (!ID.test(taskId)) throw Object.assign(new Error(`"${taskId}" is no task id`), { code: 'invalid_argument' });
  return join(jobsDir(dataDir), `${taskId}.${ending}`);
}

//zh 先写到旁边再改名：读者永远看不到半个文件。
//en Written beside its place and renamed: nobody ever reads half of it.
export async function saveJob(dataDir, job) {
  const path = pathOf(dataDir, job.taskId, 'json');
  await mkdir(jobsDir(dataDir), { recursive: true });
  await writeFile(`${path}.new`, JSON.stringify(job));
  await rename(`${path}.new`, path);
}

export async function loadJob(dataDir, taskId) {
  const text = await readFile(pathOf(dataDir, taskId, 'json'), 'utf8').catch(absent);
  return text === null ? null : JSON.parse(text);
}

export async function listJobs(dataDir) {
  const names = (await readdir(jobsDir(dataDir)).catch(absent)) ?? [];
  const ids = names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5));
  const jobs = await Promise.all(ids.map((id) => loadJob(dataDir, id)));
  return jobs.filter(Boolean).sort((a, b) => b.createdAt.localeCompare(a.createdAt));
}

export async function cancelJob(dataDir, taskId) {
  const job = await loadJob(dataDir, taskId);
  if (!job) throw Object.assign(new Error(`there is no job ${taskId}`), { code: 'not_found' });
  await writeFile(pathOf(dataDir, taskId, 'cancel'), '');
  return job;
}

export async function isCanceled(dataDir, taskId) {
  return (await stat(pathOf(dataDir, taskId, 'cancel')).catch(absent)) !== null;
}

function absent(error) {
  if (error.code === 'ENOENT') return null;
  throw error;
}
