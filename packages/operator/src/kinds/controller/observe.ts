/** Everything that the decision about a Controller needs, from caches. */
import {
  type Accounting,
  annotation,
  app,
  type Cluster,
  type Controller,
  type NodeSet,
  resourceName,
} from '@slurm-operator/api';
import {
  type Cache,
  configMaps,
  type DeepReadonly,
  type Live,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
} from '@slurm-operator/kube';
import { type Digests, digestsOf } from '../../cache/references.ts';
import { accountings, clusters, loginSets, nodeSets } from '../../cache/resources.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { workersEnded } from '../../framework/status/ended-workers.ts';
import { type PodFacts, podsOf } from '../../framework/status/pods.ts';
import type { KeyHolder, KeyRole } from '../../keys/key-rotation.ts';
import type { KeySet } from '../../keys/key-set.ts';
import type { KeyReport } from '../../keys/read-reports.ts';
import { keySetOf, keysOfAccounting, type WorkerKey, workerKeys } from '../../keys/slurm-key.ts';
import type { ExpectedWorkers } from '../../slurm-config/guard/slurm-work.ts';
import {
  filesDigestAnnotation,
  referencedConfigMaps,
  withoutAccountingAnnotation,
} from '../../slurm-config/render/config-map.ts';
import { slurmSetName } from '../../slurm-config/render/slurmd-conf.ts';
import type { Trial } from '../../slurm-config/trial/trial.ts';
import type { TrialWorker } from '../../slurm-config/trial/trial-worker.ts';
import { mountedConfigMaps, stateClaimName } from './objects/stateful-set.ts';
import { observeTrials, runningWorkers } from './observe-trials.ts';
import type { Runs } from './plan/accounting-order.ts';
import type { LeavingNodeSet } from './plan/config-hold.ts';
import { type PodTemplate, templateDigestAnnotation } from './plan/restart.ts';
import { stateNoteAnnotation } from './plan/state-note.ts';
import type { StateClaim, StateVolume } from './plan/state-volume.ts';

/** Pods of slurmdbd and login nodes, and how many of each there should be. */
export interface KeyClients {
  readonly holders: readonly KeyHolder[];
  readonly slurmdbd: number;
  readonly login: number;
}

export interface ObservedController {
  readonly controller: Live<Controller>;
  /** Those that stay. */
  readonly nodeSets: readonly Live<NodeSet>[];
  /** Those that are being deleted: their lines go last, when nothing needs them any more. */
  readonly leaving: readonly LeavingNodeSet[];
  readonly accounting: Live<Accounting> | undefined;
  readonly cluster: Live<Cluster> | undefined;
  readonly secrets: readonly Digests[];
  readonly configMaps: readonly Digests[];
  readonly pods: readonly PodFacts[];
  /** Pods that try configurations. */
  readonly trials: readonly Trial[];
  readonly workers: readonly WorkerKey[];
  /** The keys of auth/slurm that are in force; undefined before the first write. */
  readonly keySet?: KeySet | undefined;
  /** Pods of slurmdbd and login nodes, which have the same keys. */
  readonly keyClients?: KeyClients;
  /** Uid of a worker → the keys that it reported to have read. */
  readonly keyReports?: ReadonlyMap<string, KeyReport>;
  /** Workers whose slurmd runs, each with its image. */
  readonly running: readonly TrialWorker[];
  readonly expected?: ExpectedWorkers | undefined;
  readonly statefulSet: {
    readonly exists: boolean;
    readonly updating: boolean;
    /** The revision that pods should have. */
    readonly revision: string | undefined;
    /** The digest of slurm.key that pods are started with. */
    readonly slurmKey: string | undefined;
    readonly replicas: number;
    /** The ConfigMaps whose files pods are started with. */
    readonly files: readonly string[];
    readonly image: string | undefined;
    /** The template of its pods, and the digest that was noted with it. */
    readonly template?: DeepReadonly<PodTemplate> | undefined;
    readonly templateDigest?: string | undefined;
  };
  /** The slurm.conf that is in force is known to name no slurmdbd. */
  readonly withoutAccounting: boolean;
  /** A digest of the site's own files that the configuration in force was read with. */
  readonly filesInForce: string | undefined;
  /** Workers whose slurmd ended after the last change of configuration. */
  readonly workersEnded?: Problem | undefined;
  readonly volume: StateVolume;
  /** slurmdbd of the Accounting, where it runs here. */
  readonly slurmdbd: Runs;
  /** The access modes of the claim that standbys share; undefined where there is none, or it was not read. */
  readonly claimModes?: readonly string[] | undefined;
}

