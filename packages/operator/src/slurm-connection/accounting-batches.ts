/**
 * Writes of many objects to one accounting database, in few requests: what is submitted while a batch is written makes the next one. Each
 * object decides again from the list that its batch is written on top of.
 */
import type { Clock } from '@slurm-operator/kube';
import {
  type AccountChanges,
  type SlurmClient,
  SlurmError,
  type SlurmQos,
  Unavailable,
} from '@slurm-operator/slurm';
import type { AccountingRows, KnownAccounts, Rows } from './accounting-rows.ts';

/** A batch begins when nothing more was submitted for this long, */
const quiet = 100;
/** and at the latest then. */
const longest = 500;
const mostObjects = 500;
/** Of one request: slurmdbd takes seconds for a thousand rows. */
const writeTimeout = 60_000;

/** Codes of errors that one row of a request can cause. */
const aboutOne: ReadonlySet<string> = new Set(['Refused', 'InvalidInput', 'NotSupported']);

type KnownQos = Extract<Rows<SlurmQos>, { kind: 'known' }>;

/** Decides from the newest rows, and records what will be written. Undefined: nothing is to be written. */
export type Prepare<Listed, Change> = (rows: Listed) => Promise<Change | undefined>;

interface Submission<Listed, Change> {
  readonly prepare: Prepare<Listed, Change>;
  readonly signal: AbortSignal;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export interface Table<Listed, Change> {
  /** A list that begins now. Throws if Slurm does not answer. */
  readonly list: () => Promise<Listed>;
  readonly write: (changes: readonly Change[], rows: Listed) => Promise<unknown>;
  /** What was listed is old. */
  readonly wrote: () => void;
}

export class Batches<Listed, Change> {
  readonly #table: Table<Listed, Change>;
  readonly #clock: Clock;
  #waiting: Submission<Listed, Change>[] = [];
  #isWriting = false;
  #firstAt = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(table: Table<Listed, Change>, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  /** Resolves when it was written, or `prepare` wanted nothing written. Rejects with what Slurm said about it. */
  submit(prepare: Prepare<Listed, Change>, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    else {
      if (this.#waiting.length === 0) this.#firstAt = this.#clock.monotonic();
      this.#waiting.push({ prepare, signal, done: resolve, failed: reject });
      this.#schedule();
    }
    return promise.finally(() => signal.removeEventListener('abort', abort));
  }

  #schedule(): void {
    if (this.#isWriting || this.#waiting.length === 0) return;
    this.#cancelTimer?.();
    const left = this.#firstAt + longest - this.#clock.monotonic();
    this.#cancelTimer = this.#clock.after(Math.max(0, Math.min(quiet, left)), () => void this.#run());
  }

  async #run(): Promise<void> {
    const batch = this.#waiting.slice(0, mostObjects);
    this.#waiting = this.#waiting.slice(mostObjects);
    this.#isWriting = true;
    try {
      await this.#write(batch.filter(({ signal }) => !signal.aborted));
    } catch (error) {
      for (const { failed } of batch) failed(error);
    } finally {
      this.#isWriting = false;
      this.#firstAt = this.#clock.monotonic();
      this.#schedule();
    }
  }

  async #write(batch: readonly Submission<Listed, Change>[]): Promise<void> {
    const rows = await this.#table.list();
    const prepared = await Promise.all(
      batch.map(async (submission) => {
        try {
          const change = await submission.prepare(rows);
          if (change !== undefined && !submission.signal.aborted) return [{ submission, change }];
          submission.done();
        } catch (error) {
          submission.failed(error);
        }
        return [];
      }),
    );
    const all = prepared.flat();
    if (all.length === 0) return;
    try {
      await this.#table.write(
        all.map(({ change }) => change),
        rows,
      );
      for (const { submission } of all) submission.done();
    } catch (error) {
      const isAboutOne = error instanceof SlurmError && aboutOne.has(error.code);
      if (!isAboutOne || all.length === 1) for (const { submission } of all) submission.failed(error);
      else await this.#oneByOne(all);
    } finally {
      this.#table.wrote();
    }
  }

  /** One of them was refused, and with it the whole request: the others must not wait for it. */
  async #oneByOne(
    all: readonly { readonly submission: Submission<Listed, Change>; readonly change: Change }[],
  ): Promise<void> {
    for (const { submission, change } of all)
      try {
        await this.#table.write([change], await this.#table.list());
        submission.done();
      } catch (error) {
        submission.failed(error);
      }
  }
}

export interface QosChange {
  readonly name: string;
  readonly change: (current: SlurmQos | undefined) => SlurmQos;
}

export interface AccountingBatchesOptions {
  readonly rows: AccountingRows;
  readonly clock: Clock;
  /** Throws when this replica may not write any more. */
  readonly assertMayWrite: (() => void) | undefined;
}

/** The batches of each connection. */
export class AccountingBatches {
  readonly #options: AccountingBatchesOptions;
  readonly #qos = new WeakMap<SlurmClient, Batches<KnownQos, QosChange>>();
  readonly #accounts = new WeakMap<SlurmClient, Batches<KnownAccounts, AccountChanges>>();

  constructor(options: AccountingBatchesOptions) {
    this.#options = options;
  }

  qos(client: SlurmClient): Batches<KnownQos, QosChange> {
    const { rows, clock, assertMayWrite } = this.#options;
    const known = this.#qos.get(client);
    if (known !== undefined) return known;
    const table: Table<KnownQos, QosChange> = {
      list: async () => orThrow(await rows.freshQos(client)),
      write: async (changes, { byName }) => {
        assertMayWrite?.();
        const desired = changes.map(({ name, change }) => change(byName.get(name)));
        await client.accounting.qos.change(desired, byName, { timeoutMs: writeTimeout });
      },
      wrote: () => rows.invalidateQos(client),
    };
    const batches = new Batches(table, clock);
    this.#qos.set(client, batches);
    return batches;
  }

  accounts(client: SlurmClient): Batches<KnownAccounts, AccountChanges> {
    const { rows, clock, assertMayWrite } = this.#options;
    const known = this.#accounts.get(client);
    if (known !== undefined) return known;
    const table: Table<KnownAccounts, AccountChanges> = {
      list: async () => orThrow(await rows.freshAccounts(client)),
      write: async (changes, current) => {
        assertMayWrite?.();
        const all = {
          accounts: changes.flatMap(({ accounts }) => accounts),
          records: changes.flatMap(({ records }) => records),
          rows: changes.flatMap((change) => change.rows),
        };
        await client.accounting.table.change(all, current.rows, { timeoutMs: writeTimeout });
      },
      wrote: () => rows.invalidateAccounts(client),
    };
    const batches = new Batches(table, clock);
    this.#accounts.set(client, batches);
    return batches;
  }
}

function orThrow<T extends { readonly kind: 'known' }>(
  rows: T | { readonly kind: 'unknown'; readonly why: string },
): T {
  if (rows.kind === 'known') return rows;
  throw new Unavailable(rows.why);
}
