import { describe, expect, test } from 'vitest';
import type { Agent, Explanation, LandConfig, Server } from '../../protocol/admin';
import { agentInput, asSaved, clearedByFlow, counts, emptyAgent, sameAgent, search } from './agent-draft';
import { splitCommand } from './argv';
import { decide, idleGlobs, matchesGlob } from './glob';
import { exportText, landDraft, landInput, readExport, risks, wrongLimits } from './land-draft';
import { emptyModel, freeName, fromVendor, isAddress, isSecretName, modelInput, secretName } from './model-draft';
import { specText, waitingPins } from './pins';
import { serverDraft, serverInput, serverIssues } from './server-draft';
import { costs } from './usage';

export const server = (more: Partial<Server> = {}): Server => ({
  id: 's1',
  identity: 'admin:s1',
  name: 'files',
  url: '',
  transport: 'stdio',
  description: '',
  enabled: true,
  locked: false,
  allowMain: true,
  allowSub: true,
  auth: { kind: 'none', hasValue: false },
  source: 'user',
  state: { phase: 'ready', tools: 2, inFlight: 0, restarts: 0 },
  ...more,
});

describe('a pasted command', () => {
  test.each([
    ['npx -y pkg /a', ['npx', '-y', 'pkg', '/a']],
    ["node 'my file.js' \"a b\" c\\ d", ['node', 'my file.js', 'a b', 'c d']],
    ['C:\\Tools\\x.exe --flag', ['C:\\Tools\\x.exe', '--flag']],
    ['a "" b', ['a', '', 'b']],
    ['a "say \\"hi\\""', ['a', 'say "hi"']],
    ['one \\\n two', ['one', 'two']],
    ['  ', []],
  ])('%s', (text, argv) => {
    expect(splitCommand(text).argv).toEqual(argv);
  });

  test('names what only a shell would understand, and a quote left open', () => {
    expect(splitCommand('a | b').shell).toEqual(['|']);
    expect(splitCommand("a '|' b").shell).toEqual([]);
    expect(splitCommand('a $HOME').shell).toEqual(['$']);
    expect(splitCommand('a "b').open).toBe(true);
  });
});

describe('patterns', () => {
  test.each([
    ['read_file', 'read_file', true],
    ['READ_*', 'read_file', true],
    ['read', 'read_file', false],
    ['r?ad*', 'read_file', true],
    ['*', '', true],
    ['?', '', false],
    ['', 'x', false],
    ['a*b*c', 'aXbYbZc', true],
    ['a*b*c', 'aXbYbZ', false],
    ['db.*', 'dbxquery', false],
    ['[a]', 'a', false],
    ['文件*', '文件读取', true],
  ])('%s on %s', (pattern, name, fits) => {
    expect(matchesGlob(pattern, name)).toBe(fits);
  });

  test('deny beats allow, an empty allow allows nothing, ask still needs to be allowed', () => {
    expect(decide(undefined, 'x')).toBe('allow');
    expect(decide({ allow: [] }, 'x')).toBe('deny');
    expect(decide({ allow: ['x'], deny: ['*'] }, 'x')).toBe('deny');
    expect(decide({ ask: ['x'] }, 'x')).toBe('ask');
    expect(decide({ allow: ['y'], ask: ['x'] }, 'x')).toBe('deny');
    expect(idleGlobs(['re*', 'wrt*'], ['read', 'write'])).toEqual(['wrt*']);
  });
});

