/** A pod, as the plan sees it. */
import { annotation, app, label } from '@slurm-operator/api';
import type { DeepReadonly, Pod } from '@slurm-operator/kube';
import {
  confServerAnnotation,
  cordonCauseAnnotation,
  targetNodeAnnotation,
  wakeUpAnnotation,
} from '../annotations.ts';
import type { CordonCause, PodProblem, Slot, Worker } from '../model/observed.ts';
import { safeToDeleteType, statePrefix } from '../plan/mirror-state.ts';

const causes = new Set<string>([
  'scale-in',
  'update',
  'deletion',
  'replacement',
  'node-cordon',
] satisfies CordonCause[]);
const phases = new Set<string>([
  'Pending',
  'Running',
  'Succeeded',
  'Failed',
  'Unknown',
] satisfies Worker['phase'][]);

/** Annotations that tell which keys and files a worker was started with. */
export const hashNotes = [annotation.slurmKeyHash, annotation.sssdConfHash, confServerAnnotation] as const;

/** Undefined for a pod that carries no slot: it is none of ours, whatever its owner says. */
export function observeWorker(
  pod: DeepReadonly<Pod>,
  nodeReachable: (node: string) => boolean,
): Worker | undefined {
  const slot = slotOf(pod);
  if (slot === undefined) return undefined;
  const { metadata, spec, status } = pod;
  const notes = metadata?.annotations ?? {};
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const slurmd =
    status?.containerStatuses?.find((container) => container.name === app.worker) ??
    status?.containerStatuses?.[0];
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
  const cause = notes[cordonCauseAnnotation];
  const deadline = deadlineOf(notes[annotation.podDeadline]);
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    resourceVersion: metadata?.resourceVersion ?? '',
    slot,
    slurmName: spec?.hostNetwork ? machineOf(pod, slot) : (spec?.hostname ?? metadata?.name ?? ''),
    address: status?.podIP || undefined,
    revision: metadata?.labels?.[label.revision] ?? '',
    hashes: hashesOf(notes),
    phase: phases.has(status?.phase ?? '') ? (status?.phase as Worker['phase']) : 'Pending',
    nodeName: spec?.nodeName,
    placedAt: time(
      status?.conditions?.find(
        (condition) => condition.type === 'PodScheduled' && condition.status === 'True',
      )?.lastTransitionTime,
    ),
    nodeReachable: spec?.nodeName === undefined || nodeReachable(spec.nodeName),
    ready: ready?.status === 'True',
    readySince: ready?.status === 'True' ? time(ready.lastTransitionTime) : undefined,
    startedAt: time(slurmd?.state?.running?.startedAt),
    everStarted: containers.some(hasStarted),
    cannotStart: !containers.some(hasStarted) && cannotStart(pod),
    forWakeUp: pod.metadata.annotations?.[wakeUpAnnotation] === 'true',
    containersDead: isDead(pod),
    endedAt: isDead(pod) ? endOf(pod) : undefined,
    problem: problemOf(pod),
    terminating: metadata?.deletionTimestamp !== undefined,
    endsBy: time(metadata?.deletionTimestamp),
    createdAt: time(metadata?.creationTimestamp) ?? 0,
    cordoned: notes[annotation.podCordon] === 'true',
    cordonCause: cause !== undefined && causes.has(cause) ? (cause as CordonCause) : undefined,
    deletionCost: deletionCostOf(notes[annotation.podDeletionCost]),
    deadline,
    writtenDeadline: deadline,
    protectedFromEviction: metadata?.labels?.[label.podProtect] === 'true',
    topology: notes[annotation.topology] || undefined,
    slurmConditions: slurmConditionsOf(pod),
    claims: spec?.volumes?.some((volume) => volume.persistentVolumeClaim !== undefined)
      ? spec.volumes.flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? [])
      : none,
  };
}

/** Known of a DaemonSet-mode worker before it is placed, of others only then. */
function machineOf({ spec }: DeepReadonly<Pod>, slot: Slot): string {
  return spec?.nodeName ?? (slot.mode === 'DaemonSet' ? slot.nodeName : '');
}

const none: readonly string[] = [];
const unhashed: Worker['hashes'] = {};

/** Nearly all workers of a set have the same ones, as a rule one that says idle: such a map is made once. */
const alone = new Map<string, ReadonlyMap<string, string>>();

