// Installs what comes from PyPI, a server, an agent and a language server, into a folder of its own beside the tests.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { here } from './support.mjs';

const folder = join(here, '.venv');
export const python = join(folder, 'bin/python');
const stamp = join(folder, 'installed');
const wanted = readFileSync(join(here, 'requirements.txt'), 'utf8');

function run(command, args) {
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

/** The reason why they cannot be installed here, or nothing. */
export function install() {
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
    return 'pip could not install them (no package index?)';
  }
  writeFileSync(stamp, wanted);
  return undefined;
}
