/** The NodeSet controller's view of Slurm, on top of a client and a watch that others may share. */
import {
  type Deadline,
  deadlinesOf,
  expandHostlist,
  isBusy,
  type JobUpdate,
  type KnownJobs,
  type KnownNodes,
  type NodeUpdate,
  type ReservationWrite,
  type SlurmClient,
  SlurmError,
  type SlurmJob,
  type SlurmNode,
  type SlurmReservation,
  type SlurmWatch,
  type Waiting,
} from '@slurm-operator/slurm';
import { PendingJobs } from './pending-jobs.ts';
import type { NodesView, PendingNeeds, SlurmGateway } from './slurm-gateway.ts';

export interface WatchedGatewayOptions {
  readonly client: SlurmClient;
  readonly watch: SlurmWatch;
  /** When the slurmctld that answers now was started, as far as it is known. */
  readonly controllerStartedAt: () => number | undefined;
  readonly now: () => number;
  /** Told whether anything waits for this Slurm. */
  readonly pollsFast?: (isFast: boolean) => void;
  /**
   * Throws when this replica may not write any more. Asked right before each write: a process that was paused in the middle of its
   * work would set a node down, or end a drain, that its successor has long built upon.
   */
  readonly assertMayWrite?: () => void;
}

/** What was made of the views of nodes and jobs. */
interface Reading {
  readonly nodes: ReadonlyMap<string, SlurmNode>;
  readonly running: KnownJobs['running'] | undefined;
  readonly jobsAfterNodes: boolean;
  readonly listed: readonly SlurmNode[];
  readonly deadlines: ReadonlyMap<string, Deadline>;
}

export class WatchedGateway implements SlurmGateway {
  readonly #options: WatchedGatewayOptions;
  readonly #fastHolds = new Map<string, { readonly waiting: Waiting; readonly hold: Disposable }>();
  readonly #pending: PendingJobs;
  #last: Reading | undefined;

  constructor(options: WatchedGatewayOptions) {
    this.#options = options;
    this.#pending = new PendingJobs(options.client, options.now);
  }

  pendingNeeds(signal: AbortSignal): Promise<PendingNeeds> {
    return this.#pending.needs(signal);
  }

  view(): NodesView {
    const { view } = this.#options.watch.nodes;
    if (view.kind === 'unknown') return { kind: 'unknown', since: view.since, why: view.why.message };
    return this.#known(view);
  }

  /** What was listed last, however long ago: enough to be careful, never to decide that something is free. */
  lastNodes(): readonly SlurmNode[] | undefined {
    const { view } = this.#options.watch.nodes;
    const known = view.kind === 'known' ? view : view.last;
    return known && [...known.nodes.values()];
  }

  async freshView(signal: AbortSignal): Promise<NodesView> {
    const since = this.#options.now();
    const { nodes, jobs } = this.#options.watch;
    // In full: to a slurmctld whose clock was set back, what changed since looks unchanged.
    nodes.invalidate();
    try {
      const view = await nodes.listSince(since, { signal });
      // A job that was suspended while the nodes were listed is only in a list of jobs that began after their answer.
      const later = await jobs.listSince(view.answeredAt, { signal }).catch(unknownJobs);
      return this.#known(view, later);
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
      return { kind: 'unknown', since, why: error.message };
    }
  }

  async freshNodes(names: readonly string[], signal: AbortSignal): Promise<NodesView> {
    const since = this.#options.now();
    const { client, watch } = this.#options;
    try {
      const { nodes, beganAt } = await client.nodes.current(names, { signal });
      const answeredAt = this.#options.now();
      // As after a list of all: a job may have been suspended meanwhile.
      const jobs = await watch.jobs.listSince(answeredAt, { signal }).catch(unknownJobs);
      const some = new Map(nodes.map((node) => [node.name, node]));
      return this.#known({ kind: 'known', at: beganAt, answeredAt, nodes: some }, jobs);
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
      return { kind: 'unknown', since, why: error.message };
    }
  }

  expectChanges(who: string, waiting: Waiting): void {
    const held = this.#fastHolds.get(who);
    if (held?.waiting === waiting) return;
    if (waiting !== false) this.#fastHolds.set(who, { waiting, hold: this.#options.watch.pollFast(waiting) });
    else this.#fastHolds.delete(who);
    held?.hold[Symbol.dispose]();
    this.#options.pollsFast?.(this.#fastHolds.size > 0);
  }

  async updateNode(name: string | readonly string[], update: NodeUpdate, signal: AbortSignal): Promise<void> {
    this.#options.assertMayWrite?.();
    const { outcome } = await this.#options.client.nodes.update(name, update, { signal });
    if (outcome === 'gone') for (const each of [name].flat()) this.#isGone(each);
  }

  async createNodes(configuration: string, signal: AbortSignal): Promise<void> {
    this.#options.assertMayWrite?.();
    await this.#options.client.nodes.create(configuration, { signal });
  }

  async updateJob(
    id: string,
    update: Pick<JobUpdate, 'adminComment' | 'requeue'>,
    signal: AbortSignal,
  ): Promise<void> {
    this.#options.assertMayWrite?.();
    try {
      await this.#options.client.jobs.update(id, update, { signal });
    } catch (error) {
      if (!(error instanceof SlurmError) || (error.code !== 'NotFound' && error.code !== 'Refused'))
        throw error;
    }
  }

