/** Pods that the API server refuses: the Controller says why, of slurmctld's own pod and of the trial of its configuration. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { configMaps, namespaces, statefulSets } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController } from '../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { controllers } from '../cache/resources.ts';

const namespace = 'hpc';
const slurm = { namespace, name: 'slurm' };
let world: OperatorWorld;

before(async () => {
  world = await startOperatorWorld();
  await enforce('restricted');
  await world.operate();
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', 'k'.repeat(64));
  await world.put(controllers, aController());
});
// By Pod Security, not for want of a permission.
after(() => world.stop(['create pods in hpc']));

const enforce = (profile: string | null) =>
  world.client.mergePatch(
    namespaces,
    { name: namespace },
    {
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': profile } },
    },
  );

test('a StatefulSet whose pod is refused: Ready quotes the API server and says what to do', async () => {
  const set = { namespace, name: 'slurm-controller' };
  const { metadata } = await until('the StatefulSet', () => world.client.find(statefulSets, set));
  // Its controller has seen it, and tells in an event only that it cannot create the pod.
  await world.client.mergePatch(
    statefulSets,
    set,
    { status: { observedGeneration: metadata.generation, replicas: 0 } },
    { subresource: 'status' },
  );
  const { message } = await world.said(controllers, 'slurm', conditionType.ready, 'PodSecurityViolation');
  assert.match(message, /^pod slurm-controller-0 cannot be created: .*violates PodSecurity "restricted/);
  assert.match(message, /Label the namespace/);
});

test('a trial whose pod is refused: the old configuration stays, with the reason and the way to do without', async () => {
  await until(
    'the first configuration is in force',
    async () => (await world.client.get(controllers, slurm)).status?.configHash,
  );
  await world.client.mergePatch(controllers, slurm, { spec: { extraConf: 'MessageTimeout=33' } });
  const { message } = await world.said(controllers, 'slurm', conditionType.configApplied, 'ConfigUntried');
  assert.match(message, /the pod of the trial cannot be created: .*violates PodSecurity/);
  assert.match(message, /kubectl annotate controller slurm -n hpc .*skip-config-trial=\w{12}$/);
  const config = await world.client.get(configMaps, { namespace, name: 'slurm-config' });
  assert.doesNotMatch(config.data?.['slurm.conf'] ?? '', /MessageTimeout=33/);
});

test('when the pod is allowed, the configuration is tried and put in force', async () => {
  await enforce(null);
  await world.said(controllers, 'slurm', conditionType.configApplied, 'Applied');
  const config = await world.client.get(configMaps, { namespace, name: 'slurm-config' });
  assert.match(config.data?.['slurm.conf'] ?? '', /MessageTimeout=33/);
});
