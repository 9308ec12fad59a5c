// Pictures that tools return, in a real Chromium: the card shows what a model that sees was sent, and a model that
// cannot see is said to be one, with the way to another (working-day §7).

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CallingModel } from './calling-model';
import { test } from './fixtures';
import type { Host } from './host';

/** A server with one tool that returns a picture of one pixel. */
const SERVER = `
import { createInterface } from 'node:readline';
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const reply = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') reply(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'camera', version: '1' } });
  else if (method === 'tools/list') reply(id, { tools: [{ name: 'screenshot', description: 'Takes one.', inputSchema: { type: 'object', properties: {} } }] });
  else if (method === 'tools/call') reply(id, { content: [{ type: 'text', text: 'Taken.' }, { type: 'image', data: DOT, mimeType: 'image/png' }] });
  else if (id !== undefined) reply(id, {});
});
`;

/** A chat with the camera, answered by this model. */
async function chatWith(host: Host, modelId: string, name: string): Promise<string> {
  const script = join(host.home, 'camera.mjs');
  writeFileSync(script, SERVER);
  const { id } = await host.api<{ id: string }>('POST', 'mcp-servers', { name, argv: [process.execPath, script] });
  const land = await host.api<{ id: string }>('POST', 'land-configs', { name, main: { mcpServers: [{ id, tools: {} }] }, sub: { mcpServers: [] } });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name, mode: 'flow', landConfigId: land.id });
  const session = await host.api<{ id: string }>('POST', 'sessions', { title: name, modelId, agentId: agent.id });
  return session.id;
}

test('the card shows the picture the model saw; a model that cannot see is said to be one', async ({ host, open }) => {
  const model = await CallingModel.start('screenshot', {});
  try {
    const modelId = await model.addTo(host, false, true);
    const seeing = await chatWith(host, modelId, 'camera');
    const page = await open({ at: `#/chat/${seeing}` });
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('Take one');
    await box.press('Enter');
    await page.getByText('The tool said: Taken.').first().waitFor();
    const sent = JSON.stringify(model.asked.at(-1)?.messages);
    expect(sent).toContain('[image image/png, 1×1, 1 KB]');
    expect(sent).toContain('data:image/png;base64,iVBOR');
    await page.locator('[data-tool]').first().getByRole('button').first().click();
    await page.locator('figure img').first().waitFor();
    expect(await page.locator('[data-notice="no_vision"]').count()).toBe(0);

    await host.api('PUT', `models/${modelId}`, { supportsVision: false });
    const blind = await chatWith(host, modelId, 'camera 2');
    const other = await open({ at: `#/chat/${blind}` });
    const field = other.getByRole('textbox', { name: 'Message' });
    await field.fill('Take one');
    await field.press('Enter');
    const notice = other.locator('[data-notice="no_vision"]');
    await notice.getByText('cannot see pictures').waitFor();
    expect(JSON.stringify(model.asked.at(-1)?.messages)).not.toContain('image_url');
    await notice.getByRole('link', { name: 'Choose a model that sees' }).click();
    await expect.poll(() => other.url()).toContain('#/agents/models');
  } finally {
    await model.stop();
  }
});
