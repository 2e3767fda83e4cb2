/** Answers DNS questions over UDP and TCP. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { type Answer, parseQuery, type Question, responseCode, writeAnswer } from './message.ts';

/** What fits into a UDP answer for a client that did not ask for more. */
const udpLimit = 512;

export class DnsServer {
  readonly #answer: (question: Question) => Answer;
  readonly #udp: UdpSocket;
  readonly #tcp: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(answer: (question: Question) => Answer) {
    this.#answer = answer;
    this.#udp = createSocket('udp4');
    this.#udp.on('message', (message, from) => {
      const reply = this.#reply(message, udpLimit);
      if (reply !== undefined) this.#udp.send(reply, from.port, from.address, () => {});
    });
    this.#tcp = createServer((socket) => this.#serve(socket));
  }

  static async listen(
    host: string,
    port: number,
    answer: (question: Question) => Answer,
  ): Promise<DnsServer> {
    const server = new DnsServer(answer);
    await new Promise<void>((resolve, reject) => {
      server.#udp.once('error', reject);
      server.#udp.bind(port, host, resolve);
    });
    await new Promise<void>((resolve, reject) => {
      server.#tcp.once('error', reject);
      server.#tcp.listen(server.port, host, resolve);
    });
    server.#udp.on('error', () => {});
    return server;
  }

  get port(): number {
    return this.#udp.address().port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([
      new Promise<void>((resolve) => this.#udp.close(resolve)),
      new Promise<void>((resolve) => this.#tcp.close(() => resolve())),
    ]);
  }

  #reply(message: Buffer, limit: number): Buffer | undefined {
    const query = parseQuery(message);
    if (query === undefined) return undefined;
    const answer =
      query.opcode === 0 && query.question.class === 1
        ? this.#answer(query.question)
        : { code: responseCode.notImplemented, answers: [] };
    return writeAnswer(query, answer, limit);
  }

  /** Over TCP each message has its length before it. */
  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setTimeout(10_000, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
    let held = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
        const length = held.readUInt16BE(0);
        const reply = this.#reply(held.subarray(2, 2 + length), 65_535);
        held = held.subarray(2 + length);
        if (reply === undefined) {
          socket.destroy();
          return;
        }
        const size = Buffer.alloc(2);
        size.writeUInt16BE(reply.length);
        socket.write(Buffer.concat([size, reply]));
      }
    });
  }
}