describe('a server', () => {
  test('is sent as argv or as an address, and keeps its sealed sign-in unless another is typed', () => {
    const added = { ...serverDraft(null), name: ' mine ', argv: ['node', 'a b.js', ''] };
    expect(serverIssues(added)).toEqual([]);
    expect(serverInput(added)).toEqual({ name: 'mine', argv: ['node', 'a b.js', ''], cwd: '', env: {}, description: '', roots: [], timeoutMs: null, maxTimeoutMs: null, startTimeoutMs: null, callMeta: null });
    expect(serverInput({ ...added, roots: ' /data \n\n/other' }).roots).toEqual(['/data', '/other']);
    expect(serverDraft(server({ roots: ['/data', '/other'] })).roots).toBe('/data\n/other');

    const remote = serverDraft(server({ url: 'https://example.com/mcp', transport: 'http', timeoutMs: 90_000, auth: { kind: 'token', hasValue: true } }));
    expect(remote).toMatchObject({ kind: 'url', auth: 'keep', token: '', timeout: '90' });
    expect(serverInput(remote)).not.toHaveProperty('auth');
    expect(serverInput({ ...remote, auth: 'none' }).auth).toEqual({ kind: 'none' });
    expect(serverInput({ ...remote, auth: 'headers', headers: [{ name: 'X-Key', value: 'v' }] }).auth).toEqual({ kind: 'headers', headers: { 'X-Key': 'v' } });
  });

  test('a client of one\'s own is sent with its rights; a kept secret stays, one without a client goes', () => {
    const known = server({ url: 'https://example.com/mcp', auth: { kind: 'none', hasValue: false, oauth: { clientId: 'c1', hasSecret: true, scopes: ['a', 'b'] } } });
    const draft = serverDraft(known);
    expect(serverInput(draft).oauth).toEqual({ clientId: 'c1', scopes: ['a', 'b'] });
    expect(serverInput({ ...draft, clientSecret: 's' }).oauth).toEqual({ clientId: 'c1', clientSecret: 's', scopes: ['a', 'b'] });
    expect(serverInput({ ...draft, clientId: ' ', scopes: ' x  y ' }).oauth).toEqual({ clientId: '', clientSecret: '', scopes: ['x', 'y'] });
    expect(serverInput({ ...draft, clientId: '', scopes: '' }).oauth).toBeNull();
  });

  test('a kept value may stay empty, a new one may not', () => {
    const known = server({ argv: ['node'], auth: { kind: 'none', hasValue: true, envNames: ['KEY'] } });
    const draft = serverDraft(known);
    expect(draft.env).toEqual([{ name: 'KEY', value: '' }]);
    expect(serverIssues(draft, known)).toEqual([]);
    expect(serverInput(draft).env).toEqual({ KEY: null });
    draft.env = [...draft.env, { name: 'OTHER', value: '' }];
    expect(serverIssues(draft, known)).toEqual(['env']);
  });

  test('says what is missing', () => {
    expect(serverIssues(serverDraft(null))).toEqual(['name', 'argv']);
    const draft = { ...serverDraft(null), name: 'n', kind: 'url', url: 'ftp://x', auth: 'token', timeout: 'soon', callMeta: '[1]' };
    expect(serverIssues(draft)).toEqual(['url', 'token', 'timeout', 'callMeta']);
  });
});

describe('tools to approve', () => {
  const titles = { title: 'T', description: 'D', input: 'I', output: 'O', annotations: 'A' };
  test('read as text in one order of keys', () => {
    const a = specText({ description: 'one\ntwo', inputSchema: { b: 1, a: { d: 1, c: 2 } } }, titles);
    const b = specText({ inputSchema: { a: { c: 2, d: 1 }, b: 1 }, description: 'one\ntwo' }, titles);
    expect(a).toBe(b);
    expect(a.split('\n').slice(0, 3)).toEqual(['D:', '  one', '  two']);
    expect(specText(null, titles)).toBe('');
  });

  test('approved ones do not wait', () => {
    const pin = { identity: 'admin:1', server: 's', tool: 't', state: 'approved', digest: 'd', now: {} };
    const groups = waitingPins([pin, { ...pin, tool: 'u', state: 'changed' }, { ...pin, tool: 'v', state: 'new' }]);
    expect(groups.get('admin:1')?.map(({ tool }) => tool)).toEqual(['u', 'v']);
  });
});

describe('a model', () => {
  test('gets a name nobody has, and a key a name that can hold one', () => {
    expect(freeName('GPT', ['gpt', 'gpt 2'])).toBe('GPT 3');
    expect(secretName('127.0.0.1:8000_API_KEY')).toBe('KEY_127_0_0_1_8000_API_KEY');
    expect(isSecretName(secretName('***'))).toBe(true);
    expect(isSecretName('1a')).toBe(false);
  });

  test('a key is never taken for an address', () => {
    expect(isAddress('http://127.0.0.1:8000/v1')).toBe(true);
    expect(isAddress('localhost:11434')).toBe(true);
    expect(isAddress('sk-ant-http://')).toBe(false);
    expect(isAddress('sk-localhost')).toBe(false);
  });

  test('what was recognized fills the form', () => {
    const model = fromVendor({ provider: 'openai', name: '', baseUrl: 'http://127.0.0.1:9/v1', apiKeyName: '', models: ['m1', 'm2'] }, []);
    expect(model).toMatchObject({ model: 'm1', name: 'm1', provider: 'openai', apiKeyName: '' });
  });

  test('only what may be sent is sent back', () => {
    const input = modelInput({ ...emptyModel(), id: 'x', isDefault: true, source: 'user', usable: true });
    expect(input).not.toHaveProperty('id');
    expect(input).not.toHaveProperty('usable');
  });
});

const CONFIG: LandConfig = {
  id: 'lc1',
  name: 'Mine',
  description: '',
  locked: false,
  builtin: false,
  usedBy: [],
  main: { mcpServers: [{ id: 'shell', tools: { allow: [], deny: [], ask: ['x'] } }], apps: [], prompts: [{ key: 'default' }] },
  sub: {},
  limits: { maxPasses: 5 },
};

