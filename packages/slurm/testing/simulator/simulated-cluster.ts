/**
 * The state of a simulated Slurm: nodes, jobs, partitions, reservations and accounting, and the rules by which they change.
 * Independent of HTTP. Time advances at each request: nothing runs in the background.
 */
import { type Clock, systemClock } from '../../src/clock.ts';
import { compressHostlist, expandHostlist } from '../../src/meaning/hostlist.ts';
import type { SlurmRelease } from '../slurm-rootfs.ts';
import { SlurmRefusal } from './request.ts';
import { type Accounts, emptyAccounts } from './simulated-accounting.ts';
import type { SimulatedPartition } from './simulated-configuration.ts';
import {
  newJob,
  newNode,
  type SimulatedJob,
  type SimulatedNode,
  type SimulatedReservation,
} from './simulated-objects.ts';

export interface ClusterOptions {
  readonly release: SlurmRelease;
  readonly clock?: Clock;
  /** Every node's slurmd is pinged this often, which counts as a change of all nodes. Default: never. */
  readonly pingEveryMs?: number;
  /** From the end of a slurmd to DOWN. Default 50 s. */
  readonly slurmdTimeoutMs?: number;
  /** From a submit to the start, when there is room. Default 100 ms. */
  readonly startDelayMs?: number;
}

/** Between 0.4 and 1.3 s in the real one. */
const wakeMs = 400;
const active = new Set(['RUNNING', 'SUSPENDED', 'COMPLETING']);

export class SimulatedCluster {
  readonly release: SlurmRelease;
  readonly nodes = new Map<string, SimulatedNode>();
  readonly jobs = new Map<number, SimulatedJob>();
  /** Only the accounting knows them. */
  readonly forgottenJobs = new Map<number, SimulatedJob>();
  readonly partitions = new Map<string, SimulatedPartition>();
  readonly reservations = new Map<string, SimulatedReservation>();
  readonly accounting: Accounts = emptyAccounts();
  readonly #clock: Clock;
  readonly #options: Required<Pick<ClusterOptions, 'pingEveryMs' | 'slurmdTimeoutMs' | 'startDelayMs'>>;
  #nextJob = 1;
  #revision = 1;
  #nodesChangedAt: number;
  #partitionsChangedAt: number;
  #jobsChangedAt: number;
  #lastPing: number;
  #usageKept: ReadonlyMap<string, number> | undefined;

