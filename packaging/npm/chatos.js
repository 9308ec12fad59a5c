#!/usr/bin/env node
// Finds the program npm installed for this system and hands everything over to it: arguments, streams, signals.
'use strict';

const { spawn } = require('node:child_process');

const name = `@chatos/${process.platform}-${process.arch}`;

let program;
try {
  program = require.resolve(`${name}/bin/chatos`);
} catch {
  const zh = /^zh/i.test(process.env.LC_ALL || process.env.LC_MESSAGES || process.env.LANG || '');
  const lines =
    process.platform === 'win32'
      ? zh
        ? ['错误：ChatOS 在 Windows 上通过 WSL2 运行', '提示：在 WSL2 中安装 Linux 与 Node，然后在那里运行 npx chatos']
        : ['error: on Windows, ChatOS runs in WSL2', 'hint: install a Linux with Node in WSL2 and run npx chatos there']
      : zh
        ? [`错误：没有适用于 ${process.platform} ${process.arch} 的程序（缺少包 ${name}）`, '提示：请安装时不要加 --omit=optional；如仍缺少，请从源代码构建']
        : [
            `error: there is no program for ${process.platform} on ${process.arch} (the package ${name} is missing)`,
            'hint: install without --omit=optional; if it is still missing, build from source',
          ];
  for (const line of lines) console.error(line);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // A terminal sends Ctrl-C to both of us; only the program decides what it means.
  process.on(signal, () => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on('error', (error) => {
  console.error(`error: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