export function observeController(cache: Cache, controller: Live<Controller>): ObservedController {
  const { namespace, name } = controller.metadata;
  const { slurmKeyRef, jwtKeyRef, jwtHs256KeyRef, jwksKeyRef, accountingRef } = controller.spec;
  const secretNames = [slurmKeyRef?.name, (jwtKeyRef ?? jwtHs256KeyRef)?.name];
  const mapNames = [...referencedConfigMaps(controller), jwksKeyRef?.name];
  const set = cache.get(statefulSets, { namespace, name: resourceName.controller(name) });
  const sets = cache.list(nodeSets, { namespace }).filter((one) => one.spec.controllerRef.name === name);
  const inForce = cache.get(configMaps, { namespace, name: resourceName.config(name) })?.metadata.annotations;
  return {
    controller,
    nodeSets: sets.filter((one) => one.metadata.deletionTimestamp === undefined),
    leaving: sets
      .filter((one) => one.metadata.deletionTimestamp !== undefined)
      .map((one) => leavingNodeSet(cache, one)),
    accounting: accountingRef?.name
      ? cache.get(accountings, { namespace, name: accountingRef.name })
      : undefined,
    cluster: cache.get(clusters, { namespace, name: resourceName.cluster(name) }),
    secrets: unique(secretNames).map((one) => digestsOf(cache, 'Secret', namespace, one)),
    configMaps: unique(mapNames).map((one) => digestsOf(cache, 'ConfigMap', namespace, one)),
    pods: podsOf(cache, 'controller', namespace, name),
    trials: observeTrials(cache, controller),
    statefulSet: {
      exists: set !== undefined,
      updating:
        set === undefined ||
        set.status?.observedGeneration !== set.metadata.generation ||
        (set.status?.updatedReplicas ?? 0) < (set.spec?.replicas ?? 1),
      revision:
        set?.status?.observedGeneration === set?.metadata.generation
          ? set?.status?.updateRevision
          : undefined,
      slurmKey: set?.spec?.template.metadata?.annotations?.[annotation.slurmKeyHash],
      replicas: set?.spec?.replicas ?? (set === undefined ? 0 : 1),
      files: set === undefined ? [] : mountedConfigMaps(set),
      image: imageOf(set, app.controller),
      template: set?.spec?.template,
      templateDigest: set?.metadata.annotations?.[templateDigestAnnotation],
    },
    withoutAccounting: inForce?.[withoutAccountingAnnotation] === 'true',
    filesInForce: inForce?.[filesDigestAnnotation],
    workersEnded: workersEnded(cache, controller),
    volume: volumeOf(cache, set),
    slurmdbd: slurmdbdOf(cache, namespace, accountingRef?.name),
    workers: workerKeys(cache, controller),
    keySet: keySetOf(cache, controller),
    keyClients: keyClients(cache, controller),
    running: runningWorkers(cache, controller),
    expected: expectedWorkers(cache, sets),
  };
}

function expectedWorkers(cache: Cache, sets: readonly Live<NodeSet>[]): ExpectedWorkers {
  const workers = sets.map((set) => {
    const names = workersOf(cache, set)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata, spec }) => spec?.hostname ?? metadata.name);
    // In DaemonSet mode the number of matching nodes is known when their pods exist.
    const counts = set.spec.scalingMode === 'StatefulSet' && set.metadata.deletionTimestamp === undefined;
    return { names, absent: counts ? Math.max(0, (set.spec.replicas ?? 0) - names.length) : 0 };
  });
  return {
    names: workers.flatMap(({ names }) => names),
    absent: workers.reduce((sum, { absent }) => sum + absent, 0),
  };
}

