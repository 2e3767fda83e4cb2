/** Which pods get a new key, replaced, or left to Kubernetes. Pure. */
import { annotation, conditionType, label } from '@slurm-operator/api';
import { findCondition } from '@slurm-operator/kube';
import { digestBehind } from '../../../cache/references.ts';
import type { PodFacts } from '../../../framework/status/pods.ts';
import { type KeyHolder, type KeyRotation, planKeyRotation } from '../../../keys/key-rotation.ts';
import { daemonHash } from '../../../keys/key-set.ts';
import type { WorkerKey } from '../../../keys/slurm-key.ts';
import { digestOf } from '../../../objects/digest.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import { clusterNameOf, controllerReplicas } from '../../../objects/slurmctld-endpoints.ts';
import type { ObservedController } from '../observe.ts';

export interface KeyNotice {
  readonly digest: string;
  readonly workers: readonly string[];
}

/** What a running slurmctld cannot take over by reading its files again. */
export function hashes({ controller, secrets, keySet }: ObservedController) {
  const { slurmKeyRef, jwtKeyRef, jwtHs256KeyRef } = controller.spec;
  return {
    slurmKey: keySet === undefined ? digestBehind(secrets, slurmKeyRef) : daemonHash(keySet),
    jwtKey: digestBehind(secrets, jwtKeyRef ?? jwtHs256KeyRef),
    restart: digestOf({ clusterName: clusterNameOf(controller) }),
  };
}

/** The next step of a change of slurm.key, if one is due. */
export function decideKeys(observed: ObservedController, stepPeriod: number, now: number): KeyRotation {
  const { controller, secrets, keySet, statefulSet, pods, workers, keyReports, keyClients } = observed;
  const ofSlurmctld = pods.map(
    ({ name, annotations, running, ready, lostWith }): KeyHolder => ({
      name,
      role: 'slurmctld',
      ready,
      hash: annotations[annotation.slurmKeyHash],
      running,
      lostWith,
    }),
  );
  const ofWorkers = workers.map(
    ({ told, running = false, ...worker }): KeyHolder => ({
      ...worker,
      ...keyReports?.get(worker.uid),
      role: 'worker',
      hash: told,
      running,
    }),
  );
  return planKeyRotation({
    controller,
    desired: digestBehind(secrets, controller.spec.slurmKeyRef),
    current: keySet,
    holders: [...ofSlurmctld, ...(keyClients?.holders ?? []), ...ofWorkers],
    wanted: {
      slurmctld: controllerReplicas(controller),
      slurmdbd: keyClients?.slurmdbd ?? 0,
      login: keyClients?.login ?? 0,
    },
    exists: statefulSet.exists,
    stepPeriod,
    now,
  });
}

/** With the keys that a plan made now puts in force: new ones restart slurmctld. */
export function withNextKeys(
  observed: ObservedController,
  { keyStepPeriod }: Pick<OperatorDefaults, 'keyStepPeriod'>,
  now: number,
): ObservedController {
  if (observed.controller.spec.external) return observed;
  return { ...observed, keySet: decideKeys(observed, keyStepPeriod, now).keySet };
}

/** Workers whose reports the next step of a change of slurm.key depends on. */
export function reportingWorkers({ keySet, workers }: ObservedController): {
  readonly desired: string;
  readonly workers: readonly WorkerKey[];
} {
  if (keySet === undefined || keySet.keys.length === 1) return { desired: '', workers: [] };
  const desired = daemonHash(keySet);
  return {
    desired,
    workers: workers.filter(
      ({ told, running, lostWith, hasOneKey }) =>
        told === desired && running === true && lostWith === undefined && hasOneKey !== true,
    ),
  };
}

/** What pods should have been started with: annotation → digest. */
export function desiredKeys(observed: ObservedController): Readonly<Record<string, string>> {
  const { slurmKey, jwtKey } = hashes(observed);
  return { [annotation.slurmKeyHash]: slurmKey, [annotation.jwtKeyHash]: jwtKey };
}

/**
 * A slurmctld that has no saved state of accounting ends while slurmdbd is away, as after the loss of the node that both were on. By the
 * time slurmdbd is back it may wait five minutes for its next start.
 */
export function failedWithoutAccounting(
  { failedAt, lostWith }: PodFacts,
  { accounting }: ObservedController,
): boolean {
  const ready = findCondition(accounting?.status?.conditions, conditionType.ready);
  return (
    failedAt !== undefined &&
    lostWith === undefined &&
    ready?.status === 'True' &&
    Date.parse(ready.lastTransitionTime) >= failedAt
  );
}

/** Kubernetes puts another pod in its place, or is about to find out that it has to. */
export function isBeingReplaced(pod: PodFacts, { controller, statefulSet }: ObservedController): boolean {
  return (
    controllerReplicas(controller) === 1 &&
    pod.revision !== undefined &&
    statefulSet.exists &&
    pod.revision !== statefulSet.revision
  );
}

/**
 * Workers that were notified of other keys are notified. Where there is no set of keys, those that were never notified have the key that was
 * there when they started, until slurmctld changes its own; a set counts as read only by workers that were notified of it.
 */
export function keyNotice(observed: ObservedController): KeyNotice {
  const { statefulSet, workers, keySet } = observed;
  const digest = hashes(observed).slurmKey;
  const changing = statefulSet.slurmKey !== undefined && statefulSet.slurmKey !== digest;
  const behind = workers.filter(({ told }) =>
    told === undefined ? changing || keySet !== undefined : told !== digest,
  );
  return { digest, workers: digest === '' ? [] : behind.map(({ name }) => name) };
}

/**
 * With standbys Kubernetes does not roll the pods: it would wait for a standby to become ready, which none ever does. One after the
 * other, the active one last, and only while a standby is running that can take over.
 */
export function nextToRenew({ controller, pods, statefulSet }: ObservedController): PodFacts | undefined {
  const { revision } = statefulSet;
  if (revision === undefined) return undefined;
  const old = pods.filter((pod) => pod.revision !== revision && pod.lostWith === undefined);
  // Kubernetes replaces the only one itself, unless it is broken: since 1.35 it waits for a pod that is not available to recover.
  if (controllerReplicas(controller) === 1)
    return old.find((pod) => !pod.running && pod.waiting !== undefined);
  const standby = old.find((pod) => !pod.ready);
  if (standby !== undefined) return standby;
  const allRun = pods.length === controllerReplicas(controller) && pods.every((pod) => pod.running);
  return allRun ? old.at(0) : undefined;
}

/**
 * The label that upstream puts on the pod with the active slurmctld. Nothing here depends on it: Services reach the active one by its
 * readiness, also while no operator runs. Services, monitors and scripts of users that select it go on to work.
 */
export interface ActiveLabel {
  readonly pod: string;
  /** Null removes the label. */
  readonly value: 'true' | null;
}

/** Only the active slurmctld is ready. While that is none or, for a moment, two, the labels stay as they are. */
export function activeLabels(pods: readonly Pick<PodFacts, 'name' | 'ready' | 'labels'>[]): ActiveLabel[] {
  const ready = pods.filter((pod) => pod.ready);
  if (ready.length !== 1) return [];
  const [active] = ready;
  return pods.flatMap(({ name, labels }): ActiveLabel[] => {
    const value = labels[label.activeController];
    if (name === active?.name) return value === 'true' ? [] : [{ pod: name, value: 'true' }];
    return value === undefined ? [] : [{ pod: name, value: null }];
  });
}
