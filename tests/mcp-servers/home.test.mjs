// A package manager of another maker in somebody's home: `uv` from PyPI makes an environment inside the sandbox of a
// command, without a question, and reads no secret of the home. As whoever runs the tests, and as another user.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { install } from './python.mjs';
import { here } from './support.mjs';

const program = process.env.CHATOS_BIN ?? join(here, '../../target/debug/chatos');
const missing = install();
const SECRET = 'canary-of-the-home';
const SECRETS = ['.ssh/id_ed25519', '.netrc', '.pypirc', '.config/uv/credentials'];
const SOMEBODY = 12345;

/** A home with `uv` where its installer puts it, what it keeps, and secrets. */
async function settle(folder, user) {
  const put = async (name, text) => {
    const path = join(folder, 'home', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  for (const name of SECRETS) await put(name, SECRET);
  await put('.config/uv/uv.toml', 'offline = true\npython-downloads = "never"\n');
  await put('.cache/uv/.gitignore', '*\n');
  await put('.local/bin/.keep', '');
  await copyFile(join(here, '.venv/bin/uv'), join(folder, 'home/.local/bin/uv'));
  await mkdir(join(folder, 'home/project'));
  // Somebody else cannot read where this program was built.
  await copyFile(program, join(folder, 'chatos'));
  await chmod(join(folder, 'chatos'), 0o755);
  await chmod(folder, 0o755);
  if (user !== undefined) await run('chown', ['-R', `${user}:${user}`, join(folder, 'home')]);
  await mkdir(join(folder, 'state'), { mode: 0o700 });
  if (user !== undefined) await chown(join(folder, 'state'), user, user);
}

function run(command, args, options = {}) {
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 1 << 26, ...options }, (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }));
  });
}

for (const user of [undefined, SOMEBODY]) {
  const who = user === undefined ? 'this user' : 'another user';
  const skip = missing ?? (user !== undefined && process.getuid() !== 0 ? 'only root can become another user' : false);
  test(`uv works in the sandbox of ${who}, and no secret is read`, { skip }, async (t) => {
    assert.ok(existsSync(program), `no program at ${program}; build it with: cargo build -p chatos-cli`);
    const folder = await mkdtemp(join(tmpdir(), 'chatos-home-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await settle(folder, user);
    const home = join(folder, 'home');
    const options = { cwd: join(home, 'project'), env: { HOME: home, PATH: `${home}/.local/bin:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8' } };
    const chatos = async (...args) => {
      const all = ['--state-dir', join(folder, 'state'), '--json', ...args];
      const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
      const [command, ...rest] = [...as, join(folder, 'chatos'), ...all];
      const done = await run(command, rest, options);
      assert.notEqual(done.stdout.trim(), '', `${args.join(' ')}: ${done.code} ${done.stderr}`);
      return JSON.parse(done.stdout);
    };
    const shell = async (command) => {
      const done = await chatos('tools', 'call', 'shell_tasks', 'run_shell_command', '--args', JSON.stringify({ command }));
      return { ...done.structuredContent?.data, whole: JSON.stringify(done) };
    };
    for (const command of ['uv --version', 'uv venv .venv', '.venv/bin/python -c "print(6 * 7)"', 'uv pip list --python .venv']) {
      const done = await shell(command);
      assert.equal(done.exit_code, 0, done.whole);
      assert.equal(done.sandbox.level, 'full', done.whole);
    }
    for (const name of SECRETS) {
      const done = await shell(`cat ~/${name}`);
      assert.ok(done.exit_code !== 0 && !done.whole.includes(SECRET), done.whole);
    }
    const asked = await chatos('prompts', 'list', '--all');
    assert.deepEqual(asked.items, [], 'nothing was asked');
  });
}
