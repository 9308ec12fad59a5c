// Installs what comes from PyPI, as `requirements.txt` beside the tests names it, into `.venv` there.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { here } from './support.mjs';

export const python = join(here, '.venv/bin/python');

function run(command, args) {
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

/** The reason why it cannot be installed here, or nothing; the tests of another folder name theirs. */
export function install(tests = here) {
  const folder = join(tests, '.venv');
  const stamp = join(folder, 'installed');
  const requirements = join(tests, 'requirements.txt');
  const wanted = readFileSync(requirements, 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) {
    return undefined;
  }
  if (spawnSync('python3', ['-c', 'import venv, ensurepip']).status !== 0) {
    return 'no python3 with venv on this machine';
  }
  if (!run('python3', ['-m', 'venv', '--clear', folder])) {
    return 'python3 -m venv failed';
  }
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  if (!run(join(folder, 'bin/python'), pip)) {
    return 'pip could not install what is wanted (no package index?)';
  }
  writeFileSync(stamp, wanted);
  return undefined;
}
