// server-everything, reached directly and through `chatos gateway`: what a client is told and given is the same, field
// by field, in both eras. Only names of tools and prompts differ, which say whose they are.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { entry } from '../mcp-servers/support.mjs';
import { CHATOS, eventually, home, run, serve } from '../mcp-peers/support.mjs';
import { agent, answer, open, question } from './inbox.mjs';

const TIME = { timeout: 240_000 };
const NODE = process.env.PEER_NODE ?? process.execPath;
const SERVER = { command: NODE, args: [entry('server-everything'), 'stdio'] };
const CAPABILITIES = { elicitation: { form: {}, url: {} } };
const ours = (name) => `mcp_everything_${name}`;

/** A client of either era: `ask` any request, `call` a tool, and what it was asked itself. */
async function connect(t, era, { command, args }, place) {
  const env = { PATH: process.env.PATH, HOME: place.home, LANG: 'C.UTF-8' };
  const params = { command, args, cwd: place.project, env, stderr: 'ignore' };
  const seen = { asked: [], progress: [], answer: undefined };
  const elicited = async ({ params: wanted }, { signal } = {}) => {
    seen.asked.push(wanted);
    if (seen.answer) return seen.answer;
    // It is answered elsewhere, and taken back here.
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('taken back'))));
  };
  let client;
  let done;
  if (era === 'modern') {
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    client = new Client({ name: 'modern', version: '1' }, { capabilities: CAPABILITIES, versionNegotiation: { mode: 'auto' } });
    client.setRequestHandler('elicitation/create', (request, cx) => elicited(request, cx?.mcpReq));
    await client.connect(new StdioClientTransport(params));
    done = (order, options) => client.callTool(order, options);
  } else {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    client = new Client({ name: 'older', version: '1' }, { capabilities: CAPABILITIES });
    client.setRequestHandler(ElicitRequestSchema, elicited);
    await client.connect(new StdioClientTransport(params));
    done = (order, options) => client.callTool(order, undefined, options);
  }
  t.after(() => client.close());
  const call = (name, args = {}) => done({ name, arguments: args }, { timeout: 120_000, onprogress: ({ progress, total, message }) => seen.progress.push({ progress, total, ...(message === undefined ? {} : { message }) }) });
  return { client, call, seen };
}

/** What the newer era and the desk add to a result. */
function plain({ _meta, resultType, ttlMs, cacheScope, ...rest }) {
  const more = Object.entries(_meta ?? {}).filter(([key]) => key !== 'chatos' && !key.startsWith('io.modelcontextprotocol/'));
  return { ...rest, ...(more.length > 0 ? { _meta: Object.fromEntries(more) } : {}) };
}

/** Moments and measured times differ between two calls. */
const still = (value) => JSON.parse(JSON.stringify(value, (key, one) => (key === 'blob' ? Buffer.from(one, 'base64').toString('latin1') : one)).replaceAll(/\d{1,2}:\d{2}:\d{2}(\.\d+)?(\s?[AP]M)?|\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, 'TIME'));

/** Tools that give the same each time, and what they are called with. */
const CALLS = [
  ['echo', { message: '你好, \u202eserver' }],
  ['get-sum', { a: 2, b: 40 }],
  ['get-tiny-image', {}],
  ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ['get-structured-content', { location: 'New York' }],
  ['get-resource-links', { count: 4 }],
  ['get-resource-reference', { resourceType: 'Text', resourceId: 3 }],
  ['get-resource-reference', { resourceType: 'Blob', resourceId: 4 }],
  ['gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' }],
];

