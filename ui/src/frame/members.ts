// Every member of `host`: how it works and which capability it needs (host-api §4 to §6). The frame builds its
// object from this table, the host page must answer each `call`, `fire` and `sub`, and sdk/host.d.ts describes
// them; a test compares the three. Members of `chat` need the right to own chats; what they reach beyond that is
// decided by the server, call by call.

export const CAPABILITIES = [
  'backend',
  'registry',
  'prompts',
  'prompts.readAll',
  'admin.read',
  'chat.own',
  'chat.read',
  'chat.write',
  'agents.write',
  'navigate',
  'network',
  'unsafe-eval',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** `local`: answered in the frame; `call`: a promise; `fire`: told, not waited for; `sub`: events until released. */
export type MemberKind = 'local' | 'call' | 'fire' | 'sub';

export interface Member {
  kind: MemberKind;
  capability: Capability | null;
}

function member(kind: MemberKind, capability: Capability | null = null): Member {
  return { kind, capability };
}

export const MEMBERS = {
  'bridge.enabled': member('local'),
  'context.get': member('local'),
  'theme.get': member('local'),
  'theme.onChange': member('local'),
  'ui.surface': member('local'),
  'ui.navigate': member('fire', 'navigate'),
  'ui.openExternal': member('call'),
  'registry.list': member('call', 'registry'),
  'backend.invoke': member('call', 'backend'),
  'admin.state': member('call', 'admin.read'),
  'admin.onUpdate': member('sub', 'admin.read'),
  'admin.models.list': member('call', 'admin.read'),
  'admin.secrets.list': member('call', 'admin.read'),
  'uiPrompts.read': member('call', 'prompts'),
  'uiPrompts.onUpdate': member('sub', 'prompts'),
  'uiPrompts.request': member('call', 'prompts'),
  'uiPrompts.respond': member('call', 'prompts'),
  'uiPrompts.open': member('fire', 'prompts'),
  'uiPrompts.close': member('fire', 'prompts'),
  'uiPrompts.toggle': member('fire', 'prompts'),
  'uiPrompts.wait': member('call', 'prompts'),
  'uiPrompts.consume': member('call', 'prompts'),
  'chat.agents.list': member('call', 'chat.own'),
  'chat.agents.ensureDefault': member('call', 'chat.own'),
  'chat.agents.create': member('call', 'chat.own'),
  'chat.agents.update': member('call', 'chat.own'),
  'chat.agents.delete': member('call', 'chat.own'),
  'chat.agents.createForApp': member('call', 'chat.own'),
  'chat.sessions.list': member('call', 'chat.own'),
  'chat.sessions.ensureDefault': member('call', 'chat.own'),
  'chat.sessions.create': member('call', 'chat.own'),
  'chat.messages.list': member('call', 'chat.own'),
  'chat.send': member('call', 'chat.own'),
  'chat.abort': member('call', 'chat.own'),
  'chat.events.subscribe': member('sub', 'chat.own'),
  'chat.events.unsubscribe': member('local'),
} as const satisfies Record<string, Member>;

export type MemberPath = keyof typeof MEMBERS;

/** Words of a refusal, the same in the frame and in the page. */
export function deniedMessage(capability: Capability, pluginId: string): string {
  return `Capability "${capability}" is not granted to ${pluginId}`;
}
