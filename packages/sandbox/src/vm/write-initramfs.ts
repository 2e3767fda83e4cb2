/** An initramfs as the Linux kernel unpacks it: a cpio archive of format "newc" with whole directories in chosen places. */
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { InvalidRequestError } from '../errors.ts';

export interface InitramfsRequest {
  readonly output: string;
  /** Files and directories of this machine and where they go. Later ones are unpacked over earlier ones. */
  readonly trees: readonly { readonly source: string; readonly target: string }[];
  readonly files?: readonly { readonly path: string; readonly content: string; readonly mode?: number }[];
  readonly signal?: AbortSignal;
}

interface Entry {
  /** Without the leading slash. */
  readonly path: string;
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
  /** Major and minor number of a device. */
  readonly device?: readonly [number, number];
  readonly content?: Buffer;
}

const directory = 0o040000;
const regular = 0o100000;
const character = 0o020000;

/** Written to the file when this much has gathered: one call per small file would take most of the time. */
const batchBytes = 4 << 20;

export async function writeInitramfs(request: InitramfsRequest): Promise<void> {
  const archive = new Archive(request.output);
  try {
    for (const { source, target } of request.trees) {
      archive.addParents(target);
      await archive.addTree(source, relativeTo(target), request.signal);
    }
    for (const { path, content, mode = 0o644 } of request.files ?? []) {
      archive.addParents(path);
      archive.add({ path: relativeTo(path), mode: regular | mode, content: Buffer.from(content) });
    }
    // The kernel opens the console before anything could have mounted /dev.
    archive.addParents('/dev/console');
    archive.add({ path: 'dev/console', mode: character | 0o600, device: [5, 1] });
    archive.add({ path: 'TRAILER!!!', mode: 0 });
  } finally {
    archive.close();
  }
}

class Archive {
  readonly #file: number;
  readonly #directories = new Set<string>();
  #batch: Buffer[] = [];
  #batched = 0;
  #number = 1;

  constructor(output: string) {
    this.#file = openSync(output, 'w');
  }

  /** The directories above a path: the kernel creates none. */
  addParents(path: string): void {
    const parts = relativeTo(path).split('/').slice(0, -1);
    for (const [index] of parts.entries())
      this.#addDirectory({ path: parts.slice(0, index + 1).join('/'), mode: directory | 0o755 });
  }

  async addTree(source: string, path: string, signal: AbortSignal | undefined): Promise<void> {
    const found = lstatSync(source);
    const { mode, uid, gid } = found;
    if (found.isDirectory()) {
      // Large trees take seconds: let other work of the event loop run.
      await turn();
      signal?.throwIfAborted();
      if (path !== '') this.#addDirectory({ path, mode, uid, gid });
      for (const name of readdirSync(source).toSorted())
        await this.addTree(join(source, name), path === '' ? name : `${path}/${name}`, signal);
    } else if (found.isSymbolicLink())
      this.add({ path, mode, uid, gid, content: Buffer.from(readlinkSync(source)) });
    else if (found.isFile()) this.add({ path, mode, uid, gid, content: readFileSync(source) });
    // Sockets, pipes and device files belong to a running system, which creates its own.
  }

  add({ path, mode, uid = 0, gid = 0, device = [0, 0], content = empty }: Entry): void {
    if (content.length > 0xffff_ffff)
      throw new InvalidRequestError(`${path} is larger than the 4 GiB that an initramfs can hold.`);
    const name = Buffer.from(`${path}\0`);
    // ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check
    const fields = [this.#number++, mode, uid, gid, 1, 0, content.length, 0, 0, ...device, name.length, 0];
    const header = `070701${fields.map((value) => value.toString(16).padStart(8, '0')).join('')}`;
    this.#write(Buffer.from(header), name, padding(header.length + name.length));
    this.#write(content, padding(content.length));
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  #addDirectory(entry: Entry): void {
    if (this.#directories.has(entry.path)) return;
    this.#directories.add(entry.path);
    this.add(entry);
  }

  #write(...parts: readonly Buffer[]): void {
    for (const part of parts) {
      if (part.length === 0) continue;
      this.#batch.push(part);
      this.#batched += part.length;
    }
    if (this.#batched >= batchBytes) this.#flush();
  }

  #flush(): void {
    let rest = Buffer.concat(this.#batch);
    while (rest.length > 0) rest = rest.subarray(writeSync(this.#file, rest));
    this.#batch = [];
    this.#batched = 0;
  }
}

const empty = Buffer.alloc(0);

const relativeTo = (path: string): string => path.replace(/^\/+|\/+$/g, '');

/** Headers and contents begin at multiples of four bytes. */
const padding = (length: number): Buffer => Buffer.alloc((4 - (length % 4)) % 4);
