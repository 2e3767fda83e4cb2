/** The condition Ready of a NodeSet. Pure. */
import { conditionType } from '@slurm-operator/api';
import type { Condition, Problem } from '../../../framework/status/conditions.ts';
import { autoscaleProblem } from '../autoscale/autoscale-problem.ts';
import { isHealthy } from '../model/availability.ts';
import { askAbout } from '../model/node-state.ts';
import type { Observed } from '../model/observed.ts';
import { hasLostState, replacedFrom, timeText, unregisteredOf } from '../plan/lost-state.ts';
import type { WorkerPlan } from '../plan/plan-workers.ts';
import { foreignNode } from '../plan/safe-to-delete.ts';
import type { Counts } from './counts.ts';
import { deletionMessage } from './deletion-message.ts';
import { names, nodeOf } from './words.ts';

export function ready(
  observed: Observed,
  plan: WorkerPlan,
  counts: Counts,
  problem: Problem | undefined,
  now: number,
): Condition {
  const type = conditionType.ready;
  if (problem !== undefined) return { type, status: 'False', ...problem };
  if (observed.deleting)
    return {
      type,
      status: 'False',
      reason: 'Deleting',
      message: [deletionMessage(observed, plan, now), ...observed.configLines.held].join(' '),
    };
  const { autoscale } = observed;
  const obstacle = autoscale === undefined ? undefined : autoscaleProblem(autoscale);
  if (obstacle !== undefined) return { type, status: 'False', ...obstacle };
  const unusable = inNoPartition(observed, plan);
  if (unusable !== undefined) return { type, status: 'False', ...unusable };
  // Without a list nothing is known of the nodes that sleep.
  if (counts.desired === 0 && (autoscale === undefined || plan.autoscale !== undefined))
    return { type, status: 'True', reason: 'ScaledToZero', message: atZero(plan) };
  if (observed.slurm.kind === 'unknown') {
    return {
      type,
      status: 'Unknown',
      reason: 'SlurmUnknown',
      message: `The state of Slurm is unknown: ${observed.slurm.why}. No pods are deleted until Slurm responds; check the Cluster.`,
    };
  }
  const conflicts = nameConflicts(observed, plan);
  if (conflicts !== undefined) return { type, status: 'False', reason: 'NameConflict', message: conflicts };
  const missing = counts.desired - counts.availableReplicas;
  if (missing > 0) return { type, status: 'False', ...notAvailable(observed, counts) };
  const unregistered = observed.workers.filter(
    (worker) => isHealthy(worker) && nodeOf(observed, worker) === undefined,
  );
  const lost = lostState(observed, now);
  if (lost !== undefined) return { type, status: 'False', reason: 'NodesNotRegistered', message: lost };
  if (unregistered.length > 0) {
    return {
      type,
      status: 'False',
      reason: 'NodesNotRegistered',
      message: `${unregistered.length} workers run but have not registered with Slurm: ${names(unregistered)}. Read the log of slurmd in these pods.`,
    };
  }
  const unread = unreadPartition(observed);
  if (unread !== undefined) return { type, status: 'False', reason: 'Reconfiguring', message: unread };
  return {
    type,
    status: 'True',
    reason: 'Ready',
    message: `All ${counts.desired} workers are available and registered in Slurm.`,
  };
}

function atZero({ autoscale }: WorkerPlan): string {
  if (autoscale === undefined) return 'spec.replicas is 0.';
  return `No worker is needed: ${autoscale.sleeping} of ${autoscale.visible} Slurm nodes sleep and start when a job is allocated to them.`;
}

/** Most workers are unknown to slurmctld: what that means, until when they stay, and what to do before that. */
function lostState(observed: Observed, now: number): string | undefined {
  const { slurm } = observed;
  if (slurm.kind === 'unknown' || slurm.controllerStartedAt === undefined) return undefined;
  const { controllerStartedAt: startedAt } = slurm;
  const workers = observed.workers.filter((worker) => !worker.terminating);
  const { healthy, absent } = unregisteredOf(observed, workers, new Map(), now);
  if (!hasLostState(healthy.length, absent.length)) return undefined;
  const from = Math.min(...absent.map((worker) => replacedFrom(worker, observed, startedAt, true, now)));
  const working = absent.filter((worker) => replacedFrom(worker, observed, startedAt, true, now) > from);
  const waiting =
    working.length === 0
      ? ''
      : ` ${working.length} of them had jobs when Slurm last reported them and stay until these must have ended; to replace one now, delete its pod (${working[0]?.name}).`;
  return `slurmctld, started at ${timeText(startedAt)}, does not know ${absent.length} of ${healthy.length} running workers: it has lost its state (was its volume lost, replaced or restored?). If you can restore the state, do it before ${timeText(from)}: from then on the operator replaces the workers.${waiting}`;
}

