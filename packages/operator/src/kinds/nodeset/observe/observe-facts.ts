/** Gathers what the plan needs from the caches and the Slurm view. Reads memory only: it waits for nothing. */
import {
  annotation,
  app,
  type Controller,
  finalizer,
  label,
  type NodeSet,
  nodeSetFinalizers,
  resourceName,
} from '@slurm-operator/api';
import {
  type Cache,
  configMaps,
  controllerRevisions,
  type Live,
  nodes,
  type Pod,
  persistentVolumeClaims,
  pods,
} from '@slurm-operator/kube';
import { digestBehind, digestsOf } from '../../../cache/references.ts';
import { controllers, nodeSets } from '../../../cache/resources.ts';
import type { Problem } from '../../../framework/status/conditions.ts';
import { workersEnded } from '../../../framework/status/ended-workers.ts';
import { workerKeyDigest } from '../../../keys/slurm-key.ts';
import { slurmVersionOf, versionHold } from '../../../objects/slurm-version.ts';
import { slurmctldEndpoints } from '../../../objects/slurmctld-endpoints.ts';
import { maxNodeCountAnnotation } from '../../../slurm-config/render/config-map.ts';
import {
  slurmSetName,
  type WorkerSize,
  workerFeatures,
  workerSize,
} from '../../../slurm-config/render/slurmd-conf.ts';
import type { NodesView } from '../../../slurm-connection/slurm-gateway.ts';
import { confServerAnnotation } from '../annotations.ts';
import { observeAutoscale, observeWakingJob } from '../autoscale/observe-autoscale.ts';
import { resolveMaxUnavailable } from '../model/availability.ts';
import { parseComment } from '../model/node-comment.ts';
import type { NodeConditionRule } from '../model/node-conditions.ts';
import type { Observed } from '../model/observed.ts';
import { currentRevision } from '../objects/revision.ts';
import { workerPlacement } from '../objects/worker-placement.ts';
import { hostnamePrefix } from '../objects/worker-pod.ts';
import { workerSelector } from '../objects/worker-template.ts';
import { type NodeSetMemory, rememberedFacts } from '../plan/memory.ts';
import { belonging } from './belonging.ts';
import { configLines, whyAsleep } from './config-lines.ts';
import { observeClaim } from './observe-claim.ts';
import { distinctHostnames, isNodeReachable } from './observe-node.ts';
import { observeSlurmNode, type SetIdentity } from './observe-slurm.ts';
import { SeenBefore } from './seen-before.ts';
import { type OfCluster, takenNames, yieldedNames } from './taken-names.ts';

export interface FactSources {
  readonly cache: Cache;
  readonly propagatedConditions: readonly NodeConditionRule[];
  /** The release that slurmctld runs, once it is known. */
  readonly release: string | undefined;
  readonly specProblems: readonly Problem[];
  /** What was derived from each object the last time. */
  readonly seen?: SeenBefore;
}

