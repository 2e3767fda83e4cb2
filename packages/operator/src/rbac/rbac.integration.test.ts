/**
 * Least privilege, held from both sides: the controllers run as an account with exactly our rules, so that a missing
 * one is a refusal (the worlds fail on any); and what the audit log shows is compared with what is granted, so that a
 * permission that nothing uses does not stay.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customResourceDefinitions, namespaces, secrets, statefulSets } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { NodeSetStage } from '../../testing/nodeset-stage.ts';
import {
  aCluster,
  aController,
  aLoginSet,
  anAccount,
  anAccounting,
  aQualityOfService,
  aRestApi,
  aToken,
} from '../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { accountName, granted, refusals, used } from '../../testing/restricted-config.ts';
import { serviceMonitorDefinition } from '../../testing/service-monitor-definition.ts';
import {
  accountings,
  accounts,
  clusters,
  controllers,
  loginSets,
  qualitiesOfService,
  restApis,
  tokens,
} from '../cache/resources.ts';
import { leaseRules, managerClusterRules, managerNamespaceRules } from './rules.ts';

const account = accountName('slurm-operator');

/** An event that is told again becomes a series; whether one is within the seconds of this test is chance. */
const byChance = 'patch events.events.k8s.io';

/** Granted and never seen in the log, each with its reason. Short, or the test is worth nothing. */
const unseen: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'services',
      'statefulsets.apps',
      'deployments.apps',
      'configmaps',
      'poddisruptionbudgets.policy',
      'clusters.slinky.slurm.net',
      'servicemonitors.monitoring.coreos.com',
    ].map((what) => [
      `create ${what}`,
      'an apply that makes an object is logged as patch, and needs create too',
    ]),
  ),
  'get pods/log':
    'only while slurm.key changes, of workers that run: used in e2e/src/key-rotation.cluster.test.ts',
  'delete statefulsets.apps': 'only one that upstream fixed otherwise: used in migration.integration.test.ts',
  ...Object.fromEntries(
    ['accountings', 'clusters', 'controllers', 'loginsets', 'nodesets', 'restapis', 'tokens'].map((what) => [
      `update ${what}/finalizers.slinky.slurm.net`,
      'asked for by OwnerReferencesPermissionEnforcement, without a request of its own',
    ]),
  ),
};

/** Everything that is not a worker: made, changed and removed again. */
async function liveThrough(world: OperatorWorld, namespace: string): Promise<void> {
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', 'j'.repeat(64));
  await world.putSecret('mariadb', 'password', 'p');
  await world.putSecret('sssd', 'sssd.conf', '[sssd]');
  const metrics = { enabled: true, serviceMonitor: { enabled: true } };
  await world.put(controllers, aController({ metrics, accountingRef: { name: 'slurm' } }));
  await world.put(accountings, anAccounting());
  await world.put(qualitiesOfService, aQualityOfService({ deletionPolicy: 'Delete' }));
  await world.put(accounts, anAccount({ deletionPolicy: 'Delete' }));
  await world.put(restApis, aRestApi());
  await world.put(
    clusters,
    aCluster(
      {
        server: 'https://127.0.0.1:1',
        tokenSecretRef: { name: 'slurm-jwt', key: 'jwt.key' },
        caConfigMapRef: { name: 'authority', key: 'ca.crt' },
      },
      { name: 'elsewhere' },
    ),
  );
  await world.put(loginSets, aLoginSet());
  await world.put(tokens, aToken({ refresh: false }));
  const old = await until('a token', () =>
    world.client.find(secrets, { namespace, name: 'alice-jwt-alice' }),
  );
  for (const name of ['slurm-controller', 'slurm-accounting'])
    await until(`StatefulSet ${name}`, () => world.client.find(statefulSets, { namespace, name }));
  // A Secret that may not change has to go before a new one can come.
  await world.client.mergePatch(
    secrets,
    { namespace, name: 'slurm-jwt' },
    { data: { 'jwt.key': Buffer.from('i'.repeat(64)).toString('base64') } },
  );
  await until('a token of the new key', async () => {
    const { metadata } = await world.client.get(secrets, { namespace, name: 'alice-jwt-alice' });
    return metadata.uid !== old.metadata.uid;
  });
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { spec: { metrics: { serviceMonitor: { enabled: false } }, extraConf: 'DebugFlags=Power' } },
  );
  await world.settled();
}

