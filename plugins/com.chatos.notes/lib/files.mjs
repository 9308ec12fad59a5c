// Files that survive a crash and stay in their folder: atomic replacement, a lock between processes, one data folder.
//
// The page's backend and the MCP server are two processes on one data folder, so both go through here.

import { constants } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { ToolError } from './mcp.mjs';

const LOCK_WAIT_MS = 5_000;
/** A lock without an owner's number was left by a crash between two system calls. */
const STALE_EMPTY_MS = 2_000;

/**
 * The plugin's data folder: what the host says with the call, else what it said at the start. There is no third
 * guess: writing somewhere else would lose the data as surely as not writing them.
 */
export function dataDirOf(meta, env = process.env) {
  const candidates = [meta?.chatos?.uiApp?.dataDir, meta?.dataDir, env.CHATOS_DATA_DIR];
  const found = candidates.find((value) => typeof value === 'string' && value.trim() !== '');
  if (!found) {
    throw new ToolError(
      'unavailable',
      'no data directory: the host sends it in _meta.chatos.uiApp.dataDir; on your own set CHATOS_DATA_DIR',
    );
  }
  if (!isAbsolute(found) || found.includes('\0')) {
    throw new ToolError('invalid_argument', `the data directory must be an absolute path, found ${JSON.stringify(found)}`);
  }
  return found;
}

/** Creates a folder for our eyes only. */
export async function ensureDir(dir) {
  await mkdir(dir, { recursive: true, mode: 0o700 });
}

/** The text of a regular file; links are not followed out of the folder. `null` when it does not exist. */
export async function readText(path, maxBytes) {
  let handle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw new ToolError('permission_denied', 'not a regular file');
    if (info.size > maxBytes) {
      throw new ToolError('resource_exhausted', `the file has ${info.size} bytes; at most ${maxBytes} are read`);
    }
    return { text: await handle.readFile('utf8'), info };
  } finally {
    await handle.close();
  }
}

/** Replaces a file so that a reader, or a crash at any moment, sees the old text or the new one, whole. */
export async function writeAtomic(dir, name, text) {
  const temporary = join(dir, `.tmp-${process.pid}-${randomBytes(6).toString('hex')}`);
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(text, 'utf8');
    await handle.sync();
  } catch (error) {
    await handle.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await handle.close();
  try {
    await rename(temporary, join(dir, name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDir(dir);
}

/** A rename is on disk only when the folder is. */
export async function syncDir(dir) {
  const handle = await open(dir, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Runs `work` while no other process of this plugin changes the folder. */
export async function withLock(dir, work) {
  const path = join(dir, '.lock');
  const token = `${process.pid} ${randomBytes(8).toString('hex')}`;
  const deadline = Date.now() + LOCK_WAIT_MS;
  while (!(await tryLock(path, token))) {
    if (Date.now() > deadline) {
      throw new ToolError('unavailable', 'the data folder is locked by another process; try again');
    }
    if (await isStale(path)) await removeStale(path);
    else await sleep(5 + Math.random() * 10);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path, token) {
  try {
    const handle = await open(path, 'wx', 0o600);
    try {
      await handle.writeFile(token);
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** A lock whose owner is gone, or that a crash left empty. */
async function isStale(path) {
  try {
    const [text, info] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    const pid = Number.parseInt(text, 10);
    if (!Number.isSafeInteger(pid) || pid <= 0) return Date.now() - info.mtimeMs > STALE_EMPTY_MS;
    try {
      process.kill(pid, 0);
      return false;
    } catch (error) {
      return error.code === 'ESRCH';
    }
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

/** Two waiters may find the same stale lock; only the one that holds the second lock looks again and removes it. */
async function removeStale(path) {
  const second = `${path}-removal`;
  if (await tryLock(second, String(process.pid))) {
    try {
      if (await isStale(path)) await rm(path, { force: true });
    } finally {
      await rm(second, { force: true });
    }
    return;
  }
  const age = await stat(second).then((info) => Date.now() - info.mtimeMs, () => 0);
  if (age > STALE_EMPTY_MS) await rm(second, { force: true });
  await sleep(5);
}
