// A model server of the OpenAI shape on loopback, with scripted answers: it takes one key, or any when it was
// given none, and refuses every other.

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Body {
  model?: string;
  messages?: { role: string; content?: unknown }[];
  tools?: { function: { name: string } }[];
}

/** What the model does: says something at once or number by number, or calls a tool. */
export interface Script {
  text?: string;
  /** Counts for ever, so long after each other. */
  countMs?: number;
  /** Said before the text, one after the other; then it waits until `more` resolves. */
  pieces?: string[];
  more?: Promise<void>;
  call?: { tool: string; args: unknown };
  /** Several calls in one answer. */
  calls?: { tool: string; args: unknown }[];
  /** Waits until this resolves before it says anything. */
  after?: Promise<void>;
  /** Refuses with this error instead. */
  refuse?: { status: number; error: object };
  /** Tokens of the request, as it counts them. */
  tokens?: number;
}

/** The text of the last message, and who said it. */
export function lastOf(body: Body): { role: string; text: string } {
  const last = body.messages?.at(-1);
  const { content } = last ?? {};
  const parts = Array.isArray(content) ? (content as { text?: string }[]).map((part) => part.text ?? '').join('') : String(content ?? '');
  return { role: last?.role ?? '', text: parts };
}

/** A request without what ChatOS says about date, folder and branch before the words of the person. */
export function withoutEnvironment(body: string): string {
  return body.replaceAll(/\[environment\] .*?\[end of environment\]\\n\\n/g, '');
}

/** The name under which a tool is offered. */
export function offered(body: Body, tool: string): string | undefined {
  return body.tools?.map(({ function: { name } }) => name).find((name) => name === tool || name.endsWith(`_${tool}`));
}

export class ModelServer {
  /** Decides what is answered; without it, `ok`. */
  decide: (body: Body) => Script = () => ({ text: 'ok' });
  /** What was asked of it, newest last. */
  readonly requests: { path: string; key: string | undefined; body: Body }[] = [];

  private constructor(
    private readonly server: Server,
    readonly baseUrl: string,
  ) {}

  static async start(key: string): Promise<ModelServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const made = new ModelServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
    server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const sent = withoutEnvironment(Buffer.concat(parts).toString());
        const given = request.headers.authorization?.replace(/^Bearer /, '');
        made.requests.push({ path: request.url ?? '', key: given, body: sent === '' ? {} : (JSON.parse(sent) as Body) });
        if (key !== '' && given !== key) {
          response.writeHead(401, { 'Content-Type': 'application/json' });
          response.end(JSON.stringify({ error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' } }));
          return;
        }
        if (request.url?.endsWith('/models')) {
          response.writeHead(200, { 'Content-Type': 'application/json' });
          response.end(JSON.stringify({ data: [{ id: 'tiny' }, { id: 'small' }] }));
          return;
        }
        const body = made.requests.at(-1)?.body ?? {};
        const script = made.decide(body);
        if (script.refuse) {
          response.writeHead(script.refuse.status, { 'Content-Type': 'application/json' });
          response.end(JSON.stringify({ error: script.refuse.error }));
          return;
        }
        const tokens = script.tokens ?? 3;
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        const chunk = (delta: object, finish: string | null) => `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'tiny', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
        void made.#answer(script, body, (delta, finish = null) => response.write(chunk(delta, finish)), response).then(() => {
          response.write(`data: ${JSON.stringify({ id: 'c1', choices: [], usage: { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 } })}\n\n`);
          response.end('data: [DONE]\n\n');
        });
      });
    });
    return made;
  }

  async #answer(script: Script, body: Body, send: (delta: object, finish?: string | null) => void, response: ServerResponse): Promise<void> {
    await script.after;
    if (script.calls) {
      const calls = script.calls.map(({ tool, args }, index) => ({ index, id: `call-${this.requests.length}-${index}`, type: 'function', function: { name: offered(body, tool) ?? tool, arguments: JSON.stringify(args) } }));
      send({ role: 'assistant', tool_calls: calls });
      send({}, 'tool_calls');
      return;
    }
    const name = script.call && offered(body, script.call.tool);
    if (script.call && name !== undefined) {
      const call = { index: 0, id: `call-${this.requests.length}`, type: 'function', function: { name, arguments: JSON.stringify(script.call.args) } };
      send({ role: 'assistant', tool_calls: [call] });
      send({}, 'tool_calls');
      return;
    }
    for (let number = 1; script.countMs !== undefined && response.writable && !response.destroyed; number += 1) {
      send({ content: `${number} ` });
      await new Promise((resolve) => setTimeout(resolve, script.countMs));
    }
    for (const content of script.pieces ?? []) {
      send({ content });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await script.more;
    send({ role: 'assistant', content: script.text ?? `no tool ${script.call?.tool}` });
    send({}, 'stop');
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
