// What the page concludes about apps from the listing.

import { describe, expect, test } from 'vitest';
import { offersSomething } from './plugins.svelte';

describe('what an app has for agents', () => {
  const ai = { mcp: null, mcpPrompt: null, mcpServers: null, prompts: null };
  test.each([
    [null, false],
    [ai, false],
    [{ ...ai, mcpServers: false, prompts: [] }, false],
    [{ ...ai, mcpServers: true }, true],
    [{ ...ai, prompts: ['default'] }, true],
    [{ ...ai, mcp: { name: 'x' } }, true],
    [{ ...ai, mcpPrompt: { title: 'x' } }, true],
  ])('%j', (given, expected) => expect(offersSomething({ ai: given } as never)).toBe(expected));
});
