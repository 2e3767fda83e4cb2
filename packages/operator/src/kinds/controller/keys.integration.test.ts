/** Keys on an embedded API server: made once, kept, never replaced. */
import assert from 'node:assert/strict';
import { after, before as beforeAll, test } from 'node:test';
import { annotation, conditionType } from '@slurm-operator/api';
import { findCondition, secrets, statefulSets } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController } from '../../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../../testing/operator-world.ts';
import { controllers } from '../../cache/resources.ts';

let world: OperatorWorld;
const namespace = 'hpc';

beforeAll(async () => {
  world = await startOperatorWorld();
  await world.operate();
});
after(() => world.stop());

const install = () => {
  const { apiVersion, kind, spec } = aController();
  const annotations = {
    [annotation.generateSlurmKey]: '{"keep":"yes"}',
    [annotation.generateJwtKey]: '{}',
  };
  return world.client.create(controllers, {
    apiVersion,
    kind,
    metadata: { name: 'slurm', namespace, annotations },
    spec,
  });
};
const key = async (name: string) => {
  const secret = await world.client.find(secrets, { namespace, name });
  return secret?.data;
};
const started = () =>
  until('the StatefulSet', () => world.client.find(statefulSets, { namespace, name: 'slurm-controller' }));

test('creates the requested keys without owner references, and slurmctld starts', async () => {
  await install();
  const set = await started();
  const secret = await world.client.get(secrets, { namespace, name: 'slurm-auth' });
  assert.equal(Buffer.from(secret.data?.['slurm.key'] ?? '', 'base64').length, 1024);
  assert.equal(secret.metadata.annotations?.['keep'], 'yes');
  assert.equal(secret.metadata.ownerReferences, undefined);
  assert.equal(Buffer.from((await key('slurm-jwt'))?.['jwt.key'] ?? '', 'base64').length, 32);
  const inherited = Object.keys(set.spec?.template.metadata?.annotations ?? {});
  assert.ok(!inherited.some((name) => name.includes('generate')), 'only the Controller has the request');
});

test('a Controller that is installed again finds its keys', async () => {
  const [slurm, jwt] = [await key('slurm-auth'), await key('slurm-jwt')];
  await world.client.delete(controllers, { namespace, name: 'slurm' });
  await world.client.delete(statefulSets, { namespace, name: 'slurm-controller' });
  await world.settled();
  await install();
  await started();
  assert.deepEqual([await key('slurm-auth'), await key('slurm-jwt')], [slurm, jwt]);
});

test('a lost key of a cluster that was started is reported, not created again', async () => {
  await world.client.delete(secrets, { namespace, name: 'slurm-auth' });
  await until('the loss to be told', async () => {
    const { status } = await world.client.get(controllers, { namespace, name: 'slurm' });
    const conditions = status?.conditions as never[] | undefined;
    return findCondition(conditions, conditionType.degraded)?.reason === 'SecretNotFound';
  });
  await world.settled();
  assert.equal(await key('slurm-auth'), undefined);
});
