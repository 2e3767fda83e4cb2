/** Watches the jobs of one Slurm: cheap lists of states, and the details of running jobs. */
import type { SlurmClient } from '../client.ts';
import { ProtocolError, Timeout } from '../errors.ts';
import { expandHostlist } from '../meaning/hostlist.ts';
import { type Deadline, nodeDeadlines } from '../model/deadlines.ts';
import { jobKey, occupiesNodes, type SlurmJob } from '../model/job.ts';
import { type JobChange, type JobStates, jobChanges } from './job-changes.ts';
import { Lister, type ListSinceOptions } from './lister.ts';
import type { WatchOptions } from './node-watch.ts';
import { pace } from './pace.ts';
import { longestUnread, readJobs } from './read-jobs.ts';
import type { Known, View } from './view.ts';

export interface JobContent {
  /** State of every job that slurmctld knows, by its id in `jobs/state`; see `jobKey`. */
  readonly states: JobStates;
  /** The jobs that have nodes, with all fields. */
  readonly running: ReadonlyMap<string, SlurmJob>;
  /** Jobs that have nodes and whose details are not fetched yet. */
  readonly missing: ReadonlySet<string>;
}

interface Listing extends JobContent {
  readonly changes: readonly JobChange[];
  /** When each of `missing` was last requested. */
  readonly requestedAt: ReadonlyMap<string, number>;
  /** When each of `running` was read. */
  readonly readAt: ReadonlyMap<string, number>;
}

export type JobsView = View<JobContent>;
export type KnownJobs = Known<JobContent>;

export interface JobsNotification {
  readonly view: JobsView;
  readonly before: JobsView;
  readonly changes: readonly JobChange[];
}

/** Maximum number of details fetched per list, one GET each; the rest follows with the next list. */
const maxDetails = 64;
/**
 * A time limit can be changed while a job runs, which `jobs/state` does not show: details are read again at this age, a
 * few per list.
 */
const detailsAgeMs = 10 * 60_000;
const maxRereads = 4;
/** After 0.4 MB of states (5,000 jobs) the next poll is twenty seconds later. */
const idleBytesPerSecond = 20_000;

/**
 * All jobs of a cluster, cheaply: one full list at the start, then states only, and a GET for each job that begins to
 * run. Memory holds states of all and details of running jobs.
 *
 * A job that was requeued and runs again between two lists looks as if it had never stopped, with another start and other
 * nodes. So its details are invalid after an outage, and when a job left one of its nodes (`invalidate`): such a job is
 * `missing` until it was read again. So is one that is suspended: its nodes are no longer shown as busy, and a job can get more of them
 * while it runs.
 */
export class JobWatch {
  readonly #lister: Lister<Listing>;
  /** Nodes that a job left since the last list. */
  #invalidated = new Set<string>();

  constructor(options: WatchOptions) {
    const { client, clock, random, onListenerError } = options;
    this.#lister = new Lister<Listing>({
      name: 'jobs',
      pace: pace({ idleBytesPerSecond, ...options.pace }),
      blockedMs: () => client.circuit().waitMs,
      ...(clock && { clock }),
      ...(random && { random }),
      ...(onListenerError && { onListenerError }),
      fetch: (last, signal, lost) => {
        const invalidated = this.#invalidated;
        this.#invalidated = new Set();
        if (last === undefined) return listInFull(client, signal);
        return listStates(client, last, lost ? 'all' : invalidated, signal);
      },
    });
  }

  get view(): JobsView {
    return this.#lister.view;
  }

  start(): void {
    this.#lister.start();
  }

  stop(): Promise<void> {
    return this.#lister.stop();
  }

  /** Called once per list with changes, and whenever the view becomes known or unknown. */
  subscribe(listener: (notification: JobsNotification) => void): () => void {
    return this.#lister.subscribe((view, before) => {
      const changes = view.kind === 'known' ? view.changes : [];
      if (changes.length > 0 || view.kind !== before.kind) listener({ view, before, changes });
    });
  }

  pollFast(): Disposable {
    return this.#lister.pollFast();
  }

  listSince(moment: number, options?: ListSinceOptions): Promise<KnownJobs> {
    return this.#lister.listSince(moment, options);
  }

  /** Jobs left these nodes: with the next list, the jobs on them are read again. */
  invalidate(nodes: Iterable<string>): void {
    for (const node of nodes) this.#invalidated.add(node);
  }
}

