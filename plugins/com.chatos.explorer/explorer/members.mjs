// Every member of the Host API with a call that works. `args` are the arguments at the start; `$name` in them is
// replaced by what an earlier call kept with `keep`.

const call = (path, args, more = {}) => ({ path, kind: 'call', args, ...more });
const sync = (path, args, more = {}) => ({ path, kind: 'sync', args, ...more });
const value = (path) => ({ path, kind: 'value', args: [] });
const events = (path, args, more = {}) => ({ path, kind: 'events', args, ...more });

/** `shy`: left out when everything is tried, because it moves the page, spends a model or deletes something. */
export const members = [
  value('bridge.enabled'),
  sync('context.get', []),
  sync('theme.get', []),
  events('theme.onChange', []),
  value('ui.surface'),
  sync('ui.navigate', ['chat/agents'], { shy: true }),
  call('ui.openExternal', ['https://example.com/'], { shy: true }),
  call('registry.list', []),
  call('backend.invoke', ['echo', { hello: 'world', list: [1, 2, 3] }, { timeoutMs: 10000 }]),
  call('admin.state', []),
  events('admin.onUpdate', []),
  call('admin.models.list', []),
  call('admin.secrets.list', []),
  events('uiPrompts.onUpdate', []),
  call('uiPrompts.request', [{
    prompt: {
      kind: 'kv',
      title: 'Host API explorer',
      message: 'A question asked by `uiPrompts.request`.',
      fields: [{ key: 'name', label: 'Name', required: true }, { key: 'token', label: 'Token', secret: true }],
    },
  }], { keep: { requestId: 'requestId' } }),
  call('uiPrompts.read', []),
  sync('uiPrompts.open', []),
  sync('uiPrompts.close', []),
  sync('uiPrompts.toggle', [], { shy: true }),
  call('uiPrompts.respond', [{ requestId: '$requestId', response: { status: 'ok', values: { name: 'explorer', token: 't-123' } } }]),
  call('uiPrompts.wait', ['$requestId', { timeoutMs: 60000 }]),
  call('uiPrompts.consume', ['$requestId']),
  call('chat.agents.list', []),
  call('chat.agents.ensureDefault', [], { keep: { agentId: 'agent.id' } }),
  call('chat.agents.create', [{ name: 'Explorer agent', prompt: 'Answer briefly.' }], { shy: true, keep: { ownAgentId: 'agent.id' } }),
  call('chat.agents.createForApp', [{ name: 'Explorer app agent' }], { shy: true, keep: { ownAgentId: 'agent.id' } }),
  call('chat.agents.update', ['$ownAgentId', { description: 'Changed by the explorer' }], { shy: true }),
  call('chat.sessions.list', []),
  call('chat.sessions.ensureDefault', [{}], { shy: true, keep: { sessionId: 'session.id' } }),
  call('chat.sessions.create', [{ title: 'Host API explorer', agentId: '$agentId' }], { keep: { sessionId: 'session.id' } }),
  events('chat.events.subscribe', [{}]),
  call('chat.send', [{ sessionId: '$sessionId', text: 'Hello from the explorer' }], { shy: true }),
  call('chat.abort', [{ sessionId: '$sessionId' }], { shy: true }),
  call('chat.messages.list', [{ sessionId: '$sessionId', limit: 20 }]),
  sync('chat.events.unsubscribe', []),
  call('chat.agents.delete', ['$ownAgentId'], { shy: true }),
];

/** The member of `host`, detached from its object on purpose: members need no `this`. */
export function memberOf(host, path) {
  return path.split('.').reduce((object, name) => object[name], host);
}

/** Arguments with `$name` replaced; throws for one that nothing has kept yet. */
export function fillIn(args, kept) {
  if (typeof args === 'string' && args.startsWith('$')) {
    const name = args.slice(1);
    if (!(name in kept)) throw Object.assign(new Error(`$${name}`), { missing: name });
    return kept[name];
  }
  if (Array.isArray(args)) return args.map((item) => fillIn(item, kept));
  if (args !== null && typeof args === 'object') return Object.fromEntries(Object.entries(args).map(([key, item]) => [key, fillIn(item, kept)]));
  return args;
}

/** The part of an answer that `keep` names, such as `agent.id`. */
export function partOf(answer, path) {
  return path.split('.').reduce((object, name) => object?.[name], answer);
}
