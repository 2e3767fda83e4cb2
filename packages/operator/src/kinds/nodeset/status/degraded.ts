/** The condition Degraded of a NodeSet. Pure. */
import { annotation, conditionType } from '@slurm-operator/api';
import type { Condition, Problem } from '../../../framework/status/conditions.ts';
import type { WorkerSize } from '../../../slurm-config/render/slurmd-conf.ts';
import { autoscaleDegraded } from '../autoscale/autoscale-problem.ts';
import { isForeign } from '../model/node-state.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import { standingRefusal } from '../plan/facts.ts';
import type { WorkerPlan } from '../plan/plan-workers.ts';
import { nodesOf } from './counts.ts';
import { refusedLines } from './refused-lines.ts';
import { names } from './words.ts';

export function degraded(observed: Observed, plan: WorkerPlan, problem: Problem | undefined): Condition {
  const type = conditionType.degraded;
  const nodes = nodesOf(observed);
  if (problem !== undefined) return { type, status: 'True', ...problem };
  if (observed.workersEnded !== undefined) return { type, status: 'True', ...observed.workersEnded };
  const lines = refusedLines(observed);
  if (lines !== undefined) return { type, status: 'True', ...lines };
  const wakes = autoscaleDegraded(observed, plan.autoscale);
  if (wakes !== undefined) return { type, status: 'True', ...wakes };
  const odd = nodes.flatMap((node) => sizeMismatch(node, observed.size));
  if (odd.length > 0) {
    return {
      type,
      status: 'True',
      reason: 'ResourcesMismatch',
      message: `Slurm reports other resources for ${odd.length} workers than their pods have: ${odd.slice(0, 3).join('; ')}${odd.length > 3 ? ` and ${odd.length - 3} more` : ''}. Compare spec.slurmd.resources.limits and spec.extraConf with the resources of the nodes.`,
    };
  }
  const foreign = nodes.filter((node) => isForeign(node) || node.base === 'DOWN');
  if (foreign.length > 0) {
    const [first] = foreign;
    return {
      type,
      status: 'True',
      reason: 'NodesDown',
      message: `${foreign.length} Slurm nodes are down or drained by someone else: ${names(foreign)} (${first?.reason || 'no reason given'}). See sinfo -R.`,
    };
  }
  const refused = observed.workers.flatMap((worker) => refusedUpdate(worker, observed));
  if (refused.length > 0) {
    return {
      type,
      status: 'True',
      reason: 'UpdateRefused',
      message: `Slurm refuses ${refused.slice(0, 3).join('; ')}${refused.length > 3 ? ` and ${refused.length - 3} more` : ''}. The operator retries every few minutes, and at once when the annotation changes.`,
    };
  }
  if (observed.updateHeld !== undefined)
    return { type, status: 'True', reason: 'RolloutStuck', message: observed.updateHeld };
  if (plan.withheld.length > 0 && observed.slurm.kind === 'unknown') {
    return {
      type,
      status: 'True',
      reason: 'SlurmUnknown',
      message: `${plan.withheld.length} actions wait until Slurm responds: ${observed.slurm.why}`,
    };
  }
  return { type, status: 'False', reason: 'AsExpected', message: 'Nothing is wrong.' };
}

/** Where Slurm believes something else of a node than its slurmd was told to present, or refuses its registration for that. */
function sizeMismatch(node: SlurmNode, wanted: WorkerSize): string[] {
  const differing = (['cpus', 'memory', 'gpus'] as const)
    .filter((what) => wanted[what] !== undefined && node.size[what] !== wanted[what])
    .map((what) => `${node.size[what] ?? 0} ${sizeUnits[what]} instead of ${wanted[what]}`);
  if (node.flags.has('INVALID_REG')) differing.push(node.reason || 'its registration is refused');
  return differing.length === 0 ? [] : [`${node.name} (${differing.join(', ')})`];
}

/** What Slurm refuses to note of a worker, in its words, and what to do about it. */
function refusedUpdate(worker: Worker, observed: Observed): string[] {
  const refusal = standingRefusal(worker, observed);
  if (refusal === undefined) return [];
  const words = `"${refusal.message.replace(/\.$/, '')}"`;
  if (refusal.topology === undefined) return [`an update of ${worker.name}: ${words}`];
  return [
    `topology ${refusal.topology} of ${worker.name}: ${words}: correct the annotation ${annotation.topology} of Node ${worker.nodeName}, or add the topology to topology.yaml`,
  ];
}

const sizeUnits = { cpus: 'CPUs', memory: 'MiB of memory', gpus: 'GPUs' } as const;