/** When the jobs on each node must have ended. Not `complete` while details of a running job are missing. */
export function deadlinesOf(jobs: KnownJobs): {
  readonly deadlines: ReadonlyMap<string, Deadline>;
  readonly complete: boolean;
} {
  return { deadlines: nodeDeadlines(jobs.running.values()), complete: jobs.missing.size === 0 };
}

/** States first, so that ids and events are those of `jobs/state` from the beginning; then the one full list. */
async function listInFull(client: SlurmClient, signal: AbortSignal) {
  const listed = await client.jobs.states(undefined, { signal });
  const { items, bytes } = await allJobs(client, signal);
  const { states, changes } = jobChanges(new Map(), listed.items);
  const running = new Map<string, SlurmJob>();
  for (const job of items) {
    const key = jobKey(job);
    if (occupiesNodes(job.state) && occupiesNodes(states.get(key) ?? [])) running.set(key, job);
  }
  const readAt = new Map([...running.keys()].map((id) => [id, listed.beganAt]));
  const missing = new Set(
    [...states].filter(([id, state]) => occupiesNodes(state) && !running.has(id)).map(([id]) => id),
  );
  const content = { states, running, readAt, missing, changes, requestedAt: new Map<string, number>() };
  return { content, beganAt: listed.beganAt, bytes: listed.bytes + bytes };
}

/** If the list exceeds its deadline or its size limit, the running jobs are requested one by one. */
async function allJobs(
  client: SlurmClient,
  signal: AbortSignal,
): Promise<{ items: readonly SlurmJob[]; bytes: number }> {
  try {
    return await client.jobs.list({ signal });
  } catch (error) {
    if (!(error instanceof Timeout) && !(error instanceof ProtocolError)) throw error;
    return { items: [], bytes: 0 };
  }
}

/** `invalidated`: the nodes whose jobs are read again. */
async function listStates(
  client: SlurmClient,
  last: Known<Listing>,
  invalidated: ReadonlySet<string> | 'all',
  signal: AbortSignal,
) {
  const listed = await client.jobs.states(undefined, { signal });
  const { states, changes } = jobChanges(last.states, listed.items);
  const running = new Map<string, SlurmJob>();
  const readAt = new Map<string, number>();
  const missing = new Set<string>();
  const old: string[] = [];
  for (const [id, state] of states) {
    if (!occupiesNodes(state)) continue;
    const known = last.running.get(id);
    const isSuspended = state.includes('SUSPENDED') && known?.state.includes('SUSPENDED') !== true;
    if (known === undefined || isSuspended || isInvalidated(known, invalidated)) {
      missing.add(id);
      continue;
    }
    running.set(id, sameStates(known.state, state) ? known : { ...known, state });
    const at = last.readAt.get(id) ?? 0;
    readAt.set(id, at);
    if (listed.beganAt - at >= detailsAgeMs && old.length < maxRereads) old.push(id);
  }
  const wanted = [...longestUnread(missing, last.requestedAt).slice(0, maxDetails), ...old];
  for (const [id, job] of await readJobs(client, wanted, signal)) {
    // Slurm lists it but does not know it: it just ended, and the next list shows that, or it stays missing.
    if (job === undefined) continue;
    missing.delete(id);
    if (!occupiesNodes(job.state)) continue;
    running.set(id, job);
    readAt.set(id, listed.beganAt);
  }
  const requestedAt = new Map<string, number>();
  for (const id of missing) {
    const at = wanted.includes(id) ? listed.beganAt : last.requestedAt.get(id);
    if (at !== undefined) requestedAt.set(id, at);
  }
  const content = { states, running, readAt, missing, changes, requestedAt };
  // While details are missing the next poll follows soon.
  const bytes = missing.size > 0 ? 0 : listed.bytes;
  return { content, beganAt: listed.beganAt, bytes, requests: 1 + wanted.length };
}

/** A job whose hostlist cannot be parsed counts as invalidated. */
function isInvalidated(job: SlurmJob, invalidated: ReadonlySet<string> | 'all'): boolean {
  if (invalidated === 'all') return true;
  if (invalidated.size === 0) return false;
  try {
    return expandHostlist(job.nodes).some((node) => invalidated.has(node));
  } catch {
    return true;
  }
}

function sameStates(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}
