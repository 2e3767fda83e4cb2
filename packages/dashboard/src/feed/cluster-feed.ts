/** What the page shows of one cluster's Slurm: one watch, whatever the number of browsers. */
import {
  type Clock,
  JobIndex,
  type JobIndexView,
  type NodesView,
  NodeWatch,
  type PaceOptions,
  type SlurmClient,
} from '@slurm-operator/slurm';
import type { Figures, Freshness, FreshnessAt, LiveState } from '../live/figures.ts';
import type { JobRow } from '../live/job-row.ts';
import type { NodeRow } from '../live/node-row.ts';
import { type Delta, VersionedTable } from '../live/versioned-table.ts';
import { figuresOf } from './figures.ts';
import { History } from './history.ts';
import { NodeHistory } from './node-history.ts';
import { jobRow, withArrayTask, withJobState } from './read-job.ts';
import { nodeRow } from './read-node.ts';
import { SharedReads } from './shared-reads.ts';

export interface ClusterFeedOptions {
  readonly client: SlurmClient;
  readonly clock: Clock;
  /** Versions begin here: higher than those of an earlier process, such as the time of the start. */
  readonly firstVersion: number;
  readonly pace?: Partial<PaceOptions>;
  readonly onError?: (error: unknown) => void;
}

export type FeedEvent =
  | { readonly type: 'nodes'; readonly delta: Delta<NodeRow> }
  /** Some job changed: a page asks for its window again. */
  | { readonly type: 'jobs'; readonly version: number }
  | { readonly type: 'figures'; readonly figures: Figures }
  | ({ readonly type: 'freshness' } & FreshnessAt)
  /** The cluster was deleted, or its Slurm is elsewhere now. */
  | { readonly type: 'closed' };

const historyMs = 60_000;

export class ClusterFeed implements AsyncDisposable {
  readonly history: History;
  readonly nodeHistory = new NodeHistory();
  /** Changes of nodes are known from then on. */
  readonly startedAt: number;
  /** What pages ask for beside nodes and jobs. */
  readonly shared: SharedReads;
  readonly #clock: Clock;
  readonly #nodes: NodeWatch;
  readonly #jobs: JobIndex<JobRow>;
  readonly #nodeTable: VersionedTable<NodeRow>;
  readonly #listeners = new Set<(event: FeedEvent) => void>();
  readonly #onError: (error: unknown) => void;
  #jobsVersion: number;
  #figures: Figures | undefined;
  #stopHistory: (() => void) | undefined;

  constructor({ client, clock, firstVersion, pace, onError = () => {} }: ClusterFeedOptions) {
    const watch = { client, clock, onListenerError: onError, ...(pace && { pace }) };
    this.#clock = clock;
    this.#onError = onError;
    this.#nodeTable = new VersionedTable(firstVersion);
    this.#jobsVersion = firstVersion;
    this.history = new History();
    this.startedAt = clock.now();
    this.shared = new SharedReads(clock);
    this.#nodes = new NodeWatch(watch);
    this.#jobs = new JobIndex({
      ...watch,
      project: jobRow,
      withState: withJobState,
      withTask: withArrayTask,
    });
    this.#nodes.subscribe(({ view, before, changes }) => {
      const set = changes.flatMap((change) => (change.type === 'removed' ? [] : [nodeRow(change.node)]));
      const removed = changes.flatMap((change) => (change.type === 'removed' ? [change.node.name] : []));
      const { rows } = this.#nodeTable;
      // What the first list has was there before this process.
      if (rows.size > 0)
        this.nodeHistory.record(clock.now(), [
          ...set.map((row) => [rows.get(row.key), row] as const),
          ...removed.map((name) => [rows.get(name), undefined] as const),
        ]);
      const delta = this.#nodeTable.apply(set, removed);
      if (delta !== undefined) this.#emit({ type: 'nodes', delta });
      this.#changed(view.kind !== before.kind);
    });
    this.#jobs.subscribe(({ changedKeys }) => {
      if (changedKeys.length > 0) {
        this.#jobsVersion += 1;
        this.#emit({ type: 'jobs', version: this.#jobsVersion });
      }
      this.#changed(changedKeys.length === 0);
    });
  }

  start(): void {
    this.#nodes.start();
    this.#jobs.start();
    this.#stopHistory = this.#clock.schedule(historyMs, () => this.#record());
  }

  get nodes(): { readonly version: number; readonly rows: ReadonlyMap<string, NodeRow> } {
    return { version: this.#nodeTable.version, rows: this.#nodeTable.rows };
  }

  /** What changed since a version, or `undefined`: then the whole table is needed. */
  nodesSince(version: number): Delta<NodeRow> | undefined {
    return this.#nodeTable.since(version);
  }

  /** With all fields, for rules that read them. */
  get slurmNodes(): NodesView {
    return this.#nodes.view;
  }

  get jobs(): { readonly version: number; readonly rows: ReadonlyMap<string, JobRow> } {
    return { version: this.#jobsVersion, rows: contentOf(this.#jobs.view)?.rows ?? new Map() };
  }

  get freshness(): FreshnessAt {
    return {
      nodes: freshnessOf(this.#nodes.view),
      jobs: freshnessOf(this.#jobs.view),
      now: this.#clock.now(),
    };
  }

  get live(): LiveState {
    return {
      nodes: this.#nodeTable.version,
      jobs: this.#jobsVersion,
      figures: this.figures,
      freshness: this.freshness,
    };
  }

  get figures(): Figures {
    this.#figures ??= figuresOf(this.#nodeTable.rows.values(), this.jobs.rows.values());
    return this.#figures;
  }

  subscribe(listener: (event: FeedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** After a write the page wants to see what became of it: polls every second until disposed. */
  pollFast(): Disposable {
    const held = [this.#nodes.pollFast(), this.#jobs.pollFast()];
    return { [Symbol.dispose]: () => held.forEach((one) => one[Symbol.dispose]()) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopHistory?.();
    this.#emit({ type: 'closed' });
    this.#listeners.clear();
    await Promise.all([this.#nodes.stop(), this.#jobs.stop()]);
  }

  #changed(freshnessChanged: boolean): void {
    this.#figures = undefined;
    if (freshnessChanged) this.#emit({ type: 'freshness', ...this.freshness });
    if (this.#listeners.size > 0) this.#emit({ type: 'figures', figures: this.figures });
  }

  /** Once a minute, also while Slurm is unknown: then the charts have a gap. */
  #record(): void {
    const { nodes, jobs } = this.freshness;
    const known = nodes.kind === 'known' && jobs.kind === 'known';
    this.history.add(this.#clock.now(), known ? this.figures : undefined);
    this.#stopHistory = this.#clock.schedule(historyMs, () => this.#record());
  }

  /** One listener that fails must not keep the others from their event. */
  #emit(event: FeedEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

const contentOf = <Row>(view: JobIndexView<Row>) => (view.kind === 'known' ? view : view.last);

function freshnessOf(view: NodesView | JobIndexView<JobRow>): Freshness {
  if (view.kind === 'known') return { kind: 'known', at: view.at };
  return { kind: 'unknown', since: view.since, why: view.why.message, lastAt: view.last?.at };
}