/** Workers can register before slurmctld reads the lines of their NodeSet: until then Slurm rejects jobs for them. */
function unreadPartition(observed: Observed): string | undefined {
  const { partition, workers, controllerName, configLines } = observed;
  if (partition === undefined || configLines.state === 'external') return undefined;
  const nodes = workers.flatMap((worker) => (isHealthy(worker) ? (nodeOf(observed, worker) ?? []) : []));
  if (nodes.length === 0 || nodes.some(({ outsidePartition }) => outsidePartition !== true)) return undefined;
  return `Partition ${partition} does not contain the workers yet: slurmctld has not read its new configuration. Check the condition ConfigApplied of Controller ${controllerName}.`;
}

/** Nodes that sleep in no partition are never woken by a job. */
function inNoPartition(
  { partition, slurm, configLines, controllerName }: Observed,
  { autoscale }: WorkerPlan,
): Problem | undefined {
  if (autoscale === undefined || slurm.kind === 'unknown') return undefined;
  const nodes = autoscale.slots.flatMap(({ node }) => (node?.ours ? node : []));
  if (nodes.length === 0 || nodes.some((node) => node.inNoPartition !== true)) return undefined;
  if (partition !== undefined && configLines.state !== 'external')
    return {
      reason: 'Reconfiguring',
      message: `Partition ${partition} does not contain the sleeping nodes yet: slurmctld has not read its new configuration. Check the condition ConfigApplied of Controller ${controllerName}.`,
    };
  return {
    reason: 'NoPartition',
    message: `No partition contains the Slurm nodes ${names(nodes)}, so no job can wake them. Set spec.partition.enabled, or name the NodeSet in Nodes= of a partition in extraConf of Controller ${controllerName}.`,
  };
}

/** Workers whose name in Slurm belongs to another NodeSet, or is taken by a node that is not theirs. */
function nameConflicts(observed: Observed, plan: WorkerPlan): string | undefined {
  const [name] = plan.nameConflicts;
  if (name !== undefined) {
    const more = plan.nameConflicts.length > 1 ? ` and ${plan.nameConflicts.length - 1} more` : '';
    return `Slurm node ${name}${more} would belong to this NodeSet and to NodeSet ${observed.takenNames.get(name)}; this one does not create it. ${
      observed.scalingMode === 'DaemonSet'
        ? 'Select different nodes for the two NodeSets with spec.template.spec.nodeSelector.'
        : 'Set another spec.template.spec.hostname, so that no name of one is a name of the other.'
    }`;
  }
  const found = observed.workers.flatMap((worker) => {
    const answer = askAbout(worker, observed);
    return answer.kind === 'foreign' && isHealthy(worker) ? [foreignNode(worker, answer.node)] : [];
  });
  const [first] = found;
  if (first === undefined) return undefined;
  return found.length === 1 ? `${first}.` : `${first}. The same applies to ${found.length - 1} more workers.`;
}

const problemReasons = {
  unschedulable: 'PodsUnschedulable',
  image: 'ImagePullFailed',
  crash: 'CrashLooping',
} as const;

/** Names the first worker that Kubernetes itself gives a reason for: that reason is what a user can act on. */
function notAvailable(observed: Observed, counts: Counts): Problem {
  const base = `${counts.availableReplicas} of ${counts.desired} workers are available`;
  const first = observed.workers.find((worker) => worker.problem !== undefined);
  if (first?.problem === undefined)
    return { reason: 'PodsNotReady', message: `${base}.${lostNodes(observed)}` };
  const alike = observed.workers.filter((worker) => worker.problem?.kind === first.problem?.kind);
  return {
    reason: problemReasons[first.problem.kind],
    message: `${base}. ${names(alike)}: ${first.problem.message}`,
  };
}

/** Names the nodes that Kubernetes does not hear from, for the workers that are missing because of them. */
function lostNodes(observed: Observed): string {
  const lost = observed.workers.filter((worker) => !worker.nodeReachable && !isHealthy(worker));
  const where = [...new Set(lost.flatMap(({ nodeName }) => nodeName ?? []))].map((name) => ({ name }));
  if (where.length === 0) return '';
  return ` Node ${names(where)} does not respond, and ${names(lost)} ${lost.length === 1 ? 'runs' : 'run'} there: workers on other nodes are not affected, and these recover with their node. If a node does not return, delete it with kubectl delete node.`;
}
