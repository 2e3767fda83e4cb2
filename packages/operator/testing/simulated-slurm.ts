/** Slurm's half of the simulated world: nodes that register and take work, and answers that may be missing. */

import type { WorkerAction } from '../src/kinds/nodeset/model/actions.ts';
import type { WakingJob } from '../src/kinds/nodeset/model/autoscale.ts';
import type { SlurmNode, SlurmView, Worker } from '../src/kinds/nodeset/model/observed.ts';
import { LawBroken } from './check-laws.ts';
import { SimulatedPower } from './simulated-power.ts';

export interface SimulatedJob {
  readonly id: number;
  readonly node: string;
  ends: number;
  /** Slurm lists its node as idle, but its processes are there. */
  suspended?: boolean;
  /** Its node is being powered up: nothing of it runs yet. */
  waits?: boolean;
}

export type SimulatedRecord = { -readonly [K in keyof SlurmNode]: SlurmNode[K] } & { flags: Set<string> };

export class SimulatedSlurm {
  readonly nodes = new Map<string, SimulatedRecord>();
  jobs: SimulatedJob[] = [];
  reachable = true;
  readonly power = new SimulatedPower(this);
  /** False: nodes are listed, jobs are not. */
  listsJobs = true;
  #controllerStartedAt = 0;
  /** A slurmd registers once: those that did, by their pod. */
  readonly #registered = new Set<string>();
  #submitted = 0;
  #registrations = 0;

  /** A whole list, as Slurm is at this moment. */
  list(now: number): SlurmView {
    if (!this.reachable) return { kind: 'unknown', since: now, why: 'connection refused' };
    const nodes = new Map(
      [...this.nodes].map(([name, node]) => [
        name,
        { ...node, flags: new Set(node.flags), ...this.#load(node) },
      ]),
    );
    return {
      kind: 'known',
      at: now,
      nodes,
      jobs: this.listsJobs ? this.#wakingJobs() : [],
      jobsUnknown: this.listsJobs ? undefined : 'the jobs are not known',
      jobsAfterNodes: true,
      controllerStartedAt: this.#controllerStartedAt,
    };
  }

  #wakingJobs(): WakingJob[] {
    const jobs = Map.groupBy(
      this.jobs.filter(({ waits }) => waits),
      ({ id }) => id,
    );
    return [...jobs].map(([id, parts]) => ({
      id: String(id),
      priority: id % 3,
      nodes: parts.map(({ node }) => node),
    }));
  }

  /** Carries out a change that the operator asks for. */
  change(
    action: Extract<WorkerAction, { slurmName: string }>,
    lives: (pod: Worker) => boolean,
    pods: Iterable<Worker>,
  ): void {
    const node = this.nodes.get(action.slurmName);
    if (node === undefined) return; // gone means done
    // One without a comment was created for this NodeSet.
    if (!node.ours && node.comment !== '')
      throw new LawBroken(`L15: ${action.kind} of ${node.name}, which is not ours`);
    switch (action.kind) {
      case 'drain':
      case 'keep-down':
        node.flags.add('DRAIN');
        node.reason = action.reason;
        return;
      case 'undrain':
        node.flags.delete('DRAIN');
        node.reason = '';
        return;
      case 'set-down': {
        // `act` asks for a list and looks once more.
        if ((node.slurmdStartedAt ?? Number.NEGATIVE_INFINITY) >= action.endedAt) return;
        const pod = [...pods].find((candidate) => candidate.slurmName === node.name);
        if (pod === undefined || !pod.containersDead || (lives(pod) && this.isBusy(node.name)))
          throw new LawBroken(`L11: ${node.name} set DOWN though its containers may live`);
        node.base = 'DOWN';
        node.reason = action.reason;
        this.jobs = this.jobs.filter((job) => job.node !== node.name);
        return;
      }
      case 'delete-record':
        if (!this.isBusy(node.name)) this.nodes.delete(node.name);
        return;
      case 'update-node':
        if (action.comment !== undefined) node.comment = action.comment;
        if (action.features !== undefined) node.features = action.features;
        if (action.topology !== undefined) node.topology = action.topology;
        return;
      default:
        return;
    }
  }

