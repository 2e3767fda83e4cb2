/** Templates that upstream's operator takes: fields that Kubernetes does not know, and parts that it merges by name. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { deployments } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController, aLoginSet, aRestApi } from '../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { controllers, loginSets, restApis } from '../cache/resources.ts';

const namespace = 'hpc';
let world: OperatorWorld;

before(async () => {
  world = await startOperatorWorld();
  await world.operate();
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', 'j'.repeat(64));
  await world.putSecret('sssd', 'sssd.conf', '[sssd]');
  await world.put(controllers, aController());
});

after(() => world.stop());

test('fields that Kubernetes does not know are left out, and a condition names them', async () => {
  const template = { spec: { dNSPolicy: 'Default', nodeSelector: { pool: 'login' } } };
  await world.put(
    loginSets,
    aLoginSet({ template, login: { bogus: true, env: [{ name: 'A', value: 'b' }] } }),
  );
  const { spec } = (
    await until('a Deployment', () => world.client.find(deployments, { namespace, name: 'login' }))
  ).spec?.template ?? { spec: undefined };
  assert.deepEqual(spec?.nodeSelector, { pool: 'login' }, 'what is known is in effect');
  assert.ok(spec?.containers[0]?.env?.some(({ name }) => name === 'A'));
  const { message } = await world.said(loginSets, 'login', conditionType.degraded, 'FieldIgnored');
  assert.match(message, /\.spec\.template\.spec\.dNSPolicy/);
  assert.match(message, /\.containers\[name="login"\]\.bogus/);
  await world.settled();
  const count = world.writes().length;
  await world.client.mergePatch(
    loginSets,
    { namespace, name: 'login' },
    { metadata: { annotations: { 'kubectl.kubernetes.io/poke': 'now' } } },
  );
  await world.settled();
  assert.deepEqual(world.writes().slice(count), [], 'the same template is not sent again');
});

test('the condition goes with the field', async () => {
  await world.client.mergePatch(
    loginSets,
    { namespace, name: 'login' },
    {
      spec: {
        template: { spec: { dNSPolicy: null, dnsPolicy: 'Default' } },
        login: { bogus: null },
      },
    },
  );
  await until('nothing ignored', async () => {
    const { status } = await world.client.get(loginSets, { namespace, name: 'login' });
    return !JSON.stringify(status).includes('FieldIgnored');
  });
  const { spec } = await world.client.get(deployments, { namespace, name: 'login' });
  assert.equal(spec?.template.spec?.dnsPolicy, 'Default');
});

test('other kinds do the same', async () => {
  await world.put(restApis, aRestApi({ template: { spec: { nodeSelectors: { a: 'b' } } } }));
  await until('a Deployment', () => world.client.find(deployments, { namespace, name: 'slurm-restapi' }));
  const { message } = await world.said(restApis, 'slurm', conditionType.degraded, 'FieldIgnored');
  assert.match(message, /nodeSelectors/);
});
