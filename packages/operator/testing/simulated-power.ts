/** Power saving of the simulated Slurm: what slurmctld does with nodes that sleep, as seen on 24.11 and 26.05. */
import { reasonPrefix } from '@slurm-operator/api';
import type { WorkerAction } from '../src/kinds/nodeset/model/actions.ts';
import { LawBroken } from './check-laws.ts';
import type { SimulatedJob, SimulatedRecord } from './simulated-slurm.ts';

type Power = Extract<
  WorkerAction,
  {
    kind:
      | 'create-records'
      | 'mark-records'
      | 'power-up'
      | 'power-down'
      | 'mark-asleep'
      | 'fail-wake'
      | 'hold-asleep';
  }
>;

interface Slurm {
  readonly nodes: Map<string, SimulatedRecord>;
  jobs: SimulatedJob[];
}

/** SuspendTimeout and ResumeTimeout. */
const suspendTimeout = 300_000;
const resumeTimeout = 600_000;

export class SimulatedPower {
  /** Node → when it was asked to power up or down. */
  readonly #requested = new Map<string, number>();
  readonly #slurm: Slurm;
  /** Nodes whose wake-up failed, and wake-ups that Slurm began. */
  wakeUps = 0;

  constructor(slurm: Slurm) {
    this.#slurm = slurm;
  }

