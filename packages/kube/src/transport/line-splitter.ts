/** Splits a byte stream into lines without decoding it: a newline byte never occurs inside a UTF-8 character. */

const NEWLINE = 10;

export class LineSplitter {
  readonly #limit: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  /** `limit`: a longer line throws, to bound the memory. */
  constructor(limit = 64 << 20) {
    this.#limit = limit;
  }

  /** Calls `onLine` for each line that `chunk` completes. The buffer given is only valid during the call. */
  push(chunk: Buffer, onLine: (line: Buffer) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      start = end + 1;
      if (this.#pendingBytes === 0) {
        if (piece.length > 0) onLine(piece);
        continue;
      }
      const whole = Buffer.concat([...this.#pending, piece]);
      this.#pending = [];
      this.#pendingBytes = 0;
      onLine(whole);
    }
    if (start === chunk.length) return;
    this.#pending.push(chunk.subarray(start));
    this.#pendingBytes += chunk.length - start;
    if (this.#pendingBytes > this.#limit) throw new RangeError(`a line of more than ${this.#limit} bytes`);
  }

  /** Bytes of the last, incomplete line: above zero at the end, the stream was truncated. */
  get unfinished(): number {
    return this.#pendingBytes;
  }
}