export function observeFacts(
  nodeSet: NodeSet,
  view: NodesView,
  memory: NodeSetMemory,
  { cache, propagatedConditions, release, specProblems, seen = new SeenBefore() }: FactSources,
  now: number,
): Observed {
  const { name, namespace, uid } = nodeSet.metadata;
  const { spec } = nodeSet;
  const kubeNodes = new Map(cache.list(nodes).map((node) => [node.metadata.name, node]));
  const reachable = (node: string) => isNodeReachable(kubeNodes.get(node), now);
  const placement = workerPlacement(nodeSet);
  const podsHere = cache.list(pods, { namespace });
  const belongings = belonging(podsHere, nodeSet, (pod) => seen.worker(pod, reachable));
  const eachNode = new Map(
    [...kubeNodes].map(([node, object]) => [node, seen.node(object, placement, propagatedConditions)]),
  );
  const createdAt = (node: string) => Date.parse(kubeNodes.get(node)?.metadata.creationTimestamp ?? '') || 0;
  const observedNodes =
    spec.scalingMode === 'DaemonSet' && !placement.hostNetwork
      ? distinctHostnames(eachNode, createdAt)
      : eachNode;
  const desired =
    spec.scalingMode === 'StatefulSet'
      ? spec.replicas
      : [...observedNodes.values()].filter((node) => node.eligible).length;
  const partition = spec.partition.enabled ? slurmSetName(nodeSet) : undefined;
  const set = { namespace, name, uid, partition };
  const { rollingUpdate, type } = spec.updateStrategy;
  const ofCluster: OfCluster = {
    nodeSets: cache.list(nodeSets, { namespace }) as readonly NodeSet[],
    pods: podsHere,
    nodes: kubeNodes,
    hostnameOn: (node) => observedNodes.get(node)?.workerHostname,
    ownerOfRecord: ownersOfRecords(view),
  };
  return {
    namespace,
    name,
    uid,
    scalingMode: spec.scalingMode,
    naming: { prefix: hostnamePrefix(nodeSet), padding: spec.ordinalPadding },
    replicas: spec.replicas,
    autoscale: observeAutoscale(nodeSet, {
      release: releaseVersion(release),
      isExternal: controllerOfSet(cache, nodeSet)?.spec.external === true,
      cannotWake: whyAsleep(cache, nodeSet),
      lastWorker: () => lastWorkerSize(view, set),
    }),
    minReadySeconds: spec.minReadySeconds ?? 0,
    deleting: nodeSet.metadata.deletionTimestamp !== undefined,
    deletionPolicy: spec.deletionPolicy,
    configLines: configLines(cache, nodeSet),
    partition,
    controllerExists: controllerOfSet(cache, nodeSet) !== undefined,
    controllerName: spec.controllerRef.name,
    hasFinalizer: hasFinalizer(nodeSet),
    hashes: workerHashes(cache, nodeSet),
    updateRevision: currentRevision(nodeSet, revisionsOf(cache, nodeSet)),
    currentRevision: nodeSet.status?.currentRevision ?? '',
    update: {
      type,
      maxUnavailable: resolveMaxUnavailable(rollingUpdate.maxUnavailable, desired),
      partition: rollingUpdate.partition,
      paused: rollingUpdate.paused,
      reservation: type === 'ScheduledUpdate' ? resourceName.reservation(name) : undefined,
    },
    updateHeld:
      versionHold(slurmVersionOf(spec.slurmd?.image), releaseVersion(release)) ??
      // Replacements could not be created.
      specProblems.find(({ reason }) => reason === 'InvalidSpec')?.message,
    protectBusyPods: spec.workloadDisruptionProtection,
    retention: spec.persistentVolumeClaimRetentionPolicy,
    claimTemplates: (spec.volumeClaimTemplates ?? []).flatMap((template) => template.metadata?.name ?? []),
    size: workerSize(nodeSet),
    features: workerFeatures(nodeSet),
    room: roomInSlurm(cache, nodeSet, podsHere, view),
    ...belongings,
    takenNames: takenNames(nodeSet, ofCluster),
    yieldedNames: yieldedNames(nodeSet, ofCluster),
    claims: claimsOf(cache, nodeSet),
    nodes: observedNodes,
    slurm:
      view.kind === 'unknown'
        ? view
        : {
            kind: 'known',
            at: view.at,
            jobsUnknown: view.jobsUnknown,
            jobsAfterNodes: view.jobsAfterNodes,
            jobs: view.wakingJobs?.map(observeWakingJob),
            controllerStartedAt: view.controllerStartedAt,
            nodes: new Map(
              view.nodes.map((node) => [node.name, seen.slurmNode(node, view.deadlines.get(node.name), set)]),
            ),
          },
    // Pods are gone through once more only where one of them is not well.
    workersEnded: belongings.workers.every(({ ready }) => ready) ? undefined : endedOf(cache, nodeSet),
    pruneRecords: spec.pruneSlurmNodeRecords,
    ...rememberedFacts(memory),
    // An operator that has just started finds there what the one before had begun.
    requeueable: memory.requeueable ?? new Set(nodeSet.status?.requeueableJobs),
  };
}

/** One that goes is held by upstream's finalizer too, also if it was deleted before ours was added. */
function hasFinalizer({ metadata: { finalizers = [], deletionTimestamp } }: NodeSet): boolean {
  const ofDeletion = deletionTimestamp === undefined ? [finalizer.drain] : nodeSetFinalizers;
  return ofDeletion.some((name) => finalizers.includes(name));
}

/** Asked only where two NodeSets select the same machines. */
function ownersOfRecords(view: NodesView): (name: string) => string | undefined {
  let byName: Map<string, string> | undefined;
  return (name) => {
    if (view.kind === 'unknown') return undefined;
    byName ??= new Map(view.nodes.map((node) => [node.name, node.comment]));
    const uid = parseComment(byName.get(name) ?? '')?.nodeSetUID;
    return typeof uid === 'string' ? uid : undefined;
  };
}

