// A coding task with a real language server and a scripted model: a symbol is found, the person agrees to its new name
// with the whole difference in view, the problem is gone, and one press takes all of it back (issue 16).

import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';
import { RESULTS } from './programs';

const PACKAGES = fileURLToPath(new URL('../../../tests/mcp-servers/node_modules', import.meta.url));

const SHAPE = '/** The area of a square. */\nexport function area(side: number): number {\n  return side * side;\n}\n\nexport const unit = area(1);\n';
/** Names what the other file does not have: one problem, which a rename there mends. */
const MAIN = "import { surface } from './shape.js';\n\nexport const total: number = surface(2) + surface(3);\n";

/** A small project, and the language server that the tests of servers install. */
function project(host: Host): void {
  const program = join(PACKAGES, '.bin/typescript-language-server');
  if (!existsSync(program)) throw new Error('typescript-language-server is not installed; run: cargo xtask ci --only packages');
  const tsserver = { path: join(realpathSync(join(PACKAGES, 'typescript')), 'lib') };
  const own = { servers: { typescript: { command: realpathSync(program), args: ['--stdio'], initializationOptions: { tsserver } } } };
  writeFileSync(join(host.home, 'state/lsp-servers.json'), JSON.stringify(own));
  mkdirSync(join(host.home, 'src'), { recursive: true });
  writeFileSync(join(host.home, 'tsconfig.json'), '{"compilerOptions":{"strict":true,"module":"nodenext","target":"es2022"},"include":["src"]}');
  writeFileSync(join(host.home, 'package.json'), '{"type":"module"}');
  writeFileSync(join(host.home, 'src/shape.ts'), SHAPE);
  writeFileSync(join(host.home, 'src/main.ts'), MAIN);
}

const read = (host: Host, path: string) => readFileSync(join(host.home, path), 'utf8');

describe('code through a language server', () => {
  test('a symbol is found and renamed, its problem goes away, and all of it is undone', async ({ ownHost, open }) => {
    const host = await ownHost();
    project(host);
    const models = await ModelServer.start('');
    onTestFinished(() => models.stop());
    const steps = [
      { tool: 'lsp_get_diagnostics', args: { path: 'src/main.ts', wait_ms: 30_000 } },
      { tool: 'lsp_references', args: { path: 'src/shape.ts', symbol: 'area' } },
      { tool: 'lsp_rename', args: { path: 'src/shape.ts', symbol: 'area', new_name: 'surface', apply: true } },
      { tool: 'lsp_get_diagnostics', args: { path: 'src/main.ts', wait_ms: 30_000 } },
      { tool: 'edit_file', args: { path: 'src/main.ts', old_string: 'surface(3)', new_string: "surface('3')" } },
    ];
    const told: string[] = [];
    models.decide = (body) => {
      const last = lastOf(body);
      if (last.role === 'tool') told.push(last.text);
      const step = steps[body.messages?.filter(({ role }) => role === 'tool').length ?? 0];
      return step === undefined ? { text: 'The name is mended.' } : { call: step };
    };
    const model = await host.api<{ id: string }>('POST', 'models', { name: 'Coder', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
    const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Coder', mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
    const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'Code', modelId: model.id, agentId: agent.id });
    const page = await open({ host, at: `#/chat/${id}`, bypassCSP: true });
    await page.getByLabel('Message', { exact: true }).fill('Mend the name');
    await page.keyboard.press('Enter');

    // What is approved is what is in view: the whole difference, of every file.
    const rename = page.locator('[data-tool="lsp_rename"]');
    await rename.getByText('Wants to rename').waitFor({ timeout: 60_000 });
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await approve.waitFor();
    await page.locator('.added', { hasText: 'export function surface(side' }).first().waitFor();
    expect(read(host, 'src/shape.ts')).toBe(SHAPE);
    await page.screenshot({ path: join(RESULTS, 'language-question.png') });
    await approve.click();

    // A later edit by another tool is told what the running server thinks of it.
    await page.locator('[data-tool="edit_file"]').getByText('Wants to edit').waitFor({ timeout: 60_000 });
    await approve.click();
    await page.getByText('The name is mended.', { exact: true }).waitFor({ timeout: 60_000 });
    expect(read(host, 'src/shape.ts')).toBe(SHAPE.replaceAll('area(', 'surface('));
    expect(told[0]).toMatch(/src\/main\.ts:1:10 error typescript \[\d+\]: .*surface/);
    expect(told[1]).toContain('src/shape.ts:6:21');
    expect(told[2]).toContain('changed 1 file(s)');
    expect(told[3]).toContain('no problems');
    expect(told[4]).toMatch(/\[typescript\] src\/main\.ts: 1 problems\nsrc\/main\.ts:3:\d+ error typescript \[2345\]/);

    await rename.getByText('Renamed').waitFor();
    await rename.getByRole('button').first().click();
    await rename.locator('.added', { hasText: 'surface' }).first().waitFor();
    await page.screenshot({ path: join(RESULTS, 'language-cards.png'), fullPage: true });
    expect(await violations(page)).toEqual([]);

    await page.getByRole('link', { name: 'Changed files' }).last().click();
    await page.locator('[data-filter="runId"]').waitFor();
    await page.locator('li', { hasText: 'lsp_bridge · lsp_apply_text_edits' }).first().waitFor();
    await page.getByRole('button', { name: 'Undo this run…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo 2 files' }).click();
    await expect.poll(() => [read(host, 'src/shape.ts'), read(host, 'src/main.ts')]).toEqual([SHAPE, MAIN]);

    // The page of the server says which language servers there are and how to get the others.
    await page.evaluate(() => (location.hash = '#/settings/servers/ba246952-8140-4f8e-ab46-33757b209585'));
    await page.locator('[data-language="typescript"][data-running="true"]').getByText('Running').waitFor();
    await page.getByText(/^\d+ not installed$/).click();
    await page.locator('[data-language="csharp"]').getByText('dotnet tool install').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.screenshot({ path: join(RESULTS, 'language-servers.png'), fullPage: true });
  });
});
