/** Objects as the API server would have stored them, for tests. */
import {
  type Account,
  type Accounting,
  accountingKind,
  accountKind,
  apiVersion,
  applyDefaults,
  type Cluster,
  type Controller,
  clusterKind,
  controllerKind,
  type KindDefinition,
  type LoginSet,
  loginSetKind,
  type NodeSet,
  nodeSetKind,
  type QualityOfService,
  qualityOfServiceKind,
  type RestApi,
  restApiKind,
  type StoredObject,
  type Token,
  tokenKind,
} from '@slurm-operator/api';
import type { PodFacts } from '../src/framework/status/pods.ts';
import type { OperatorDefaults } from '../src/objects/operator-defaults.ts';

interface Identity {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly creationTimestamp?: string;
}

function stored<D extends KindDefinition>(definition: D, spec: object, identity: Identity): StoredObject<D> {
  const { name = 'slurm', namespace = 'hpc', creationTimestamp = '2026-01-01T00:00:00Z', ...rest } = identity;
  return applyDefaults(definition, {
    apiVersion,
    kind: definition.kind as D['kind'],
    metadata: {
      name,
      namespace,
      uid: `uid-of-${definition.kind.toLowerCase()}-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp,
      ...rest,
    },
    spec,
  } as const);
}

const keys = {
  slurmKeyRef: { name: 'slurm-auth', key: 'slurm.key' },
  jwtKeyRef: { name: 'slurm-jwt', key: 'jwt.key' },
};

export const aController = (spec: object = {}, identity: Identity = {}): Controller =>
  stored(controllerKind, { ...keys, ...spec }, identity);

export const aNodeSet = (spec: object = {}, identity: Identity = {}): NodeSet =>
  stored(nodeSetKind, { controllerRef: { name: 'slurm' }, ...spec }, { name: 'compute', ...identity });

export const aRestApi = (spec: object = {}, identity: Identity = {}): RestApi =>
  stored(restApiKind, { controllerRef: { name: 'slurm' }, ...spec }, identity);

export const anAccounting = (spec: object = {}, identity: Identity = {}): Accounting =>
  stored(
    accountingKind,
    {
      ...keys,
      storageConfig: {
        host: 'mariadb',
        username: 'slurm',
        passwordKeyRef: { name: 'mariadb', key: 'password' },
      },
      ...spec,
    },
    identity,
  );

export const aCluster = (
  spec: object = { controllerRef: { name: 'slurm' } },
  identity: Identity = {},
): Cluster => stored(clusterKind, spec, identity);

export const aLoginSet = (spec: object = {}, identity: Identity = {}): LoginSet =>
  stored(
    loginSetKind,
    { controllerRef: { name: 'slurm' }, sssdConfRef: { name: 'sssd', key: 'sssd.conf' }, ...spec },
    { name: 'login', ...identity },
  );

export const aToken = (spec: object = {}, identity: Identity = {}): Token =>
  stored(
    tokenKind,
    { jwtKeyRef: keys.jwtKeyRef, username: 'alice', ...spec },
    { name: 'alice', ...identity },
  );

export const aQualityOfService = (spec: object = {}, identity: Identity = {}): QualityOfService =>
  stored(qualityOfServiceKind, { accountingRef: { name: 'slurm' }, ...spec }, { name: 'high', ...identity });

export const anAccount = (spec: object = {}, identity: Identity = {}): Account =>
  stored(accountKind, { accountingRef: { name: 'slurm' }, ...spec }, { name: 'lab', ...identity });

export const operatorDefaults: OperatorDefaults = {
  keyStepPeriod: 60_000,
  clusterDomain: 'cluster.local',
  images: {
    slurmctld: 'slurm-operator/slurmctld:26.05',
    slurmd: 'slurm-operator/slurmd:26.05',
    slurmdbd: 'slurm-operator/slurmdbd:26.05',
    slurmrestd: 'slurm-operator/slurmrestd:26.05',
    login: 'slurm-operator/login:26.05',
  },
};

/** A pod that is ready and well, for tests about what its state means. */
export const podFacts = (over: Partial<PodFacts> = {}): PodFacts => ({
  name: 'pod-0',
  uid: 'uid-0',
  ready: true,
  running: true,
  lostWith: undefined,
  restarts: 0,
  annotations: {},
  labels: {},
  revision: undefined,
  waiting: undefined,
  waitingMessage: undefined,
  lastLogLine: undefined,
  unschedulable: undefined,
  boundTo: [],
  ...over,
});
