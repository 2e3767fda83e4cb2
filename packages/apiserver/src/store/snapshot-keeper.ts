/** Keeps a snapshot file in step with the store: some seconds behind while it runs, exact when it stops. */
import { writeSnapshotFile } from './snapshot-file.ts';
import type { Store } from './store.ts';

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
