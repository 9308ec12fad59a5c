// What ChatOS posts to ntfy, Discord and Slack beside what a sender of another maker posts there.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { publish } from 'ntfy';

import { chatos, eventually, home, run, serve } from '../mcp-peers/support.mjs';
import { install, python } from '../mcp-servers/python.mjs';

/** Keeps what is posted. */
async function recorder(t) {
  const got = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      got.push({ method: request.method, path: request.url, type: request.headers['content-type'], auth: request.headers.authorization, body: JSON.parse(body) });
      // Slack says "ok" and nothing else.
      const said = request.url.includes('slack') ? 'ok' : '{"id":"x","event":"message"}';
      response.writeHead(200, { 'content-type': 'application/json' }).end(said);
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

/** A server of the shape of ntfy: takes messages as JSON and as text, and gives a topic as a stream of lines. */
async function ntfyServer(t) {
  const topics = new Map();
  const streams = new Set();
  const keep = (topic, message) => {
    const line = `${JSON.stringify({ id: String(topics.size), event: 'message', topic, time: Math.floor(Date.now() / 1000), ...message })}\n`;
    topics.set(topic, [...(topics.get(topic) ?? []), line]);
    for (const stream of streams) if (stream.topic === topic) stream.response.write(line);
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    if (request.method === 'GET' && pathname.endsWith('/json')) {
      const topic = pathname.split('/')[1];
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write(`${JSON.stringify({ event: 'open', topic })}\n${(topics.get(topic) ?? []).join('')}`);
      const stream = { topic, response };
      streams.add(stream);
      response.on('close', () => streams.delete(stream));
      return;
    }
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      if (pathname === '/') keep(JSON.parse(body).topic, JSON.parse(body));
      else keep(pathname.slice(1), { message: body });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"x","event":"message"}');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const { response } of streams) response.end();
    server.close();
  });
  return { at: `127.0.0.1:${server.address().port}`, of: (topic) => (topics.get(topic) ?? []).map((line) => JSON.parse(line)) };
}

test('a button that a client of another maker presses answers once', { timeout: 120_000 }, async (t) => {
  const place = home(t);
  const server = await ntfyServer(t);
  const host = await serve(t, place);
  await host.api('POST', 'channels', {
    type: 'ntfy', name: 'phone', url: `http://${server.at}/my-topic`, onMyNetwork: true, privacy: 'title', delay: 0, answer: 'reject',
  });
  const { requestId } = await host.api('POST', 'prompts', { prompt: { kind: 'choice', title: 'Blue or green?', options: [{ value: 'a' }, { value: 'b' }] } });
  const told = await eventually('the question is told', () => server.of('my-topic')[0]);
  assert.deepEqual(told.actions.map(({ action, label }) => [action, label]), [['http', 'Reject'], ['http', 'Snooze 15 min']]);
  const [reject] = told.actions;
  const press = (message) => publish({ server: new URL(reject.url).origin, topic: new URL(reject.url).pathname.slice(1), message });
  await press('0'.repeat(64));
  await press(reject.body);
  await press(reject.body);
  const closed = await eventually('it is rejected', async () => {
    const item = await host.api('GET', `prompts/${requestId}`);
    return item.state === 'closed' ? item : undefined;
  });
  assert.deepEqual([closed.answer.by, closed.answer.status], ['person:link:ntfy', 'canceled']);
});

test('a Discord message has the member that apprise gives one', { timeout: 120_000, skip: missing }, async (t) => {
  const place = home(t);
  const { got, at } = await recorder(t);
  // What apprise would send to Discord, sent here: its own request, with the address of this machine.
  const script = `
import apprise, requests
real = requests.post
requests.post = lambda url, *args, **more: real('http://${at}/theirs', *args, **more)
a = apprise.Apprise(); a.add('discord://123456789012345678/abcdefghijklmnopqrstuvwxyz')
assert a.notify(title='T', body='B')
`;
  const theirs = await run(python, ['-c', script], { env: { PATH: process.env.PATH, HOME: place.home } });
  assert.equal(theirs.status, 0, theirs.stderr + theirs.stdout);
  const added = await chatos(place, ['reach', 'add', 'discord', `http://${at}/ours`, '--name', 'team', '--on-my-network']);
  assert.equal(added.status, 0, added.stderr);
  const sent = await chatos(place, ['reach', 'test', 'team']);
  assert.equal(sent.status, 0, sent.stderr);
  const [foreign, ours] = ['/theirs', '/ours'].map((wanted) => got.find(({ path }) => path === wanted));
  assert.deepEqual([ours.method, typeof ours.body.content], [foreign.method, typeof foreign.body.content]);
  assert.ok(ours.body.content.length <= 2000, 'longer ones are refused there');
  assert.deepEqual(ours.body.allowed_mentions, { parse: [] }, 'nobody is called by a text');
});

test('signs that Slack reads are written as apprise writes them, and nobody is called by a text', { timeout: 120_000, skip: missing }, async (t) => {
  const place = home(t);
  const { got, at } = await recorder(t);
  const title = 'Is <this> & that more than 1 > 0?';
  // Its own request, with the address of this machine. For Slack it does not call `post`, so the session is turned.
  const script = `
import apprise, requests, sys
real = requests.Session.request
requests.Session.request = lambda self, method, url, *args, **more: real(self, method, 'http://${at}/theirs/slack', *args, **more)
a = apprise.Apprise(); a.add('slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/')
assert a.notify(title='T', body=sys.argv[1])
`;
  const theirs = await run(python, ['-c', script, title], { env: { PATH: process.env.PATH, HOME: place.home } });
  assert.equal(theirs.status, 0, theirs.stderr + theirs.stdout);
  const host = await serve(t, place);
  await host.api('POST', 'channels', { type: 'slack', name: 'team', url: `http://${at}/ours/slack`, onMyNetwork: true, privacy: 'title', delay: 0 });
  const ask = (title) => host.api('POST', 'prompts', { prompt: { kind: 'choice', title, options: [{ value: 'a' }, { value: 'b' }] } });
  await ask(title);
  const [foreign, ours] = await eventually('both are there', () => {
    const both = ['/theirs/slack', '/ours/slack'].map((wanted) => got.find(({ path }) => path === wanted));
    return both.every(Boolean) ? both : undefined;
  });
  assert.deepEqual([ours.method, ours.type], [foreign.method, foreign.type.split(';')[0]]);
  // A hook takes `text` as the message and `attachments` as more of it; the words are the same.
  assert.equal(ours.body.text.split('\n')[0], foreign.body.attachments[0].text);
  // Apprise lets a mention through, for people who write their own text. A question is somebody else's.
  await chatos(place, ['reach', 'remove', 'team']);
  await host.api('POST', 'channels', { type: 'slack', name: 'other', url: `http://${at}/other/slack`, onMyNetwork: true, privacy: 'title', delay: 0 });
  await ask('<!channel> <@U123> <https://example.com|everybody>?');
  const called = await eventually('it is told', () => got.find(({ path }) => path === '/other/slack'));
  assert.match(called.body.text, /^&lt;!channel&gt; &lt;@U123&gt; &lt;https:/);
  assert.doesNotMatch(called.body.text, /[<>]/);
});
