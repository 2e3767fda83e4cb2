/** Clusters on an embedded API server, with a simulated slurmrestd: the three classes of failure, and how each ends. */
import assert from 'node:assert/strict';
import { after, before as beforeAll, test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { secrets } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import {
  type OperatorWorld,
  type RunningOperator,
  startOperatorWorld,
} from '../../testing/operator-world.ts';
import { clusters, nodeSets } from '../cache/resources.ts';

let world: OperatorWorld;
let operator: RunningOperator;
let slurm: Simulator;
const namespace = 'hpc';

beforeAll(async () => {
  slurm = await startSimulator({ nodes: 'n[0-2]' });
  world = await startOperatorWorld();
  operator = await world.operate();
});
after(async () => {
  await world.stop();
  await slurm.stop();
});

const base64 = (text: string) => Buffer.from(text).toString('base64');
const putToken = (name: string, token: string) => world.putSecret(name, 'SLURM_JWT', token);
const replaceToken = (name: string, token: string) =>
  world.client.mergePatch(secrets, { namespace, name }, { data: { SLURM_JWT: base64(token) } });
const connect = (name: string, server: string) =>
  world.client.create(clusters, {
    apiVersion: clusters.apiVersion,
    kind: 'Cluster',
    metadata: { name, namespace },
    spec: { server, tokenSecretRef: { name } },
  } as never);
const said = (name: string, reason: string) =>
  world.said(clusters, name, conditionType.slurmConnected, reason);
/** When the operator read the Secret of this name. */
const readings = (name: string) =>
  world.server.audit
    .find(
      (entry) =>
        entry.userAgent.startsWith('slurm-operator') &&
        entry.verb === 'get' &&
        entry.resource === 'secrets' &&
        entry.name === name,
    )
    .map(({ time }) => time);

test('transient: nothing listens; it is told, tried again with pauses, and heals when something does', async () => {
  await putToken('late', slurm.token());
  await slurm.refuse();
  await connect('late', slurm.server);
  const told = await said('late', 'ConnectionRefused');
  assert.match(told.message, /nothing listens at http:\/\/127\.0\.0\.1/);
  await until('three tries', async () => readings('late').length >= 3);
  const [first = 0, second = 0, third = 0] = readings('late');
  assert.ok(second - first >= 450 && third - second >= 900, `tried at ${readings('late').join(', ')}`);
  await slurm.listen();
  await said('late', 'Connected');
  await until('its nodes', async () => {
    const { status } = await world.client.get(clusters, { namespace, name: 'late' });
    return status?.isReady === true && status.nodes?.total === 3;
  });
});

test('what else happens in the namespace does not push the next try away: only failures count', async () => {
  await putToken('busy', slurm.token());
  await connect('busy', 'http://127.0.0.1:1');
  await said('busy', 'ConnectionRefused');
  for (let round = 0; round < 12; round += 1) {
    const before = readings('busy').length;
    const spec = { username: `user-${round}` };
    await world.client.mergePatch(clusters, { namespace, name: 'busy' }, { spec });
    await until('a look at the change', async () => readings('busy').length > before);
  }
  // Twelve failures in a row would mean an hour, or the limit; these are the first few seconds of one outage.
  await world.settled();
  const before = readings('busy').length;
  await until('another try without an event', async () => readings('busy').length > before);
});

test('configuration: sends no request until an object changes, then at once', async () => {
  await connect('poor', slurm.server);
  const told = await said('poor', 'SecretNotFound');
  assert.match(told.message, /there is no Secret poor in namespace hpc: create it/);
  await world.settled();
  const before = readings('poor').length;
  await new Promise((resolve) => setTimeout(resolve, 2500));
  assert.equal(readings('poor').length, before, 'asking again would not help');
  await putToken('poor', slurm.token());
  await said('poor', 'Connected');
});

test('authentication: reads the Secret and the token again, once; then with back-off', async () => {
  await putToken('rejected', `${slurm.token()}x`);
  await connect('rejected', slurm.server);
  await said('rejected', 'AuthenticationFailed');
  await until('two tries', async () => readings('rejected').length >= 4);
  const [first = 0, second = 0, third = 0] = readings('rejected');
  assert.ok(third - first >= 450, 'the second try waits');
  assert.ok(second < third, 'and the first reads the Secret twice');
  await replaceToken('rejected', slurm.token());
  await said('rejected', 'Connected');
});

test('connected, the Secret is read again only when it changes, however busy Slurm is', async () => {
  await putToken('calm', slurm.token());
  await connect('calm', slurm.server);
  await said('calm', 'Connected');
  const idle = async () =>
    (await world.client.get(clusters, { namespace, name: 'calm' })).status?.nodes?.idle;
  await until('its nodes', async () => (await idle()) === 3);
  const before = readings('calm').length;
  const asked = () => slurm.requests.filter(({ path }) => path === 'slurm/diag/').length;
  const askedBefore = asked();
  slurm.cluster.runJob(['n0'], { timeLimit: 60 });
  await until('the job in the status', async () => (await idle()) === 2);
  assert.equal(readings('calm').length, before);
  assert.ok(asked() > askedBefore);
  await replaceToken('calm', slurm.token('slurm', 7200));
  await until('the new token to be read', async () => readings('calm').length > before);
  slurm.cluster.finishJob([...slurm.cluster.jobs.keys()].at(-1) ?? 0);
  await world.client.delete(clusters, { namespace, name: 'calm' });
});

test('an expired token is told by its date', async () => {
  await putToken('old', slurm.token('slurm', 1));
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await connect('old', slurm.server);
  const told = await said('old', 'TokenExpired');
  assert.match(told.message, /Secret old expired at \d{4}-/);
});

test('another server replaces the client; deletion forgets it, without a finalizer', async () => {
  await using other = await startSimulator({ nodes: 'm[0-6]' });
  await world.client.mergePatch(clusters, { namespace, name: 'late' }, { spec: { server: other.server } });
  await putToken('other', other.token());
  await world.client.mergePatch(
    clusters,
    { namespace, name: 'late' },
    { spec: { tokenSecretRef: { name: 'other' } } },
  );
  await until('the nodes of the other', async () => {
    const { status } = await world.client.get(clusters, { namespace, name: 'late' });
    return status?.nodes?.total === 7;
  });
  assert.equal(
    operator.debugVars().slurmClients.find(({ cluster }) => cluster === 'hpc/late')?.server,
    other.server,
  );
  await world.client.delete(clusters, { namespace, name: 'late' });
  await until('a forgotten client', async () =>
    operator.debugVars().slurmClients.every(({ cluster }) => cluster !== 'hpc/late'),
  );
});

test('a Cluster that is deleted while no operator runs leaves nothing for the next one', async () => {
  await operator.stop();
  await world.client.delete(clusters, { namespace, name: 'poor' });
  assert.equal(await world.client.find(clusters, { namespace, name: 'poor' }), undefined, 'gone at once');
  operator = await world.operate();
  await until('the others', async () =>
    operator.debugVars().slurmClients.some(({ cluster }) => cluster === 'hpc/rejected'),
  );
  assert.ok(operator.debugVars().slurmClients.every(({ cluster }) => cluster !== 'hpc/poor'));
});

test('an outage of Slurm is told by the watch of its nodes, without waiting for the next ping', async () => {
  slurm.faults.controllerDown = true;
  await said('rejected', 'ControllerUnreachable');
  assert.equal((await world.client.list(nodeSets, { namespace })).items.length, 0);
  slurm.faults.controllerDown = false;
  await said('rejected', 'Connected');
});
