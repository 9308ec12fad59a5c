// A server from PyPI, unmodified. Where no Python with venv and pip can install it, there is nothing to
// test, and the log says why.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { drive, here } from './support.mjs';

const folder = join(here, '.venv');
const python = join(folder, 'bin/python');
const stamp = join(folder, 'installed');
const wanted = readFileSync(join(here, 'requirements.txt'), 'utf8');

function run(command, args) {
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

/** The reason why the server cannot be installed here, or nothing. */
function install() {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) {
    return undefined;
  }
  if (spawnSync('python3', ['-c', 'import venv, ensurepip']).status !== 0) {
    return 'no python3 with venv on this machine';
  }
  if (!run('python3', ['-m', 'venv', '--clear', folder])) {
    return 'python3 -m venv failed';
  }
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', join(here, 'requirements.txt')];
  if (!run(python, pip)) {
    return 'pip could not install the server (no package index?)';
  }
  writeFileSync(stamp, wanted);
  return undefined;
}

async function checkTime() {
  const s = { command: [python, '-m', 'mcp_server_time', '--local-timezone', 'UTC'] };
  const [list, converted, wrong, status] = await drive({ s }, [
    { server: 's', list: true },
    {
      server: 's',
      call: 'convert_time',
      arguments: { source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Shanghai' },
    },
    { server: 's', call: 'get_current_time', arguments: { timezone: 'Nowhere/City' } },
    { server: 's', status: true },
  ]);
  assert.deepEqual(list.tools, ['convert_time', 'get_current_time'], JSON.stringify(list));
  assert.match(converted.text, /T20:00:00\+08:00/);
  assert.ok(wrong.isError || wrong.error, JSON.stringify(wrong));
  assert.equal(status.phase, 'ready');
}

const reason = install();
if (reason === undefined) {
  test('mcp-server-time as a child', checkTime);
} else {
  console.log(`no server from PyPI is tested: ${reason}`);
}
