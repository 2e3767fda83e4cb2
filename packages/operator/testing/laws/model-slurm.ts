/**
 * slurmctld as a model: a configuration in force, partitions, node records, jobs and reservations. It checks nothing; it calls
 * `onLoss` for every job that neither completes nor is ended by a user, with the cause. What it does at a reconfigure was
 * measured on 24.11 and 26.05 (docs/configuration-changes.md).
 */
import type { NodeUpdate, ReservationWrite } from '@slurm-operator/slurm';
import { type ModelConf, type ModelPartition, parseModelConf } from './model-conf.ts';

export interface ModelJob {
  readonly id: number;
  /** In the order of preference; a running job has one. */
  partitions: string[];
  state: 'PENDING' | 'RUNNING' | 'SUSPENDED' | 'COMPLETED' | 'CANCELLED' | 'NODE_FAIL';
  held: boolean;
  /** Slurm itself put it on hold (BadConstraints): no node has its feature. It stays so when one has it again. */
  badConstraints: boolean;
  /** The node that it asks for by name (`--nodelist`), and the feature (`--constraint`). */
  readonly wants: JobWants;
  node: string;
  startedAt: number;
  /** Its PrologSlurmctld runs until then. */
  prologUntil: number;
  endsAt: number;
}

export interface JobWants {
  readonly node?: string | undefined;
  readonly feature?: string | undefined;
}

export interface ModelNode {
  readonly name: string;
  down: boolean;
  drained: boolean;
  reason: string;
  comment: string;
  features: readonly string[];
  topology: string;
  address: string;
  instanceId: string;
  instanceType: string;
  slurmdStartedAt: number;
  /** Whose slurmd registered last: the uid of a NodeSet, or `external`. Slurm does not know it; the laws do. */
  owner: string;
}

export interface Slurmd {
  readonly name: string;
  readonly address: string;
  readonly instanceId: string;
  readonly instanceType: string;
  readonly features: readonly string[];
  readonly startedAt: number;
  readonly owner: string;
}

const seconds = (count: number) => count * 1000;

export class ModelSlurm {
  conf: ModelConf = parseModelConf('');
  startedAt = 0;
  /** Partitions that were made with scontrol: a restart and a reconfigure forget them. */
  readonly created = new Map<string, ModelPartition>();
  readonly nodes = new Map<string, ModelNode>();
  readonly jobs = new Map<number, ModelJob>();
  readonly reservations = new Map<string, { readonly write: ReservationWrite; readonly by: string }>();
  onLoss: (job: ModelJob, why: string) => void = () => {};
  #lastJob = 0;

  get partitions(): ReadonlyMap<string, ModelPartition> {
    return new Map([...this.created, ...this.conf.partitions]);
  }

  /** Jobs whose PrologSlurmctld runs. */
  starting(now: number): ModelJob[] {
    return this.open().filter((job) => job.state === 'RUNNING' && job.prologUntil > now);
  }

  /** slurmctld ends and starts again: in 26.05 a job whose PrologSlurmctld ran never starts. */
  restart(text: string, now: number): void {
    const interrupted = this.starting(now);
    this.reconfigure(text);
    for (const job of interrupted)
      if (job.state === 'RUNNING') this.#fail(job, 'slurmctld was restarted during its PrologSlurmctld');
  }

