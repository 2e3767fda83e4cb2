/** What a NodeSet says about itself: counts, and conditions in words that tell what to do. */
import { annotation, conditionType, type NodeSet, type Reason } from '@slurm-operator/api';
import type { Verdict } from '../../framework/status/judge.ts';
import type { WorkerSize } from '../../slurm-config/render/slurmd-conf.ts';
import { deletionMessage } from './deletion-message.ts';
import { hasOldKeys, isAvailable, isCurrent, isHealthy } from './plan/availability.ts';
import { standingRefusal } from './plan/facts.ts';
import { hasLostState, replacedFrom, timeText, unregisteredOf } from './plan/lost-state.ts';
import { askAbout, hasDrain, isBusy, isForeign, isOwn } from './plan/node-state.ts';
import type { Observed, SlurmNode, Worker } from './plan/observed.ts';
import type { Plan } from './plan/plan.ts';
import { foreignNode } from './plan/safe-to-delete.ts';

export interface StatusDraft {
  readonly counts: Required<
    Pick<
      NonNullable<NodeSet['status']>,
      | 'replicas'
      | 'updatedReplicas'
      | 'readyReplicas'
      | 'availableReplicas'
      | 'unavailableReplicas'
      | 'desired'
      | 'slurmIdle'
      | 'slurmAllocated'
      | 'slurmDown'
      | 'slurmDrain'
    >
  >;
  /** Slurm nodes of the set that somebody else drained. */
  readonly foreignDrains: number;
  readonly conditions: readonly Verdict[];
}

/** What went wrong on the way here, if anything did. */
export interface Trouble {
  readonly reason: Reason;
  readonly message: string;
}

export function nodeSetStatus(
  observed: Observed,
  plan: Plan,
  trouble: Trouble | undefined,
  now: number,
): StatusDraft {
  const { workers } = observed;
  const nodes =
    observed.slurm.kind === 'known' ? workers.flatMap((worker) => nodeOf(observed, worker) ?? []) : [];
  const available = workers.filter((worker) => isAvailable(worker, observed, now)).length;
  const counts = {
    replicas: workers.length,
    updatedReplicas: workers.filter((worker) => isCurrent(worker, observed) && !worker.terminating).length,
    readyReplicas: workers.filter(isHealthy).length,
    availableReplicas: available,
    unavailableReplicas: Math.max(0, plan.desired - available),
    desired: plan.desired,
    slurmIdle: nodes.filter((node) => node.base === 'IDLE' && !isBusy(node)).length,
    slurmAllocated: nodes.filter((node) => node.base === 'ALLOCATED' || node.base === 'MIXED').length,
    slurmDown: nodes.filter((node) => node.base === 'DOWN').length,
    slurmDrain: nodes.filter(hasDrain).length,
  };
  return {
    counts,
    foreignDrains: nodes.filter(isForeign).length,
    conditions: [
      ready(observed, plan, counts, trouble, now),
      progressing(observed, plan, counts),
      degraded(observed, plan, nodes, trouble),
      keysCurrent(observed),
      configApplied(observed),
    ],
  };
}

type Counts = StatusDraft['counts'];

function configApplied({ configLines: { state, held }, deleting, controllerExists }: Observed): Verdict {
  const type = conditionType.configApplied;
  if (held.length > 0) return { type, status: 'False', reason: 'ConfigHeld', message: held.join(' ') };
  if (!controllerExists)
    return {
      type,
      status: 'Unknown',
      reason: 'ControllerNotFound',
      message: 'The Controller does not exist.',
    };
  if (state === 'external')
    return { type, status: 'True', reason: 'External', message: 'slurm.conf is written elsewhere.' };
  const applied = deleting ? state === 'absent' : state !== 'absent';
  return applied
    ? {
        type,
        status: 'True',
        reason: 'Applied',
        message: 'slurm.conf contains the desired lines of this NodeSet.',
      }
    : {
        type,
        status: 'False',
        reason: 'Reconfiguring',
        message: `slurm.conf ${deleting ? 'still contains' : 'does not contain'} this NodeSet${deleting ? '' : ' yet'}; see the Controller.`,
      };
}

function keysCurrent(observed: Observed): Verdict {
  const type = conditionType.keysCurrent;
  const old = observed.workers.filter((worker) => hasOldKeys(worker, observed));
  if (old.length === 0)
    return {
      type,
      status: 'True',
      reason: 'AsExpected',
      message: 'Every worker uses the newest keys.',
    };
  return {
    type,
    status: 'False',
    reason: 'KeyRotation',
    message: `${old.length} of ${observed.workers.length} workers still use an old key: ${names(old)}. They reload a new slurm.key in place; for a new sssd.conf they are replaced as the update strategy allows.`,
  };
}

