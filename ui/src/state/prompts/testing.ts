// Prompts for unit tests, as the host would send them.

import type { WireObject } from '../../protocol';
import type { PromptView } from '../../protocol/wire';
import { type PromptItem, readItem } from './item';

export function wire(prompt: WireObject, more: Partial<PromptView> = {}): PromptView {
  const kind = typeof prompt['kind'] === 'string' ? prompt['kind'] : null;
  return {
    requestId: 'r1',
    runId: null,
    sessionId: null,
    client: null,
    used: false,
    ts: '2026-01-11T00:00:00.000Z',
    kind,
    class: 'served',
    owner: 'user',
    source: 'test',
    title: null,
    state: 'pending',
    needsYou: kind !== 'result',
    prompt: prompt as PromptView['prompt'],
    partial: false,
    metadataOnly: false,
    problem: null,
    raw: null,
    warnings: [],
    shown: 'sha256:1',
    shownRequired: false,
    effect: null,
    card: null,
    expiresAt: null,
    plainSecrets: false,
    canDecline: false,
    answer: null,
    ignoredResponses: 0,
    foreignResponses: 0,
    positions: { request: 0, response: null },
    ...more,
  };
}

export function item(prompt: WireObject, more: Partial<PromptView> = {}): PromptItem {
  const read = readItem(wire(prompt, more));
  if (!read) throw new Error('not an item');
  return read;
}
