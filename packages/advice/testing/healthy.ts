/** Evidence of a healthy cluster: no rule finds anything in it. */
import { type EvidenceSet, type Finding, known, type Values } from '../src/index.ts';
import { before, condition, custom, job, now, partition, pod, slurmNode } from './objects.ts';

export type KnownValues = Partial<{ -readonly [Name in keyof Values]: unknown }>;

const kinds = ['accountings', 'clusters', 'controllers', 'loginsets', 'nodesets', 'restapis', 'tokens'];

const values: { readonly [Name in keyof Values]: unknown } = {
  definitions: kinds.map((kind) => ({
    metadata: { name: `${kind}.slinky.slurm.net` },
    spec: { versions: [{ name: 'v1beta1', served: true }] },
  })),
  operators: [
    {
      metadata: { name: 'slurm-operator', namespace: 'slinky' },
      spec: { replicas: 1 },
      status: { availableReplicas: 1 },
    },
  ],
  lease: {
    metadata: { name: 'slurm-operator', namespace: 'slinky' },
    spec: { holderIdentity: 'one', renewTime: before(2_000), leaseDurationSeconds: 15 },
  },
  webhook: { accepted: true, message: '' },
  permissions: [{ verb: 'list', resource: 'pods', allowed: true }],
  kubernetesVersion: '1.33',
  namespace: { metadata: { name: 'slurm', labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } } },
  controllers: [custom('Controller', 'slurm')],
  clusters: [
    custom('Cluster', 'slurm', {
      status: { slurmVersion: '26.05.4' },
      conditions: [condition('SlurmConnected', 'True', 'Connected'), condition('Ready', 'True', 'Ready')],
    }),
  ],
  nodeSets: [
    custom('NodeSet', 'gpu', {
      spec: { replicas: 2, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } },
      status: { nodeSetHash: 'new' },
    }),
  ],
  loginSets: [custom('LoginSet', 'login')],
  accountings: [custom('Accounting', 'slurm')],
  restApis: [custom('RestApi', 'slurm')],
  tokens: [
    custom('Token', 'ci', {
      spec: { username: 'ci', refresh: true },
      status: { expiresAt: new Date(now + 3_600_000).toISOString() },
    }),
  ],
  revisions: [],
  pods: [
    pod('slurm-controller-0', { component: 'controller' }),
    pod('slurm-restapi-0', { component: 'restapi' }),
    pod('login-0', { component: 'login' }),
    pod('gpu-0'),
    pod('gpu-1', { node: 'machine-2' }),
  ],
  machines: ['machine-1', 'machine-2'].map((name) => ({
    metadata: { name },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: before(3_600_000) }] },
  })),
  events: [],
  claims: [],
  storageClasses: [],
  networkPolicies: [],
  logs: new Map(),
  slurmNodes: [slurmNode('gpu-0'), slurmNode('gpu-1')],
  jobs: [job(1, { state: 'RUNNING', nodes: 'gpu-0', startedAt: now - 60_000 })],
  partitions: [partition('gpu')],
  reservations: [],
  diag: {
    time: now,
    startedAt: now - 3_600_000,
    serverThreads: 2,
    agentQueue: 0,
    databaseQueue: 0,
    jobs: { submitted: 1, started: 1, completed: 0, canceled: 0, failed: 0, pending: 0, running: 1 },
    scheduleCycleLast: 200,
    scheduleCycleMean: 200,
    backfillCycleLast: 0,
    scheduleQueueLength: 0,
    backfillLastDepth: 0,
    rpcs: [],
  },
  licenses: [],
  associations: [],
  endedJob: undefined,
};

/** The healthy evidence with some of its values replaced. */
export function withValues(changed: KnownValues = {}): EvidenceSet {
  return Object.fromEntries(
    Object.entries({ ...values, ...changed }).map(([name, value]) => [name, known(value, now)]),
  );
}

export const healthy = (): EvidenceSet => withValues();

/** Every finding, also those that are folded below others. */
export const flatten = (findings: readonly Finding[]): readonly Finding[] =>
  findings.flatMap((finding) => [finding, ...flatten(finding.consequences)]);

/** Here so that tests of rules import one module. */
export const context = { now, namespace: 'slurm', cluster: 'slurm', timeZone: 'UTC' } as const;
