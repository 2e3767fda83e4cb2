/** Objects for tests, each complete enough for the rules. */
import type { SlurmJob, SlurmNode, SlurmPartition, SlurmReservation } from '@slurm-operator/slurm';
import { parseNodeState } from '@slurm-operator/slurm';
import { slurmJob } from '../../slurm/testing/slurm-job.ts';
import type { Values } from '../src/index.ts';

export const now = Date.parse('2026-11-18T12:00:00Z');
export const before = (ms: number): string => new Date(now - ms).toISOString();
export const minute = 60_000;
export const hour = 60 * minute;

type Item<Name extends keyof Values> = Values[Name] extends readonly (infer One)[] ? One : never;
type Pod = Item<'pods'>;

export interface PodOptions {
  readonly component?: string;
  readonly node?: string;
  readonly ready?: boolean;
  readonly age?: number;
  readonly owner?: string;
  readonly revision?: string;
  readonly image?: string;
  readonly waiting?: string;
  readonly message?: string;
  readonly restarts?: number;
  readonly ended?: string;
  readonly unschedulable?: string;
  readonly annotations?: Record<string, string>;
  readonly conditions?: readonly object[];
  readonly hostname?: string;
  readonly more?: object;
  readonly metadata?: object;
}

const mainContainer: Readonly<Record<string, string>> = {
  worker: 'slurmd',
  controller: 'slurmctld',
  restapi: 'slurmrestd',
  accounting: 'slurmdbd',
  login: 'login',
};

export function pod(name: string, options: PodOptions = {}): Pod {
  const {
    component = 'worker',
    ready = options.waiting === undefined && options.unschedulable === undefined,
  } = options;
  const container = mainContainer[component] ?? 'main';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'slurm',
      uid: name,
      creationTimestamp: before(options.age ?? hour),
      labels: {
        'app.kubernetes.io/component': component,
        'app.kubernetes.io/instance': 'slurm',
        ...(component === 'worker'
          ? { 'nodeset.slinky.slurm.net/pod-hostname': options.hostname ?? name }
          : {}),
        'controller.kubernetes.io/hash': options.revision ?? 'new',
      },
      annotations: options.annotations ?? {},
      ...(component === 'worker'
        ? { ownerReferences: [{ kind: 'NodeSet', name: 'gpu', uid: options.owner ?? 'gpu' }] }
        : {}),
      ...options.metadata,
    },
    spec: {
      nodeName: options.node ?? 'machine-1',
      containers: [{ name: container, image: options.image ?? `slurm-operator/${container}:26.05` }],
    },
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      conditions: [
        { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: before(hour) },
        ...(options.unschedulable === undefined
          ? []
          : [
              {
                type: 'PodScheduled',
                status: 'False',
                reason: 'Unschedulable',
                message: options.unschedulable,
              },
            ]),
        ...(options.conditions ?? []),
      ],
      containerStatuses: [
        {
          name: container,
          image: '',
          restartCount: options.restarts ?? 0,
          state:
            options.waiting === undefined
              ? { running: {} }
              : { waiting: { reason: options.waiting, message: options.message } },
          lastState:
            options.ended === undefined
              ? {}
              : { terminated: { reason: options.ended, finishedAt: before(minute) } },
        },
      ],
      ...options.more,
    },
  } as unknown as Pod;
}

export function slurmNode(
  name: string,
  options: Partial<Omit<SlurmNode, 'state'>> & { state?: string } = {},
): SlurmNode {
  const { state = 'IDLE+DYNAMIC_NORM', ...rest } = options;
  return {
    name,
    hostname: name,
    address: '10.0.0.1',
    port: 6818,
    reason: '',
    reasonSetBy: '',
    reasonSetAt: undefined,
    comment: '',
    extra: '',
    features: ['a100'],
    activeFeatures: ['a100'],
    partitions: ['gpu'],
    reservation: '',
    topology: '',
    gres: 'gpu:a100:8',
    gresUsed: 'gpu:a100:0',
    cpus: 64,
    allocatedCpus: 0,
    memory: 256_000,
    allocatedMemory: 0,
    freeMemory: 200_000,
    cpuLoad: 0,
    instanceId: '',
    instanceType: '',
    architecture: 'x86_64',
    operatingSystem: 'Linux',
    version: '26.05.4',
    bootedAt: now - hour,
    slurmdStartedAt: now - hour,
    lastBusyAt: now - hour,
    resumeAfter: undefined,
    ...rest,
    state: parseNodeState(state.split('+')),
  };
}

export function job(
  id: number,
  options: Partial<Omit<SlurmJob, 'state'>> & { state?: string } = {},
): SlurmJob {
  const { state = 'PENDING', ...rest } = options;
  return slurmJob(id, {
    name: 'train',
    account: 'ml',
    partition: 'gpu',
    qos: 'normal',
    cpus: 8,
    priority: 100,
    submittedAt: now - hour,
    eligibleAt: now - hour,
    consideredAt: now - minute,
    ...rest,
    state: state.split('+'),
  });
}

export const partition = (name: string, options: Partial<SlurmPartition> = {}): SlurmPartition => ({
  name,
  state: ['UP'],
  nodes: '',
  nodeCount: 4,
  nodeSets: '',
  cpuCount: 256,
  isDefault: true,
  maxTime: 1440,
  defaultTime: undefined,
  maxNodes: 'infinite',
  tres: '',
  taskBinding: [],
  ...options,
});

export const reservation = (name: string, options: Partial<SlurmReservation> = {}): SlurmReservation => ({
  name,
  nodes: 'gpu-0',
  nodeCount: 1,
  partition: '',
  users: [],
  accounts: [],
  flags: [],
  features: '',
  startsAt: now + hour,
  endsAt: now + 2 * hour,
  ...options,
});

export const condition = (type: string, status: string, reason: string, message = 'as it says') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: before(hour),
});

/** An object of our own kinds. */
export const custom = <Name extends keyof Values>(
  kind: string,
  name: string,
  options: {
    readonly spec?: object;
    readonly status?: object;
    readonly conditions?: readonly object[];
    readonly metadata?: object;
  } = {},
): Item<Name> =>
  ({
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind,
    metadata: {
      name,
      namespace: 'slurm',
      uid: name,
      creationTimestamp: before(24 * hour),
      ...options.metadata,
    },
    spec: options.spec ?? {},
    status: { ...options.status, conditions: options.conditions ?? [condition('Ready', 'True', 'Ready')] },
  }) as unknown as Item<Name>;
