// The real program as a host with its state in a folder of its own, and chats with its models.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const PATIENCE_MS = 120_000;
const program = process.env.CHATOS_BIN ?? join(import.meta.dirname, '../../target/debug/chatos');

export async function startHost(dir) {
  const env = { ...process.env, HOME: dir, LANG: 'C.UTF-8', CHATOS_STATE_DIR: undefined };
  const state = ['--state-dir', join(dir, 'state')];
  const child = spawn(program, ['serve', ...state, '--port', '0', '--no-open', '--ready-json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  const lines = createInterface({ input: child.stdout });
  const { url, token } = await new Promise((resolve, reject) => {
    lines.once('line', (line) => resolve(JSON.parse(line)));
    child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)));
  });

  async function api(method, path, body) {
    const response = await fetch(`${url}api/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  /** Sends a message and waits for what becomes of it; in a new chat, unless one is given. */
  async function chat(modelId, text, session) {
    const id = session ?? (await api('POST', 'sessions', { modelId })).id;
    const sent = await api('POST', `sessions/${id}/send`, { text });
    const began = Date.now();
    for (;;) {
      const run = await api('GET', `runs/${sent.runId}`);
      if (['done', 'failed', 'aborted'].includes(run.state)) {
        const page = await api('GET', `sessions/${id}/messages`);
        return { session: id, run, messages: page.messages };
      }
      assert.ok(Date.now() - began < PATIENCE_MS, `the run stays ${run.state}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** `chatos …` on the same state, as a person types it. */
  function chatos(args, input = '') {
    return new Promise((resolve, reject) => {
      const typed = spawn(program, [...args, ...state], { cwd: dir, env });
      const out = { stdout: '', stderr: '' };
      typed.stdout.on('data', (chunk) => (out.stdout += chunk));
      typed.stderr.on('data', (chunk) => (out.stderr += chunk));
      typed.once('error', reject);
      typed.once('close', (status) => resolve({ ...out, status }));
      typed.stdin.end(input);
    });
  }

  async function stop() {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  }

  return { api, chat, chatos, stop };
}
