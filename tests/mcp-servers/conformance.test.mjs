// The official conformance suite against our client: everything either revision requires of one, sign-in
// at an authorization server included.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';

import { client, here, recentNode, SUITE } from './support.mjs';

// What the suite itself must name, so that a list it forgot to print cannot pass for a short one.
const REVISIONS = {
  '2025-11-25': { required: 18, signIn: 14 },
  '2026-07-28': { required: 32, signIn: 25 },
};
// Not required yet, but we pass them: newer than the revisions.
const BEYOND = ['json-schema-2020-12-preservation'];

function suite(words) {
  const args = [SUITE, ...words];
  return new Promise((resolve, reject) => {
    const child = spawn(recentNode(), args, { cwd: here, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (text) => (output += text));
    child.stderr.on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}

/** What the suite itself says a revision requires of a client. */
async function required(revision) {
  const { status, output } = await suite(['list', '--client', '--requirements', revision]);
  assert.equal(status, 0, output);
  const [, client] = output.split('Client scenarios');
  return [...client.split(/\n\n/)[0].matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
}

for (const [revision, counts] of Object.entries(REVISIONS)) {
  const all = await required(revision);
  test(`${revision}: all that is required is known`, () => {
    assert.equal(all.length, counts.required, all.join('\n'));
    assert.equal(all.filter((name) => name.startsWith('auth/')).length, counts.signIn, all.join('\n'));
  });
  // One process for all of them: each scenario starts the client by itself.
  const command = ['client', '--command', `${client} conform`];
  const { status, output } = await suite([...command, '--requirements', revision]);
  const summary = output.slice(output.indexOf('=== SUITE SUMMARY ==='));
  test(`${revision}: the suite is content`, () => {
    assert.equal(status, 0, output);
    assert.match(summary, /^Total: .* 0 warnings$/m);
  });
  for (const scenario of [...all, ...BEYOND]) {
    test(`${revision} ${scenario}`, () => {
      const line = summary.split('\n').find((line) => line.slice(2).startsWith(`${scenario}: `));
      // A scenario that checked nothing proves nothing.
      assert.match(line ?? `${scenario} did not run`, /^✓ \S+: [1-9]\d* passed, 0 failed$/, output);
    });
  }
}
