/** Keeps one short row for every job of a cluster: for people who look at all jobs, where `JobWatch` keeps running ones only. */
import type { SlurmClient } from '../client.ts';
import { jobKey, type SlurmJob } from '../model/job.ts';
import { type JobStates, jobChanges } from './job-changes.ts';
import { Lister, type ListSinceOptions } from './lister.ts';
import type { WatchOptions } from './node-watch.ts';
import { pace } from './pace.ts';
import { longestUnread, readJobs } from './read-jobs.ts';
import type { Known, View } from './view.ts';

export interface JobIndexOptions<Row> extends WatchOptions {
  /** What is kept of a job. It should be small: there may be 100,000. */
  readonly project: (job: SlurmJob) => Row;
  /** The row of a job whose state changed, until its fields are read again. */
  readonly withState: (row: Row, state: readonly string[]) => Row;
  /** The row of a task that waits: `jobs/state` lists each, a list of jobs has their array only. Default: no row for them. */
  readonly withTask?: (array: Row, task: number) => Row;
}

export interface JobIndexContent<Row> {
  /** By id in `jobs/state`; see `jobKey`. Rows that did not change keep their identity. */
  readonly rows: ReadonlyMap<string, Row>;
  /** Jobs that Slurm lists and whose fields are not read yet. */
  readonly missing: ReadonlySet<string>;
}

interface Listing<Row> extends JobIndexContent<Row> {
  readonly states: JobStates;
  readonly requestedAt: ReadonlyMap<string, number>;
  readonly listedInFullAt: number;
  readonly fullListBytes: number;
  readonly changedKeys: readonly string[];
}

export type JobIndexView<Row> = View<JobIndexContent<Row>>;

export interface JobIndexNotification<Row> {
  readonly view: JobIndexView<Row>;
  /** Rows that are new, changed or gone since the last notification. */
  readonly changedKeys: readonly string[];
}

/** Maximum number of jobs read one by one after a list; more are read by a list in full. */
const maxDetails = 64;
/** After 0.4 MB of states (5,000 jobs) the next poll is twenty seconds later. */
const idleBytesPerSecond = 20_000;
/**
 * `jobs/state` does not show a new reason, priority or time limit, so all jobs are listed in full now and then: the dearer
 * that is (8 KB for each job), the more rarely. 1,000 jobs every 32 s, 100,000 every 53 minutes.
 */
const fullBytesPerSecond = 250_000;
const fullMinMs = 30_000;
const maxFullBytes = 1_500_000_000;

export class JobIndex<Row> {
  readonly #lister: Lister<Listing<Row>>;

  constructor(options: JobIndexOptions<Row>) {
    const { client, clock, random, onListenerError } = options;
    this.#lister = new Lister<Listing<Row>>({
      name: 'jobs',
      pace: pace({ idleBytesPerSecond, ...options.pace }),
      blockedMs: () => client.circuit().waitMs,
      ...(clock && { clock }),
      ...(random && { random }),
      ...(onListenerError && { onListenerError }),
      fetch: async (last, signal, lost) => {
        const states = await client.jobs.states(undefined, { signal });
        if (last === undefined || lost || isFullListDue(last, states.beganAt))
          return listInFull(options, last, states, signal);
        return listChanged(options, last, states, signal);
      },
    });
  }

  get view(): JobIndexView<Row> {
    return this.#lister.view;
  }

  start(): void {
    this.#lister.start();
  }

  stop(): Promise<void> {
    return this.#lister.stop();
  }

  /** Called once per list with changes, and whenever the view becomes known or unknown. */
  subscribe(listener: (notification: JobIndexNotification<Row>) => void): () => void {
    return this.#lister.subscribe((view, before) => {
      const changedKeys = view.kind === 'known' ? view.changedKeys : [];
      if (changedKeys.length > 0 || view.kind !== before.kind) listener({ view, changedKeys });
    });
  }

  /** Polls every second until disposed. */
  pollFast(): Disposable {
    return this.#lister.pollFast();
  }

  listSince(moment: number, options?: ListSinceOptions): Promise<Known<JobIndexContent<Row>>> {
    return this.#lister.listSince(moment, options);
  }
}

type States = Awaited<ReturnType<SlurmClient['jobs']['states']>>;

