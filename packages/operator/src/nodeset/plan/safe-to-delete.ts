import type { SafeBecause } from './actions.ts';
import { askSlurm, isDrained, isLeftBehind } from './node-state.ts';
import type { Observed, Worker } from './observed.ts';

export type Safety =
  | { readonly safe: true; readonly because: SafeBecause }
  | { readonly safe: false; readonly why: string; readonly blind: boolean };

/**
 * Law L1, in one place: may this worker's pod be deleted without harm to a job?
 * Whatever is not a clear yes is a no. `act` asks again, with a list it fetches for the purpose, right before the delete.
 */
export function safeToDelete(worker: Worker, observed: Observed): Safety {
  if (observed.deleting && observed.deletionPolicy === 'Delete') return { safe: true, because: 'user-asked' };
  if (observed.deleting && !observed.controllerExists) return { safe: true, because: 'no-controller' };
  // A kubelet tells of a start up to seconds after slurmd has been given work, and one that is cut off does not tell at all.
  const untold = !worker.everStarted;
  if (untold && worker.nodeName === undefined) return { safe: true, because: 'never-started' };
  const answer = askSlurm(observed.slurm, worker.slurmName, observed.lastWrites);
  switch (answer.kind) {
    case 'unknown':
      if (untold && worker.cannotStart && worker.nodeReachable)
        return { safe: true, because: 'never-started' };
      return {
        safe: false,
        blind: true,
        why: `Slurm's view of ${worker.slurmName} is unknown: ${answer.why}`,
      };
    case 'absent':
      return { safe: true, because: untold ? 'start-untold' : 'unknown-to-slurm' };
    case 'present':
      if (untold && isLeftBehind(answer.node)) return { safe: true, because: 'start-untold' };
      if (isDrained(answer.node)) return { safe: true, because: 'drained' };
      return {
        safe: false,
        blind: false,
        why: `${worker.slurmName} is ${[answer.node.base, ...answer.node.flags].join('+')}`,
      };
    default:
      return answer satisfies never;
  }
}
