// The manifests: every path exists, every feature of plugin.json is used by one of them, copies are copies.

import assert from 'node:assert/strict';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { parse as parseYaml } from 'yaml';

import { pluginPath, pluginsDir } from './support.mjs';

const IDS = ['com.chatos.notes', 'com.chatos.taskboard'];
const EXPLORER = 'com.chatos.explorer';

async function manifest(id) {
  return JSON.parse(await readFile(pluginPath(id, 'plugin.json'), 'utf8'));
}

/** The `ai` of an app with its config file merged in, inline winning. */
async function aiOf(id, app) {
  const inline = typeof app.ai === 'string' ? { config: app.ai } : (app.ai ?? {});
  if (!inline.config) return inline;
  const text = await readFile(pluginPath(id, inline.config), 'utf8');
  return { ...(inline.config.endsWith('.json') ? JSON.parse(text) : parseYaml(text)), ...inline };
}

function entryPaths(app) {
  const entry = typeof app.entry === 'string' ? { path: app.entry } : app.entry;
  const compact = typeof entry.compact === 'string' ? entry.compact : entry.compact?.path;
  return [entry.path, compact].filter(Boolean);
}

function promptPaths(prompt) {
  if (typeof prompt === 'string') return [prompt];
  return [prompt?.zh, prompt?.en].map((source) => (typeof source === 'string' ? source : source?.path)).filter(Boolean);
}

for (const id of [...IDS, EXPLORER]) {
  test(`${id}: folder, id and every path agree`, async () => {
    const plugin = await manifest(id);
    assert.equal(plugin.id, id);
    const paths = [plugin.backend.entry];
    for (const app of plugin.apps) {
      const ai = await aiOf(id, app);
      paths.push(...entryPaths(app), ...promptPaths(ai.mcpPrompt), ...(ai.mcp?.entry ? [ai.mcp.entry] : []));
      if (typeof app.ai === 'string') paths.push(app.ai);
      if (app.icon.includes('/')) paths.push(app.icon);
    }
    for (const path of paths) {
      assert.ok(!path.startsWith('/') && !path.includes('..'), path);
      assert.ok((await stat(pluginPath(id, path))).isFile(), path);
    }
  });

  test(`${id}: nothing is imported that the folder does not hold`, async () => {
    const files = await readdir(pluginPath(id), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.mjs'))) {
      const text = await readFile(pluginPath(id, file), 'utf8');
      for (const [, specifier] of text.matchAll(/from '([^']+)'/gu)) {
        // `common/ui/` is what the host gives to pages (sdk/ui.d.ts).
        assert.ok(specifier.startsWith('node:') || specifier.startsWith('.'), `${file} imports ${specifier}`);
        if (specifier.startsWith('.') && !specifier.includes('/common/ui/')) {
          assert.ok((await stat(join(pluginPath(id, file), '..', specifier))).isFile(), `${file} imports ${specifier}`);
        }
      }
    }
  });
}

for (const id of IDS) {
  test(`${id}: pages export mount, the backend its factory`, async () => {
    const plugin = await manifest(id);
    for (const path of plugin.apps.flatMap(entryPaths)) {
      const module = await import(pluginPath(id, path));
      const mount = module.mount ?? module.default?.mount ?? module.default;
      assert.equal(typeof mount, 'function', path);
    }
    const backend = await import(pluginPath(id, plugin.backend.entry));
    assert.equal(typeof backend.createUiAppsBackend, 'function');
  });
}