  /** The slurmd of these pods run and can be reached: they register, and work starts where it may. */
  work(pods: readonly Worker[], alive: ReadonlySet<string>, submit: number, now: number): void {
    for (const pod of pods) this.#register(pod, now);
    const over = this.jobs.filter((job) => !job.suspended && job.ends <= now);
    for (const job of over) Object.assign(this.nodes.get(job.node) ?? {}, { lastBusyAt: now });
    this.jobs = this.jobs.filter((job) => !over.includes(job));
    this.power.passes(now);
    let left = submit;
    for (const node of this.nodes.values())
      if (left > 0 && alive.has(node.name) && this.#begins(node, now)) left -= 1;
    for (const node of this.nodes.values())
      if (left > 0 && this.power.allocate(node, (this.#submitted += 1), now)) left -= 1;
  }

  /** One job takes so many sleeping nodes at once, or none. */
  allocateTogether(count: number, now: number): void {
    const asleep = [...this.nodes.values()].filter((node) => this.power.mayAllocate(node)).slice(0, count);
    if (asleep.length < count) return;
    const id = (this.#submitted += 1);
    for (const node of asleep) this.power.allocate(node, id, now);
  }

  /** One slurmd registers, and is given work if it may have some. */
  join(pod: Worker, now: number): void {
    this.#register(pod, now);
    const node = this.nodes.get(pod.slurmName);
    if (node !== undefined) this.#begins(node, now);
  }

  /** Its slurmd was restarted: it registers after a while, and its jobs have ended. */
  restarted(pod: Worker, now: number): void {
    this.#registered.delete(pod.uid);
    this.jobs = this.jobs.filter((job) => job.node !== pod.slurmName);
    const known = this.nodes.get(pod.slurmName);
    if (known === undefined || known.address !== pod.address) return;
    known.slurmdStartedAt = now;
    // ReturnToService=2: what Slurm gave up is back in service with its registration.
    if (known.reason.startsWith('ResumeTimeout')) Object.assign(known, { base: 'IDLE', reason: '' });
  }

  /** It starts with an empty state: nodes and jobs are forgotten, and no slurmd that runs registers again. */
  loseState(now: number): void {
    this.#controllerStartedAt = now;
    this.nodes.clear();
    this.jobs = [];
  }

  /** A user's node that has the name of a worker. No slurmd of ours can register under it. */
  addForeign(name: string, now: number): void {
    if (this.nodes.has(name)) return;
    const pod = { slurmName: name, address: '192.0.2.1', uid: 'not-a-pod' };
    this.nodes.set(name, { ...freshNode(pod, now), ours: false });
  }

  removeForeign(): void {
    for (const { name, ours } of this.nodes.values())
      if (!ours) {
        this.nodes.delete(name);
        this.jobs = this.jobs.filter((job) => job.node !== name);
      }
  }

  #begins(node: SimulatedRecord, now: number): boolean {
    const powering = ['POWERED_DOWN', 'POWERING_DOWN', 'POWERING_UP'].some((flag) => node.flags.has(flag));
    if (powering || node.flags.has('DRAIN') || node.base === 'DOWN' || this.isBusy(node.name)) return false;
    this.jobs.push({ id: (this.#submitted += 1), node: node.name, ends: now + 50_000 });
    return true;
  }

  isPoweringUp(node: string): boolean {
    return this.nodes.get(node)?.flags.has('POWERING_UP') ?? false;
  }

  isBusy(node: string): boolean {
    return this.jobs.some((job) => job.node === node);
  }

  /** Processes of a job are there. */
  runs(node: string): boolean {
    return this.jobs.some((job) => job.node === node && !job.waits);
  }

  #register(pod: Worker, now: number): void {
    const known = this.nodes.get(pod.slurmName);
    if (known?.ours === false) return;
    if (known !== undefined && !this.power.registers(known, pod.startedAt ?? now, now)) return;
    const fresh = freshNode(pod, now);
    if (known === undefined && this.#registered.has(pod.uid)) return;
    this.#registered.add(pod.uid);
    if (known === undefined) this.nodes.set(pod.slurmName, fresh);
    else if (known.address !== pod.address) {
      const { instanceId, address, slurmdStartedAt } = fresh;
      Object.assign(known, { address, slurmdStartedAt, base: 'IDLE' });
      // Slurm sometimes misses the one message that tells it.
      if ((this.#registrations += 1) % 3 !== 0) Object.assign(known, { instanceId });
    }
  }

  /** Allocation and deadline as a list shows them. */
  #load({ name, base }: SimulatedRecord): Pick<SlurmNode, 'base' | 'deadline'> {
    const shown = this.jobs.filter((job) => job.node === name && (this.listsJobs || !job.suspended));
    const ends = shown.map((job) => (job.suspended ? Number.POSITIVE_INFINITY : job.ends));
    return {
      base: ends.length > 0 && base !== 'DOWN' ? 'ALLOCATED' : base,
      deadline: ends.length > 0 ? Math.max(...ends) : undefined,
    };
  }
}

function freshNode(pod: Pick<Worker, 'slurmName' | 'address' | 'uid'>, now: number): SimulatedRecord {
  return {
    name: pod.slurmName,
    base: 'IDLE',
    flags: new Set(),
    reason: '',
    comment: '',
    features: [],
    topology: '',
    size: { cpus: 1, memory: 1, gpus: 0 },
    address: pod.address ?? '',
    instanceId: pod.uid,
    slurmdStartedAt: now,
    deadline: undefined,
    ours: true,
    reservation: undefined,
  };
}
