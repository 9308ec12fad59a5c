// Views of MCP servers (`ui://`) in a real Chromium, with a real server in Node as the other side (issue 8; mcp
// "apps"): by hand on the page of the server, and in a chat whose model calls the tool.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Frame, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { CONFINES, without } from './app-plugins';
import { CallingModel } from './calling-model';
import { Ears } from './ears';
import { test } from './fixtures';
import type { Host } from './host';

const SERVER = fileURLToPath(new URL('./view-server.mjs', import.meta.url));

interface Added {
  id: string;
  calls: () => string[];
}

async function added(host: Host, name: string): Promise<Added> {
  const file = join(host.home, `${name}.log`);
  writeFileSync(file, '');
  const { id } = await host.api<{ id: string }>('POST', 'mcp-servers', { name, argv: [process.execPath, SERVER, file] });
  return { id, calls: () => readFileSync(file, 'utf8').split('\n').filter((line) => line !== '') };
}

interface ViewGlobal {
  view: { request: (method: string, params: unknown) => Promise<unknown>; notify: (method: string, params: unknown) => void; heard: string[]; input: unknown; result: unknown; layout?: unknown; init: Record<string, unknown> };
}

async function viewOf(page: Page): Promise<Frame> {
  await page.locator('[data-view][data-ready="true"]').last().waitFor();
  const frame = await (await page.locator('[data-view] iframe').last().elementHandle())?.contentFrame();
  if (!frame) throw new Error('the view has no frame');
  return frame;
}

/** Asks in the view's own name; a refusal as its words. */
function ask(frame: Frame, method: string, params: unknown): Promise<unknown> {
  return frame.evaluate(
    ({ method: name, params: given }) => (globalThis as unknown as ViewGlobal).view.request(name, given).catch((error: Error & { code?: number }) => `${error.code} ${error.message}`),
    { method, params },
  );
}

async function byHand(page: Page, id: string): Promise<Frame> {
  await page.evaluate((hash) => (location.hash = hash), `#/settings/servers/${id}/tools/weather`);
  await page.getByLabel(/^city/).fill('Bern');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  return viewOf(page);
}

