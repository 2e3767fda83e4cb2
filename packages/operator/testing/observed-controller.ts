/** What the Controller's plan sees of a cluster with one slurmctld, its two keys, and nothing else. */
import type { ObservedController } from '../src/kinds/controller/observe.ts';
import type { SlurmWork } from '../src/slurm-config/guard/slurm-work.ts';
import { aController } from './objects.ts';

export type KnownWork = Extract<SlurmWork, { readonly kind: 'known' }>;

/** The StatefulSet of slurmctld, up to date. */
export const currentStatefulSet: ObservedController['statefulSet'] = {
  exists: true,
  updating: false,
  revision: 'one',
  replicas: 1,
  slurmKey: 'k',
  files: ['slurm-config'],
  image: 'slurmctld:26.05',
};

export const observedController = (over: Partial<ObservedController> = {}): ObservedController => ({
  controller: aController(),
  nodeSets: [],
  leaving: [],
  accounting: undefined,
  cluster: undefined,
  secrets: [
    { name: 'slurm-auth', keys: { 'slurm.key': 'k' } },
    { name: 'slurm-jwt', keys: { 'jwt.key': 'j' } },
  ],
  configMaps: [],
  pods: [],
  trials: [],
  workers: [],
  running: [],
  withoutAccounting: false,
  filesInForce: undefined,
  volume: { template: undefined, names: [], claims: [] },
  slurmdbd: { image: undefined, updating: false },
  statefulSet: currentStatefulSet,
  ...over,
});

/** What Slurm has to do: nothing, unless the test says otherwise. */
export const slurmWork = (over: Partial<KnownWork> = {}): KnownWork => ({
  kind: 'known',
  jobs: [],
  partitions: new Map(),
  partitionSets: new Map(),
  nodes: new Map(),
  nodeCount: 0,
  jobCount: 0,
  ...over,
});
