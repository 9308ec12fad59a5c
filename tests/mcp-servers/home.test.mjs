// Programs of other makers in somebody's home: `uv` from PyPI makes an environment and `mise` from npm runs a task with a
// Node it keeps, inside the sandbox of a command, without a question, and no secret of the home is read. As whoever runs
// the tests, and as another user.

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
const mise = join(here, 'node_modules/@jdxcode/mise-linux-x64/bin/mise');
const noMise = existsSync(mise) ? undefined : 'mise is not installed for this kind of machine';
const SECRET = 'canary-of-the-home';
const SECRETS = ['.ssh/id_ed25519', '.netrc', '.pypirc', '.config/uv/credentials'];
const SOMEBODY = 12345;

/** `uv` where its installer puts it, and what it keeps. */
async function withUv(home, put) {
  await put('.config/uv/uv.toml', 'offline = true\npython-downloads = "never"\n');
  await put('.cache/uv/.gitignore', '*\n');
  await copyFile(join(here, '.venv/bin/uv'), join(home, '.local/bin/uv'));
}

/** `mise` likewise, with a Node it installed, and a project that uses it. */
async function withMise(home, put) {
  const version = process.versions.node;
  await put('.config/mise/config.toml', '[settings]\noffline = true\n');
  await put(`.local/share/mise/installs/node/${version}/bin/.keep`, '');
  await copyFile(process.execPath, join(home, `.local/share/mise/installs/node/${version}/bin/node`));
  await put('project/mise.toml', `[env]\nPLACE = "here"\n[tasks.hello]\nrun = "echo $PLACE $(node -p 6*7)"\n[tools]\nnode = "${version}"\n`);
  await copyFile(mise, join(home, '.local/bin/mise'));
  // Somebody trusted this project and has used it; mise keeps a note of both in the home.
  for (const args of [['trust', '-q'], ['run', 'hello']]) {
    const done = await run(join(home, '.local/bin/mise'), args, { cwd: join(home, 'project'), env: { HOME: home, PATH: '/usr/bin:/bin' } });
    assert.equal(done.code, 0, done.stderr);
  }
}

/** A home with secrets and a program that somebody uses. */
async function settle(folder, user, bring) {
  const home = join(folder, 'home');
  const put = async (name, text) => {
    const path = join(home, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  for (const name of SECRETS) await put(name, SECRET);
  await put('.local/bin/.keep', '');
  await mkdir(join(home, 'project'));
  await bring(home, put);
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

const PROGRAMS = [
  { name: 'uv', missing, bring: withUv, commands: ['uv --version', 'uv venv .venv', '.venv/bin/python -c "print(6 * 7)"', 'uv pip list --python .venv'] },
  { name: 'mise', missing: noMise, bring: withMise, commands: ['mise --version', 'mise ls', 'mise run hello', 'mise exec -- node -p "6 * 7"'] },
];

for (const [tool, user] of PROGRAMS.flatMap((one) => [[one, undefined], [one, SOMEBODY]])) {
  const who = user === undefined ? 'this user' : 'another user';
  const skip = tool.missing ?? (user !== undefined && process.getuid() !== 0 ? 'only root can become another user' : false);
  test(`${tool.name} works in the sandbox of ${who}, and no secret is read`, { skip }, async (t) => {
    assert.ok(existsSync(program), `no program at ${program}; build it with: cargo build -p chatos-cli`);
    const folder = await mkdtemp(join(tmpdir(), 'chatos-home-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await settle(folder, user, tool.bring);
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
    for (const command of tool.commands) {
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
