/** Facts carried across: from Slurm to the pod (deadline, protection) and from Kubernetes to the Slurm node (comment, features, topology). */
import { featurePrefix } from '@slurm-operator/api';
import type { WhyGone, WorkerAction } from '../model/actions.ts';
import { isHealthy } from '../model/availability.ts';
import { commentOf, confIn, cordonedPodIn } from '../model/node-comment.ts';
import { askAbout, isBusy, isRegisteredBy } from '../model/node-state.ts';
import type { Observed, Refusal, SlurmNode, Worker } from '../model/observed.ts';
import { cordonToKeep, type DrainTarget, isCordonedByPerson } from './drain-target.ts';

type Patch = Extract<WorkerAction, { kind: 'patch-worker' }>;

/** More facts about a worker that was placed just now will follow from Slurm soon: one request for both. */
const settling = 5_000;

/** One patch for all that changed on the pod, or none. */
export function podFacts(
  worker: Worker,
  target: DrainTarget,
  observed: Observed,
  now: number,
): { readonly actions: readonly WorkerAction[]; readonly wakeAt: number | undefined } {
  if (worker.terminating) return { actions: [], wakeAt: undefined };
  const { name, uid } = worker;
  const changes = { ...cordonChange(worker, target), ...slurmChange(worker, observed, now) };
  const topology = topologyChange(worker, observed);
  const settlesAt = (worker.placedAt ?? 0) + settling;
  const answer = askAbout(worker, observed);
  if (answer.kind !== 'present' && settlesAt > now && Object.keys(changes).length === 0) {
    return { actions: [], wakeAt: topology.topology === undefined ? undefined : settlesAt };
  }
  const patch: Patch = { kind: 'patch-worker', name, uid, ...changes, ...topology };
  return { actions: Object.keys(patch).length > 3 ? [patch] : [], wakeAt: undefined };
}

function topologyChange(worker: Worker, observed: Observed): Pick<Patch, 'topology'> {
  const machine = worker.nodeName === undefined ? undefined : observed.nodes.get(worker.nodeName);
  if (machine === undefined || machine.topology === worker.topology) return {};
  return { topology: machine.topology ?? null };
}

function cordonChange(worker: Worker, target: DrainTarget): Pick<Patch, 'cordon' | 'resourceVersion'> {
  if (isCordonedByPerson(worker)) return {}; // the user removes it
  const cause = target.drain && target.cause !== 'person' ? target.cause : undefined;
  const cordoned = target.drain;
  const { resourceVersion } = worker;
  return worker.cordoned === cordoned && worker.cordonCause === cause
    ? {}
    : { cordon: { cordoned, cause }, resourceVersion };
}

/** While Slurm's view is unknown the last facts stay: a protection is never lifted on a guess. */
function slurmChange(worker: Worker, observed: Observed, now: number): Pick<Patch, 'deadline' | 'protect'> {
  const answer = askAbout(worker, observed);
  if (answer.kind === 'unknown' || answer.kind === 'foreign') return {};
  // A slurmctld that lost its state knows nothing of the work that was there, and it may be there yet.
  if (answer.kind === 'absent' && (worker.writtenDeadline ?? 0) > now) return {};
  const node = answer.kind === 'present' ? answer.node : undefined;
  const jobsKnown = observed.slurm.kind === 'known' && observed.slurm.jobsUnknown === undefined;
  // An idle node may hold a suspended job as long as the jobs are unknown.
  const busy = node !== undefined && (isBusy(node) || (!jobsKnown && worker.protectedFromEviction));
  const protect = busy && observed.protectBusyPods;
  return {
    ...(worker.deadline === worker.writtenDeadline ? {} : { deadline: worker.deadline ?? null }),
    ...(protect === worker.protectedFromEviction ? {} : { protect }),
  };
}

type NodeChange = Omit<Extract<WorkerAction, { kind: 'update-node' }>, 'kind' | 'slurmName'>;

