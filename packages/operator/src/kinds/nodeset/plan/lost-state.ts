/** What a slurmctld that lost its state means for workers: which ones it forgot, and how long these are kept. */
import type { WhyGone } from '../model/actions.ts';
import { isAvailable } from '../model/availability.ts';
import { askAbout } from '../model/node-state.ts';
import type { Observed, Worker } from '../model/observed.ts';

/** A worker that Slurm does not list is given this long after it became ready. */
export const registrationGrace = 3 * 60_000;
/** While most workers are unknown: a state that was only mislaid (a volume that was not mounted, say) can come back for this long. */
export const lossGrace = 15 * 60_000;
/** Work that a worker had when Slurm last knew it is waited for until its deadline, but no longer than this. */
export const lossPatience = 24 * 3_600_000;

/** The workers that should be in Slurm, and those of them that are not. */
export function unregisteredOf(
  observed: Observed,
  workers: readonly Worker[],
  going: ReadonlyMap<Worker, WhyGone>,
  now: number,
): { readonly healthy: readonly Worker[]; readonly absent: readonly Worker[] } {
  const healthy = workers.filter(
    (worker) => isAvailable(worker, observed, now) && worker.nodeReachable && !going.has(worker),
  );
  return { healthy, absent: healthy.filter((worker) => askAbout(worker, observed).kind === 'absent') };
}

/** So many at once are not missing by chance. */
export function hasLostState(healthy: number, absent: number): boolean {
  return healthy > 2 && absent * 2 > healthy;
}

/** When an unregistered worker is replaced at the earliest, budget aside. */
export function replacedFrom(
  worker: Worker,
  { lostSince }: Pick<Observed, 'lostSince'>,
  controllerStartedAt: number,
  lost: boolean,
  now: number,
): number {
  const since = lostSince ?? now;
  const work = Math.min(worker.writtenDeadline ?? 0, since + lossPatience);
  return Math.max(
    (worker.readySince ?? now) + registrationGrace,
    // A restart or reconfigure brings no state back: it gives no more than the time in which workers may register again.
    lost ? Math.max(since + lossGrace, controllerStartedAt + registrationGrace) : 0,
    work,
  );
}

export const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
