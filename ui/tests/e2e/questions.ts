// Asking and looking up prompts from outside the page, as programs do.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Host } from './host';

type Json = Record<string, unknown>;

export interface Closed {
  state: string;
  answer: { status: string; by: string | null; response: Json } | null;
  foreignResponses: number;
}

/** Asks through the API: a served prompt. */
export async function ask(host: Host, prompt: Json, requestId?: string): Promise<string> {
  const body = requestId === undefined ? { prompt } : { prompt, requestId };
  return (await host.api<{ requestId: string }>('POST', 'prompts', body)).requestId;
}

export function lookUp(host: Host, id: string): Promise<Closed> {
  return host.api('GET', `prompts/${encodeURIComponent(id)}`);
}

/** Waits until the prompt is closed and gives its answer. */
export async function answerOf(host: Host, id: string): Promise<NonNullable<Closed['answer']>> {
  for (;;) {
    const { answer } = await lookUp(host, id);
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Appends lines to the log as any program may (seed 004 §3). */
export function append(host: Host, ...entries: (Json | string)[]): void {
  const lines = entries.map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry)));
  appendFileSync(join(host.home, 'state', 'ui-prompts.jsonl'), `${lines.join('\n')}\n`);
}

export function request(requestId: string, prompt: Json, ts = new Date().toISOString()): Json {
  return { ts, type: 'ui_prompt', action: 'request', requestId, prompt };
}

export function response(requestId: string, answer: Json): Json {
  return { ts: new Date().toISOString(), type: 'ui_prompt', action: 'response', requestId, response: answer };
}

/** Opens one prompt on the Inbox page and waits until it can be answered. */
export async function openPrompt(page: Page, id: string, list = 'needsYou'): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#/queue/${list}/${encodeURIComponent(id)}`);
  await page.locator(`article[data-open="${id}"][data-ready="true"]`).waitFor();
}

/** Clicks a prompt's row and, inside the page, presses its first button and Ctrl+Enter as soon as they are
    there. Tells the states that button went through, and whether less than the arm delay had passed. */
export function openEagerly(page: Page, id: string): Promise<{ disabled: boolean; early: boolean }[]> {
  return page.evaluate((wanted) => {
    // A timer may be a little early by the clock that is read here.
    const ARM_MS = 400 - 2;
    const seen: { disabled: boolean; early: boolean }[] = [];
    return new Promise((resolve) => {
      let start = 0;
      const look = () => {
        const article = document.querySelector(`article[data-open="${CSS.escape(wanted)}"]`);
        const button = article?.querySelector<HTMLButtonElement>('.actions button');
        if (!article || !button || seen.at(-1)?.disabled === button.disabled) return;
        const { disabled } = button;
        seen.push({ disabled, early: disabled || performance.now() - start < ARM_MS });
        if (!disabled) {
          observer.disconnect();
          resolve(seen);
          return;
        }
        button.click();
        article.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true }));
      };
      const observer = new MutationObserver(look);
      observer.observe(document, { subtree: true, childList: true, attributes: true });
      start = performance.now();
      document.querySelector<HTMLElement>(`[data-hub] [data-prompt="${CSS.escape(wanted)}"]`)?.click();
    });
  }, id);
}
