/** What the deletion of a NodeSet waits for, and what to do where waiting does not help. */
import { isOutOfReach } from '../model/availability.ts';
import { describeKept } from '../model/kept-records.ts';
import type { Observed, Worker } from '../model/observed.ts';
import type { WorkerPlan } from '../plan/plan-workers.ts';
import { refusedLines } from './refused-lines.ts';

export function deletionMessage(observed: Observed, plan: WorkerPlan, now: number): string {
  const { workers } = observed;
  const lost = workers.filter((worker) => isOutOfReach(worker, now));
  const waits = workers.filter((worker) => !lost.includes(worker));
  const parts = [
    waits.length === 0 ? '' : waitsFor(waits, observed, plan),
    lost.length === 0 ? '' : outOfReach(lost, observed),
  ].filter(Boolean);
  const kept = describeKept(plan.keptRecords);
  if (parts.length === 0)
    parts.push(
      kept === undefined
        ? recordsLeft(observed)
        : `${kept} To give such jobs up, set spec.deletionPolicy to CancelPending.`,
    );
  return `The NodeSet is being deleted. ${parts.join(' ')}`;
}

function waitsFor(workers: readonly Worker[], observed: Observed, plan: WorkerPlan): string {
  const one = workers.length === 1;
  const count = one ? '1 worker' : `${workers.length} workers`;
  if (observed.slurm.kind === 'unknown' && observed.controllerExists && observed.deletionPolicy === 'Drain')
    return `${count} ${one ? 'stays' : 'stay'} until Slurm responds: ${observed.slurm.why}. If this Slurm no longer exists, delete Controller ${observed.controllerName}; to end the workers with their jobs, set spec.deletionPolicy to Delete.`;
  const [first] = plan.withheld;
  const ending = workers.filter((worker) => worker.terminating).length;
  const why = first !== undefined ? `: ${first}` : ending > 0 ? `: ${ending} are terminating` : '';
  return `${count} ${one ? 'remains' : 'remain'}${why}.`;
}

/** They do not hold the deletion up; but they are there until their machine is back, or a person says that it never will be. */
function outOfReach(workers: readonly Worker[], { namespace }: Observed): string {
  const [first] = workers;
  if (first === undefined) return '';
  const more = workers.length > 1 ? ` The same applies to ${workers.length - 1} more pods.` : '';
  return `Pod ${first.name} is terminating on Node ${first.nodeName ?? 'unknown'}, which does not respond: it ends when the node is back, and the deletion does not wait for it. If the node stays powered off, remove the pod with "kubectl delete pod ${first.name} -n ${namespace} --force --grace-period=0".${more}`;
}

function recordsLeft(observed: Observed): string {
  if (observed.slurm.kind === 'unknown')
    return observed.controllerExists
      ? `Its nodes may still be in Slurm, which does not respond: ${observed.slurm.why}. If this Slurm no longer exists, delete Controller ${observed.controllerName}.`
      : 'Nothing is left to wait for.';
  const left = [...observed.slurm.nodes.values()].filter((node) => node.ours).map(({ name }) => name);
  if (left.length === 0) return linesLeft(observed);
  const names =
    left.length > 3 ? `${left.slice(0, 3).join(', ')} and ${left.length - 3} more` : left.join(', ');
  return `It waits until Slurm has no jobs on the nodes ${names} and has removed them.`;
}

function linesLeft(observed: Observed): string {
  const { configLines, controllerName } = observed;
  const { state, why } = configLines;
  if (state !== 'present') return 'Nothing is left to wait for.';
  const refused = refusedLines({ ...observed, configLines: { ...configLines, held: [] } });
  if (refused !== undefined) return refused.message;
  const reason = why === undefined ? '' : `, reason ${why}`;
  return `It waits until slurm.conf no longer contains it: see the condition ConfigApplied of Controller ${controllerName}${reason}.`;
}
