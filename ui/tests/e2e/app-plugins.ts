// Apps for the tests: put a plugin on disk, trust it as a person would have, open it, and get its frame.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Frame, Page } from 'playwright-core';
import type {} from '../../../sdk/host';
import type { Host } from './host';
import { type Files, writeFolder } from './packages';

const APPS = fileURLToPath(new URL('./apps/', import.meta.url));

/** The files of one of the plugins in tests/e2e/apps. */
export function appFiles(name: string): Files {
  const root = join(APPS, name);
  const names = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(names.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(root.length + 1), readFileSync(path, 'utf8')];
  }));
}

/** A plugin with one app whose module is this text. */
export function oneApp(id: string, module: string, more: { files?: Files; manifest?: Record<string, unknown>; compact?: string } = {}): Files {
  const entry = { type: 'module', path: 'app/index.mjs', ...(more.compact === undefined ? {} : { compact: { type: 'module', path: 'app/compact.mjs' } }) };
  const manifest = { manifestVersion: 1, id, name: id, version: '1.0.0', apps: [{ id: 'app', name: `App of ${id}`, entry }], ...more.manifest };
  return {
    'plugin.json': JSON.stringify(manifest),
    'app/index.mjs': module,
    ...(more.compact === undefined ? {} : { 'app/compact.mjs': more.compact }),
    ...more.files,
  };
}

export function pluginFolder(host: Host, id: string): string {
  return join(host.ready.stateDir, 'ui_apps', 'plugins', id);
}

interface Details {
  digest: string;
  plugin: { trust: { state: string } };
}

/** Writes the files where installed plugins are, and trusts exactly them. */
export async function install(host: Host, files: Files): Promise<string> {
  const { id } = JSON.parse(files['plugin.json'] ?? '{}') as { id: string };
  writeFolder(pluginFolder(host, id), files);
  await trust(host, id);
  return id;
}

export async function trust(host: Host, id: string): Promise<void> {
  await host.api('POST', 'plugins/refresh', { deep: true });
  const { digest } = await host.api<Details>('GET', `plugins/${id}`);
  await host.api('POST', `plugins/${id}/trust`, { digest, allowInsideNetwork: false });
}

/** Allows what reaches beyond a plugin, as a person does on its page. */
export async function allow(host: Host, pluginId: string, ...capabilities: string[]): Promise<void> {
  for (const capability of capabilities) await host.api('PUT', 'grants', { pluginId, capability, state: 'granted' });
}

/** Goes to an app and waits until it is mounted. */
export async function openApp(page: Page, pluginId: string, appId = 'app'): Promise<Frame> {
  await page.evaluate((hash) => (location.hash = hash), `#/apps/plugin/${pluginId}/${appId}`);
  return frameOf(page, pluginId, appId);
}

export async function frameOf(page: Page, pluginId: string, appId = 'app', surface = 'full'): Promise<Frame> {
  await page.locator(`[data-place="${pluginId}/${appId} ${surface}"][data-phase="mounted"]`).waitFor();
  const element = await page.locator(`iframe[data-app="${pluginId}/${appId}"][data-surface="${surface}"]`).elementHandle();
  const frame = await element?.contentFrame();
  if (!frame) throw new Error(`${pluginId}/${appId} has no frame`);
  return frame;
}

/** The header by which the browser confines a frame. */
export const CONFINES = 'connection-allowlist';

/** Takes headers off the pages of frames on their way into the browser, so that it is seen what each of them does. */
export async function without(page: Page, names: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on('Fetch.requestPaused', ({ requestId, responseStatusCode, responseHeaders = [] }) => {
    const kept = responseHeaders.filter(({ name }) => !names.includes(name.toLowerCase()));
    // Answered anew: what the browser has read of the headers of a response that only goes on stays in force.
    const answer = async () => {
      const { body, base64Encoded } = await session.send('Fetch.getResponseBody', { requestId });
      const encoded = base64Encoded ? body : Buffer.from(body).toString('base64');
      await session.send('Fetch.fulfillRequest', { requestId, responseCode: responseStatusCode ?? 200, responseHeaders: kept, body: encoded });
    };
    // A page that is gone meanwhile needs no answer.
    answer().catch(() => undefined);
  });
  const patterns = ['*/__chatos/frame.html?*', '*/view/*'].map((urlPattern) => ({ urlPattern, requestStage: 'Response' as const }));
  await session.send('Fetch.enable', { patterns });
}

/** Asks the page around the frames whether it lives, also after a frame lost its process: the tool then takes the
    whole page for crashed. To be called before that. */
export async function pulse(page: Page): Promise<() => Promise<boolean>> {
  const session = await page.context().newCDPSession(page);
  return async () => {
    const { result } = await session.send('Runtime.evaluate', { expression: "document.querySelector('nav') !== null" });
    return result.value === true;
  };
}
