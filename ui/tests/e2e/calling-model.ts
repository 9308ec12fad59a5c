// A model server of the OpenAI shape on loopback that calls a tool when it is offered one whose name ends as asked,
// and then says what came of it.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Host } from './host';
import { withoutEnvironment } from './model-server';

interface Asked {
  messages: { role: string; content?: unknown }[];
  tools?: { function: { name: string } }[];
}

export class CallingModel {
  /** What was asked of it, newest last. */
  readonly asked: Asked[] = [];

  private constructor(
    private readonly server: Server,
    readonly baseUrl: string,
  ) {}

  static async start(tool: string, args: object): Promise<CallingModel> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const model = new CallingModel(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
    server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        // What the model is asked about itself; it has nothing to say.
        if (request.method !== 'POST') {
          response.writeHead(404).end();
          return;
        }
        const body = JSON.parse(withoutEnvironment(Buffer.concat(parts).toString())) as Asked;
        model.asked.push(body);
        const name = body.tools?.map((offered) => offered.function.name).find((offered) => offered.endsWith(tool));
        // Pictures of a result follow it in a message of their own.
        const last = body.messages.findLast(({ content }) => !JSON.stringify(content ?? '').includes('Pictures returned by the tools above:'));
        const done = last?.role === 'tool' || name === undefined;
        const said = last?.role === 'tool' ? `The tool said: ${String(last.content)}` : 'There is nothing to call.';
        const delta = done
          ? { role: 'assistant', content: said }
          : { role: 'assistant', tool_calls: [{ index: 0, id: `call-${model.asked.length}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }] };
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        const send = (piece: object, finish: string | null) =>
          response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: piece, finish_reason: finish }] })}\n\n`);
        send(delta, null);
        send({}, done ? 'stop' : 'tool_calls');
        response.end('data: [DONE]\n\n');
      });
    });
    return model;
  }

  get offered(): string[] {
    return this.asked.flatMap(({ tools = [] }) => tools.map((tool) => tool.function.name));
  }

  /** Makes it known to a host; the id of the model there. */
  async addTo(host: Host, isDefault = false, supportsVision = false): Promise<string> {
    const input = { name: 'Caller', provider: 'openai', model: 'caller', baseUrl: this.baseUrl, apiKeyName: '', supportsVision };
    const { id } = await host.api<{ id: string }>('POST', 'models', input);
    if (isDefault) await host.api('POST', `models/${id}/default`, {});
    return id;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
