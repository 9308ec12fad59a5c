// Diagrams of a chat (issue 21, fault 9): drawn in a frame that reaches nothing, shown as pictures, also when they are
// meant to do harm; what cannot be drawn is the code it was written as.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from './axe';
import { test } from './fixtures';
import { CountingModel } from './model';

const fence = (source: string) => `\`\`\`mermaid\n${source}\n\`\`\``;
const FLOW = 'flowchart LR\n  A[Question] --> B{Approved?}\n  B -->|yes| C[Run]\n  B -->|no| D[Note to the agent]';
const TALK = 'sequenceDiagram\n  participant U as You\n  participant A as Agent\n  U->>A: Fix the test\n  A-->>U: Needs your approval\n  Note over U,A: You decide';

async function ask(page: Page): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill('Draw it');
  await page.keyboard.press('Enter');
  await page.locator('[data-row="assistant"]').last().waitFor();
  await expect.poll(() => page.locator('[data-run-state]').count()).toBe(0);
}

const drawn = (page: Page) => page.locator('.drawing img').evaluateAll((all) => (all as HTMLImageElement[]).filter((one) => one.complete && one.naturalWidth > 40).length);

test('diagrams are pictures in the colours of the page, with their source below', async ({ ownHost, open }) => {
  const host = await ownHost();
  const model = await CountingModel.start();
  try {
    model.text = `Two:\n\n${fence(FLOW)}\n\nand\n\n${fence(TALK)}\n\nand one nobody can draw:\n\n${fence('flowchart LR\n  A --')}\n`;
    const page = await open({ host, at: `#/chat/${await model.chatOn(host)}` });
    await ask(page);
    await expect.poll(() => drawn(page)).toBe(2);
    await page.getByText('Couldn’t draw this diagram').waitFor();
    const first = page.locator('.code-block').first();
    expect(await first.locator('pre').isVisible()).toBe(false);
    await first.getByText('Source').click();
    expect(await first.locator('pre').innerText()).toContain('B{Approved?}');
    expect(await page.locator('.code-block').last().locator('pre').innerText()).toContain('A --');

    const light = await first.locator('img').getAttribute('src');
    await page.evaluate(() => (document.documentElement.dataset['theme'] = 'dark'));
    await expect.poll(() => first.locator('img').getAttribute('src').catch(() => light)).not.toBe(light);
    await expect.poll(() => drawn(page)).toBe(2);
    expect(await violations(page)).toEqual([]);
  } finally {
    await model.stop();
  }
});

test('a diagram that wants to run something or to fetch something is only a picture', async ({ ownHost, open }) => {
  const host = await ownHost();
  const model = await CountingModel.start();
  const asked: string[] = [];
  const outside = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'image/png' });
    response.end();
  });
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  const there = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
  try {
    const hostile = [
      `flowchart LR\n  A["<img src=${there}/label onerror=parent.hacked=1>"] --> B["<script>parent.hacked=1</script>x"]\n  click A href "javascript:parent.hacked=1"\n  click B call alert()`,
      `flowchart LR\n  A@{ img: "${there}/shape", label: "picture", w: 60, h: 60 } --> B`,
      `%%{init: {"securityLevel": "loose", "themeCSS": "@import url(${there}/style); * { background: url(${there}/background) }", "fontFamily": "x; } @import url(${there}/font); a {"}}%%\nflowchart LR\n  A --> B`,
      `flowchart LR\n${Array.from({ length: 900 }, (_, n) => `  N${n} --> N${(n * 7) % 900}`).join('\n')}`,
    ];
    model.text = `${hostile.map(fence).join('\n\n')}\n\n${fence(FLOW)}\n`;
    // What the frame's policy refuses is said by the browser.
    const page = await open({ host, at: `#/chat/${await model.chatOn(host)}`, expectConsole: /Content Security Policy|ERR_|@import rules/ });
    await ask(page);
    // The last one is drawn after all others were tried.
    await page.locator('.code-block').last().locator('.drawing img').waitFor({ timeout: 60_000 });
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(asked).toEqual([]);
    expect(await page.locator('main .markdown :is(svg, script, iframe)').count()).toBe(0);
    const frame = page.frames().find((one) => one.url().endsWith('/diagram.html'));
    expect(await frame?.evaluate(() => origin)).toBe('null');
    expect(await frame?.evaluate(async (url) => fetch(url, { mode: 'no-cors' }).then(() => 'reached', () => 'refused'), there)).toBe('refused');
    expect(asked).toEqual([]);
  } finally {
    outside.close();
    await model.stop();
  }
});