describe.each(['plugin', 'fallback'] as const)('in the %s mode', (mode) => {
  test('a view shows the result of its tool, and reaches its own server and nothing else', async ({ host, open }) => {
    const { id, calls } = await added(host, `weather-${mode}`);
    const page = await open({ at: '#/tasks', expectConsole: /./ });
    if (mode === 'fallback') await page.route('http://p-probe.localhost:*/**', (route) => route.abort());
    const frame = await byHand(page, id);
    await frame.getByRole('heading', { name: 'Bern: 21°' }).waitFor();
    expect(calls()[0]).toContain('io.modelcontextprotocol/ui');
    const told = await frame.evaluate(() => {
      const { init, input, result, heard } = (globalThis as unknown as ViewGlobal).view;
      return { origin: self.origin, init, input, result, heard };
    });
    if (mode === 'fallback') expect(told.origin).toBe('null');
    else expect(told.origin).toMatch(/^http:\/\/p-[0-9a-f]{20}\.localhost:\d+$/);
    expect(told.input).toEqual({ city: 'Bern' });
    expect(told.result).toMatchObject({ content: [{ type: 'text', text: 'Sunny in Bern' }, { type: 'image', mimeType: 'image/png' }], structuredContent: { city: 'Bern', degrees: 21 }, isError: false });
    expect(told.heard.slice(0, 2)).toEqual(['ui/notifications/tool-input', 'ui/notifications/tool-result']);
    expect(told.init).toMatchObject({ protocolVersion: '2026-01-26', hostInfo: { name: 'chatos' }, hostContext: { theme: 'light', displayMode: 'inline', toolInfo: { tool: { name: 'weather' } } }, hostCapabilities: { serverTools: {}, openLinks: {} } });
    // A picture of the result comes with its bytes, which the view itself could not have read.
    await expect.poll(() => frame.locator('#dot').evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
    // It grew to the size it said.
    await expect.poll(() => page.locator('[data-view] iframe').evaluate((element) => element.clientHeight)).toBe(220);

    await frame.getByRole('button', { name: 'Refresh' }).click();
    await frame.getByText('23 now').waitFor();
    expect(calls()).toContain('call refresh {}');
    expect(await ask(frame, 'resources/read', { uri: 'data://facts' })).toMatchObject({ contents: [{ text: 'water is wet' }] });
    expect(await ask(frame, 'ping', {})).toEqual({});
    expect(await ask(frame, 'ui/request-display-mode', { mode: 'pip' })).toEqual({ mode: 'inline' });
    expect(await ask(frame, 'ui/request-display-mode', {})).toBe('-32602 mode is required');
    expect(await ask(frame, 'ui/update-model-context', { content: [] })).toMatch(/no chat here/);
    expect(told.init['hostCapabilities']).not.toHaveProperty('updateModelContext');

    // Not what is for models, not what is not there, not other servers, not in odd forms.
    const before = calls().length;
    expect(JSON.stringify(await ask(frame, 'tools/call', { name: 'secret_plan', arguments: {} }))).toMatch(/may not be called by a view/);
    expect(await ask(frame, 'tools/call', { name: 'no_such', arguments: {} })).toMatch(/has no tool/);
    expect(await ask(frame, 'tools/call', { name: 'read_file', server: 'project_files', arguments: { path: 'x' } })).toMatch(/has no tool/);
    expect(await ask(frame, 'tools/call', { arguments: {} })).toBe('-32602 name is required');
    expect(await ask(frame, 'tools/call', { name: 'refresh', arguments: [] })).toBe('-32602 arguments must be an object');
    expect(await ask(frame, 'sampling/createMessage', {})).toMatch(/^-32601 /);
    expect(await ask(frame, 'ui/open-link', { url: 'javascript:alert(1)' })).toMatch(/only http, https and mailto/);
    expect(await ask(frame, 'ui/open-link', { url: 'file:///etc/passwd' })).toMatch(/only http, https and mailto/);
    expect(await ask(frame, 'ui/message', { role: 'user', content: { type: 'text', text: 'hi' } })).toMatch(/no chat here/);
    expect(calls().length).toBe(before);

    // A link is the person's decision.
    await frame.getByRole('button', { name: 'Open link' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('https://example.com/forecast?city=x').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await frame.getByText('Link opening denied by user').waitFor();

    // The page around it, the network, other windows.
    const tried = await frame.evaluate(async (api) => {
      const attempt = async (work: () => unknown) => {
        try {
          return `got ${String(await work())}`;
        } catch (error) {
          return (error as Error).name;
        }
      };
      return {
        parent: await attempt(() => parent.document.title),
        token: await attempt(() => parent.sessionStorage.getItem('chatos.token')),
        api: await attempt(() => fetch(`${api}status`)),
        asked: await attempt(() => fetch('https://api.example.com/')),
        eval: await attempt(() => document.createElement('script')),
      };
    }, new URL('/api/v1/', host.url).href);
    expect(tried).toMatchObject({ parent: 'SecurityError', token: 'SecurityError', api: 'TypeError', asked: 'TypeError' });

    // The theme changes without a reload.
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => frame.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');

    // What leaves its page is closed.
    await frame.evaluate(() => location.reload()).catch(() => undefined);
    await page.getByText('This view tried to leave its page and was closed.').waitFor();
    expect(await page.locator('[data-view] iframe').count()).toBe(0);
  });
});

describe.each(['plugin', 'fallback'] as const)('in the %s mode', (mode) => {
  test('a view has no way out: no WebRTC, no window; a link asks the person', async ({ host, open }) => {
    const { id } = await added(host, `weather-out-${mode}`);
    const ears = await Ears.open();
    try {
      // `free`: the same view without the header, which proves that the listeners would have heard.
      for (const free of [false, true]) {
        const page = await open({ at: '#/tasks', expectConsole: /./ });
        await page.addInitScript(() => {
          if (top !== self && 'RTCPeerConnection' in globalThis) (globalThis as unknown as { kept: unknown }).kept = { RTCPeerConnection };
        });
        if (mode === 'fallback') await page.route('http://p-probe.localhost:*/**', (route) => route.abort());
        await page.reload();
        await page.getByRole('navigation').first().waitFor();
        if (free) await without(page, [CONFINES]);
        const frame = await byHand(page, id);
        // The first script of the page is the host's, and it takes nothing else from the view.
        expect(await frame.evaluate(() => [typeof RTCPeerConnection, String(window.open('https://example.com/')), document.compatMode])).toEqual(['undefined', 'null', 'CSS1Compat']);
        expect(await page.getByRole('dialog').count()).toBe(0);
        await frame.evaluate(async (udp) => {
          const { RTCPeerConnection: Peer } = (globalThis as unknown as { kept: { RTCPeerConnection: typeof RTCPeerConnection } }).kept;
          const peer = new Peer({ iceServers: [{ urls: `turn:127.0.0.1:${udp}?transport=udp`, username: 'from-a-view', credential: 'x' }] });
          peer.createDataChannel('x');
          await peer.setLocalDescription(await peer.createOffer());
          await new Promise((resolve) => setTimeout(resolve, 1_500));
        }, ears.ports.udp).catch(() => undefined);
        expect([free, ears.udp.some((line) => line.includes('from-a-view'))]).toEqual([free, free]);
        if (!free) {
          expect(ears.all).toEqual([]);
          await frame.evaluate(() => document.body.insertAdjacentHTML('afterbegin', '<a href="https://docs.example.com/a?b=c" target="_blank">More</a>'));
          await frame.getByRole('link', { name: 'More' }).click();
          const dialog = page.getByRole('dialog', { name: `weather-out-${mode} wants to open a link` });
          expect((await dialog.locator('.text').innerText()).replaceAll('\n', '')).toBe('https://docs.example.com/a?b=c');
          await dialog.getByRole('button', { name: 'Cancel' }).click();
        }
        await page.close();
      }
    } finally {
      await ears.close();
    }
  });
});

test('hosts a view asks for are named, and reached only when a person allows them', async ({ host, open }) => {
  const { id } = await added(host, 'weather-hosts');
  const page = await open({ at: '#/tasks' });
  await byHand(page, id);
  const address = async () => (await page.locator('[data-view] iframe').getAttribute('src')) ?? '';
  await page.getByText('https://api.example.com').waitFor();
  const first = await address();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect.poll(address).not.toBe(first);
  await viewOf(page);
  // A page without the hosts cannot be read from outside the browser; the answers say their policy.
  const seen: string[] = [];
  page.on('response', (response) => {
    if (response.url().includes('/view/')) seen.push(response.headers()['content-security-policy'] ?? '');
  });
  await page.getByRole('button', { name: 'Reload view' }).click();
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  expect(seen[0]).toContain('connect-src https://api.example.com;');
  expect(seen[0]).toContain("default-src 'none'");
});

test('a page that is none says so; the tool still has its text', async ({ host, open }) => {
  const { id } = await added(host, 'weather-broken');
  const page = await open({ at: '#/tasks', expectConsole: /503/ });
  await page.evaluate((hash) => (location.hash = hash), `#/settings/servers/${id}/tools/broken`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('[data-view]').getByText('can be shown').waitFor();
  await page.getByText('refreshed').first().waitFor();
});

test('in a chat: the card shows the view; what it says as the person is asked for first', async ({ host, open }) => {
  const { id, calls } = await added(host, 'weather');
  const model = await CallingModel.start('weather', { city: 'Oslo' });
  try {
    const modelId = await model.addTo(host);
    const land = await host.api<Record<string, unknown> & { id: string; main: { mcpServers: object[] } }>('POST', 'land-configs/lc_safe_default/copy', { name: 'With weather' });
    await host.api('PUT', `land-configs/${land.id}`, { ...land, main: { ...land.main, mcpServers: [...land.main.mcpServers, { id }] } });
    const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Weather agent', mode: 'custom', landConfigId: land.id });
    const session = await host.api<{ id: string }>('POST', 'sessions', { title: 'Weather', modelId, agentId: agent.id });
    const page = await open({ at: `#/chat/${session.id}` });
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('How is the weather?');
    await box.press('Enter');
    const frame = await viewOf(page);
    await frame.getByRole('heading', { name: 'Oslo: 21°' }).waitFor();
    // What is for views only was not offered to the model.
    expect(model.offered.some((name) => name.endsWith('refresh'))).toBe(false);
    expect(model.offered.some((name) => name.endsWith('weather'))).toBe(true);
    await frame.getByRole('button', { name: 'Refresh' }).click();
    await frame.getByText('23 now').waitFor();
    expect(calls()).toContain('call refresh {}');
    await page.getByText('The tool said:').first().waitFor();

    // What it says to the model is shown, can be left out, and goes with the next message only.
    for (const odd of [{ content: 'text' }, { content: [{ type: 'audio' }] }, { structuredContent: [1] }, { content: [{ type: 'text', text: 'x'.repeat(16_385) }] }, { content: [{ type: 'image', mimeType: 'image/svg+xml', data: 'AAAA' }] }]) {
      expect(await ask(frame, 'ui/update-model-context', odd)).toMatch(/^-32602 /);
    }
    const notes = page.locator('[data-note="weather"]');
    await frame.getByRole('button', { name: 'Tell the model' }).click();
    await notes.getByText('weather shares what its view shows').click();
    await notes.getByText('The person looks at Tuesday.').waitFor();
    await notes.getByRole('button', { name: 'Don’t share what weather shows' }).click();
    await notes.waitFor({ state: 'detached' });
    await frame.getByRole('button', { name: 'Tell the model' }).click();
    await frame.getByRole('button', { name: 'Tell the model' }).click();
    await expect.poll(() => notes.count()).toBe(1);
    expect(await ask(frame, 'ui/update-model-context', {})).toEqual({});
    await notes.waitFor({ state: 'detached' });
    await frame.getByRole('button', { name: 'Tell the model' }).click();
    await notes.waitFor();

    // It fills the window after a click, under the host's own line, and Escape leads back without loading it anew.
    await frame.evaluate(() => ((globalThis as unknown as { mark: number }).mark = 7));
    await frame.getByRole('button', { name: 'Larger' }).click();
    const area = page.locator('[data-view]').last();
    await expect.poll(() => area.getAttribute('data-mode')).toBe('fullscreen');
    const box2 = await area.boundingBox();
    expect([box2?.x, box2?.y, box2?.width, box2?.height]).toEqual([0, 0, page.viewportSize()?.width, page.viewportSize()?.height]);
    await expect.poll(() => frame.evaluate(() => (globalThis as unknown as ViewGlobal).view.layout)).toMatchObject({ displayMode: 'fullscreen', containerDimensions: { width: page.viewportSize()?.width } });
    const exit = area.getByRole('button', { name: 'Back to the page (Esc)' });
    await expect.poll(() => exit.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press('Escape');
    await expect.poll(() => area.getAttribute('data-mode')).toBe('inline');
    await area.getByRole('button', { name: 'Full screen' }).click();
    await exit.click();
    await expect.poll(() => area.getAttribute('data-mode')).toBe('inline');
    expect(await frame.evaluate(() => (globalThis as unknown as { mark: number }).mark)).toBe(7);

    await frame.getByRole('button', { name: 'Ask the agent' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('And tomorrow?').waitFor();
    await dialog.getByRole('button', { name: 'Send' }).click();
    await frame.getByText('asked', { exact: true }).waitFor();
    await expect.poll(async () => JSON.stringify(await host.api('GET', `sessions/${session.id}/messages`))).toContain('And tomorrow?');
    // The model read what the view said, as the server's words; the chip is gone and the name of it stays.
    await expect.poll(() => JSON.stringify(model.asked.at(-1)?.messages)).toContain('The person looks at Tuesday.');
    expect(JSON.stringify(model.asked.at(-1)?.messages)).toContain('not of the person');
    expect(await notes.count()).toBe(0);
    await page.getByText('weather (view).txt').first().waitFor();
  } finally {
    await model.stop();
  }
});