/** A cordon is noted at once, also while the worker is drained, is not healthy, or is replaced: its successor must find it. */
export function cordonNote(worker: Worker, why: WhyGone | undefined, observed: Observed): WorkerAction[] {
  const answer = askAbout(worker, observed);
  if (answer.kind !== 'present' || worker.terminating) return [];
  const kept = cordonToKeep(worker, why, observed);
  if (cordonedPodIn(answer.node.comment) === kept) return [];
  const { slurmName } = worker;
  return [
    {
      kind: 'update-node',
      slurmName,
      comment: commentOf(worker, observed, kept, keptConf(answer.node, observed)),
    },
  ];
}

/** One update for all that changed on the Slurm node, or none. Only for a slurmd that is known to be this pod's. What Slurm refused waits; the rest goes on without it. */
export function slurmFacts(
  worker: Worker,
  observed: Observed,
  now: number,
): { readonly actions: readonly WorkerAction[]; readonly wakeAt: number | undefined } {
  const answer = askAbout(worker, observed);
  if (answer.kind !== 'present' || !isHealthy(worker) || !isRegisteredBy(answer.node, worker))
    return { actions: [], wakeAt: undefined };
  const changes = slurmChanges(worker, answer.node, observed);
  const refusal = standingRefusal(worker, observed);
  const held = refusal !== undefined && refusal.until > now;
  const asked = held ? withoutRefused(changes, refusal) : changes;
  const { slurmName } = worker;
  return {
    actions: Object.keys(asked).length === 0 ? [] : [{ kind: 'update-node', slurmName, ...asked }],
    wakeAt: held ? refusal.until : undefined,
  };
}

function withoutRefused({ topology: _refused, ...rest }: NodeChange, refusal: Refusal): NodeChange {
  return refusal.topology === undefined ? {} : rest;
}

/** What Slurm refused of this worker and what is still wanted, by the last list there is: a refused change has changed nothing. */
export function standingRefusal(worker: Worker, observed: Observed): Refusal | undefined {
  const refusal = observed.refusals.get(worker.slurmName);
  const node = observed.slurm.kind === 'known' ? observed.slurm.nodes.get(worker.slurmName) : undefined;
  if (refusal === undefined || node === undefined) return undefined;
  const changes = slurmChanges(worker, node, observed);
  return Object.keys(changes).length > 0 && changes.topology === refusal.topology ? refusal : undefined;
}

const keptConf = ({ comment }: SlurmNode, { autoscale }: Observed): string | undefined =>
  autoscale === undefined ? undefined : confIn(comment);

/** All that differs on the Slurm node. */
function slurmChanges(worker: Worker, node: SlurmNode, observed: Observed): NodeChange {
  const kubeNode = worker.nodeName === undefined ? undefined : observed.nodes.get(worker.nodeName);
  const cordon = cordonToKeep(worker, undefined, observed);
  const comment = commentOf(worker, observed, cordon, keptConf(node, observed));
  // A record that existed before its worker keeps its features, whatever the worker registers with; those of a person stay.
  const isNewest = observed.autoscale !== undefined && worker.revision === observed.updateRevision;
  const features = wantedFeatures(node, kubeNode?.features ?? [], isNewest ? (observed.features ?? []) : []);
  const topology = kubeNode?.topology;
  return {
    ...(node.comment === comment ? {} : { comment }),
    ...(features === undefined ? {} : { features }),
    // No annotation is no opinion: a topology that an administrator set stays.
    ...(topology === undefined || topology === node.topology ? {} : { topology }),
  };
}

function wantedFeatures(
  node: SlurmNode,
  fromNode: readonly string[],
  own: readonly string[],
): readonly string[] | undefined {
  const foreign = node.features.filter((feature) => !feature.startsWith(featurePrefix));
  const wanted = [
    ...new Set([...foreign, ...own]),
    ...fromNode.map((feature) => `${featurePrefix}${feature}`),
  ];
  const same =
    wanted.length === node.features.length && wanted.every((feature) => node.features.includes(feature));
  return same ? undefined : wanted;
}
