// A day of work for a scripted agent: calls one after the other, ten to a message and forty to a chat, and a person who
// answers each question in the Inbox with one key.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { Host, HostOptions } from './host';
import { lastOf, ModelServer } from './model-server';
import { openPrompt } from './questions';

export interface Call {
  tool: string;
  args: Record<string, string>;
}

const A_MESSAGE = 10;
const A_CHAT = 40;

/** Every change of a file and every command is asked about. */
export const ASKS_ALWAYS: HostOptions = { env: { PATH: '/usr/local/bin:/usr/bin:/bin', CHATOS_SET_CONFIRM_FILE_CHANGES: 'true', CHATOS_SET_SHELL_CONFIRM: 'always' } };

export async function waiting(host: Host): Promise<string[]> {
  return (await host.api<{ items: { requestId: string }[] }>('GET', 'prompts?view=needs_you')).items.map(({ requestId }) => requestId);
}

export class Worker {
  /** The call that the agent makes now. */
  #now = 0;
  #chat = '';

  private constructor(
    private readonly project: string,
    private readonly agent: string,
  ) {}

  /** An agent in a folder of the host's home that makes these calls; hosts that are started there later have it too. */
  static async hire(host: Host, folder: string, call: (number: number) => Call | undefined): Promise<Worker> {
    const project = join(host.home, folder);
    mkdirSync(project);
    const models = await ModelServer.start('');
    onTestFinished(() => models.stop());
    const model = await host.api<{ id: string }>('POST', 'models', { name: 'Works', provider: 'openai', model: 'tiny', baseUrl: models.baseUrl });
    const agent = await host.api<{ id: string }>('POST', 'agents', { name: 'Worker', mode: 'flow', landConfigId: 'lc_developer', modelId: model.id });
    const worker = new Worker(project, agent.id);
    // “go on from 40”: ten calls, one after the other.
    models.decide = (body) => {
      const messages = body.messages ?? [];
      const asked = messages.findLastIndex(({ role }) => role === 'user');
      const from = Number(/go on from (\d+)/.exec(lastOf({ messages: messages.slice(0, asked + 1) }).text)?.[1] ?? -1);
      const done = messages.slice(asked + 1).filter(({ role }) => role === 'tool').length;
      worker.#now = from + done;
      const next = done < A_MESSAGE ? call(worker.#now) : undefined;
      return next ? { call: next } : { text: 'Done.' };
    };
    return worker;
  }

  /** The agent makes the calls from here to there; `question` answers those that are asked about. Gives their numbers. */
  async work(host: Host, here: number, there: number, question: (requestId: string, call: number) => Promise<void>, after?: (call: number) => Promise<void>): Promise<number[]> {
    const asked: number[] = [];
    for (let from = here; from < there; from += A_MESSAGE) {
      if (from === here || from % A_CHAT === 0) this.#chat = (await host.api<{ id: string }>('POST', 'sessions', { title: `From ${from}`, agentId: this.agent, workspaceRoot: this.project })).id;
      this.#now = from;
      await host.api('POST', `sessions/${this.#chat}/send`, { text: `go on from ${from}` });
      for (;;) {
        let id: string | undefined;
        await expect.poll(async () => (id = (await waiting(host))[0]) !== undefined || this.#now >= from + A_MESSAGE).toBe(true);
        if (id === undefined) break;
        const requestId = id;
        asked.push(this.#now);
        await question(requestId, this.#now);
        await expect.poll(async () => (await waiting(host)).includes(requestId)).toBe(false);
      }
      await after?.(from);
    }
    return asked;
  }
}

/** Opens the question and answers it with one key, as soon as it can be answered. */
export async function answerByKey(page: Page, requestId: string, yes: boolean): Promise<void> {
  await openPrompt(page, requestId);
  await page.locator(`article[data-open="${requestId}"] .actions button:not(:disabled)`).first().waitFor();
  await page.locator(`article[data-open="${requestId}"] h2`).focus();
  await page.keyboard.press(yes ? 'a' : 'r');
}
