import type { Safety } from '../model/actions.ts';
import { askAbout, isBusy } from '../model/node-state.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import { waitsForMachine } from './capacity.ts';
import { isPoweredDown, isPoweringUp } from './slot-states.ts';

/**
 * Law A2: the pod of a powered-down node is deleted only on a list that is newer than the last change of the node, shows it powered
 * down and without work, and only while every suspended job is known. Slurm gives such a node no work, so none can come meanwhile.
 */
export function safeToStop(worker: Worker, why: 'sleep' | 'slow-wake', observed: Observed): Safety {
  const answer = askAbout(worker, observed);
  switch (answer.kind) {
    case 'unknown':
      return {
        safe: false,
        blind: true,
        why: `Slurm's view of ${worker.slurmName} is unknown: ${answer.why}`,
      };
    case 'absent':
    case 'foreign':
      return { safe: false, blind: false, why: `${worker.slurmName} is not a node of this NodeSet any more` };
    case 'present': {
      const jobsUnknown = observed.slurm.kind === 'known' ? observed.slurm.jobsUnknown : undefined;
      if (jobsUnknown !== undefined)
        return {
          safe: false,
          blind: true,
          why: `${worker.slurmName} may have a suspended job: ${jobsUnknown}`,
        };
      if (why === 'slow-wake' && isPoweringUp(answer.node)) return { safe: true, because: 'not-accepted' };
      if (why === 'sleep' && hasStopped(answer.node)) return { safe: true, because: 'powered-down' };
      const state = [answer.node.base, ...answer.node.flags].join('+');
      return { safe: false, blind: false, why: `${worker.slurmName} is ${state}` };
    }
    default:
      return answer satisfies never;
  }
}

/** Law L1: nothing of it ever ran, and Slurm still waits for it. A pod that got a machine since it was observed is kept. */
export function safeToGiveUp(worker: Worker, observed: Observed): Safety {
  const answer = askAbout(worker, observed);
  if (answer.kind === 'present' && isPoweringUp(answer.node) && waitsForMachine(worker))
    return { safe: true, because: 'never-started' };
  return { safe: false, blind: answer.kind === 'unknown', why: `${worker.slurmName} may have started` };
}

/** Powered down, and nothing runs there. */
export function hasStopped(
  node: Pick<SlurmNode, 'base' | 'flags'> & { readonly deadline?: unknown },
): boolean {
  return isPoweredDown(node) && !isBusy(node) && node.deadline === undefined;
}
