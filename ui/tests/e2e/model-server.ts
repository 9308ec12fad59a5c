// A model server of the OpenAI shape on loopback, with scripted answers: it takes one key and refuses every
// other.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class ModelServer {
  /** What was asked of it, newest last. */
  readonly requests: { path: string; key: string | undefined; body: { model?: string; messages?: unknown[] } }[] = [];

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
        const sent = Buffer.concat(parts).toString();
        const given = request.headers.authorization?.replace(/^Bearer /, '');
        made.requests.push({ path: request.url ?? '', key: given, body: sent === '' ? {} : (JSON.parse(sent) as object) });
        if (given !== key) {
          response.writeHead(401, { 'Content-Type': 'application/json' });
          response.end(JSON.stringify({ error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' } }));
          return;
        }
        if (request.url?.endsWith('/models')) {
          response.writeHead(200, { 'Content-Type': 'application/json' });
          response.end(JSON.stringify({ data: [{ id: 'tiny' }, { id: 'small' }] }));
          return;
        }
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        const chunk = (delta: object, finish: string | null) => `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'tiny', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
        response.write(chunk({ role: 'assistant', content: 'ok' }, null));
        response.write(chunk({}, 'stop'));
        response.write(`data: ${JSON.stringify({ id: 'c1', choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } })}\n\n`);
        response.end('data: [DONE]\n\n');
      });
    });
    return made;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
