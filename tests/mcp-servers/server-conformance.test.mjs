// The official conformance suite against a server on our own layer: everything both revisions require of
// a server.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

import { here, ownServer, recentNode, SUITE } from './support.mjs';

/** The scenarios a revision scores, from the suite's own list; what it only runs is not among them. */
async function required(revision) {
  const list = await readFile(join(here, `node_modules/@modelcontextprotocol/conformance/requirements/${revision}.yaml`), 'utf8');
  const names = /^server:\n((?: {2}- .*\n)+)/m.exec(list)[1];
  return names.trim().split('\n').map((line) => line.replace(/^\s*- /, ''));
}

function suite(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(recentNode(), [SUITE, 'server', ...args], { cwd: here, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (text) => (output += text));
    child.stderr.on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}

/** What a scenario checked, from the file it left. */
async function checks(out, scenario) {
  const folder = (await readdir(out)).find((name) => new RegExp(`^server-${scenario}-\\d{4}-`).test(name));
  return folder === undefined ? [] : JSON.parse(await readFile(join(out, folder, 'checks.json'), 'utf8'));
}

for (const revision of ['2025-11-25', '2026-07-28']) {
  test(`what ${revision} requires of a server`, async (t) => {
    const url = await ownServer(t);
    const out = await mkdtemp(join(tmpdir(), 'chatos-conformance-'));
    t.after(() => rm(out, { recursive: true, force: true }));
    const { status, output } = await suite(['--url', url, '--requirements', revision, '-o', out]);
    for (const scenario of await required(revision)) {
      await t.test(scenario, async () => {
        const done = await checks(out, scenario);
        const bad = done.filter((check) => !['SUCCESS', 'INFO'].includes(check.status));
        assert.deepEqual(bad.map((check) => [check.id, check.status, check.errorMessage]), []);
        // A scenario that checked nothing proves nothing.
        assert.ok(done.some((check) => check.status === 'SUCCESS'), output);
      });
    }
    assert.equal(status, 0, output);
  });
}
