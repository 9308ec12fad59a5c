// Models of another maker's server: the five protocols, and what the program says of each fault.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';

import { LLMock } from '@copilotkit/aimock';

const CHATOS = process.env.CHATOS_BIN ?? join(fileURLToPath(new URL('.', import.meta.url)), '../../target/debug/chatos');
const KEY = 'sk-canary-5d41402abc4b2a76';

const PROTOCOLS = [
  { name: 'chat', args: (url) => ['gpt-4o', '--url', `${url}/v1`] },
  { name: 'messages', args: (url) => ['claude-sonnet-4', '--provider', 'anthropic', '--url', url] },
  { name: 'responses', args: (url) => ['gpt-5', '--provider', 'openai_responses', '--url', `${url}/v1`] },
  { name: 'ollama', args: (url) => ['llama3.1', '--provider', 'ollama', '--url', url] },
  { name: 'generate', args: (url) => ['gemini-2.5-flash', '--provider', 'gemini', '--url', `${url}/v1beta`] },
];

let root;
let mock;

/** `chatos …` on a state of its own. */
function chatos(args, input = '') {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, HOME: root, LANG: 'C.UTF-8' };
    const child = spawn(CHATOS, [...args, '--state-dir', join(root, 'state')], { cwd: root, env });
    const out = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (out.stdout += chunk));
    child.stderr.on('data', (chunk) => (out.stderr += chunk));
    child.once('error', reject);
    child.once('close', (status) => resolve({ ...out, status }));
    child.stdin.end(input);
  });
}

async function tested(model) {
  const done = await chatos(['models', 'test', model, '--json']);
  assert.ok(!`${done.stdout}${done.stderr}`.includes(KEY), 'the key is in no output');
  return JSON.parse(done.stdout);
}

function answers(options = {}) {
  mock.reset();
  mock.onMessage(/./, { content: 'ok, as asked' }, options);
}

before(async () => {
  root = mkdtempSync(join(tmpdir(), 'chatos-models-'));
  mkdirSync(join(root, 'state'), { mode: 0o700 });
  mock = new LLMock({ port: 0 });
  await mock.start();
  for (const { name, args } of PROTOCOLS) {
    const add = ['models', 'add', ...args(mock.url), '--name', name, '--key-name', 'CANARY', '--key', '--json'];
    const done = await chatos(add, KEY);
    assert.equal(done.status, 0, done.stdout + done.stderr);
  }
});

after(async () => {
  await mock?.stop();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

for (const { name } of PROTOCOLS) {
  test(`${name}: an answer arrives as a stream`, async () => {
    answers();
    const result = await tested(name);
    assert.equal(result.ok, true, JSON.stringify(result));
  });

  test(`${name}: every fault has its class`, async () => {
    const faults = [
      [{ chaos: { dropRate: 1 } }, ['server']],
      [{ chaos: { rateLimitRate: 1 } }, ['rate_limited']],
      [{ chaos: { malformedRate: 1 } }, ['server', 'network']],
      [{ chaos: { disconnectRate: 1 } }, ['network']],
      [{ truncateAfterChunks: 1 }, ['network']],
    ];
    for (const [options, classes] of faults) {
      answers(options);
      const result = await tested(name);
      assert.equal(result.ok, false, `${JSON.stringify(options)}: ${JSON.stringify(result)}`);
      assert.ok(classes.includes(result.class), `${JSON.stringify(options)}: ${JSON.stringify(result)}`);
    }
    answers();
    assert.equal((await tested(name)).ok, true, 'and afterwards it works again');
  });
}

test('no file of the state holds the key', () => {
  const found = [];
  const look = (dir) => {
    for (const entry of readdirSync(dir)) {
      const path = join(dir, entry);
      if (statSync(path).isDirectory()) look(path);
      else if (readFileSync(path).includes(KEY)) found.push(path);
    }
  };
  look(join(root, 'state'));
  assert.deepEqual(found, []);
});
