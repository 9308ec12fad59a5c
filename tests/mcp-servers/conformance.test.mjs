// The official conformance suite against our client: every client scenario of both revisions that needs
// no sign-in at an authorization server.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';

import { client, here, recentNode, SUITE } from './support.mjs';

const SCENARIOS = {
  '2025-11-25': [
    'initialize',
    'tools_call',
    'elicitation-sep1034-client-defaults',
    'sse-retry',
    'json-schema-2020-12-preservation',
  ],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'sep-2322-client-request-state',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
  ],
};

function run(revision, scenario) {
  return suite(['client', '--command', `${client} conform`, '--scenario', scenario, '--spec-version', revision]);
}

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
  const found = [...client.split(/\n\n/)[0].matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  assert.ok(found.length > 3, output);
  return found;
}

for (const [revision, scenarios] of Object.entries(SCENARIOS)) {
  const all = await required(revision);
  const signIn = all.filter((name) => name.startsWith('auth/'));
  // Credentials are a token, a password or headers that a person gives; nobody is sent to sign in elsewhere.
  test(`${revision} sign-in at an authorization server`, { skip: `${signIn.length} scenarios: not offered` }, () => {});
  test(`${revision}: nothing else that is required is left out`, () => {
    const left = all.filter((name) => !name.startsWith('auth/') && !scenarios.includes(name));
    assert.deepEqual(left, []);
  });
  for (const scenario of scenarios) {
    test(`${revision} ${scenario}`, async () => {
      const { status, output } = await run(revision, scenario);
      assert.equal(status, 0, output);
      // A scenario that checked nothing proves nothing.
      const passed = /Passed: (\d+)\/(\d+), 0 failed/.exec(output);
      assert.ok(passed && Number(passed[1]) > 0 && passed[1] === passed[2], output);
    });
  }
}
