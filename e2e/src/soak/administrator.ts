/**
 * What an administrator does beside the operator, for what Slurm and Kubernetes do not repair automatically and the operator must not
 * touch. Everything done is said, and none of it counts as the operator's.
 */
import { KubeError, pods } from '@slurm-operator/kube';
import { nodeSets } from '@slurm-operator/operator';
import { type SlurmClient, SlurmError } from '@slurm-operator/slurm';
import { namespace, type SlurmStage } from '../slurm-stage.ts';
import { forgottenEnd } from './account.ts';
import { slurmCommand } from './operations/operation.ts';
import { adhocPartition } from './operations/restarts.ts';
import { PeoplesOrders } from './peoples-orders.ts';
import type { TrackedJob } from './workload.ts';

/** So long people watch a job wait in a partition that goes. */
const strandedMs = 6_000;
/** So long people watch a heterogeneous job of which only one part was put back into the queue. */
const brokenPairMs = 15_000;
/** The reason of a drain by hand before a power cut. */
export const powerCut = 'power cut';
/**
 * Reasons of Slurm's own drains. "Duplicate jobid": killed with -9, slurmctld loses that it has just started a job, starts it again, and
 * drains the node where that runs already. The others come of a machine under load that begins or ends processes late.
 */
const bySlurmItself = /^(Duplicate jobid|Kill task failed|batch job complete failure)/i;

export class Administrator {
  readonly #stage: SlurmStage;
  readonly #say: (line: string) => void;
  #cutting = false;
  /** Number of removed drains that Slurm had set. */
  undrained = 0;
  /** Number of released jobs that Slurm had held. */
  released = 0;
  /** Times that a job was cancelled that had ended long ago, which Slurm had forgotten. */
  cancelled = 0;

  /** Times that a job was moved out of a partition that goes. */
  moved = 0;
  readonly #orders: PeoplesOrders;
  /** Since when a job waits in a partition that nothing asks for. */
  readonly #stranded = new Map<number, number>();
  readonly #broken = new Map<number, number>();

  constructor(stage: SlurmStage, say: (line: string) => void, orders: PeoplesOrders = new PeoplesOrders()) {
    this.#stage = stage;
    this.#orders = orders;
    this.#say = (line) => say(`           by hand: ${line}`);
  }

  /** Until it is disposed of, drains for a power cut are left alone. */
  cutting(): Disposable {
    this.#cutting = true;
    return {
      [Symbol.dispose]: () => {
        this.#cutting = false;
      },
    };
  }

  /** One round. While Slurm or the API server does not answer there is nothing to be done. */
  async goRound(jobs: readonly TrackedJob[], kills: readonly number[]): Promise<void> {
    try {
      await this.#endBackOff();
      const slurm = await this.#stage.slurm();
      await this.#undrain(slurm);
      for (const { id, held, end } of jobs)
        if (end === undefined && held !== undefined) await this.#release(slurm, id);
      await this.#cancelStaleJobs(slurm, jobs, kills);
      await this.#cancelRemoved(slurm, jobs);
      await this.#cancelBrokenPairs(slurm, jobs);
      await this.#moveStranded(jobs);
    } catch (error) {
      if (!(error instanceof KubeError) && !(error instanceof SlurmError)) throw error;
    }
  }