function ready(
  observed: Observed,
  plan: Plan,
  counts: Counts,
  trouble: Trouble | undefined,
  now: number,
): Verdict {
  const type = conditionType.ready;
  if (trouble !== undefined) return { type, status: 'False', ...trouble };
  if (observed.deleting)
    return {
      type,
      status: 'False',
      reason: 'Deleting',
      message: [deletionMessage(observed, plan, now), ...observed.configLines.held].join(' '),
    };
  if (counts.desired === 0)
    return { type, status: 'True', reason: 'ScaledToZero', message: 'spec.replicas is 0.' };
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
  return {
    type,
    status: 'True',
    reason: 'Ready',
    message: `All ${counts.desired} workers are available and registered in Slurm.`,
  };
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

/** Workers whose name in Slurm belongs to another NodeSet, or is taken by a node that is not theirs. */
function nameConflicts(observed: Observed, plan: Plan): string | undefined {
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

const troubleReasons = {
  unschedulable: 'PodsUnschedulable',
  image: 'ImagePullFailed',
  crash: 'CrashLooping',
} as const;

/** Names the first worker that Kubernetes itself gives a reason for: that reason is what a user can act on. */
function notAvailable(observed: Observed, counts: Counts): Trouble {
  const base = `${counts.availableReplicas} of ${counts.desired} workers are available`;
  const first = observed.workers.find((worker) => worker.trouble !== undefined);
  if (first?.trouble === undefined)
    return { reason: 'PodsNotReady', message: `${base}.${lostNodes(observed)}` };
  const alike = observed.workers.filter((worker) => worker.trouble?.kind === first.trouble?.kind);
  return {
    reason: troubleReasons[first.trouble.kind],
    message: `${base}. ${names(alike)}: ${first.trouble.message}`,
  };
}

/** Names the nodes that Kubernetes does not hear from, for the workers that are missing because of them. */
function lostNodes(observed: Observed): string {
  const lost = observed.workers.filter((worker) => !worker.nodeReachable && !isHealthy(worker));
  const where = [...new Set(lost.flatMap(({ nodeName }) => nodeName ?? []))].map((name) => ({ name }));
  if (where.length === 0) return '';
  return ` Node ${names(where)} does not respond, and ${names(lost)} ${lost.length === 1 ? 'runs' : 'run'} there: workers on other nodes are not affected, and these recover with their node. If a node does not return, delete it with kubectl delete node.`;
}

function progressing(observed: Observed, plan: Plan, counts: Counts): Verdict {
  const type = conditionType.progressing;
  const draining = plan.condemned.filter((worker) => !worker.terminating);
  const rollout = rolloutProgress(observed, counts);
  if (draining.length > 0) {
    const waiting = draining.filter((worker) => hasWork(observed, worker));
    return {
      type,
      status: 'True',
      reason: 'Draining',
      message: `${draining.length} workers are being removed, ${waiting.length} of them wait for jobs${estimate(waiting)}.${rollout === undefined ? '' : ` ${rollout}`}`,
    };
  }
  if (rollout !== undefined && observed.update.paused)
    return { type, status: 'False', reason: 'Paused', message: `The rollout is paused. ${rollout}` };
  if (rollout !== undefined && observed.update.type === 'RollingUpdate')
    return { type, status: 'True', reason: 'RollingOut', message: rollout };
  if (rollout !== undefined && observed.update.type === 'ScheduledUpdate')
    return {
      type,
      status: 'True',
      reason: 'WaitingForWindow',
      message: `The update waits for the maintenance window ${observed.update.reservation ?? ''}. ${rollout}`,
    };
  if (counts.replicas !== counts.desired) {
    return {
      type,
      status: 'True',
      reason: 'Scaling',
      message: `${counts.replicas} workers exist, ${counts.desired} are desired.`,
    };
  }
  const { held } = observed.configLines;
  if (held.length > 0) return { type, status: 'True', reason: 'ConfigHeld', message: held.join(' ') };
  return { type, status: 'False', reason: 'Idle', message: 'Nothing is in progress.' };
}

/** How far a rollout is, and when the jobs that it still has to wait for must be over; undefined when none is under way. */
function rolloutProgress(observed: Observed, counts: Counts): string | undefined {
  const outdated = observed.workers.filter((worker) => !isCurrent(worker, observed));
  if (outdated.length === 0 || counts.updatedReplicas >= counts.desired) return undefined;
  const busy = outdated.filter((worker) => hasWork(observed, worker));
  const jobs = busy.length === 0 ? '' : `, ${busy.length} of the others have jobs${estimate(busy)}`;
  return `${counts.updatedReplicas} of ${counts.desired} workers have the new revision${jobs}.`;
}

function hasWork(observed: Observed, worker: Worker): boolean {
  const node = nodeOf(observed, worker);
  return node !== undefined && isBusy(node);
}

/** When the last job that is waited for must be over. */
function estimate(waiting: readonly { deadline: number | undefined }[]): string {
  const latest = Math.max(...waiting.map((worker) => worker.deadline ?? Number.NEGATIVE_INFINITY));
  if (waiting.length === 0 || latest === Number.NEGATIVE_INFINITY) return '';
  return Number.isFinite(latest)
    ? `; the last of these must end by ${new Date(latest).toISOString().slice(0, 19)}Z`
    : '; some of these have no time limit';
}

function degraded(
  observed: Observed,
  plan: Plan,
  nodes: readonly SlurmNode[],
  trouble: Trouble | undefined,
): Verdict {
  const type = conditionType.degraded;
  if (trouble !== undefined) return { type, status: 'True', ...trouble };
  if (observed.workersEnded !== undefined) return { type, status: 'True', ...observed.workersEnded };
  const odd = nodes.flatMap((node) => sizeTrouble(node, observed.size));
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

function nodeOf({ slurm }: Observed, worker: Worker): SlurmNode | undefined {
  const node = slurm.kind === 'known' ? slurm.nodes.get(worker.slurmName) : undefined;
  return node !== undefined && isOwn(node, worker) ? node : undefined;
}

function names(list: readonly { readonly name: string }[]): string {
  const shown = list.slice(0, 3).map((each) => each.name);
  return list.length > 3 ? `${shown.join(', ')} and ${list.length - 3} more` : shown.join(', ');
}

/** Where Slurm believes something else of a node than its slurmd was told to present, or refuses its registration for that. */
function sizeTrouble(node: SlurmNode, wanted: WorkerSize): string[] {
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
