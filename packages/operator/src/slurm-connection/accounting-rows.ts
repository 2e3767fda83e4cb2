/**
 * The rows of an accounting database that objects declare: one list for all objects of an Accounting, read again after each write. Slurm has
 * no watch for them, and no answer "unchanged".
 */
import { type SlurmClient, SlurmError, type SlurmQos } from '@slurm-operator/slurm';

/** How old a list may be that a decision is made from. */
const listPeriod = 25_000;
/** Objects look again this often, so that a change by someone else is found. */
export const rowsPeriod = 30_000;
const listTimeout = 10_000;

export type Rows<T> =
  | { readonly kind: 'known'; readonly at: number; readonly byName: ReadonlyMap<string, T> }
  | { readonly kind: 'unknown'; readonly why: string };

interface Reading {
  readonly at: number;
  readonly rows: Promise<Rows<SlurmQos>>;
}

export class AccountingRows {
  readonly #now: () => number;
  /** By connection: one that was replaced is forgotten with its rows. */
  readonly #qos = new WeakMap<SlurmClient, Reading>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Never throws for an outage: rows that cannot be read are unknown, never absent. */
  qos(client: SlurmClient): Promise<Rows<SlurmQos>> {
    const at = this.#now();
    const known = this.#qos.get(client);
    if (known !== undefined && at >= known.at && at - known.at < listPeriod) return known.rows;
    const rows = listQos(client, at);
    const reading = { at, rows };
    this.#qos.set(client, reading);
    // A failure is not remembered: the next object that asks tries again.
    const forgetUnknown = async () => {
      const { kind } = await rows.catch(() => ({ kind: 'unknown' }));
      if (kind === 'unknown' && this.#qos.get(client) === reading) this.#qos.delete(client);
    };
    void forgetUnknown();
    return rows;
  }

  /** A list that begins after this call. */
  fresh(client: SlurmClient): Promise<Rows<SlurmQos>> {
    this.invalidate(client);
    return this.qos(client);
  }

  /** After a write. */
  invalidate(client: SlurmClient): void {
    this.#qos.delete(client);
  }
}

async function listQos({ accounting }: SlurmClient, at: number): Promise<Rows<SlurmQos>> {
  try {
    const rows = await accounting.qos.list({ timeoutMs: listTimeout });
    return { kind: 'known', at, byName: new Map(rows.map((row) => [row.name, row])) };
  } catch (error) {
    if (!(error instanceof SlurmError)) throw error;
    return { kind: 'unknown', why: error.message };
  }
}
