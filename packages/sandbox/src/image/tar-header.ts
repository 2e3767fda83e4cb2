/** One 512-byte tar header: the ustar form, and of GNU's what image archives contain. Pure. */
import { ImageError } from '../errors.ts';

export const blockSize = 512;

export interface TarHeader {
  readonly name: string;
  readonly size: number;
  /** '0' file, '5' directory, '2' symbolic link, '1' hard link, 'x' and 'L' carry names that are too long. */
  readonly type: string;
}

/** A header for a regular file that belongs to root and has no date: the same file always gives the same bytes. */
export function encodeHeader(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new ImageError(`member name "${name}" is longer than 100 bytes.`);
  if (size >= 8 ** 11) throw new ImageError(`member ${name} is larger than 8 GiB.`);
  const header = Buffer.alloc(blockSize);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** Undefined at the end of the archive (a block of zeros). */
export function decodeHeader(block: Buffer): TarHeader | undefined {
  if (block.length < blockSize) throw new ImageError('it ends in the middle of a tar header');
  if (block.every((byte) => byte === 0)) return undefined;
  const stated = Number.parseInt(text(block, 148, 8).trim(), 8);
  const sum = block.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0);
  if (stated !== sum)
    throw new ImageError('it is not a tar archive, or it is damaged (a header checksum is wrong)');
  const prefix = text(block, 257, 5) === 'ustar' && block[262] === 0 ? text(block, 345, 155) : '';
  const name = text(block, 0, 100);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: decodeSize(block.subarray(124, 136)),
    type: String.fromCharCode(block[156] ?? 0).replace('\0', '0'),
  };
}

/** How many bytes of padding follow a member of this size. */
export function padding(size: number): number {
  return (blockSize - (size % blockSize)) % blockSize;
}

function decodeSize(field: Buffer): number {
  // GNU writes sizes of 8 GiB and more as a big-endian number with the first bit set.
  if (((field[0] ?? 0) & 0x80) !== 0) return Number(field.readBigUInt64BE(4));
  const digits = text(field, 0, 12).trim();
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function text(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString('utf8');
}
