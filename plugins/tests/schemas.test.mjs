// The JSON Schemas of plugin.json and ai.yaml against manifests the parser of the program was tried with, too.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

import { pluginsDir } from './support.mjs';

// The validator the official MCP client brings along.
const require = createRequire(createRequire(import.meta.url).resolve('@modelcontextprotocol/sdk/client/index.js'));
const Ajv = require('ajv/dist/2020').default;

const read = async (...parts) => JSON.parse(await readFile(join(pluginsDir, '..', ...parts), 'utf8'));
const compile = async (name) => new Ajv({ strict: false, allErrors: true }).compile(await read('docs', 'schemas', name));

test('the schema of plugin.json says what the parser says', async () => {
  const validate = await compile('plugin.schema.json');
  const { good, bad } = await read('crates', 'chatos-manifest', 'tests', 'fixtures', 'manifests.json');
  for (const manifest of good) assert.ok(validate(manifest), `${JSON.stringify(manifest)}: ${JSON.stringify(validate.errors)}`);
  for (const manifest of bad) assert.ok(!validate(manifest), `accepted: ${JSON.stringify(manifest)}`);
});

test('built-in manifests and templates fit it', async () => {
  const validate = await compile('plugin.schema.json');
  const values = { __PLUGIN_ID__: 'com.example.a', __PLUGIN_NAME__: 'A', __APP_ID__: 'app', __VERSION__: '0.1.0', __DESCRIPTION__: 'd' };
  for (const folder of ['com.chatos.notes', 'com.chatos.taskboard', 'com.chatos.explorer', ...['basic', 'notepad', 'async-task', 'server-only'].map((name) => join('templates', name))]) {
    const text = await readFile(join(pluginsDir, folder, 'plugin.json'), 'utf8');
    const manifest = JSON.parse(text.replace(/__[A-Z_]+__/gu, (word) => values[word]));
    assert.ok(validate(manifest), `${folder}: ${JSON.stringify(validate.errors)}`);
  }
});

test('a config file may say what `ai` says, and names no other file', async () => {
  const validate = await compile('ai.schema.json');
  assert.ok(validate({ mcp: { entry: 'mcp.mjs' }, mcpPrompt: { zh: 'zh.md' }, mcpServers: ['task_manager'] }));
  assert.ok(!validate({ config: 'more.yaml' }));
  assert.ok(!validate({ mcp: { command: 'node' } }));
});