  change(action: Power, podNames: ReadonlySet<string>, now: number): void {
    // Refused as a whole where one of the names exists already.
    if (action.kind === 'create-records' && action.slurmNames.some((name) => this.#slurm.nodes.has(name)))
      return;
    for (const name of action.slurmNames) {
      const node = this.#slurm.nodes.get(name);
      // One without a comment was created for this NodeSet.
      if (node !== undefined && !node.ours && node.comment !== '')
        throw new LawBroken(`L15: ${action.kind} of ${name}, which is not ours`);
      if (action.kind === 'create-records' || action.kind === 'mark-records') {
        if (podNames.has(name) && node === undefined)
          throw new LawBroken(`A1: a record created under the running pod of ${name}`);
        if (node === undefined && action.kind === 'create-records')
          this.#slurm.nodes.set(name, sleepingNode(name, action.comment, cpusIn(action.shape)));
        if (node !== undefined && action.kind === 'mark-records') {
          if (action.comment !== undefined) Object.assign(node, { comment: action.comment, ours: true });
          if (action.features !== undefined) node.features = action.features;
        }
      } else if (node === undefined) continue;
      else if (action.kind === 'fail-wake') this.#fail(node, action.reason, podNames, now);
      else if (action.kind === 'hold-asleep') {
        // `act` looks once more: a drain would requeue the job of a node that was allocated since, or replace that of a person.
        if (!isAsleep(node) || (node.flags.has('DRAIN') && !node.reason.startsWith(reasonPrefix))) continue;
        node.flags.add('DRAIN');
        Object.assign(node, { reason: action.reason, reasonSetAt: now });
      } else this.#switch(action.kind, node, podNames, now);
    }
  }

  #switch(
    kind: 'power-up' | 'power-down' | 'mark-asleep',
    node: SimulatedRecord,
    podNames: ReadonlySet<string>,
    now: number,
  ): void {
    if (kind === 'power-down') {
      // `act` looks once more, and leaves alone what is not idle any more.
      if (node.flags.has('DRAIN') || node.reservation !== undefined) return;
      if (isAsleep(node) || this.#slurm.jobs.some((job) => job.suspended && job.node === node.name)) return;
      this.powerDown(node, now);
    } else if (kind === 'power-up') this.#powerUp(node, now);
    else {
      if (podNames.has(node.name) && isAsleep(node))
        throw new LawBroken(`A4: ${node.name} resumed while its pod exists`);
      if (!isAsleep(node)) return; // refused
      node.flags.delete('POWERING_DOWN');
      node.flags.add('POWERED_DOWN');
      node.flags.delete('DRAIN');
      Object.assign(node, { base: 'IDLE', reason: '' });
    }
  }

  /** `act` looks once more, and leaves alone what has registered. Jobs that wait for it are requeued. */
  #fail(node: SimulatedRecord, reason: string, podNames: ReadonlySet<string>, now: number): void {
    if (!node.flags.has('POWERING_UP')) return;
    if (podNames.has(node.name)) throw new LawBroken(`L11: ${node.name} set down while its pod exists`);
    if (this.#slurm.jobs.some((job) => job.node === node.name && !job.waits))
      throw new LawBroken(`L11: ${node.name} set down with a job that runs`);
    this.#slurm.jobs = this.#slurm.jobs.filter((job) => job.node !== node.name);
    node.flags.delete('POWERING_UP');
    node.flags.add('POWERING_DOWN');
    Object.assign(node, { base: 'DOWN', reason, reasonSetAt: now });
    this.#requested.set(node.name, now);
  }

  powerDown(node: SimulatedRecord, now: number): void {
    if (this.#slurm.jobs.some((job) => job.node === node.name)) {
      node.flags.add('POWER_DOWN'); // when its job is over
      return;
    }
    node.flags.delete('POWER_DOWN');
    node.flags.delete('DRAIN');
    node.flags.add('POWERING_DOWN');
    this.#requested.set(node.name, now);
  }

  #powerUp(node: SimulatedRecord, now: number): void {
    if (!node.flags.has('POWERED_DOWN')) return;
    node.flags.delete('POWERED_DOWN');
    node.flags.add('POWERING_UP');
    this.#requested.set(node.name, now);
    this.wakeUps += 1;
  }

  mayAllocate({ base, flags }: SimulatedRecord): boolean {
    return base === 'IDLE' && flags.has('POWERED_DOWN') && !flags.has('DRAIN');
  }

  /** The scheduler takes a sleeping node for a job. */
  allocate(node: SimulatedRecord, id: number, now: number): boolean {
    const { name } = node;
    if (!this.mayAllocate(node)) return false;
    this.#powerUp(node, now);
    this.#slurm.jobs.push({ id, node: name, ends: Number.POSITIVE_INFINITY, waits: true });
    return true;
  }

  /** False: a slurmd that started before the last request is not the one that is waited for. */
  registers(node: SimulatedRecord, startedAt: number, now: number): boolean {
    if (isAsleep(node)) return false;
    if (!node.flags.has('POWERING_UP')) return true;
    if (startedAt <= (this.#requested.get(node.name) ?? 0)) return false;
    node.flags.delete('POWERING_UP');
    for (const job of this.#slurm.jobs)
      if (job.node === node.name && job.waits) Object.assign(job, { waits: false, ends: now + 50_000 });
    return true;
  }

  passes(now: number): void {
    for (const node of this.#slurm.nodes.values()) {
      const since = now - (this.#requested.get(node.name) ?? now);
      if (node.flags.has('POWER_DOWN') && !this.#slurm.jobs.some((job) => job.node === node.name))
        this.powerDown(node, now);
      else if (node.flags.has('POWERING_DOWN') && since > suspendTimeout) {
        node.flags.delete('POWERING_DOWN');
        node.flags.add('POWERED_DOWN');
      } else if (node.flags.has('POWERING_UP') && since > resumeTimeout) {
        node.flags.delete('POWERING_UP');
        node.flags.add('POWERED_DOWN');
        node.base = 'DOWN';
        if (node.reason === '') Object.assign(node, { reason: 'ResumeTimeout reached', reasonSetAt: now });
        // Its job is requeued: it has not run.
        this.#slurm.jobs = this.#slurm.jobs.filter((job) => job.node !== node.name);
      }
    }
  }
}

const isAsleep = ({ flags }: SimulatedRecord): boolean =>
  flags.has('POWERED_DOWN') || flags.has('POWERING_DOWN');

const cpusIn = (shape: string): number => Number(/CPUs=(\d+)/.exec(shape)?.[1] ?? 1);

export function sleepingNode(name: string, comment: string, cpus = 1): SimulatedRecord {
  return {
    name,
    base: 'IDLE',
    flags: new Set(['CLOUD', 'POWERED_DOWN']),
    reason: '',
    comment,
    features: ['workers'],
    topology: '',
    size: { cpus, memory: 1, gpus: 0 },
    address: name,
    instanceId: undefined,
    slurmdStartedAt: undefined,
    deadline: undefined,
    ours: true,
    reservation: undefined,
  };
}
