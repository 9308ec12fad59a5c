// Other agents hand their model either the text of a result or its structured part, never both; the content of a
// file is in each. Where no Python with venv and pip can install the agent, its test is counted as skipped and says
// why.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { install, python } from '../mcp-servers/python.mjs';
import { ERAS, home, inspect, run, stdio } from './support.mjs';

const AGENT = fileURLToPath(new URL('model_sees.py', import.meta.url));
const READS = {
  project_files: [['read_file', { path: 'a.txt' }]],
  code_maintainer: [
    ['read_file', { path: 'a.txt' }],
    ['read_file_range', { path: 'a.txt', start_line: 2, end_line: 2 }],
    ['read_file_raw', { path: 'a.txt' }],
  ],
};

function place(t) {
  const made = home(t);
  writeFileSync(join(made.project, 'a.txt'), 'one\nINSIDE the file\n');
  return made;
}

const reason = install();
test('pydantic-ai gives its model what was read', { skip: reason ?? false }, async (t) => {
  for (const [server, calls] of Object.entries(READS)) {
    const at = place(t);
    const env = { PATH: process.env.PATH, HOME: at.home, LANG: 'C.UTF-8' };
    const done = await run(python, [AGENT, JSON.stringify(calls), ...stdio(at, server)], { cwd: at.project, env });
    assert.equal(done.status, 0, done.stderr);
    const seen = done.stdout.trim().split('\n').map((line) => JSON.parse(line));
    assert.equal(seen.length, calls.length, done.stdout);
    for (const [index, text] of seen.entries()) {
      assert.match(text, /INSIDE the file/, calls[index][0]);
      assert.doesNotMatch(text, /traceId|elapsedMs/, 'what says nothing to a model costs it nothing');
      assert.deepEqual(Object.keys(JSON.parse(text)), ['status', 'code', 'data'], 'this agent takes the structured part');
    }
  }
});

test('either half of what the Inspector gets holds what was read', async (t) => {
  for (const era of ERAS) {
    for (const [server, calls] of Object.entries(READS)) {
      const at = place(t);
      for (const [name, args] of calls) {
        const flags = ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)];
        const done = await inspect(at, stdio(at, server), era, flags);
        const { content, structuredContent, _meta } = done.json?.result ?? done.json ?? assert.fail(done.say());
        assert.match(content[0].text, /INSIDE the file/, `${era} ${name}`);
        assert.match(structuredContent.data.text, /INSIDE the file/, `${era} ${name}`);
        assert.equal(_meta.chatos.tool, name);
      }
    }
  }
});
