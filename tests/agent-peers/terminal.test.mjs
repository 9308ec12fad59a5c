// `chatos hook` with Claude Code in a terminal, where it draws its own page and would ask there itself: the question is in
// the queue, a yes runs it once and nothing is typed into the program; a no runs nothing. codex begins no task in a
// terminal in which nobody types; hooks.test.mjs has it as its editors do.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { CHATOS, eventually, home, run as ended, serve } from '../mcp-peers/support.mjs';
import { begin, put, wanted } from './agents.mjs';
import { answer, open, questionOf } from './inbox.mjs';
import { model } from './model.mjs';

const TIME = 240_000;
const TERMINAL = fileURLToPath(new URL('terminal.py', import.meta.url));
const python = spawnSync('python3', ['-c', 'import pty']).status === 0;
if (!python && process.env.AGENT_PEERS === 'all') throw new Error('no python3 with pty on this machine');

/** What a person has said yes to when they used the program here before, and how it is started. */
const HOW = {
  claude: {
    before(place) {
      const known = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
      // It asks once whether to use a key it finds.
      const key = { approved: ['none'], rejected: [] };
      put(join(place.home, '.claude.json'), { hasCompletedOnboarding: true, theme: 'dark', customApiKeyResponses: key, projects: { [place.project]: known } });
    },
    // By itself it lets a model decide in a person's place.
    argv: ({ program }) => [program, '--permission-mode', 'default', 'count once'],
  },
};

for (const { word, agent, skip } of wanted().filter(({ word }) => HOW[word])) {
  for (const agreed of [true, false]) {
    test(`${word} in a terminal: ${agreed ? 'a yes' : 'a no'} in the queue is the only answer it needs`, { timeout: TIME, skip: skip || !python }, async (t) => {
      const place = home(t);
      put(join(place.project, 'count.sh'), 'echo x >> count.txt\n');
      const call = agent.shell('sh count.sh');
      const scripted = await model(t, (names) => (names.includes(call.name) ? call : undefined));
      const env = { ...agent.configure(place, scripted), TERM: 'xterm-256color' };
      HOW[word].before(place);
      const installed = await ended(CHATOS, ['hook', word, '--install', '--yes', '--state-dir', place.state, '--lang', 'en'], { cwd: place.project, env });
      assert.equal(installed.status, 0, installed.stderr);
      const host = await serve(t, place);
      const lines = () => (existsSync(join(place.project, 'count.txt')) ? readFileSync(join(place.project, 'count.txt'), 'utf8').trim().split('\n').length : 0);
      const running = begin(t, { argv: () => ['python3', TERMINAL, ...HOW[word].argv(agent)] }, place, env);
      const item = await questionOf(host, running);
      assert.equal(item.client.kind, 'hook');
      assert.equal(item.client.name, agent.title);
      assert.equal(item.client.project, 'project');
      assert.equal(item.prompt.command, 'sh count.sh');
      assert.equal(lines(), 0, 'nothing before the answer');
      await answer(host, item, agreed ? { status: 'ok' } : { status: 'canceled', remark: 'please use a ledger' });
      if (agreed) await eventually('it ran', () => lines() === 1);
      else await eventually('the model reads the note', () => scripted.said('please use a ledger'));
      assert.equal(lines(), agreed ? 1 : 0, running.text);
      assert.equal((await open(host)).length, 0);
      // It is in a session of its own and still writes to its home; both go.
      running.child.kill('SIGTERM');
      await running.done;
    });
  }
}