for (const era of ['legacy', 'modern']) {
  test(`${era}: everything of server-everything arrives through the gateway as it is`, TIME, async (t) => {
    const place = home(t);
    // Told what the host tells it: models and folders of a person are not passed on to servers.
    const direct = await connect(t, 'legacy', SERVER, place);
    const host = await serve(t, place);
    const added = await run(CHATOS, ['--state-dir', place.state, 'mcp', 'servers', 'add', 'everything', '--', SERVER.command, ...SERVER.args], { cwd: place.project, env: { PATH: process.env.PATH, HOME: place.home } });
    assert.equal(added.status, 0, added.stderr);
    const id = await agent(host, ['everything']);
    const gateway = { command: CHATOS, args: ['gateway', '--agent', id, '--state-dir', place.state, '--lang', 'en', '--tools', 'all'] };
    const through = await connect(t, era, gateway, place);

    // Definitions: every field, but for what the desk does not offer, the experimental tasks of one revision.
    const { tools } = await direct.client.listTools();
    assert.ok(tools.length > 10, tools.map(({ name }) => name).join());
    const given = await eventually('all tools', async () => {
      const list = (await through.client.listTools()).tools;
      return list.length > tools.length ? list : undefined;
    });
    const theirs = tools.map(({ execution, ...tool }) => ({ ...tool, name: ours(tool.name) }));
    const named = (list) => Object.fromEntries(list.map((one) => [one.name, one]));
    assert.deepEqual(named(given.filter(({ name }) => name.startsWith(ours('')))), named(theirs));

    const { prompts } = await direct.client.listPrompts();
    const { prompts: passed } = await through.client.listPrompts();
    // An empty list and an empty text say what an absent one says.
    const told = ({ arguments: list = [], ...prompt }) => ({ ...prompt, arguments: list.map((one) => ({ description: '', ...one })) });
    assert.deepEqual(named(passed.map(told)), named(prompts.map((prompt) => ({ ...told(prompt), name: ours(prompt.name) }))));
    const { resources } = await direct.client.listResources();
    assert.ok(resources.length > 0);
    const { resources: offered } = await through.client.listResources();
    assert.deepEqual(named(offered), named(resources));
    const { resourceTemplates } = await direct.client.listResourceTemplates();
    const { resourceTemplates: patterns } = await through.client.listResourceTemplates();
    assert.deepEqual(named(patterns), named(resourceTemplates));

    // What is fetched by name.
    const filled = { city: 'Aachen', state: 'NRW' };
    for (const [name, args] of [['simple-prompt', {}], ['args-prompt', filled], ['completable-prompt', { department: 'Engineering', name: 'Alice' }], ['resource-prompt', { resourceType: 'Text', resourceId: '2' }]]) {
      const wanted = still(plain(await direct.client.getPrompt({ name, arguments: args })));
      assert.deepEqual(still(plain(await through.client.getPrompt({ name: ours(name), arguments: args }))), wanted, name);
    }
    const uris = [...resources.slice(0, 2).map(({ uri }) => uri), ...resourceTemplates.map(({ uriTemplate }) => uriTemplate.replace(/\{\w+\}/, '7'))];
    for (const uri of uris) {
      const wanted = still(plain(await direct.client.readResource({ uri })));
      assert.deepEqual(still(plain(await through.client.readResource({ uri }))), wanted, uri);
    }
    const complete = (client, ref, argument, context) => client.complete({ ref, argument, ...(context ? { context } : {}) }).then(plain);
    const template = { type: 'ref/resource', uri: resourceTemplates[0].uriTemplate };
    assert.deepEqual(await complete(through.client, template, { name: 'resourceId', value: '7' }), await complete(direct.client, template, { name: 'resourceId', value: '7' }));
    const prompt = (name) => ({ type: 'ref/prompt', name });
    const beginning = { name: 'department', value: 'E' };
    assert.deepEqual(await complete(through.client, prompt(ours('completable-prompt')), beginning), await complete(direct.client, prompt('completable-prompt'), beginning));
    const person = { name: 'name', value: '' };
    const context = { arguments: { department: 'Engineering' } };
    assert.deepEqual(await complete(through.client, prompt(ours('completable-prompt')), person, context), await complete(direct.client, prompt('completable-prompt'), person, context));
    // What the server says of itself is known once it was started.
    const said = (await connect(t, era, gateway, place)).client.getInstructions();
    const words = (text) => text.replaceAll(/^> ?/gm, '').replaceAll(/\s+/g, ' ').trim();
    assert.ok(words(said).includes(words(direct.client.getInstructions()).slice(0, 500)), said);

    // Results, block by block.
    for (const [name, args] of CALLS) {
      const wanted = still(plain(await direct.call(name, args)));
      const got = await through.call(ours(name), args);
      assert.deepEqual(still(plain(got)), { isError: false, ...wanted }, name);
      assert.equal(got._meta?.chatos?.status, 'ok', `${name}: how it went`);
    }

    // Progress by the server's own count.
    const steps = { duration: 2, steps: 4 };
    await direct.call('trigger-long-running-operation', steps);
    await through.call(ours('trigger-long-running-operation'), steps);
    const counted = through.seen.progress.filter(({ total }) => total !== undefined);
    assert.ok(counted.length > 0, JSON.stringify(through.seen.progress));
    // The client's own library drops what arrives together with the result, so the last step is not compared.
    const known = [...direct.seen.progress, { ...direct.seen.progress.at(-1), progress: steps.steps }].map((each) => JSON.stringify(each));
    for (const one of counted) assert.ok(known.includes(JSON.stringify(one)), JSON.stringify([one, known]));
    const values = through.seen.progress.map(({ progress }) => progress);
    assert.ok(values.every((value, at) => at === 0 || value > values[at - 1]), values.join());

    // A form of the server is a question of the queue, and both answers arrive as from the client itself.
    const asked = async (answered, given) => {
      direct.seen.answer = given;
      const wanted = await direct.call('trigger-elicitation-request');
      const asking = through.call(ours('trigger-elicitation-request'));
      const item = await question(host);
      assert.match(JSON.stringify(item.prompt), /Please provide inputs/);
      const properties = Object.keys(direct.seen.asked.at(-1).requestedSchema.properties);
      assert.deepEqual((item.prompt.fields ?? []).map(({ key }) => key), properties, 'the same fields');
      await answer(host, item, answered);
      return [(await asking).content, wanted.content];
    };
    const [declined, directly] = await asked({ status: 'canceled', declined: true }, { action: 'decline' });
    assert.deepEqual(declined, directly);
    assert.equal((await open(host)).length, 0);
  });
}
