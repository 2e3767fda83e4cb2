/** Whether something about a NodeSet waits for the next list of Slurm. */
import type { Waiting } from '@slurm-operator/slurm';
import type { WhyGone } from '../model/actions.ts';
import { askAbout, isOurDrain } from '../model/node-state.ts';
import type { Observed, Worker } from '../model/observed.ts';
import { drainTarget } from './drain-target.ts';

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
function awaitsNews(observed: Observed, toRemove: ReadonlyMap<Worker, WhyGone>, now: number): boolean {
  return observed.workers.some((worker) => {
    if (worker.terminating) return false; // the kubelet has to remove it first
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
        return isOurDrain(answer.node) && !drainTarget(worker, toRemove.get(worker), observed, now).drain;
      default:
        return answer satisfies never;
    }
  });
}

/**
 * What of Slurm is waited for, so that it is asked no more often than that needs. Pods that are terminating are Kubernetes's to remove, and
 * a worker with a drain waits for the end of its jobs alone: once they have ended, its deletion looks at Slurm itself.
 */
export function waitingFor(
  observed: Observed,
  toRemove: ReadonlyMap<Worker, WhyGone>,
  awaitsRecords: boolean,
  now: number,
): Waiting {
  if (awaitsRecords || awaitsNews(observed, toRemove, now)) return 'changes';
  let waiting: Waiting = false;
  for (const [worker] of toRemove) {
    if (worker.terminating) continue;
    if (!waitsForJobs(worker, observed)) return 'changes';
    waiting = 'jobs';
  }
  return waiting;
}

function waitsForJobs(worker: Worker, observed: Observed): boolean {
  const answer = askAbout(worker, observed);
  return answer.kind === 'present' && answer.node.flags.has('DRAIN');
}