  /** A daemon that was killed often waits ever longer for its next start. */
  async #endBackOff(): Promise<void> {
    const { items } = await this.#stage.client.list(pods, { namespace });
    for (const { metadata, status } of items) {
      const waiting = (status?.containerStatuses ?? []).some(
        ({ state }) => state?.waiting?.reason === 'CrashLoopBackOff',
      );
      const daemon = metadata.labels?.['app.kubernetes.io/name'] !== 'slurmd';
      if (!waiting || !daemon || metadata.deletionTimestamp !== undefined) continue;
      this.#say(`delete ${metadata.name}, which waits to be started again`);
      await this.#stage.client.delete(pods, metadata, { uid: metadata.uid });
    }
  }

  async #undrain(slurm: SlurmClient): Promise<void> {
    for (const { name, reason, state } of (await slurm.nodes.list()).items) {
      if (!state.flags.has('DRAIN')) continue;
      const bySlurm = bySlurmItself.test(reason);
      if (!bySlurm && (this.#cutting || !reason.includes(powerCut))) continue;
      this.#say(`undrain ${name}, ${bySlurm ? 'which Slurm itself has drained' : 'left over'}: ${reason}`);
      await slurm.nodes.update(name, { state: 'UNDRAIN' });
      if (bySlurm) this.undrained += 1;
    }
  }

  /** slurmctld that is killed right behind the end of a job forgets it, and takes job and node for busy. */
  async #cancelStaleJobs(
    slurm: SlurmClient,
    jobs: readonly TrackedJob[],
    kills: readonly number[],
  ): Promise<void> {
    if (kills.length === 0) return;
    const running = new Set(
      (await slurm.jobs.states()).items.filter(({ state }) => state.includes('RUNNING')).map(({ id }) => id),
    );
    // Slurm may have given the number of a job to another since: only the last one that has it is meant.
    const holders = new Map(jobs.toSorted((a, b) => a.acceptedAt - b.acceptedAt).map((job) => [job.id, job]));
    for (const job of holders.values()) {
      if (!running.has(String(job.id)) || !isStaleRecord(job, kills)) continue;
      // Slurm may have put it back and started it again since it was looked at.
      if ((await slurm.jobs.get(job.id))?.startedAt !== job.runs.at(-1)?.from) continue;
      this.#say(`cancel job ${job.id}, which ended when slurmctld was killed and runs on in its books`);
      await slurm.jobs.cancel(job.id);
      this.cancelled += 1;
    }
  }

  /** Slurm takes minutes to notice that a worker which people deleted at once is back without its jobs. */
  async #cancelRemoved(slurm: SlurmClient, jobs: readonly TrackedJob[]): Promise<void> {
    for (const { id, end, state, runs } of jobs) {
      const last = runs.at(-1);
      if (end !== undefined || state !== 'RUNNING' || last === undefined || this.#orders.isCancelled(id))
        continue;
      if (!last.node.split(',').some((node) => this.#orders.tookAway(node, last.from))) continue;
      this.#say(`cancel job ${id}, whose worker people have deleted`);
      this.#orders.cancel(id);
      await slurm.jobs.cancel(id);
    }
  }

  /**
   * When the node of one part goes DOWN, Slurm puts that part back and leaves the other: in 26.05 that one runs on, with nothing in it, until
   * its time limit; in 24.11 it fails. Neither part ever runs again.
   */
  async #cancelBrokenPairs(slurm: SlurmClient, jobs: readonly TrackedJob[]): Promise<void> {
    for (const id of brokenPairs(jobs)) {
      const since = this.#broken.get(id) ?? Date.now();
      this.#broken.set(id, since);
      if (Date.now() - since < brokenPairMs || this.#orders.isCancelled(id)) continue;
      this.#say(`cancel heterogeneous job ${id}, of which Slurm put only one part back into the queue`);
      for (const part of [id, id + 1]) this.#orders.cancel(part);
      for (const part of [id, id + 1]) await slurm.jobs.cancel(part);
    }
  }

  /** Jobs that wait in a partition whose NodeSet goes or has given it up hold that back: people move them after a while. */
  async #moveStranded(jobs: readonly TrackedJob[]): Promise<void> {
    const sets = (await this.#stage.client.list(nodeSets, { namespace })).items;
    this.#orders.present(new Set(sets.map(({ metadata }) => metadata.uid ?? '')), Date.now());
    const asked = sets
      .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.partition.enabled)
      .map(({ metadata, spec }) => spec.template?.spec?.hostname?.replace(/-+$/, '') ?? metadata.name);
    const stays = new Set(['', 'all', 'extra', adhocPartition, ...asked]);
    for (const job of jobs) {
      const waits = job.end === undefined && job.state === 'PENDING';
      const gone = job.partition.split(',').filter((partition) => !stays.has(partition));
      if (!waits || gone.length === 0) {
        this.#stranded.delete(job.id);
        continue;
      }
      const since = this.#stranded.get(job.id) ?? Date.now();
      this.#stranded.set(job.id, since);
      if (Date.now() - since < strandedMs) continue;
      this.#say(`move job ${job.id} from partition ${job.partition}, which goes, to all`);
      // REST moves one task of an array only.
      const done = await slurmCommand(this.#stage, 'scontrol', 'update', `job=${job.id}`, 'partition=all');
      if (done !== undefined) this.moved += 1;
    }
  }

  async #release(slurm: SlurmClient, id: number): Promise<void> {
    const job = await slurm.jobs.get(id);
    if (job?.held !== true) return;
    this.#say(`release job ${id}, which Slurm itself holds back: ${job.stateDescription || job.stateReason}`);
    await slurm.jobs.release(id);
    this.released += 1;
  }
}

/** Slurm says that it runs: it was seen to have completed, or should have a minute ago, when slurmctld was killed. */
function isStaleRecord(job: TrackedJob, kills: readonly number[]): boolean {
  const last = job.runs.at(-1);
  if (last === undefined) return false;
  if (job.end === 'COMPLETED') return Date.now() > last.until + 30_000;
  const overdue = Date.now() > last.from + (job.seconds + 60) * 1000;
  return overdue && last.cutBy === undefined && forgottenEnd(job, kills) !== undefined;
}

/** Numbers of the first part of heterogeneous jobs of which one part ran and waits again, and the other does not wait. Pure. */
export function brokenPairs(jobs: readonly TrackedJob[]): number[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const waitsAgain = ({ end, state, runs }: TrackedJob) =>
    end === undefined && state.includes('PENDING') && runs.length > 0;
  const waits = ({ end, state }: TrackedJob) => end === undefined && state.includes('PENDING');
  return jobs.flatMap((first) => {
    const second = byId.get(first.id + 1);
    if (first.kind !== 'pair' || second === undefined || byId.get(first.id) !== first) return [];
    const broken = (waitsAgain(first) && !waits(second)) || (waitsAgain(second) && !waits(first));
    return broken ? [first.id] : [];
  });
}

/** Takes a person's drain away, if it is still there: the worker may have been replaced meanwhile. */
export async function giveBack(slurm: SlurmClient, name: string): Promise<void> {
  const node = (await slurm.nodes.list()).items.find((one) => one.name === name);
  if (node?.reason.includes(powerCut)) await slurm.nodes.update(name, { state: 'UNDRAIN' });
}
