/** Who did what and how it was answered; bounded, countable, queryable. */
import type { RequestInfo } from '../api/request-info.ts';

export interface AuditEntry {
  /** Counts from 1 and never repeats, so that a test can ask for what came after. */
  readonly id: number;
  readonly time: number;
  readonly user: string;
  readonly userAgent: string;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  /** Of the object; empty for a collection and for a create that was refused. */
  readonly name: string;
  /** Path with query. */
  readonly path: string;
  readonly status: number;
  readonly milliseconds: number;
  /** What webhooks wanted to be noted, by `webhook/key`. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** What the client was warned of. */
  readonly warnings?: readonly string[];
}

/** What of an entry the request itself says. */
export const askedFor = ({ verb, group, version, plural, subresource, namespace, name }: RequestInfo) => ({
  verb,
  group,
  version,
  resource: plural,
  subresource,
  namespace,
  name,
});

/** Every given field must be equal; a function decides for itself. */
export type AuditQuery = Partial<AuditEntry> | ((entry: AuditEntry) => boolean);

export class AuditLog {
  readonly #limit: number;
  #entries: AuditEntry[] = [];
  #total = 0;

  constructor(limit = 100_000) {
    this.#limit = limit;
  }

  /** Requests ever recorded, forgotten ones too. */
  get total(): number {
    return this.#total;
  }

  record(entry: Omit<AuditEntry, 'id'>): void {
    this.#total += 1;
    this.#entries.push({ id: this.#total, ...entry });
    if (this.#entries.length > this.#limit * 1.25) this.#entries = this.#entries.slice(-this.#limit);
  }

  find(query: AuditQuery = {}): AuditEntry[] {
    if (typeof query === 'function') return this.#entries.filter(query);
    const wanted = Object.entries(query);
    return this.#entries.filter((entry) =>
      wanted.every(([key, value]) => entry[key as keyof AuditEntry] === value),
    );
  }

  count(query: AuditQuery = {}): number {
    return this.find(query).length;
  }

  clear(): void {
    this.#entries = [];
  }
}