function endedOf(cache: Cache, nodeSet: NodeSet): Observed['workersEnded'] {
  const controller = controllerOfSet(cache, nodeSet);
  const problem =
    controller === undefined ? undefined : workersEnded(cache, controller, nodeSet.metadata.name);
  return problem === undefined ? undefined : { reason: 'WorkersEnded', message: problem.message };
}

export function revisionsOf(cache: Cache, { metadata }: NodeSet) {
  return cache
    .list(controllerRevisions, { namespace: metadata.namespace })
    .filter((revision) => revision.metadata.ownerReferences?.some((owner) => owner.uid === metadata.uid));
}

function releaseVersion(release: string | undefined) {
  const match = /^(\d{2})\.(\d{2})/.exec(release ?? '');
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]) };
}

export function controllerOfSet(cache: Cache, nodeSet: NodeSet): Controller | undefined {
  return cache.get(controllers, {
    namespace: nodeSet.metadata.namespace,
    name: nodeSet.spec.controllerRef.name,
  }) as Controller | undefined;
}

/** Of a worker that Slurm lists now; only asked for where neither limits nor the spec tell the size. */
function lastWorkerSize(view: NodesView, set: SetIdentity): WorkerSize | undefined {
  if (view.kind === 'unknown') return undefined;
  const node = view.nodes.find(
    (each) => each.slurmdStartedAt !== undefined && observeSlurmNode(each, undefined, set).ours,
  );
  return node && observeSlurmNode(node, undefined, set).size;
}

/** What of a worker's files is not in the NodeSet itself. A Secret that is missing has no digest: it makes no worker outdated. */
function workerHashes(cache: Cache, nodeSet: NodeSet): Record<string, string> {
  const { namespace } = nodeSet.metadata;
  const { ssh } = nodeSet.spec;
  const controller = controllerOfSet(cache, nodeSet);
  const digest = (ref: { readonly name: string; readonly key: string } | undefined) =>
    ref === undefined ? '' : digestBehind([digestsOf(cache, 'Secret', namespace, ref.name)], ref);
  const hashes = {
    [annotation.slurmKeyHash]: controller === undefined ? '' : workerKeyDigest(cache, controller),
    [annotation.sssdConfHash]: ssh?.enabled ? digest(ssh.sssdConfRef) : '',
    [confServerAnnotation]: primaryOf(controller),
  };
  return Object.fromEntries(Object.entries(hashes).filter(([, hash]) => hash !== ''));
}

/** Standbys come and go without harm: a slurmd that starts finds the others in the configuration of the first. */
function primaryOf(controller: Controller | undefined): string {
  const [primary] = controller === undefined ? [] : slurmctldEndpoints(controller);
  return primary === undefined ? '' : `${primary.host}:${primary.port}`;
}

function claimsOf(cache: Cache, nodeSet: NodeSet) {
  if ((nodeSet.spec.volumeClaimTemplates ?? []).length === 0) return [];
  const selector = workerSelector(nodeSet);
  return cache
    .list(persistentVolumeClaims, { namespace: nodeSet.metadata.namespace })
    .filter(
      (claim) =>
        claim.metadata.labels?.[label.name] === selector[label.name] &&
        claim.metadata.labels?.[label.instance] === selector[label.instance],
    )
    .flatMap((claim) => observeClaim(claim, nodeSet.metadata) ?? []);
}

/** Nodes of Slurm and worker pods of all NodeSets, each name once, against the limit of the slurm.conf that was written last. */
function roomInSlurm(
  cache: Cache,
  nodeSet: NodeSet,
  podsHere: readonly Live<Pod>[],
  view: NodesView,
): Observed['room'] {
  const { namespace } = nodeSet.metadata;
  const cluster = nodeSet.spec.controllerRef.name;
  const map = cache.get(configMaps, { namespace, name: resourceName.config(cluster) });
  const limit = Number(map?.metadata.annotations?.[maxNodeCountAnnotation] ?? Number.NaN);
  if (Number.isNaN(limit)) return undefined;
  const names = new Set(view.kind === 'unknown' ? [] : view.nodes.map((node) => node.name));
  for (const { metadata, spec } of podsHere)
    if (metadata.labels?.[label.name] === app.worker && metadata.labels[label.cluster] === cluster)
      names.add(spec?.hostname ?? metadata.name);
  return { limit, free: limit - names.size };
}
