/** Whether something about a NodeSet waits for the next list of Slurm. */
import type { WhyGone } from './actions.ts';
import { drainTarget } from './drain-target.ts';
import { askAbout, isOurDrain } from './node-state.ts';
import type { Observed, Worker } from './observed.ts';

/** While something waits, Slurm is listed about this often. */
export const listAgain = 1_000;

/**
 * The list that showed what our last change did may have begun a moment before the change was answered, and the next one brings
 * no news that would wake us.
 */
export function slurmIsBehindUs({ slurm, lastWrites }: Observed): boolean {
  return slurm.kind === 'known' && lastWrites.values().some((at) => at >= slurm.at);
}

/** That a change of ours took effect, that a worker registered, that it may be undrained. */
export function awaitsNews(observed: Observed, toRemove: ReadonlyMap<Worker, WhyGone>): boolean {
  return observed.workers.some((worker) => {
    const answer = askAbout(worker, observed);
    switch (answer.kind) {
      case 'unknown':
        return true;
      case 'absent':
        return worker.ready;
      case 'foreign':
        return false; // a person has to decide
      case 'present':
        // A drain that is to stay brings no news.
        return isOurDrain(answer.node) && !drainTarget(worker, toRemove.get(worker), observed).drain;
      default:
        return answer satisfies never;
    }
  });
}
