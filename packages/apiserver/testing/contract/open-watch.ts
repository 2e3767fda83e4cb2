/** A watch that stays open while later steps go on. */
import type { Caller, CallOptions } from './backend.ts';
import type { NamespaceNames } from './namespace-names.ts';

export class OpenWatch {
  readonly events: unknown[] = [];
  readonly #abort = new AbortController();
  readonly #head: Promise<{ status: number; headers: Record<string, string[]>; ended: Promise<void> }>;
  readonly #names: NamespaceNames;
  #rest = '';

  constructor(caller: Caller, options: CallOptions) {
    this.#names = caller.names;
    this.#head = caller.stream({ ...options, signal: this.#abort.signal }, (chunk) => this.#read(chunk));
  }

  async opened(): Promise<{ status: number; headers: Record<string, string[]> }> {
    return this.#head;
  }

  /** Whether the server ends the stream in time. */
  async endsWithin(milliseconds: number): Promise<boolean> {
    const { ended } = await this.#head;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), milliseconds);
    });
    const inTime = await Promise.race([ended.then(() => true as const), late]);
    clearTimeout(timer);
    return inTime;
  }

  close(): void {
    this.#abort.abort();
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') this.events.push(this.#parsed(line));
  }

  /** A refusal may be plain text: it is compared like an event, and differs. */
  #parsed(line: string): unknown {
    const text = this.#names.incoming(line);
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
}
