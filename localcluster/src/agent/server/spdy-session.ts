/**
 * The server's end of a SPDY/3.1 connection, as far as port forwarding needs it: the client opens streams, both sides
 * send data on them. Bytes come and go through two functions, so it runs over a socket as well as over a WebSocket.
 */
import { constants, createDeflate, createInflate } from 'node:zlib';
import { spdyDictionary } from './spdy-dictionary.ts';

const frame = { synStream: 1, synReply: 2, reset: 3, ping: 6, goAway: 7 } as const;
const fin = 0x01;
/** Frames larger than this are a fault or an attack. */
const largestFrame = 16 * 1024 * 1024;

export interface SpdyStream {
  readonly id: number;
  readonly headers: ReadonlyMap<string, string>;
  onData: (data: Buffer) => void;
  /** The client will send no more. */
  onEnd: () => void;
  write(data: Buffer): void;
  end(): void;
  reset(): void;
}

export interface SpdyHandlers {
  readonly send: (bytes: Buffer) => void;
  readonly onStream: (stream: SpdyStream) => void;
  readonly onClose: () => void;
}

export class SpdySession {
  readonly #handlers: SpdyHandlers;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #inflate = createInflate({ dictionary: spdyDictionary, finishFlush: constants.Z_SYNC_FLUSH });
  readonly #deflate = createDeflate({ dictionary: spdyDictionary });
  #held = Buffer.alloc(0);
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(handlers: SpdyHandlers) {
    this.#handlers = handlers;
    this.#inflate.on('error', () => this.close());
  }

  receive(bytes: Buffer): void {
    this.#held = Buffer.concat([this.#held, bytes]);
    while (this.#held.length >= 8) {
      const length = this.#held.readUInt32BE(4) & 0xff_ffff;
      if (length > largestFrame) {
        this.close();
        return;
      }
      if (this.#held.length < 8 + length) return;
      const whole = Buffer.from(this.#held.subarray(0, 8 + length));
      this.#held = this.#held.subarray(8 + length);
      // Headers are unpacked asynchronously, and frames must stay in order.
      this.#work = this.#work.then(() => this.#handle(whole)).catch(() => this.close());
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const stream of this.#streams.values()) stream.onEnd();
    this.#streams.clear();
    this.#inflate.destroy();
    this.#deflate.destroy();
    this.#handlers.onClose();
  }

  async #handle(bytes: Buffer): Promise<void> {
    if (this.#closed) return;
    const head = bytes.readUInt32BE(0);
    const flags = bytes[4] ?? 0;
    const body = bytes.subarray(8);
    if (head >>> 31 === 0) {
      const stream = this.#streams.get(head);
      if (body.length > 0) stream?.onData(body);
      if ((flags & fin) !== 0) stream?.onEnd();
      return;
    }
    switch (head & 0xffff) {
      case frame.synStream:
        await this.#open(body.readUInt32BE(0) & 0x7fff_ffff, body.subarray(10), (flags & fin) !== 0);
        return;
      case frame.reset: {
        const id = body.readUInt32BE(0) & 0x7fff_ffff;
        this.#streams.get(id)?.onEnd();
        this.#streams.delete(id);
        return;
      }
      case frame.ping:
        this.#control(frame.ping, 0, body);
        return;
      case frame.goAway:
        this.close();
        return;
      default: // settings, window updates and further headers change nothing here
    }
  }

  async #open(id: number, block: Buffer, ended: boolean): Promise<void> {
    const headers = parseHeaders(await through(this.#inflate, block));
    const stream: SpdyStream = {
      id,
      headers,
      onData: () => {},
      onEnd: () => {},
      write: (data) => this.#data(id, 0, data),
      end: () => this.#data(id, fin, Buffer.alloc(0)),
      reset: () => {
        this.#streams.delete(id);
        const body = Buffer.alloc(8);
        body.writeUInt32BE(id);
        body.writeUInt32BE(5, 4);
        this.#control(frame.reset, 0, body);
      },
    };
    this.#streams.set(id, stream);
    const identity = Buffer.alloc(4);
    identity.writeUInt32BE(id);
    const reply = await through(this.#deflate, Buffer.alloc(4));
    this.#control(frame.synReply, 0, Buffer.concat([identity, reply]));
    this.#handlers.onStream(stream);
    if (ended) stream.onEnd();
  }

  #control(type: number, flags: number, body: Buffer): void {
    const head = Buffer.alloc(8);
    head.writeUInt16BE(0x8003, 0);
    head.writeUInt16BE(type, 2);
    head.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4);
    if (!this.#closed) this.#handlers.send(Buffer.concat([head, body]));
  }

  #data(id: number, flags: number, data: Buffer): void {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(id, 0);
    head.writeUInt32BE(((flags << 24) | data.length) >>> 0, 4);
    if (!this.#closed) this.#handlers.send(Buffer.concat([head, data]));
  }
}

/** One piece through a running (de)compressor, flushed so that all of it comes out. */
function through(
  stream: ReturnType<typeof createInflate> | ReturnType<typeof createDeflate>,
  piece: Buffer,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const collect = (part: Buffer) => parts.push(part);
    stream.on('data', collect);
    stream.once('error', reject);
    stream.write(piece);
    stream.flush(constants.Z_SYNC_FLUSH, () => {
      stream.off('data', collect);
      stream.off('error', reject);
      resolve(Buffer.concat(parts));
    });
  });
}

function parseHeaders(block: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  let at = 4;
  const word = () => {
    const length = block.readUInt32BE(at);
    const text = block.toString('utf8', at + 4, at + 4 + length);
    at += 4 + length;
    return text;
  };
  for (let left = block.readUInt32BE(0); left > 0; left--) {
    const name = word().toLowerCase();
    headers.set(name, word());
  }
  return headers;
}