test('the explorer knows every member of the Host API, and every token', async () => {
  const { members } = await import(pluginPath(EXPLORER, 'explorer', 'members.mjs'));
  const { tokenNames } = await import(pluginPath(EXPLORER, 'explorer', 'tokens.mjs'));
  const table = await readFile(new URL('../../ui/src/frame/members.ts', import.meta.url), 'utf8');
  const known = [...table.matchAll(/^ {2}'([A-Za-z.]+)': member\(/gmu)].map(([, path]) => path);
  assert.ok(known.length > 30);
  assert.deepEqual(members.map((member) => member.path).sort(), known.sort());
  const tokens = await readFile(new URL('../../ui/src/theme/tokens.css', import.meta.url), 'utf8');
  assert.equal(tokenNames.length, 50);
  for (const name of tokenNames) assert.ok(tokens.includes(`${name}:`), name);
});

test('shared files are the same in both plugins', async () => {
  const dom = (id) => readFile(pluginPath(id, 'lib', 'dom.mjs'), 'utf8');
  assert.equal(await dom(EXPLORER), await dom(IDS[0]));
  for (const file of ['mcp.mjs', 'schema.mjs', 'files.mjs', 'dom.mjs']) {
    const [a, b] = await Promise.all(IDS.map((id) => readFile(pluginPath(id, 'lib', file), 'utf8')));
    assert.equal(a, b, file);
  }
});

test('together they use every feature of the manifest', async () => {
  const used = new Set();
  const note = (condition, feature) => condition && used.add(feature);
  const exposure = (key, value) => {
    note(value === true, `${key} true`);
    note(value === false, `${key} false`);
    note(Array.isArray(value), `${key} list`);
  };
  for (const id of IDS) {
    const plugin = await manifest(id);
    for (const key of ['manifestVersion', 'version', 'description', 'backend', 'homepage', 'license', 'capabilities']) {
      note(plugin[key] !== undefined, key);
    }
    note(typeof plugin.publisher === 'string', 'publisher string');
    note(typeof plugin.publisher === 'object', 'publisher object');
    for (const app of plugin.apps) {
      note(app.icon.endsWith('.svg'), 'icon file');
      note(!app.icon.includes('/'), 'icon text');
      note(typeof app.entry === 'string', 'entry string');
      note(app.entry.type === 'module', 'entry object');
      note(typeof app.entry.compact === 'string', 'compact string');
      note(app.entry.compact?.type === 'module', 'compact object');
      note(typeof app.ai === 'string', 'ai path');
      note(app.ai?.config && Object.keys(app.ai).length > 1, 'ai config and inline');
      note(app.ai && typeof app.ai === 'object' && !app.ai.config, 'ai inline');
      const ai = await aiOf(id, app);
      for (const key of ['entry', 'url', 'command', 'args', 'callMeta', 'description', 'tags', 'enabled', 'allowMain', 'allowSub', 'auth']) {
        note(ai.mcp?.[key] !== undefined, `mcp.${key}`);
      }
      note(ai.mcp?.callMeta?.asyncTask, 'asyncTask');
      note(ai.mcp?.callMeta?.cancelTool, 'cancelTool');
      for (const variable of JSON.stringify(ai.mcp?.callMeta ?? {}).match(/\$[A-Za-z]+/gu) ?? []) used.add(variable);
      note(typeof ai.mcpPrompt === 'string', 'mcpPrompt string');
      note(ai.mcpPrompt?.title, 'mcpPrompt title');
      note(typeof ai.mcpPrompt?.zh === 'string', 'mcpPrompt path string');
      note(ai.mcpPrompt?.en?.path, 'mcpPrompt path object');
      note(ai.mcpPrompt?.en?.content, 'mcpPrompt content');
      note(ai.agent, 'agent');
      exposure('mcpServers', ai.mcpServers);
      exposure('prompts', ai.prompts);
    }
  }
  const wanted = [
    'manifestVersion', 'version', 'description', 'backend', 'homepage', 'license', 'capabilities',
    'publisher string', 'publisher object', 'icon file', 'icon text', 'entry string', 'entry object', 'compact string',
    'compact object', 'ai path', 'ai config and inline', 'ai inline', 'mcp.entry', 'mcp.url', 'mcp.command', 'mcp.args',
    'mcp.callMeta', 'mcp.description', 'mcp.tags', 'mcp.enabled', 'mcp.allowMain', 'mcp.allowSub', 'mcp.auth', 'asyncTask',
    'cancelTool', '$pluginId', '$appId', '$pluginDir', '$dataDir', '$stateDir', '$sessionRoot', '$projectRoot',
    'mcpPrompt string', 'mcpPrompt title', 'mcpPrompt path string', 'mcpPrompt path object', 'mcpPrompt content', 'agent',
    'mcpServers true', 'mcpServers false', 'mcpServers list', 'prompts true', 'prompts false', 'prompts list',
  ];
  assert.deepEqual(wanted.filter((feature) => !used.has(feature)), []);
});

test('default lists name an app of ours and hold only lists', async () => {
  const files = (await readdir(`${pluginsDir}/ui-apps-expose`)).filter((name) => !name.endsWith('.md'));
  assert.ok(files.length > 0);
  for (const file of files) {
    const [pluginId, appId] = file.replace(/\.(ya?ml|json)$/u, '').split('__');
    const plugin = await manifest(pluginId);
    const app = plugin.apps.find((other) => other.id === appId);
    assert.ok(app, file);
    assert.equal(app.ai.mcpServers, true, 'a list without the switch would never count');
    const lists = parseYaml(await readFile(`${pluginsDir}/ui-apps-expose/${file}`, 'utf8'));
    assert.deepEqual(Object.keys(lists).sort(), ['mcpServers', 'prompts']);
    for (const list of Object.values(lists)) assert.ok(list.every((name) => typeof name === 'string' && name === name.trim()));
  }
});