describe('a land_config', () => {
  test('keeps an empty “allow”, which allows nothing, and drops other empty lists', () => {
    const input = landInput(landDraft(CONFIG));
    expect(input.main.mcpServers?.[0]?.tools).toEqual({ allow: [], ask: ['x'] });
    expect(input.limits).toEqual({ maxPasses: 5 });
    expect(input.sub).toEqual({ mcpServers: [], apps: [], agentApps: 'none', agentPrompts: 'listed', prompts: [] });
  });

  test('limits out of bounds are found', () => {
    const draft = landDraft(CONFIG);
    draft.limits = { maxPasses: '501', maxSubDepth: '0.5', maxTokens: '-1', maxCost: '1.5' };
    expect(wrongLimits(draft)).toEqual(['maxPasses', 'maxSubDepth', 'maxTokens']);
  });

  test('is exported and read again without what only this host says', () => {
    const read = readExport(exportText(CONFIG));
    expect(read).toMatchObject({ name: 'Mine', limits: { maxPasses: 5 } });
    expect(read).not.toHaveProperty('usedBy');
    expect(read).not.toHaveProperty('id');
    expect(readExport('[]')).toBeNull();
    expect(readExport('{"name": 1}')).toBeNull();
    expect(readExport('nonsense')).toBeNull();
  });

  test('a shell that does not ask first is named', () => {
    const shell = server({ id: 'shell', name: 'shell_tasks', source: 'builtin' });
    const draft = landDraft(CONFIG);
    expect(risks(draft, [shell])).toEqual([{ risk: 'shell', roles: ['main'], servers: ['shell_tasks'] }]);
    draft.main.mcpServers = [{ id: 'shell', tools: {} }];
    expect(risks(draft, [shell])).toEqual([{ risk: 'unasked_shell', roles: ['main'], servers: ['shell_tasks'] }]);
    // Said once for both roles.
    draft.sub.mcpServers = [...draft.main.mcpServers, { id: 'writer' }];
    expect(risks(draft, [shell, server({ id: 'writer', name: 'code_writer', source: 'builtin' })])).toEqual([
      { risk: 'unasked_shell', roles: ['main', 'sub'], servers: ['shell_tasks'] },
      { risk: 'write', roles: ['sub'], servers: ['code_writer'] },
    ]);
    draft.sub.mcpServers = [];
    // A name alone makes nobody a shell.
    expect(risks(draft, [server({ id: 'shell', name: 'shell_tasks' })])).toEqual([]);
  });
});

describe('an agent', () => {
  const agent: Agent = { ...emptyAgent(), id: 'a', name: 'A', prompt: 'be kind', mcpServerIds: [], uiApps: [] };

  test('saved as flow it keeps nothing of its own, and says before what goes', () => {
    const flow = { ...agentInput(agent), mode: 'flow' as const, landConfigId: 'lc1' };
    expect(clearedByFlow(flow)).toEqual(['prompt', 'mcpServerIds']);
    expect(asSaved(flow)).toMatchObject({ prompt: '', mcpServerIds: null, landConfigId: 'lc1' });
    expect(asSaved(agentInput(agent))).toMatchObject({ prompt: 'be kind', mcpServerIds: [] });
  });

  test('is the same whatever the host adds', () => {
    expect(sameAgent(agent, agentInput(agent))).toBe(true);
    expect(sameAgent(agent, { ...agentInput(agent), mcpServerIds: null })).toBe(false);
  });

  const explanation: Explanation = {
    role: 'main',
    landConfig: null,
    prompts: [],
    problems: [],
    servers: [
      { identity: 'admin:1', name: 'code_writer', granted: false, message: 'not allowed', tools: [{ tool: 'write_file', granted: false }] },
      { identity: 'admin:2', name: 'files', granted: true, tools: [{ tool: 'read_file', granted: true, ask: true }, { tool: 'stat', granted: false }] },
    ],
  };

  test('a question finds the server or only the tool', () => {
    expect(search(explanation, 'write').map(({ name }) => name)).toEqual(['code_writer']);
    expect(search(explanation, 'read_FILE')[0]?.tools).toHaveLength(1);
    expect(search(explanation, 'files')[0]?.tools).toHaveLength(2);
    expect(search(explanation, 'nothing like it')).toEqual([]);
    expect(counts(explanation)).toEqual({ servers: 2, granted: 1, tools: 1, ask: 1 });
  });
});

test('costs of different currencies are not added, and an unknown one is not 0', () => {
  const row = { key: 'k', input: 1, output: 1 };
  expect(costs([{ ...row, cost: 1, currency: 'USD' }, { ...row, cost: 2, currency: 'USD' }, { ...row, cost: 5, currency: 'CNY' }, row])).toEqual({
    known: [
      { currency: 'USD', amount: 3 },
      { currency: 'CNY', amount: 5 },
    ],
    unknown: true,
  });
});