  /** Reads a new slurm.conf, as `scontrol reconfigure` and a restart do. */
  reconfigure(text: string): void {
    this.conf = parseModelConf(text);
    this.created.clear();
    for (const job of this.open()) {
      // 26.05 lets a pending job of two partitions keep the other one; 24.11 fails it with the first that goes.
      const gone = job.partitions.find((partition) => !this.conf.partitions.has(partition));
      if (gone !== undefined) this.#fail(job, `its partition ${gone} has left slurm.conf`);
      const { node } = job.wants;
      if (
        job.state === 'PENDING' &&
        node !== undefined &&
        !this.nodes.has(node) &&
        !this.conf.nodes.has(node)
      )
        this.#fail(job, `it asks for node ${node}, which Slurm does not have`);
    }
    for (const name of this.nodes.keys())
      if (this.conf.nodes.has(name))
        for (const job of this.on(name))
          this.#fail(job, `its slurmd ${name} ended: slurm.conf has a NodeName line with its name`);
    const names = [...this.nodes.keys()];
    for (const name of names.slice(this.#room())) {
      this.nodes.delete(name);
      for (const job of this.on(name))
        this.#fail(job, `MaxNodeCount=${this.conf.maxNodeCount} has no room for its node ${name}`);
    }
  }

  open(): ModelJob[] {
    return [...this.jobs.values()].filter(({ state }) => ['PENDING', 'RUNNING', 'SUSPENDED'].includes(state));
  }

  /** Jobs that hold a node. */
  on(node: string): ModelJob[] {
    return this.open().filter((job) => job.node === node && job.state !== 'PENDING');
  }

  submit(partitions: string[], now: number, held = false, wants: JobWants = {}): ModelJob | undefined {
    if (!partitions.every((name) => this.partitions.has(name))) return undefined;
    // Slurm refuses a job that asks for what it does not have.
    if (wants.node !== undefined && !this.nodes.has(wants.node)) return undefined;
    if (wants.feature !== undefined && !this.#hasFeature(wants.feature)) return undefined;
    // A partition that is closed takes no new job; one that asks for several gets those that are open.
    const open = partitions.filter((name) => ['UP', 'DOWN'].includes(this.partitions.get(name)?.state ?? ''));
    if (open.length === 0) return undefined;
    const job: ModelJob = {
      id: (this.#lastJob += 1),
      partitions: open,
      state: 'PENDING',
      held,
      badConstraints: false,
      wants,
      node: '',
      startedAt: now,
      prologUntil: 0,
      endsAt: 0,
    };
    this.jobs.set(job.id, job);
    return job;
  }

  /** A dynamic node registers; one beyond MaxNodeCount is turned away. */
  register({ name, owner, ...slurmd }: Slurmd): boolean {
    const known = this.nodes.get(name);
    if (known === undefined) {
      if (this.nodes.size >= this.#room()) return false;
      const { address, instanceId, instanceType, features, startedAt: slurmdStartedAt } = slurmd;
      const fresh = { down: false, drained: false, reason: '', comment: '', topology: '' };
      const registered = { address, instanceId, instanceType, features, slurmdStartedAt };
      this.nodes.set(name, { name, owner, ...registered, ...fresh });
      return true;
    }
    // ReturnToService=2: whatever was DOWN is back when it registers. A drain stays.
    Object.assign(known, {
      owner,
      address: slurmd.address,
      instanceId: slurmd.instanceId,
      instanceType: slurmd.instanceType,
      slurmdStartedAt: slurmd.startedAt,
      down: false,
    });
    return true;
  }

  /** Jobs whose time is over end; what may begin begins. `alive`: nodes whose slurmd answers. */
  work(alive: ReadonlySet<string>, now: number): void {
    for (const job of this.open())
      if (job.state === 'RUNNING' && job.endsAt <= now && alive.has(job.node)) job.state = 'COMPLETED';
    for (const job of this.open()) {
      if (job.state !== 'PENDING' || job.held) continue;
      const { feature } = job.wants;
      if (feature !== undefined && !this.#hasFeature(feature)) job.badConstraints = true;
      if (job.badConstraints) continue;
      const place = this.#placeFor(job, alive);
      if (place === undefined) continue;
      Object.assign(job, {
        state: 'RUNNING',
        partitions: [place.partition],
        node: place.node,
        startedAt: now,
        prologUntil: this.conf.hasProlog ? now + seconds(5) : 0,
        endsAt: now + seconds(50),
      });
    }
  }

  /** What runs on a node whose slurmd has ended ends with it. */
  slurmdEnded(name: string, why: string, excused: boolean): void {
    for (const job of this.on(name)) this.#fail(job, why, excused);
  }

  /** A person's order. */
  cancel(job: ModelJob): void {
    job.state = 'CANCELLED';
  }

  suspend(job: ModelJob, suspended: boolean): void {
    if (suspended && job.state === 'RUNNING') job.state = 'SUSPENDED';
    else if (!suspended && job.state === 'SUSPENDED') job.state = 'RUNNING';
  }

  update(name: string, update: NodeUpdate): boolean {
    const node = this.nodes.get(name);
    if (node === undefined) return false;
    if (update.state === 'DRAIN') Object.assign(node, { drained: true, reason: update.reason ?? '' });
    if (update.state === 'UNDRAIN') Object.assign(node, { drained: false, reason: '' });
    if (update.state === 'DOWN') {
      Object.assign(node, { down: true, reason: update.reason ?? node.reason });
      for (const job of this.on(name)) this.#fail(job, `its node ${name} was set DOWN`);
    }
    const { comment = node.comment, features = node.features, topology = node.topology } = update;
    Object.assign(node, { comment, features, topology });
    return true;
  }

  /** Slurm refuses to delete a node that has a job. */
  delete(name: string): boolean {
    if (this.on(name).length > 0) return false;
    this.nodes.delete(name);
    return true;
  }

  /** slurmctld comes back with an empty state directory: nodes, jobs and reservations are gone. Excused: a disk failure caused it. */
  loseState(now: number): void {
    for (const job of this.open()) this.#fail(job, 'the state of slurmctld was lost', true);
    this.nodes.clear();
    this.reservations.clear();
    this.startedAt = now;
  }

  #placeFor(job: ModelJob, alive: ReadonlySet<string>): { partition: string; node: string } | undefined {
    const { node: named, feature } = job.wants;
    for (const partition of job.partitions) {
      const found = this.partitions.get(partition);
      if (found === undefined || !['UP', 'DRAIN'].includes(found.state)) continue;
      for (const node of this.nodes.values()) {
        if (named !== undefined && node.name !== named) continue;
        if (feature !== undefined && !node.features.includes(feature)) continue;
        if (this.isIn(node, partition) && this.#isFree(node) && alive.has(node.name))
          return { partition, node: node.name };
      }
    }
    return undefined;
  }

  /** How many nodes may register: nodes of slurm.conf with State=FUTURE take room, too. */
  #room(): number {
    const future = [...this.conf.nodes.values()].filter((node) => node.future).length;
    return Math.max(0, this.conf.maxNodeCount - future);
  }

  #hasFeature(feature: string): boolean {
    return [...this.nodes.values()].some(({ features }) => features.includes(feature));
  }

  isIn(node: ModelNode, partition: string): boolean {
    const sets = this.partitions.get(partition)?.nodes ?? [];
    return sets.some(
      (set) =>
        set === 'ALL' || set === node.name || node.features.includes(this.conf.nodeSets.get(set) ?? ' '),
    );
  }

  #isFree(node: ModelNode): boolean {
    return !node.down && !node.drained && this.on(node.name).length === 0;
  }

  #fail(job: ModelJob, why: string, excused = false): void {
    job.state = 'NODE_FAIL';
    if (!excused) this.onLoss(job, why);
  }
}