test('every permission is used, and none is missing', { timeout: 600_000 }, async () => {
  const seen: string[] = [];
  const rules = [...managerClusterRules, ...managerNamespaceRules];
  const world = await startOperatorWorld({ cluster: rules, namespaces: { slinky: leaseRules } });
  try {
    await world.client.create(customResourceDefinitions, serviceMonitorDefinition as never);
    const leaderElection = { namespace: 'slinky', name: 'slurm-operator' };
    const first = await world.operate({}, { leaderElection });
    await liveThrough(world, world.namespace);
    await first.stop();
    // Servers without streaming lists are asked with another verb.
    const second = await world.operate({}, { cache: { streaming: false } });
    await until('caches filled by pages', () =>
      Promise.resolve(second.manager.cache.informers.every(({ synced }) => synced)),
    );
  } finally {
    seen.push(...used(world.server.audit.find(), 'slurm-operator'));
    await world.stop();
  }
  {
    await using stage = await NodeSetStage.open(3);
    await stage.startOperator();
    const volumeClaimTemplates = [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ];
    await stage.createNodeSet('w', {
      replicas: 3,
      revisionHistoryLimit: 1,
      volumeClaimTemplates,
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' },
    });
    await stage.untilQuiet('w', 3);
    await stage.patchNodeSet('w', { replicas: 2 });
    await stage.untilQuiet('w', 2);
    // There, back again, and on, until the oldest revision is forgotten.
    for (const image of ['a:1', 'a:2', 'a:1', 'a:3', 'a:4']) {
      await stage.patchNodeSet('w', { slurmd: { image } });
      await stage.untilQuiet('w', 2);
    }
    seen.push(...used(stage.server.audit.find(), 'slurm-operator'));
  }
  const may = granted([...rules, ...leaseRules]);
  const does = new Set(seen);
  const idle = [...may].filter((one) => !does.has(one) && unseen[one] === undefined && one !== byChance);
  assert.deepEqual(idle, [], 'granted, and never used: take it away or say why in the list');
  const stale = Object.keys(unseen).filter((one) => does.has(one) || !may.has(one));
  assert.deepEqual(stale, [], 'excused, and used or not granted at all: take it from the list');
});

test('with --namespaces everything but machines is granted in those namespaces only', async () => {
  const world = await startOperatorWorld({
    cluster: managerClusterRules,
    namespaces: { hpc: managerNamespaceRules },
  });
  try {
    await world.client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'other' },
    });
    await world.client.create(controllers, {
      ...aController(),
      metadata: { name: 'elsewhere', namespace: 'other' },
    });
    await world.operate({}, { namespaces: [world.namespace] });
    await liveThrough(world, world.namespace);
    const { status } = await world.client.get(controllers, { namespace: 'other', name: 'elsewhere' });
    assert.equal(status?.conditions, undefined, 'what is elsewhere is left alone');
    const wide = world.server.audit
      .find(({ user, namespace, resource }) => user === account && namespace === '' && resource !== '')
      .map(({ resource }) => resource);
    assert.deepEqual([...new Set(wide)], ['nodes']);
  } finally {
    await world.stop();
  }
});

test('the tests bite: an account that lacks a permission is found out', async () => {
  const world = await startOperatorWorld({
    cluster: [
      ...managerClusterRules,
      ...managerNamespaceRules.filter(({ resources }) => !resources.includes('statefulsets')),
    ],
  });
  await world.operate();
  await until('a refusal', () => Promise.resolve(refusals(world.server, 'slurm-operator').length > 0));
  await assert.rejects(world.stop(), /the operator was refused: watch statefulsets\.apps/);
});
