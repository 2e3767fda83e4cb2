/** A large answer that many browsers ask for: serialised once, compressed once, the same bytes for all. */
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

const pack = promisify(brotliCompress);

export const compress = (text: Buffer): Promise<Buffer> =>
  pack(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });

export class PreparedJson {
  readonly plain: Buffer;
  #packed: Promise<Buffer> | undefined;

  constructor(body: unknown) {
    this.plain = Buffer.from(JSON.stringify(body));
  }

  packed(): Promise<Buffer> {
    this.#packed ??= compress(this.plain);
    return this.#packed;
  }
}