function isFullListDue<Row>(last: Listing<Row>, now: number): boolean {
  const age = now - last.listedInFullAt;
  if (age < 0) return true;
  if (last.missing.size > maxDetails && age >= fullMinMs) return true;
  return age >= Math.max(fullMinMs, (last.fullListBytes / fullBytesPerSecond) * 1000);
}

async function listInFull<Row>(
  { client, project, withTask }: JobIndexOptions<Row>,
  last: Known<Listing<Row>> | undefined,
  states: States,
  signal: AbortSignal,
) {
  const listed = await client.jobs.listProjected((job) => ({ key: jobKey(job), row: project(job) }), {
    signal,
    maxAnswerBytes: maxFullBytes,
  });
  const read = new Map(listed.items.map(({ key, row }) => [key, row]));
  const known = jobChanges(last?.states ?? new Map(), states.items).states;
  const rows = new Map<string, Row>();
  const missing = new Set<string>();
  const changedKeys: string[] = [];
  for (const id of known.keys()) {
    const before = last?.rows.get(id);
    const row = read.get(id) ?? waitingTask(id, (array) => read.get(array), withTask);
    if (row === undefined) {
      missing.add(id);
      if (before !== undefined) rows.set(id, before);
      continue;
    }
    const kept = before !== undefined && sameRow(before, row) ? before : row;
    rows.set(id, kept);
    if (kept !== before) changedKeys.push(id);
  }
  for (const id of last?.rows.keys() ?? []) if (!rows.has(id)) changedKeys.push(id);
  const content: Listing<Row> = {
    rows,
    missing,
    states: known,
    requestedAt: new Map(),
    listedInFullAt: states.beganAt,
    fullListBytes: listed.bytes,
    changedKeys,
  };
  return { content, beganAt: states.beganAt, bytes: states.bytes };
}

async function listChanged<Row>(
  options: JobIndexOptions<Row>,
  last: Known<Listing<Row>>,
  listed: States,
  signal: AbortSignal,
) {
  const { states, changes } = jobChanges(last.states, listed.items);
  const rows = new Map(last.rows);
  const missing = new Set([...last.missing].filter((id) => states.has(id)));
  const changed = new Set<string>();
  for (const change of changes) {
    changed.add(change.id);
    const row = rows.get(change.id);
    if (change.type === 'removed') rows.delete(change.id);
    else {
      // A new state brings other fields with it: nodes, times, the reason.
      missing.add(change.id);
      if (row !== undefined) rows.set(change.id, options.withState(row, change.state));
    }
  }
  // The waiting tasks of an array have one record: reading one of them is enough.
  const byArray = Map.groupBy(longestUnread(missing, last.requestedAt), arrayOf);
  const wanted = [...byArray.values()].flatMap(([first]) => first ?? []).slice(0, maxDetails);
  for (const [id, job] of await readJobs(options.client, wanted, signal)) {
    // Slurm lists it but does not know it: it just left, and the next list shows that.
    if (job === undefined) continue;
    const row = options.project(job);
    const isArray = id.includes('_') && jobKey(job) === arrayOf(id);
    for (const each of isArray ? (byArray.get(arrayOf(id)) ?? []) : [id]) {
      const own = isArray ? waitingTask(each, () => row, options.withTask) : row;
      if (own === undefined) continue;
      missing.delete(each);
      changed.add(each);
      rows.set(each, own);
    }
  }
  const requestedAt = new Map<string, number>();
  for (const id of missing) {
    const at = wanted.includes(id) ? listed.beganAt : last.requestedAt.get(id);
    if (at !== undefined) requestedAt.set(id, at);
  }
  const { listedInFullAt, fullListBytes } = last;
  const content: Listing<Row> = {
    rows,
    missing,
    states,
    requestedAt,
    listedInFullAt,
    fullListBytes,
    changedKeys: [...changed],
  };
  // While fields are missing the next poll follows soon.
  const bytes = missing.size > 0 ? 0 : listed.bytes;
  return { content, beganAt: listed.beganAt, bytes, requests: 1 + wanted.length };
}

/** `40` of `40_7`. */
const arrayOf = (id: string): string => id.split('_')[0] ?? id;

function waitingTask<Row>(
  id: string,
  rowOf: (array: string) => Row | undefined,
  withTask: JobIndexOptions<Row>['withTask'],
): Row | undefined {
  const [array = '', task] = id.split('_');
  const row = task === undefined ? undefined : rowOf(array);
  return row === undefined || withTask === undefined ? undefined : withTask(row, Number(task));
}

function sameRow(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
