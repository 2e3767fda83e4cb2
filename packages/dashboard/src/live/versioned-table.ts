/**
 * Rows by key with a version that grows with every change, and the last changes, so that a reader that knows version 17 gets
 * what came since, not the whole table. Pure.
 */
export interface Keyed {
  readonly key: string;
}

export interface Delta<Row extends Keyed> {
  /** The version that it applies to, and the one that results. */
  readonly from: number;
  readonly to: number;
  readonly set: readonly Row[];
  readonly removed: readonly string[];
}

export interface VersionedTableOptions {
  /** The number of changed rows that are kept for readers that come late. Default: as many as the table has, at least 1,000. */
  readonly history?: number;
}

const leastHistory = 1000;

export class VersionedTable<Row extends Keyed> {
  readonly #rows = new Map<string, Row>();
  readonly #options: VersionedTableOptions;
  #deltas: Delta<Row>[] = [];
  #kept = 0;
  #version: number;

  /** `version`: where to begin. A table that was begun again must begin higher, or readers take it for the old one. */
  constructor(version: number, options: VersionedTableOptions = {}) {
    this.#version = version;
    this.#options = options;
  }

  get version(): number {
    return this.#version;
  }

  get rows(): ReadonlyMap<string, Row> {
    return this.#rows;
  }

  /** `undefined` if nothing differs. */
  apply(set: Iterable<Row>, removed: Iterable<string>): Delta<Row> | undefined {
    const changed: Row[] = [];
    const gone: string[] = [];
    for (const row of set) {
      if (sameRow(this.#rows.get(row.key), row)) continue;
      this.#rows.set(row.key, row);
      changed.push(row);
    }
    for (const key of removed) if (this.#rows.delete(key)) gone.push(key);
    if (changed.length === 0 && gone.length === 0) return undefined;
    const delta = { from: this.#version, to: this.#version + 1, set: changed, removed: gone };
    this.#version = delta.to;
    this.#deltas.push(delta);
    this.#kept += sizeOf(delta);
    const most = this.#options.history ?? Math.max(leastHistory, this.#rows.size);
    while (this.#kept > most) {
      const oldest = this.#deltas.shift();
      if (oldest === undefined) break;
      this.#kept -= sizeOf(oldest);
    }
    return delta;
  }

  /** What changed since a version, as one delta; `undefined` if that is no longer known: then the whole table is needed. */
  since(version: number): Delta<Row> | undefined {
    if (version === this.#version) return { from: version, to: version, set: [], removed: [] };
    const first = this.#deltas.findIndex(({ from }) => from === version);
    if (first === -1) return undefined;
    const keys = new Set<string>();
    for (const { set, removed } of this.#deltas.slice(first)) {
      for (const { key } of set) keys.add(key);
      for (const key of removed) keys.add(key);
    }
    const set: Row[] = [];
    const removed: string[] = [];
    for (const key of keys) {
      const row = this.#rows.get(key);
      if (row === undefined) removed.push(key);
      else set.push(row);
    }
    return { from: version, to: this.#version, set, removed };
  }
}

/** The same on the page: `undefined` if the delta does not continue from this version, and the table must be read again. */
export function applied<Row extends Keyed>(
  table: { readonly version: number; readonly rows: ReadonlyMap<string, Row> },
  delta: Delta<Row>,
): { readonly version: number; readonly rows: ReadonlyMap<string, Row> } | undefined {
  if (delta.to <= table.version) return table;
  if (delta.from !== table.version) return undefined;
  const rows = new Map(table.rows);
  for (const row of delta.set) rows.set(row.key, row);
  for (const key of delta.removed) rows.delete(key);
  return { version: delta.to, rows };
}

const sizeOf = ({ set, removed }: Delta<Keyed>) => set.length + removed.length;

function sameRow(a: Keyed | undefined, b: Keyed): boolean {
  return a === b || (a !== undefined && JSON.stringify(a) === JSON.stringify(b));
}
