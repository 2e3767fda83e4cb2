/** A restart of slurmctld forgets what only Slurm has, like a reconfigure does: it waits for the same jobs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aController, operatorDefaults } from '../../../../testing/objects.ts';
import { podFacts } from '../../../../testing/pod-facts.ts';
import type { ObservedController } from '../observe.ts';
import { decideController } from './decide.ts';
import { desiredSlurmConf } from './render.ts';

test('a new image or key of slurmctld waits for the jobs of a partition that was created with scontrol', () => {
  const controller = {
    ...aController({ slurmctld: { image: 'slurmctld:26.05-2' }, extraConf: 'MessageTimeout=33' }),
    status: { configHash: 'old' },
  };
  const given: ObservedController = {
    controller,
    nodeSets: [],
    leaving: [],
    accounting: undefined,
    cluster: undefined,
    secrets: [
      { name: 'slurm-auth', keys: { 'slurm.key': 'new' } },
      { name: 'slurm-jwt', keys: { 'jwt.key': 'j' } },
    ],
    configMaps: [],
    pods: [podFacts({ ready: true, running: true })],
    trials: [],
    workers: [],
    running: [],
    withoutAccounting: true,
    filesInForce: undefined,
    volume: { template: undefined, names: [], claims: [] },
    slurmdbd: { image: undefined, updating: true },
    statefulSet: {
      exists: true,
      updating: false,
      revision: 'one',
      replicas: 1,
      slurmKey: 'old',
      files: ['slurm-config'],
      image: 'slurmctld:26.05',
    },
  };
  const desired = desiredSlurmConf(given, operatorDefaults) ?? '';
  const job = { id: '7', active: true, partitions: ['adhoc'], nodes: ['w-0'], gres: [], array: false };
  const slurm = {
    kind: 'known' as const,
    jobs: [job],
    partitions: new Map([['adhoc', true]]),
    partitionSets: new Map(),
    nodes: new Map(),
    nodeCount: 1,
    jobCount: 1,
  };
  const inForce = { text: desired.replace('MessageTimeout=33', ''), owners: {} };
  const plan = decideController(given, operatorDefaults, { evidence: { inForce, slurm }, now: 0 });
  assert.match(plan.configHold?.waiting?.items[0]?.message ?? '', /Slurm would forget partition adhoc/);
  const container = plan.statefulSet?.spec?.template.spec?.containers[0];
  assert.notEqual(
    container?.image,
    'slurmctld:26.05-2',
    'slurmctld is restarted, and forgets adhoc with job 7',
  );
});
