/** A container's log: one file of lines "time stream F text", the format log collectors expect on a node. */
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, open, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export type LogStream = 'stdout' | 'stderr';

/** Lines longer than this are written in parts (`P`), the last one as full (`F`). */
const longestLine = 16 * 1024;

export class LogWriter {
  readonly path: string;
  readonly #now: () => number;
  readonly #file: WriteStream;
  readonly #partial = new Map<LogStream, Buffer>();
  readonly #followers = new Set<() => void>();
  #ended = false;

  private constructor(path: string, now: () => number) {
    this.path = path;
    this.#now = now;
    this.#file = createWriteStream(path, { flags: 'a', mode: 0o640 });
    this.#file.on('error', () => {}); // a full disk must not take the agent down
  }

  static async open(path: string, now: () => number): Promise<LogWriter> {
    await mkdir(dirname(path), { recursive: true });
    return new LogWriter(path, now);
  }

  write(stream: LogStream, chunk: Buffer): void {
    let rest = Buffer.concat([this.#partial.get(stream) ?? Buffer.alloc(0), chunk]);
    const lines: Buffer[] = [];
    for (;;) {
      const at = rest.indexOf(10);
      if (at >= 0 && at <= longestLine) {
        lines.push(this.#line(stream, 'F', rest.subarray(0, at)));
        rest = rest.subarray(at + 1);
      } else if (rest.length > longestLine) {
        lines.push(this.#line(stream, 'P', rest.subarray(0, longestLine)));
        rest = rest.subarray(longestLine);
      } else break;
    }
    this.#partial.set(stream, Buffer.from(rest));
    if (lines.length === 0) return;
    this.#file.write(Buffer.concat(lines), () => this.#wake());
  }

  /** Calls back after each write until the log ends; the answer stops it. */
  onGrowth(callback: () => void): () => void {
    this.#followers.add(callback);
    return () => this.#followers.delete(callback);
  }

  get ended(): boolean {
    return this.#ended;
  }

  async end(): Promise<void> {
    for (const [stream, rest] of this.#partial)
      if (rest.length > 0) this.#file.write(this.#line(stream, 'F', rest));
    this.#partial.clear();
    await new Promise<void>((resolve) => this.#file.end(resolve));
    this.#ended = true;
    this.#wake();
  }

  #line(stream: LogStream, tag: 'F' | 'P', text: Buffer): Buffer {
    const time = new Date(this.#now()).toISOString().replace('Z', '000000Z');
    return Buffer.concat([Buffer.from(`${time} ${stream} ${tag} `), text, Buffer.from('\n')]);
  }

  #wake(): void {
    for (const follower of this.#followers) follower();
  }
}

export interface LogOptions {
  readonly tailLines?: number | undefined;
  readonly sinceTime?: number | undefined;
  readonly limitBytes?: number | undefined;
  readonly timestamps?: boolean | undefined;
  readonly follow?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** Writes what the options ask for; resolves at the end of the log, or when `signal` says so. */
export async function readLog(
  path: string,
  writer: LogWriter | undefined,
  options: LogOptions,
  emit: (text: Buffer) => Promise<void>,
): Promise<void> {
  const budget = { left: options.limitBytes ?? Number.POSITIVE_INFINITY };
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  let position = options.tailLines === undefined ? 0 : await tailPosition(path, size, options.tailLines);
  let carried = Buffer.alloc(0);
  const drain = async () => {
    for await (const chunk of createReadStream(path, { start: position })) {
      position += (chunk as Buffer).length;
      carried = Buffer.concat([carried, chunk as Buffer]);
      let at = carried.indexOf(10);
      while (at >= 0 && budget.left > 0) {
        const text = format(carried.subarray(0, at), options);
        carried = carried.subarray(at + 1);
        if (text !== undefined) {
          await emit(text.subarray(0, budget.left));
          budget.left -= text.length;
        }
        at = carried.indexOf(10);
      }
      if (budget.left <= 0 || options.signal.aborted) return;
    }
  };
  if (size > 0) await drain();
  if (options.follow !== true || writer === undefined) return;
  while (budget.left > 0 && !options.signal.aborted) {
    // Listen first, then look: growth between the two must not be missed.
    const next = growth(writer, options.signal);
    const ended = writer.ended;
    const grown = await stat(path).then(
      (found) => found.size > position,
      () => false,
    );
    if (grown) await drain();
    else if (ended) return;
    else await next;
  }
}

function growth(writer: LogWriter, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stop();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const stop = writer.onGrowth(done);
    signal.addEventListener('abort', done, { once: true });
    if (writer.ended || signal.aborted) done();
  });
}

function format(line: Buffer, options: LogOptions): Buffer | undefined {
  const head = /^(\S+) (stdout|stderr) ([FP]) /.exec(line.toString('latin1', 0, 64));
  if (head === null) return undefined;
  const [whole, time = '', , tag] = head;
  if (options.sinceTime !== undefined && Date.parse(time) < options.sinceTime) return undefined;
  const text = line.subarray(whole.length);
  const end = tag === 'F' ? Buffer.from('\n') : Buffer.alloc(0);
  return Buffer.concat(options.timestamps === true ? [Buffer.from(`${time} `), text, end] : [text, end]);
}

/** Where the last n lines begin, found from the end so that a huge log costs no more than its tail. */
async function tailPosition(path: string, size: number, lines: number): Promise<number> {
  if (lines <= 0) return size;
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return 0;
  try {
    const block = 64 * 1024;
    let seen = 0;
    for (let end = size; end > 0; end -= block) {
      const start = Math.max(0, end - block);
      const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
      for (let at = buffer.length - 1; at >= 0; at--) {
        if (buffer[at] !== 10) continue;
        seen++;
        if (seen > lines) return start + at + 1;
      }
    }
    return 0;
  } finally {
    await file.close();
  }
}

/** The last bytes of a log as plain text: what a failed container says when it left no message. */
export async function logTail(path: string, lines: number, limit: number): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .trimEnd()
    .split('\n')
    .slice(-lines)
    .map((line) => line.replace(/^\S+ \S+ \S /, ''))
    .join('\n')
    .slice(-limit);
}
