/**
 * What an administrator does beside the operator, for what Slurm and Kubernetes do not mend by themselves and the operator must not
 * touch. Everything done is said, and none of it counts as the operator's.
 */
import { KubeError, pods } from '@slurm-operator/kube';
import { type SlurmClient, SlurmError } from '@slurm-operator/slurm';
import { namespace, type SlurmStage } from '../slurm-stage.ts';
import { forgottenEnd } from './account.ts';
import type { TrackedJob } from './workload.ts';

/** The reason of a drain by hand before a power cut. */
export const powerCut = 'power cut';
/**
 * Reasons of Slurm's own drains. "Duplicate jobid": killed with -9, slurmctld forgets that it has just begun a job, begins it anew, and
 * drains the node where that runs already. The others come of a machine under load that begins or ends processes late.
 */
const bySlurmItself = /^(Duplicate jobid|Kill task failed|batch job complete failure)/i;

export class Administrator {
  readonly #stage: SlurmStage;
  readonly #say: (line: string) => void;
  #cutting = false;
  /** Times that Slurm's own drains were taken away. */
  undrained = 0;
  /** Times that a job was released that Slurm held back by itself. */
  released = 0;
  /** Times that a job was cancelled that had ended long ago, which Slurm had forgotten. */
  cancelled = 0;

  constructor(stage: SlurmStage, say: (line: string) => void) {
    this.#stage = stage;
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
      await this.#cancelGhosts(slurm, jobs, kills);
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
  async #cancelGhosts(
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
      if (!running.has(String(job.id)) || !isGhost(job, kills)) continue;
      this.#say(`cancel job ${job.id}, which ended when slurmctld was killed and runs on in its books`);
      await slurm.jobs.cancel(job.id);
      this.cancelled += 1;
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
function isGhost(job: TrackedJob, kills: readonly number[]): boolean {
  const last = job.runs.at(-1);
  if (last === undefined) return false;
  if (job.end === 'COMPLETED') return Date.now() > last.until + 30_000;
  const overdue = Date.now() > last.from + (job.seconds + 60) * 1000;
  return overdue && last.cutBy === undefined && forgottenEnd(job, kills) !== undefined;
}

/** Takes a person's drain away, if it is still there: the worker may have been replaced meanwhile. */
export async function giveBack(slurm: SlurmClient, name: string): Promise<void> {
  const node = (await slurm.nodes.list()).items.find((one) => one.name === name);
  if (node?.reason.includes(powerCut)) await slurm.nodes.update(name, { state: 'UNDRAIN' });
}
