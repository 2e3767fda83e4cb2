/** Things as the NodeSet plan sees them, all well unless told otherwise. */
import { type Autoscale, noFailures } from '../src/kinds/nodeset/model/autoscale.ts';
import type { KubeNode, Observed, SlurmNode, Worker } from '../src/kinds/nodeset/model/observed.ts';

export const now = 10_000_000_000;

export function worker(ordinal: number, over: Partial<Worker> = {}): Worker {
  return {
    name: `w-${ordinal}`,
    uid: `uid-${ordinal}`,
    resourceVersion: '1',
    slot: { mode: 'StatefulSet', ordinal },
    slurmName: `w-${ordinal}`,
    address: `10.0.0.${ordinal}`,
    revision: 'r1',
    hashes: {},
    phase: 'Running',
    nodeName: `n${ordinal}`,
    placedAt: now - 3_600_000,
    nodeReachable: true,
    ready: true,
    readySince: now - 3_600_000,
    startedAt: now - 3_600_000,
    everStarted: true,
    cannotStart: false,
    forWakeUp: false,
    containersDead: false,
    endedAt: undefined,
    problem: undefined,
    terminating: false,
    endsBy: undefined,
    createdAt: now - 3_600_000,
    cordoned: false,
    cordonCause: undefined,
    deletionCost: 0,
    deadline: undefined,
    writtenDeadline: undefined,
    protectedFromEviction: false,
    topology: undefined,
    slurmConditions: new Map([['SlurmNodeStateIdle', '']]),
    claims: [],
    ...over,
  };
}

export function slurmNode(ordinal: number, over: Partial<SlurmNode> = {}): SlurmNode {
  const comment = JSON.stringify({
    namespace: 'slurm',
    podName: `w-${ordinal}`,
    node: `n${ordinal}`,
    nodeSetName: 'w',
    nodeSetUID: 'set',
  });
  return {
    name: `w-${ordinal}`,
    base: 'IDLE',
    flags: new Set(),
    reason: '',
    comment,
    features: [],
    topology: '',
    size: { cpus: 4, memory: 4000, gpus: 0 },
    address: `10.0.0.${ordinal}`,
    instanceId: `uid-${ordinal}`,
    slurmdStartedAt: now,
    deadline: undefined,
    ours: true,
    reservation: undefined,
    ...over,
  };
}

export function kubeNode(name: string, over: Partial<KubeNode> = {}): KubeNode {
  return {
    name,
    uid: `uid-${name}`,
    unschedulable: false,
    cordonReason: undefined,
    drainingConditions: [],
    topology: undefined,
    features: [],
    eligible: true,
    mayStay: true,
    workerHostname: name,
    ...over,
  };
}

export function observed(workers: Worker[], nodes: SlurmNode[], over: Partial<Observed> = {}): Observed {
  return {
    namespace: 'slurm',
    name: 'w',
    uid: 'set',
    scalingMode: 'StatefulSet',
    naming: { prefix: 'w-', padding: 0 },
    replicas: workers.length,
    minReadySeconds: 0,
    deleting: false,
    deletionPolicy: 'Drain',
    configLines: { state: 'external', held: [] },
    controllerExists: true,
    controllerName: 'slurm',
    hasFinalizer: true,
    updateRevision: 'r1',
    currentRevision: 'r1',
    hashes: {},
    update: { type: 'RollingUpdate', maxUnavailable: 1, partition: 0, paused: false, reservation: undefined },
    updateHeld: undefined,
    protectBusyPods: true,
    retention: { whenScaled: 'Retain', whenDeleted: 'Retain' },
    claimTemplates: [],
    size: { cpus: undefined, memory: undefined, gpus: undefined },
    workers,
    orphans: [],
    released: [],
    foreignPods: [],
    takenNames: new Map(),
    yieldedNames: new Set(),
    claims: [],
    nodes: new Map(),
    slurm: {
      kind: 'known',
      at: now,
      nodes: new Map(nodes.map((node) => [node.name, node])),
      jobsUnknown: undefined,
      jobsAfterNodes: true,
      controllerStartedAt: 0,
    },
    pendingNeeds: { kind: 'known', jobs: [] },
    lastWrites: new Map(),
    backoff: new Map(),
    refusals: new Map(),
    lostSince: undefined,
    pruneRecords: 'Never',
    ...over,
  };
}

/** What an autoscaled NodeSet asks for. */
export function autoscaled(over: Partial<Autoscale> = {}): Autoscale {
  return {
    min: 0,
    max: 3,
    spare: 0,
    idleAfter: 60_000,
    wake: 'OnDemand',
    giveUpAfter: 300_000,
    retryAfter: 600_000,
    protectAfter: 3,
    shape: 'CPUs=4 Feature=w RealMemory=4000',
    size: { cpus: 4, memory: 4000, gpus: 0 },
    shapeSource: 'Limits',
    conf: '',
    feature: 'w',
    recordsBy: 'Rest',
    unsupported: undefined,
    history: noFailures,
    ...over,
  };
}

/** A worker whose pod no Kubernetes node has taken yet. */
export const unplacedWorker = (ordinal: number, over: Partial<Worker> = {}): Worker =>
  worker(ordinal, {
    phase: 'Pending',
    nodeName: undefined,
    placedAt: undefined,
    ready: false,
    readySince: undefined,
    startedAt: undefined,
    everStarted: false,
    ...over,
  });

/** The same, while the jobs have not been listed. */
export function withoutJobs(given: Observed): Observed {
  if (given.slurm.kind === 'unknown') return given;
  return { ...given, slurm: { ...given.slurm, jobsUnknown: 'the jobs have not been listed yet' } };
}

type Identity = Pick<Worker, 'name' | 'uid' | 'slot' | 'slurmName' | 'revision' | 'claims' | 'forWakeUp'>;

/** A pod that was created just now, and has no machine yet. */
export function pendingPod(identity: Identity, createdAt: number): Worker {
  return {
    ...unplacedWorker(0),
    resourceVersion: '',
    address: `address-of-${identity.uid}`,
    createdAt,
    slurmConditions: new Map(),
    ...identity,
  };
}
