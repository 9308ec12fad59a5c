// What ChatOS posts to ntfy beside what a sender of another maker posts there: the same request, the same members.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { chatos, home, run } from '../mcp-peers/support.mjs';
import { install, python } from '../mcp-servers/python.mjs';

/** Keeps what is posted. */
async function recorder(t) {
  const got = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      got.push({ method: request.method, path: request.url, auth: request.headers.authorization, body: JSON.parse(body) });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"x","event":"message"}');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { got, at: `127.0.0.1:${server.address().port}` };
}

const missing = install();

test('a notice has the form that apprise gives one', { timeout: 120_000, skip: missing }, async (t) => {
  const place = home(t);
  const { got, at } = await recorder(t);
  const script = `import apprise; a = apprise.Apprise(); a.add('ntfy://tk_0123456789abcdefghijklmnopqrs@${at}/my-topic?auth=token'); assert a.notify(title='T', body='B')`;
  const theirs = await run(python, ['-c', script], { env: { PATH: process.env.PATH, HOME: place.home } });
  assert.equal(theirs.status, 0, theirs.stderr);
  const added = await chatos(place, ['reach', 'add', 'ntfy', `http://${at}/my-topic`, '--name', 'phone', '--on-my-network']);
  assert.equal(added.status, 0, added.stderr);
  const sent = await chatos(place, ['reach', 'test', 'phone']);
  assert.equal(sent.status, 0, sent.stderr);
  const [foreign, ours] = got;
  assert.deepEqual([ours.method, ours.path], [foreign.method, foreign.path]);
  assert.equal(ours.body.topic, foreign.body.topic);
  for (const member of Object.keys(ours.body)) assert.equal(typeof ours.body[member], typeof foreign.body[member], member);
});
