// A model server of our own on loopback, in the shape most vendors speak: it counts, one number at a time,
// until it is told to stop, or fails in the way a test wants.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Host } from './host';

export class CountingModel {
  /** What each next request gets instead of an answer. */
  failures: { status: number; body: unknown }[] = [];
  /** Counts to here; each number comes this long after the other. */
  upTo = 2_000;
  stepMs = 40;
  /** Said at once instead of counting. */
  text: string | null = null;
  readonly #server = createServer((request, response) => {
    request.resume();
    // What the model is asked about itself; it has nothing to say.
    request.once('end', () => (request.method === 'POST' ? this.#answer(response) : response.writeHead(404).end()));
  });

  static async start(): Promise<CountingModel> {
    const model = new CountingModel();
    await new Promise<void>((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  /** Makes it known to a host, and a chat that uses it. */
  async chatOn(host: Host): Promise<string> {
    const { port } = this.#server.address() as AddressInfo;
    const model = await host.api<{ id: string }>('POST', 'models', { name: 'Counter', provider: 'openai', model: 'count', baseUrl: `http://127.0.0.1:${port}/v1`, apiKeyName: '' });
    const session = await host.api<{ id: string }>('POST', 'sessions', { title: 'Counting', modelId: model.id });
    return session.id;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #answer(response: ServerResponse): void {
    const failure = this.failures.shift();
    if (failure) {
      response.writeHead(failure.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(failure.body));
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const send = (delta: object, finish: string | null = null) =>
      response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    if (this.text !== null) {
      send({ content: this.text });
      send({}, 'stop');
      response.end('data: [DONE]\n\n');
      return;
    }
    let number = 0;
    const timer = setInterval(() => {
      number += 1;
      send({ content: `${number} ` });
      if (number < this.upTo) return;
      clearInterval(timer);
      send({}, 'stop');
      response.end('data: [DONE]\n\n');
    }, this.stepMs);
    response.once('close', () => clearInterval(timer));
  }
}
