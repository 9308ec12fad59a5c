// A server from PyPI, unmodified. Where no Python with venv and pip can install it, the test is counted as
// skipped and says why.

import assert from 'node:assert/strict';
import test from 'node:test';

import { install, python } from './python.mjs';
import { drive } from './support.mjs';

async function checkTime() {
  const s = { command: [python, '-m', 'mcp_server_time', '--local-timezone', 'UTC'] };
  const [list, converted, wrong, status] = await drive({ s }, [
    { server: 's', list: true },
    {
      server: 's',
      call: 'convert_time',
      arguments: { source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Shanghai' },
    },
    { server: 's', call: 'get_current_time', arguments: { timezone: 'Nowhere/City' } },
    { server: 's', status: true },
  ]);
  assert.deepEqual(list.tools, ['convert_time', 'get_current_time'], JSON.stringify(list));
  assert.match(converted.text, /T20:00:00\+08:00/);
  assert.ok(wrong.isError || wrong.error, JSON.stringify(wrong));
  assert.equal(status.phase, 'ready');
}

const reason = install();
test('mcp-server-time as a child', { skip: reason ?? false }, checkTime);