  constructor(options: ClusterOptions) {
    this.release = options.release;
    this.#clock = options.clock ?? systemClock;
    this.#options = {
      pingEveryMs: options.pingEveryMs ?? 0,
      slurmdTimeoutMs: options.slurmdTimeoutMs ?? 50_000,
      startDelayMs: options.startDelayMs ?? 100,
    };
    const now = this.#clock.now();
    this.#nodesChangedAt = this.#partitionsChangedAt = this.#jobsChangedAt = this.#lastPing = now;
    this.partitions.set('all', { name: 'all', fromConfiguration: true, state: 'UP', features: undefined });
  }

  now(): number {
    return this.#clock.now();
  }

  /** Whole seconds, as Slurm counts changes. */
  changedAt(kind: 'nodes' | 'partitions' | 'jobs'): number {
    const at = {
      nodes: this.#nodesChangedAt,
      partitions: this.#partitionsChangedAt,
      jobs: this.#jobsChangedAt,
    };
    return Math.floor(at[kind] / 1000);
  }

  /** A slurmd registers: a new node, or one that comes back (with its drain, reason, comment and features). */
  addNode(
    name: string,
    spec: Partial<Pick<SimulatedNode, 'cpus' | 'memory' | 'features' | 'address' | 'gres'>> = {},
  ): void {
    const now = this.now();
    const known = this.nodes.get(name);
    if (known !== undefined) {
      Object.assign(known, { alive: true, down: false, slurmdStartedAt: now, ...spec });
      return this.touch(known);
    }
    const node = newNode(name, this.nodes.size, now, spec);
    this.nodes.set(name, node);
    this.touch(node);
    this.#partitionsChangedAt = now; // a new node joins the partitions of all nodes
  }

  addNodes(hostlist: string, spec?: Parameters<SimulatedCluster['addNode']>[1]): void {
    for (const name of expandHostlist(hostlist)) this.addNode(name, spec);
  }

  /** The node's slurmd is gone. Slurm notices late, as the real one does. */
  stopSlurmd(name: string): void {
    const node = this.node(name);
    node.alive = false;
    node.slurmdEndedAt = this.now();
  }

  /** The node's slurmd hangs; to Slurm that is the same. */
  pauseSlurmd(name: string): void {
    this.stopSlurmd(name);
  }

  /** It goes on where it was, and answers. */
  resumeSlurmd(name: string): void {
    this.node(name).alive = true;
  }

  removeNode(name: string): void {
    this.nodes.delete(name);
    this.#partitionsChangedAt = this.now();
    // As the real one: that no node is left is no change to it.
    if (this.nodes.size > 0) this.#nodesChangedAt = this.now();
  }

  /** Puts a job on nodes at once, as if it had been submitted and started. */
  runJob(nodes: readonly string[], job: Partial<SimulatedJob> = {}): number {
    const running = this.createJob({ ...job, requiredNodes: [...nodes], wantedNodes: nodes.length });
    this.#start(running, [...nodes]);
    return running.id;
  }

  /** A job that is refused late has used a number up. */
  skipJobNumber(): void {
    this.#nextJob += 1;
  }

  createJob(fields: Partial<SimulatedJob>): SimulatedJob {
    const job = newJob(this.#nextJob, this.now(), fields);
    this.#nextJob += 1;
    this.jobs.set(job.id, job);
    this.touchJob(job);
    return job;
  }

  finishJob(id: number, state = 'COMPLETED'): void {
    const job = this.job(id);
    if (!active.has(job.state) && job.state !== 'PENDING') return;
    this.#leaveNodes(job);
    job.state = state;
    job.endedAt = this.now();
    if (state === 'FAILED') job.reason = 'NonZeroExitCode';
    this.touchJob(job);
  }

  /** As slurmctld does after MinJobAge. */
  forgetJob(id: number): void {
    this.forgottenJobs.set(id, this.job(id));
    this.jobs.delete(id);
  }

  /** Back into the queue, with a new start to come. */
  requeueJob(id: number): void {
    const job = this.job(id);
    if (job.state === 'PENDING') throw new SlurmRefusal(2024, 'Job is pending execution');
    this.#leaveNodes(job);
    Object.assign(job, { state: 'PENDING', nodes: [], startedAt: 0, endedAt: 0, restarts: job.restarts + 1 });
    job.submittedAt = this.now();
    this.touchJob(job);
  }

  node(name: string): SimulatedNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new SlurmRefusal(2018, 'Invalid node name specified');
    return node;
  }

  job(id: number): SimulatedJob {
    const job = this.jobs.get(id);
    if (job === undefined) throw new SlurmRefusal(2017, 'Invalid job id specified');
    return job;
  }

  touch(node: SimulatedNode): void {
    this.#nodesChangedAt = this.now();
    this.#revision += 1;
    node.revision = this.#revision;
  }

  touchJob(job: SimulatedJob): void {
    this.#usageKept = undefined;
    this.#jobsChangedAt = this.now();
    this.#revision += 1;
    job.revision = this.#revision;
  }

  touchPartitions(): void {
    this.#partitionsChangedAt = this.now();
  }

  usedCpus(name: string): number {
    return this.#usage().get(name) ?? 0;
  }

  hasWork(name: string): boolean {
    return this.usedCpus(name) > 0;
  }

  /** A list recomputes the allocations of all nodes. */
  refreshForList(): void {
    const usage = this.#usage();
    for (const node of this.nodes.values()) {
      const used = usage.get(node.name) ?? 0;
      if (node.listedCpus === used) continue;
      node.listedCpus = used;
      this.#revision += 1;
      node.revision = this.#revision;
    }
  }

  /** The names of a node's state, from the numbers of the last list. */
  stateNames(node: SimulatedNode): string[] {
    const busy = this.hasWork(node.name);
    const mixed = node.listedCpus > 0 && node.listedCpus < node.cpus;
    const base = node.down ? 'DOWN' : mixed ? 'MIXED' : busy ? 'ALLOCATED' : 'IDLE';
    const silent = node.flags.has('NOT_RESPONDING') || (node.down && !node.alive);
    const flags = [...node.flags].filter((flag) => flag !== 'NOT_RESPONDING');
    return [base, ...flags, ...(silent ? ['NOT_RESPONDING'] : [])];
  }

  /** Lets time pass up to now: dead slurmd are noticed, jobs start and end, pings happen. */
  settle(): void {
    const now = this.now();
    for (const node of this.nodes.values()) this.#settleNode(node, now);
    let free: Map<string, number> | undefined;
    for (const job of this.jobs.values()) {
      if (job.state === 'RUNNING' && now >= job.startedAt + job.durationMs)
        this.finishJob(job.id, job.exitCode === 0 ? 'COMPLETED' : 'FAILED');
      if (job.state !== 'PENDING' || job.held || now < job.submittedAt + this.#options.startDelayMs) continue;
      free ??= this.#freeCpus();
      const nodes = this.#place(job, free);
      if (nodes === undefined) continue;
      for (const name of nodes) free.set(name, (free.get(name) ?? 0) - job.cpusPerNode);
      this.#start(job, nodes);
    }
    const { pingEveryMs } = this.#options;
    if (pingEveryMs > 0 && now - this.#lastPing >= pingEveryMs) {
      this.#lastPing = now - ((now - this.#lastPing) % pingEveryMs);
      this.#nodesChangedAt = now;
    }
  }

  /** Changes with every ping, as load and free memory do. */
  get pings(): number {
    return this.#lastPing;
  }

  /** Brings a node back into service; it does not respond for a moment. */
  wake(node: SimulatedNode): void {
    node.silentUntil = this.now() + wakeMs;
    node.flags.add('NOT_RESPONDING');
    this.touch(node);
  }

  /** Marks a node dead: its jobs are requeued at once. */
  setDown(node: SimulatedNode, why: string, by: string): void {
    node.down = true;
    Object.assign(node, { reason: why, reasonSetBy: by, reasonSetAt: this.now() });
    for (const job of this.jobs.values())
      if (active.has(job.state) && job.nodes.includes(node.name)) {
        if (job.requeueable) this.requeueJob(job.id);
        else this.finishJob(job.id, 'NODE_FAIL');
      }
    this.touch(node);
  }

  /** Hostlist of all nodes. */
  allNodes(): string {
    return compressHostlist(this.nodes.keys());
  }

  #settleNode(node: SimulatedNode, now: number): void {
    if (node.alive) {
      if (now >= node.silentUntil && node.flags.delete('NOT_RESPONDING')) this.touch(node);
      return;
    }
    const silentFor = now - node.slurmdEndedAt;
    const { slurmdTimeoutMs } = this.#options;
    if (silentFor >= slurmdTimeoutMs / 2 && !node.flags.has('NOT_RESPONDING')) {
      node.flags.add('NOT_RESPONDING');
      this.touch(node);
    }
    if (silentFor >= slurmdTimeoutMs && !node.down) this.setDown(node, 'Not responding', 'slurm');
  }

  /** CPUs in use per node, computed once per change of jobs. */
  #usage(): ReadonlyMap<string, number> {
    if (this.#usageKept !== undefined) return this.#usageKept;
    const usage = new Map<string, number>();
    for (const job of this.jobs.values()) {
      if (!active.has(job.state)) continue;
      for (const name of job.nodes) usage.set(name, (usage.get(name) ?? 0) + job.cpusPerNode);
    }
    this.#usageKept = usage;
    return usage;
  }

  #freeCpus(): Map<string, number> {
    const usage = this.#usage();
    const barred = ['DRAIN', 'NOT_RESPONDING', 'POWERED_DOWN'];
    const usable = [...this.nodes.values()].filter(
      (node) => node.alive && !node.down && !barred.some((flag) => node.flags.has(flag)),
    );
    return new Map(usable.map((node) => [node.name, node.cpus - (usage.get(node.name) ?? 0)]));
  }

  #place(job: SimulatedJob, free: ReadonlyMap<string, number>): string[] | undefined {
    const wanted = job.requiredNodes.length > 0 ? job.requiredNodes : [...free.keys()];
    const open = job.partition.split(',').flatMap((name) => this.#openPartition(name));
    const fitting = wanted.filter(
      (name) =>
        (free.get(name) ?? 0) >= job.cpusPerNode && open.some((partition) => this.#isIn(name, partition)),
    );
    return fitting.length >= job.wantedNodes ? fitting.slice(0, job.wantedNodes) : undefined;
  }

  /** A partition that drains still starts the jobs that it has. */
  #openPartition(name: string): SimulatedPartition[] {
    const partition = this.partitions.get(name);
    return partition !== undefined && ['UP', 'DRAIN'].includes(partition.state) ? [partition] : [];
  }

  #isIn(node: string, { features }: SimulatedPartition): boolean {
    return features === undefined || features.some((feature) => this.node(node).features.includes(feature));
  }

  #start(job: SimulatedJob, nodes: string[]): void {
    Object.assign(job, { state: 'RUNNING', nodes, startedAt: this.now(), reason: 'None' });
    this.touchJob(job);
    for (const name of nodes) this.touch(this.node(name));
  }

  #leaveNodes(job: SimulatedJob): void {
    if (!active.has(job.state)) return;
    for (const name of job.nodes) {
      const node = this.nodes.get(name);
      if (node === undefined) continue;
      node.lastBusyAt = this.now();
      this.touch(node);
    }
  }
}
