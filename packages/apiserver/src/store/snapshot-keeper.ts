/** Keeps a snapshot file in step with the store: some seconds behind while it runs, exact when it stops. */

import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseExact, stringifyExact } from '../api/json.ts';
import type { Store, StoreSnapshot } from './store.ts';

/** Snapshots on disk: one JSON file, written beside its place and renamed, so that a crash leaves the old or the new one. */
const format = 'apiserver-snapshot/1';

export async function writeSnapshotFile(file: string, snapshot: StoreSnapshot): Promise<void> {
  const beside = `${file}.${process.pid}.new`;
  await writeFile(beside, stringifyExact({ format, ...snapshot }), { mode: 0o600 });
  await rename(beside, file);
}

/** The snapshot in the file, or undefined when there is no such file. */
export async function readSnapshotFile(file: string): Promise<StoreSnapshot | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`cannot read the snapshot ${file}`, { cause: error });
  }
  const parsed = parseExact(text) as StoreSnapshot & { format?: string };
  if (parsed.format !== format)
    throw new Error(
      `${file} is no snapshot of this server: its format is ${String(parsed.format)}, not ${format}`,
    );
  return { revision: parsed.revision, resources: parsed.resources };
}

/** A crash loses at most this much. */
const period = 5000;

export class SnapshotKeeper {
  readonly #store: Store;
  readonly #file: string;
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(store: Store, file: string) {
    this.#store = store;
    this.#file = file;
    this.#unsubscribe = store.subscribe(() => this.#schedule());
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    clearTimeout(this.#timer);
    await this.#write();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // A full disk shows at the next write, or at the latest when the server stops.
      this.#write().catch(() => this.#schedule());
    }, period).unref();
  }

  /** One write at a time, in order. */
  #write(): Promise<void> {
    const next = this.#writing.then(() => writeSnapshotFile(this.#file, this.#store.snapshot()));
    this.#writing = next.catch(() => {});
    return next;
  }
}
