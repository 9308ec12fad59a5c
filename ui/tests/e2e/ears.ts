// Listeners on loopback that write down whatever reaches them: datagrams, connections and their first line. The
// one for datagrams answers a TURN client as a real server would, so that it goes on and says its user name.

import { createSocket, type Socket } from 'node:dgram';
import { type AddressInfo, createServer, type Server } from 'node:net';

export class Ears {
  /** Each datagram, as far as it can be read. */
  readonly udp: string[] = [];
  /** Each connection: the first line that came, or nothing at all. */
  readonly tcp: string[] = [];

  private constructor(
    private readonly socket: Socket,
    private readonly server: Server,
  ) {}

  static async open(): Promise<Ears> {
    const ears = new Ears(createSocket('udp4'), createServer());
    ears.socket.on('message', (data, from) => {
      ears.udp.push(readable(data));
      const answer = unauthorized(data);
      if (answer) ears.socket.send(answer, from.port, from.address);
    });
    ears.server.on('connection', (peer) => {
      const place = ears.tcp.push('') - 1;
      peer.on('data', (data: Buffer) => {
        const [line = ''] = readable(data).split('\r', 1);
        if (ears.tcp[place] === '') ears.tcp[place] = line;
        // A browser keeps few connections to one place: each is let go.
        if (line.includes('HTTP/')) peer.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
      });
      peer.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => ears.socket.bind(0, '127.0.0.1', resolve));
    await new Promise<void>((resolve) => ears.server.listen(0, '127.0.0.1', resolve));
    return ears;
  }

  get ports(): { udp: number; tcp: number } {
    return { udp: this.socket.address().port, tcp: (this.server.address() as AddressInfo).port };
  }

  get all(): string[] {
    return [...this.udp.map((line) => `udp ${line}`), ...this.tcp.map((line) => `tcp ${line}`)];
  }

  forget(): void {
    this.udp.length = 0;
    this.tcp.length = 0;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.close(() => resolve()));
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function readable(data: Buffer): string {
  return data.toString('latin1').replaceAll(/[^\r -~]/g, '.');
}

/** The answer to a TURN `Allocate` without credentials: 401 with a realm and a nonce (RFC 8656). */
function unauthorized(data: Buffer): Buffer | null {
  if (data.length < 20 || data.readUInt16BE(0) !== 0x0003 || data.includes('the-realm')) return null;
  const attribute = (type: number, value: Buffer) => {
    const head = Buffer.alloc(4);
    head.writeUInt16BE(type, 0);
    head.writeUInt16BE(value.length, 2);
    return Buffer.concat([head, value, Buffer.alloc((4 - (value.length % 4)) % 4)]);
  };
  const body = Buffer.concat([
    attribute(0x0009, Buffer.from([0, 0, 4, 1, ...Buffer.from('Unauthorized')])),
    attribute(0x0014, Buffer.from('the-realm')),
    attribute(0x0015, Buffer.from('a-nonce')),
  ]);
  const head = Buffer.from(data.subarray(0, 20));
  head.writeUInt16BE(0x0113, 0);
  head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}
