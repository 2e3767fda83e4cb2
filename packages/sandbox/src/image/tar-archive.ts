/** Writes and reads the outer archive of an image: a handful of members, some of them large. */
import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { ImageError } from '../errors.ts';
import { blockSize, decodeHeader, encodeHeader, padding } from './tar-header.ts';

export type TarContent = { readonly bytes: Buffer } | { readonly file: string };

/** Writes members in the given order. */
export async function writeTar(output: string, members: ReadonlyMap<string, TarContent>): Promise<void> {
  await using archive = await open(output, 'w');
  for (const [name, content] of members) {
    const size = 'bytes' in content ? content.bytes.length : (await stat(content.file)).size;
    await archive.write(encodeHeader(name, size));
    if ('bytes' in content) await archive.write(content.bytes);
    else
      for await (const chunk of createReadStream(content.file, { highWaterMark: 1 << 20 }))
        await archive.write(chunk as Buffer);
    await archive.write(Buffer.alloc(padding(size)));
  }
  await archive.write(Buffer.alloc(2 * blockSize));
}

/** Where a member's content is in the archive. Links between members are followed. */
export interface TarMember {
  readonly offset: number;
  readonly size: number;
}

/** Members by name, without reading their content. */
export async function listTar(archive: FileHandle): Promise<Map<string, TarMember>> {
  const members = new Map<string, TarMember>();
  const { size: total } = await archive.stat();
  let longName: string | undefined;
  for (let position = 0; position + blockSize <= total; ) {
    const block = Buffer.alloc(blockSize);
    await archive.read(block, 0, blockSize, position);
    const header = decodeHeader(block);
    if (header === undefined) return members;
    const offset = position + blockSize;
    if (offset + header.size > total)
      throw new ImageError(
        `it is cut off: member ${header.name} has ${total - offset} of ${header.size} bytes`,
      );
    if (header.type === 'L' || header.type === 'x') {
      longName =
        nameInside(await readMember(archive, { offset, size: header.size }), header.type) ?? longName;
    } else {
      if (header.type === '0') members.set(normal(longName ?? header.name), { offset, size: header.size });
      longName = undefined;
    }
    position = offset + header.size + padding(header.size);
  }
  throw new ImageError('it is cut off: its end marker is missing');
}

export async function readMember(archive: FileHandle, member: TarMember): Promise<Buffer> {
  if (member.size > 64 * 1024 * 1024)
    throw new ImageError('a member that should be JSON is larger than 64 MiB');
  const bytes = Buffer.alloc(member.size);
  await archive.read(bytes, 0, member.size, member.offset);
  return bytes;
}

function normal(name: string): string {
  return name.replace(/^(\.\/)+/, '');
}

function nameInside(bytes: Buffer, type: string): string | undefined {
  const content = bytes.toString('utf8');
  if (type === 'L') return content.replace(/\0.*$/s, '');
  return /^\d+ path=(.*)$/m.exec(content)?.[1];
}