const workersOf = (cache: Cache, { metadata }: Live<NodeSet>): Live<Pod>[] =>
  cache
    .list(pods, { namespace: metadata.namespace })
    .filter((pod) => pod.metadata.ownerReferences?.some((owner) => owner.uid === metadata.uid));

function volumeOf(cache: Cache, set: Live<StatefulSet> | undefined): StateVolume {
  const template = set?.spec?.volumeClaimTemplates?.at(0)?.spec;
  if (set === undefined || template === undefined) return { template: undefined, names: [], claims: [] };
  const names = Array.from({ length: set.spec?.replicas ?? 1 }, (_, ordinal) =>
    stateClaimName(set.metadata.name, ordinal),
  );
  const { namespace } = set.metadata;
  return { template, names, claims: names.flatMap((name) => claimOf(cache, namespace, name) ?? []) };
}

function claimOf(cache: Cache, namespace: string | undefined, name: string): StateClaim | undefined {
  const claim = cache.get(persistentVolumeClaims, { namespace, name });
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
  const { spec, status } = claim;
  const storage = (of: Readonly<Record<string, string | number>> | undefined) =>
    of?.['storage'] === undefined ? undefined : String(of['storage']);
  return {
    name,
    uid: claim.metadata.uid,
    requested: storage(spec?.resources?.requests),
    capacity: storage(status?.capacity),
    bound: status?.phase === 'Bound',
    message: status?.conditions?.find(({ message }) => message)?.message,
    noted: claim.metadata.annotations?.[stateNoteAnnotation],
  };
}

function leavingNodeSet(cache: Cache, set: Live<NodeSet>): LeavingNodeSet {
  return {
    name: set.metadata.name,
    setName: slurmSetName(set),
    deletionPolicy: set.spec.deletionPolicy,
    workers: workersOf(cache, set).length,
  };
}

function keyClients(cache: Cache, controller: Live<Controller>): KeyClients {
  const { namespace, name } = controller.metadata;
  const accounting = cache.get(accountings, { namespace, name: controller.spec.accountingRef?.name ?? '' });
  // With several clusters on one slurmdbd it follows the keys of one of them; the others do not wait for it.
  const hasSlurmdbd = accounting !== undefined && keysOfAccounting(cache, accounting)?.controller === name;
  const logins = cache
    .list(loginSets, { namespace })
    .filter(
      ({ metadata, spec }) => spec.controllerRef.name === name && metadata.deletionTimestamp === undefined,
    );
  const holder =
    (role: KeyRole) =>
    ({ name: pod, annotations, running, lostWith }: PodFacts): KeyHolder => ({
      name: pod,
      role,
      hash: annotations[annotation.slurmKeyHash],
      running,
      lostWith,
    });
  return {
    holders: [
      ...(hasSlurmdbd
        ? podsOf(cache, 'accounting', namespace, accounting.metadata.name).map(holder('slurmdbd'))
        : []),
      ...logins.flatMap(({ metadata }) =>
        podsOf(cache, 'login', namespace, metadata.name).map(holder('login')),
      ),
    ],
    slurmdbd: hasSlurmdbd ? 1 : 0,
    login: logins.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0),
  };
}

function slurmdbdOf(cache: Cache, namespace: string, accounting: string | undefined): Runs {
  const name = resourceName.accounting(accounting ?? '');
  const set = accounting ? cache.get(statefulSets, { namespace, name }) : undefined;
  const { replicas = 1 } = set?.spec ?? {};
  const { observedGeneration, updatedReplicas = 0, readyReplicas = 0 } = set?.status ?? {};
  return {
    image: imageOf(set, app.accounting),
    updating:
      observedGeneration !== set?.metadata.generation ||
      updatedReplicas < replicas ||
      readyReplicas < replicas,
  };
}

const imageOf = (set: Live<StatefulSet> | undefined, container: string): string | undefined =>
  set?.spec?.template.spec?.containers.find(({ name }) => name === container)?.image;

const unique = (names: readonly (string | undefined)[]): string[] => [
  ...new Set(names.filter((name): name is string => name !== undefined && name !== '')),
];