function slurmConditionsOf({ status }: DeepReadonly<Pod>): ReadonlyMap<string, string> {
  const told = (status?.conditions ?? []).filter(
    ({ type, status: is }) => (type.startsWith(statePrefix) || type === safeToDeleteType) && is === 'True',
  );
  const [first] = told;
  const isPlain = told.length === 1 && first !== undefined && (first.message ?? '') === '';
  const known = isPlain ? alone.get(first.type) : undefined;
  if (known !== undefined) return known;
  const conditions = new Map(told.map((condition) => [condition.type, condition.message ?? '']));
  // Other programs may write conditions of any name on a pod; there are few states of Slurm.
  if (isPlain && alone.size < 100) alone.set(first.type, conditions);
  return conditions;
}

/**
 * The key and the sssd.conf that it was notified of. A worker that upstream's operator made (ours have no digest of sshd's) brings a
 * digest of its sssd.conf that was counted in another way: it proves nothing.
 */
function hashesOf(notes: Readonly<Record<string, string>>): Worker['hashes'] {
  if (hashNotes.every((note) => notes[note] === undefined)) return unhashed;
  const foreign = notes[annotation.sshdConfHash] !== undefined;
  const known = hashNotes.filter((note) => !(foreign && note === annotation.sssdConfHash));
  return Object.fromEntries(
    known.flatMap((note) => (notes[note] === undefined ? [] : [[note, notes[note]]])),
  );
}

function slotOf(pod: DeepReadonly<Pod>): Slot | undefined {
  const labels = pod.metadata?.labels ?? {};
  if (labels[label.scalingMode] === 'DaemonSet') {
    const nodeName = pod.metadata?.annotations?.[targetNodeAnnotation] ?? pod.spec?.nodeName;
    return nodeName === undefined ? undefined : { mode: 'DaemonSet', nodeName };
  }
  const index = labels[label.podIndex] ?? /-(\d+)$/.exec(pod.metadata?.name ?? '')?.[1];
  return index !== undefined && /^\d{1,10}$/.test(index)
    ? { mode: 'StatefulSet', ordinal: Number(index) }
    : undefined;
}

type ContainerStatus = NonNullable<NonNullable<DeepReadonly<Pod>['status']>['containerStatuses']>[number];

function hasStarted(container: ContainerStatus): boolean {
  return (
    container.state?.running !== undefined ||
    container.state?.terminated !== undefined ||
    container.lastState?.terminated !== undefined ||
    (container.restartCount ?? 0) > 0
  );
}

const imageReasons = new Set(['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull']);
const crashReasons = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

function problemOf(pod: DeepReadonly<Pod>): PodProblem | undefined {
  const { status } = pod;
  const scheduled = status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  if (scheduled?.status === 'False')
    return { kind: 'unschedulable', message: scheduled.message ?? scheduled.reason ?? '' };
  for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const waiting = container.state?.waiting;
    const reason = waiting?.reason ?? '';
    const message = `${container.name}: ${waiting?.message || reason}`;
    if (imageReasons.has(reason)) return { kind: 'image', message };
    if (crashReasons.has(reason)) return { kind: 'crash', message };
  }
  return undefined;
}

/** What comes before slurmd counts too; what runs beside it says nothing about it. */
function cannotStart({ status }: DeepReadonly<Pod>): boolean {
  const slurmd = status?.containerStatuses?.filter((container) => container.name === app.worker) ?? [];
  return [...(status?.initContainerStatuses ?? []), ...slurmd].some(({ state }) => {
    const reason = state?.waiting?.reason ?? '';
    return imageReasons.has(reason) || reason === 'CreateContainerConfigError';
  });
}

/** Only the kubelet's own report of every container counts, never a phase that a controller may have written. */
function isDead(pod: DeepReadonly<Pod>): boolean {
  const reported = pod.status?.containerStatuses ?? [];
  const expected = pod.spec?.containers.length ?? 0;
  return (
    expected > 0 &&
    reported.length >= expected &&
    reported.every((container) => container.state?.terminated !== undefined)
  );
}

/** Undefined if the end of one of them is unknown: the kubelet reports that for a container that it has lost. */
function endOf({ status }: DeepReadonly<Pod>): number | undefined {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => time(state?.terminated?.finishedAt));
  return ends.reduce((a, b) => (a === undefined || b === undefined ? undefined : Math.max(a, b)));
}

/** Work without a limit is written as the far end of what the annotation can say. */
export const noDeadline = '9999-12-31T23:59:59Z';

function deadlineOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  return text === noDeadline ? Number.POSITIVE_INFINITY : time(text);
}

/** As Kubernetes reads its own pod-deletion-cost: an int32 without decoration, else 0. */
function deletionCostOf(text: string | undefined): number {
  if (text === undefined || !/^(0|-?[1-9]\d{0,9})$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0;
}

function time(text: string | undefined | null): number | undefined {
  const parsed = Date.parse(text ?? '');
  return Number.isNaN(parsed) ? undefined : parsed;
}
