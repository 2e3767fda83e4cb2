/** Follows the jobs of one Slurm: cheap lists of states, and the details of those that run. */
import type { SlurmClient } from '../client.ts';
import { isOutage } from '../connection/circuit.ts';
import { ProtocolError, Timeout } from '../errors.ts';
import { expandHostlist } from '../meaning/hostlist.ts';
import { type Deadline, nodeDeadlines } from '../model/deadlines.ts';
import { jobKey, occupiesNodes, type SlurmJob } from '../model/job.ts';
import { type JobChange, type JobStates, jobChanges } from './job-changes.ts';
import { Lister, type ListSinceOptions } from './lister.ts';
import type { WatchOptions } from './node-watch.ts';
import { pace } from './pace.ts';
import type { Known, View } from './view.ts';

export interface JobContent {
  /** State of every job that slurmctld remembers, by its name in `jobs/state`; see `jobKey`. */
  readonly states: JobStates;
  /** The jobs that hold nodes, in full. */
  readonly running: ReadonlyMap<string, SlurmJob>;
  /** Jobs that hold nodes and whose details are still to be fetched. */
  readonly missing: ReadonlySet<string>;
}

interface Listing extends JobContent {
  readonly changes: readonly JobChange[];
  /** When each of `running` was read. */
  readonly readAt: ReadonlyMap<string, number>;
}

export type JobsView = View<JobContent>;
export type KnownJobs = Known<JobContent>;

export interface JobNews {
  readonly view: JobsView;
  readonly before: JobsView;
  readonly changes: readonly JobChange[];
}

/** Details fetched per list, one GET each; what is left over comes with the next list. */
const maxDetails = 64;
const parallelDetails = 4;
/**
 * A time limit can be changed while a job runs, and nothing cheap tells: details are read again when they are this old, a
 * few per list.
 */
const detailsAgeMs = 10 * 60_000;
const maxRereads = 4;
/** 0.4 MB of states (5,000 jobs) earn twenty seconds of rest. */
const idleBytesPerSecond = 20_000;

/**
 * All jobs of a cluster, cheaply: one full list at the start, then states only, and a GET for each job that begins to
 * run. Memory holds states of all and details of running jobs.
 *
 * A job that was requeued and runs again between two lists looks as if it had never stopped, with another start and other
 * nodes. So details are not believed after an outage, nor when work left one of the job's nodes (`doubt`): such a job is
 * `missing` until it was read again.
 */
export class JobWatch {
  readonly #lister: Lister<Listing>;
  /** Nodes that work left since the last list. */
  #doubted = new Set<string>();

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
        const doubted = this.#doubted;
        this.#doubted = new Set();
        if (last === undefined) return listInFull(client, signal);
        return listStates(client, last, lost ? 'all' : doubted, signal);
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

  /** Called once per list that brought news, and whenever the view becomes known or unknown. */
  subscribe(listener: (news: JobNews) => void): () => void {
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

  /** Work left these nodes: with the next list, jobs that are said to be there are read again. */
  doubt(nodes: Iterable<string>): void {
    for (const node of nodes) this.#doubted.add(node);
  }
}

/** When the work on each node must be over. Not `complete` while details of a running job are still to come. */
export function deadlinesOf(jobs: KnownJobs): {
  readonly deadlines: ReadonlyMap<string, Deadline>;
  readonly complete: boolean;
} {
  return { deadlines: nodeDeadlines(jobs.running.values()), complete: jobs.missing.size === 0 };
}

/** States first, so that names and events are those of `jobs/state` from the beginning; then the one full list. */
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
  const content = { states, running, readAt, missing, changes };
  return { content, beganAt: listed.beganAt, bytes: listed.bytes + bytes };
}

/** A list too long for its deadline or its bound is done without: the running jobs are then asked for one by one. */
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

/** `doubted`: the nodes whose jobs are read again, whatever was known of them. */
async function listStates(
  client: SlurmClient,
  last: Known<Listing>,
  doubted: ReadonlySet<string> | 'all',
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
    if (known === undefined || isDoubted(known, doubted)) {
      missing.add(id);
      continue;
    }
    running.set(id, sameStates(known.state, state) ? known : { ...known, state });
    const at = last.readAt.get(id) ?? 0;
    readAt.set(id, at);
    if (listed.beganAt - at >= detailsAgeMs && old.length < maxRereads) old.push(id);
  }
  const wanted = [...[...missing].slice(0, maxDetails), ...old];
  const fetched = await fetchDetails(client, wanted, signal);
  for (const [id, job] of fetched.jobs) {
    // Slurm lists it and does not know it: it ended just now, and the next list says so, or it stays missing.
    if (job === undefined) continue;
    missing.delete(id);
    if (!occupiesNodes(job.state)) continue;
    running.set(id, job);
    readAt.set(id, listed.beganAt);
  }
  const content = { states, running, readAt, missing, changes };
  // While details are missing the next round comes soon.
  return { content, beganAt: listed.beganAt, bytes: missing.size > 0 ? 0 : listed.bytes };
}

/** Details of jobs, a few at a time. One that cannot be had stays missing; an outage ends the round. */
async function fetchDetails(client: SlurmClient, ids: readonly string[], signal: AbortSignal) {
  const jobs = new Map<string, SlurmJob | undefined>();
  const waiting = [...ids];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        jobs.set(id, await client.jobs.get(id, { signal }));
      } catch (error) {
        if (isOutage(error)) waiting.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: parallelDetails }, worker));
  return { jobs };
}

/** A list of nodes that cannot be read is no reason to believe it, nor to lose sight of all jobs. */
function isDoubted(job: SlurmJob, doubted: ReadonlySet<string> | 'all'): boolean {
  if (doubted === 'all') return true;
  if (doubted.size === 0) return false;
  try {
    return expandHostlist(job.nodes).some((node) => doubted.has(node));
  } catch {
    return true;
  }
}

function sameStates(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}