  async deleteNode(name: string, signal: AbortSignal): Promise<void> {
    this.#options.assertMayWrite?.();
    await this.#options.client.nodes.delete(name, { signal });
    this.#isGone(name);
  }

  reservation(name: string, signal: AbortSignal): Promise<SlurmReservation | undefined> {
    return this.#options.client.reservations.get(name, { signal });
  }

  async writeReservation(reservation: ReservationWrite, signal: AbortSignal): Promise<void> {
    this.#options.assertMayWrite?.();
    await this.#options.client.reservations.write(reservation, { signal });
  }

  async deleteReservation(name: string, signal: AbortSignal): Promise<void> {
    this.#options.assertMayWrite?.();
    await this.#options.client.reservations.delete(name, { signal });
  }

  release(): string | undefined {
    return this.#options.client.about.release;
  }

  /** A view that still shows the node is read again in full: "unchanged" may hide that the last nodes were removed. */
  #isGone(name: string): void {
    const { nodes } = this.#options.watch;
    if (nodes.view.kind === 'known' && nodes.view.nodes.has(name)) nodes.invalidate();
  }

  #known({ at, answeredAt, nodes }: KnownNodes, jobs: JobsOrWhy = this.#options.watch.jobs.view): NodesView {
    const jobsAfterNodes = jobs.kind === 'known' && jobs.at > answeredAt;
    const { listed, deadlines } = this.#read(nodes, jobs.kind === 'known' ? jobs : undefined, jobsAfterNodes);
    return {
      kind: 'known',
      at,
      nodes: listed,
      deadlines,
      jobsUnknown: whyUnknown(jobs),
      wakingJobs: jobs.kind === 'known' ? wakingOf(jobs) : [],
      someWakingUnread:
        jobs.kind === 'known' && [...jobs.missing].some((id) => isWaking(jobs.states.get(id))),
      jobsAfterNodes,
      controllerStartedAt: this.#options.controllerStartedAt(),
    };
  }

  /** Views are replaced, never changed: as long as both are the same ones, so is what they say. */
  #read(
    nodes: ReadonlyMap<string, SlurmNode>,
    jobs: KnownJobs | undefined,
    jobsAfterNodes: boolean,
  ): Reading {
    const known = this.#last;
    if (known?.nodes === nodes && known.running === jobs?.running && known.jobsAfterNodes === jobsAfterNodes)
      return known;
    return (this.#last = this.#readAgain(nodes, jobs, jobsAfterNodes));
  }

  #readAgain(
    nodes: ReadonlyMap<string, SlurmNode>,
    jobs: KnownJobs | undefined,
    jobsAfterNodes: boolean,
  ): Reading {
    const known = jobs === undefined ? new Map<string, Deadline>() : deadlinesOf(jobs).deadlines;
    const deadlines = new Map(known);
    // A busy node without a known job will be busy for an unknown time.
    for (const node of nodes.values())
      if (isBusy(node.state) && !known.has(node.name)) deadlines.set(node.name, 'unknown');
    const used = nodesInUse(jobs, jobsAfterNodes);
    const listed = [...nodes.values()].map((node) => (used.has(node.name) ? inUse(node) : node));
    return { nodes, running: jobs?.running, jobsAfterNodes, listed, deadlines };
  }
}

type JobsOrWhy = KnownJobs | { readonly kind: 'unknown'; readonly why: { readonly message: string } };

function unknownJobs(error: unknown): JobsOrWhy {
  if (!(error instanceof SlurmError)) throw error;
  return { kind: 'unknown', why: error };
}

/** A suspended job whose nodes are still to be read may be on any of them; every other job is shown by its node. */
function whyUnknown(jobs: JobsOrWhy): string | undefined {
  if (jobs.kind === 'unknown') return `the jobs are unknown: ${jobs.why.message}`;
  const hidden = [...jobs.missing].find((id) => jobs.states.get(id)?.includes('SUSPENDED'));
  return hidden === undefined ? undefined : `the nodes of suspended job ${hidden} are unknown`;
}

const wakingOf = ({ running }: KnownJobs): SlurmJob[] =>
  [...running.values()].filter(({ state }) => isWaking(state));

const isWaking = (state: readonly string[] | undefined): boolean => state?.includes('CONFIGURING') === true;

/**
 * A job that was suspended while the nodes were listed and resumed before the jobs were is in neither list as suspended: in a list of jobs
 * that began after the nodes were answered, a running job has its nodes too.
 */
function nodesInUse(jobs: KnownJobs | undefined, jobsAfterNodes: boolean): ReadonlySet<string> {
  const using = [...(jobs?.running.values() ?? [])].filter(
    ({ state }) => state.includes('SUSPENDED') || (jobsAfterNodes && state.includes('RUNNING')),
  );
  return new Set(using.flatMap((job) => expandHostlist(job.nodes)));
}

/**
 * Slurm calls a node idle whose only work is suspended, unless it counts memory (seen on 24.11 and 26.05 with CR_Core and CR_CPU). The
 * processes of that work are there all the same, and would be lost with the worker.
 */
function inUse(node: SlurmNode): SlurmNode {
  return isBusy(node.state) ? node : { ...node, state: { ...node.state, base: 'MIXED' } };
}
