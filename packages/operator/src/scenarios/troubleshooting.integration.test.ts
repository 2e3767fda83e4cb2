/**
 * What users struggled with, made to happen: slurmrestd gone, a network that swallows packets, a wrong key, a slurmctld that is down,
 * and the questions that people ask. Each is reported by a condition with a reason of docs/troubleshooting.md, and recovers on its own.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { startApiServer } from '@slurm-operator/apiserver';
import { pods, secrets, services } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { signJwt } from '@slurm-operator/slurm';
import { type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import { aCluster, aController, aNodeSet, aRestApi, aToken } from '../../testing/objects.ts';
import {
  type OperatorWorld,
  type RunningOperator,
  startOperatorWorld,
} from '../../testing/operator-world.ts';
import { loopbackServices, SlurmBehindService } from '../../testing/slurm-behind-service.ts';
import { clusters, controllers, nodeSets, restApis, tokens } from '../cache/resources.ts';

const namespace = 'hpc';
let world: OperatorWorld;
let operator: RunningOperator;
let slurm: Simulator;
let proxy: SlurmBehindService;

const data = (key: string, value: string | Buffer) => ({ [key]: Buffer.from(value).toString('base64') });

const cluster = () => world.client.get(clusters, { namespace, name: 'slurm' });
const healed = async () => {
  await world.said(clusters, 'slurm', conditionType.ready, 'Ready');
  assert.equal((await cluster()).status?.isReady, true);
};

before(async () => {
  const server = await startApiServer({ serviceNetwork: loopbackServices });
  world = await startOperatorWorld(undefined, { server, stop: () => server.stop() });
  slurm = await startSimulator({ nodes: 'compute-0' });
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', slurm.jwtKey);
  await world.put(controllers, aController());
  await world.put(restApis, aRestApi());
  await world.put(nodeSets, aNodeSet());
  operator = await world.operate({
    reachBy: 'address',
    // As impatient as a test must be: what is said is the same.
    slurm: { requestTimeoutMs: 700, backoff: { initial: 100, limit: 500 }, pollPeriodMs: 200 },
  });
  const service = await until('the Service of slurmrestd', () =>
    world.client.find(services, { namespace, name: 'slurm-restapi' }),
  );
  proxy = await SlurmBehindService.open(service, slurm);
  await healed();
});

after(async () => {
  await world.stop();
  await proxy[Symbol.asyncDispose]();
  await slurm.stop();
});

test('READY is false: slurmrestd is gone, and the Cluster names its address and what to look at', async () => {
  const { spec } = await world.client.get(services, { namespace, name: 'slurm-restapi' });
  await proxy[Symbol.asyncDispose]();
  const ready = await world.said(clusters, 'slurm', conditionType.ready, 'ConnectionRefused');
  assert.equal(ready.status, 'False');
  assert.match(ready.message, new RegExp(`nothing listens at http://${spec?.clusterIP}:6820`));
  assert.match(ready.message, /pods of slurmrestd/);
  assert.equal((await cluster()).status?.isReady, false, 'the READY column');
  const connected = await world.said(controllers, 'slurm', conditionType.slurmConnected, 'ConnectionRefused');
  assert.equal(connected.message, ready.message, 'the Controller says the same');
  proxy = await SlurmBehindService.open({ spec }, slurm);
  await healed();
});

test('timeouts: packets vanish, and the Cluster suspects a NetworkPolicy', async () => {
  slurm.faults.halfOpen = true;
  const ready = await world.said(clusters, 'slurm', conditionType.ready, 'ConnectionTimeout');
  assert.match(ready.message, /does not respond in time.*NetworkPolicy/);
  slurm.faults.halfOpen = false;
  await healed();
});

test('authentication fails: the key in the Secret is not Slurm’s, and putting it right is enough', async () => {
  const ref = { namespace, name: 'slurm-jwt' };
  const wrong = data('jwt.key', 'w'.repeat(32));
  await world.client.mergePatch(secrets, ref, { data: wrong });
  const ready = await world.said(clusters, 'slurm', conditionType.ready, 'AuthenticationFailed');
  assert.match(ready.message, /refuses the token of the operator.*JWT key of the Controller/);
  assert.doesNotMatch(ready.message, /www|eyJ/, 'no key, no token');
  await world.client.mergePatch(secrets, ref, { data: data('jwt.key', slurm.jwtKey) });
  await healed();
});

test('node states are out of sync: while Slurm is unknown the NodeSet says so and keeps its workers', async () => {
  const workers = (await world.client.list(pods, { namespace })).items.map(({ metadata }) => metadata.uid);
  slurm.faults.controllerDown = true;
  const down = await world.said(clusters, 'slurm', conditionType.ready, 'ControllerUnreachable');
  assert.match(down.message, /slurmrestd at .* responds, but slurmctld does not/);
  const unknown = await world.said(nodeSets, 'compute', conditionType.ready, 'SlurmUnknown');
  assert.equal(unknown.status, 'Unknown');
  assert.match(unknown.message, /No pods are deleted until Slurm responds; check the Cluster/);
  assert.deepEqual(
    (await world.client.list(pods, { namespace })).items.map(({ metadata }) => metadata.uid),
    workers,
  );
  slurm.faults.controllerDown = false;
  await healed();
  await world.said(nodeSets, 'compute', conditionType.ready, 'PodsNotReady');
});

test('Q1, does the REST API work? Slurm answers 401 to who has no token, and the Cluster says that it answers us', async () => {
  const { status } = await fetch(`${slurm.server}/slurm/v0.0.45/ping`);
  assert.equal(status, 401);
  const ready = await world.said(clusters, 'slurm', conditionType.ready, 'Ready');
  assert.match(ready.message, /responds and accepts the token of the operator/);
  await world.said(restApis, 'slurm', conditionType.ready, 'Starting');
});

test('Q2, a token is refused: a deleted Secret comes back with a good one, an expired one is named', async () => {
  await world.put(
    tokens,
    aToken({ username: 'admin', secretRef: { name: 'admin-jwt', key: 'SLURM_JWT' } }, { name: 'admin' }),
  );
  const ref = { namespace, name: 'admin-jwt' };
  const first = await until('a token', () => world.client.find(secrets, ref));
  await world.client.delete(secrets, ref);
  await until('another token', async () => {
    const found = await world.client.find(secrets, ref);
    return found !== undefined && found.metadata.uid !== first.metadata.uid;
  });
  const token = await world.said(tokens, 'admin', conditionType.ready, 'Ready');
  assert.match(token.message, /Secret admin-jwt contains a token for admin/);

  const anHourAgo = Date.now() - 3_600_000;
  const old = signJwt({ key: slurm.jwtKey, user: 'slurm', lifetimeSeconds: 60, now: anHourAgo });
  await world.putSecret('old-token', 'SLURM_JWT', old);
  await world.put(
    clusters,
    aCluster({ server: slurm.server, tokenSecretRef: { name: 'old-token' } }, { name: 'elsewhere' }),
  );
  const expired = await world.said(clusters, 'elsewhere', conditionType.ready, 'TokenExpired');
  assert.match(expired.message, /token in Secret old-token expired at .*write a new token into it/);
  await world.client.mergePatch(
    secrets,
    { namespace, name: 'old-token' },
    { data: data('SLURM_JWT', slurm.token()) },
  );
  await world.said(clusters, 'elsewhere', conditionType.ready, 'Ready');
});

test('Q3, access from outside: a Service that a user made a LoadBalancer stays one', async () => {
  const ref = { namespace, name: 'slurm-restapi' };
  await world.client.mergePatch(services, ref, { spec: { type: 'LoadBalancer' } });
  await world.client.mergePatch(restApis, { namespace, name: 'slurm' }, { spec: { replicas: 2 } });
  await world.settled();
  assert.equal((await world.client.get(services, ref)).spec?.type, 'LoadBalancer');
});

test('Q4, 404 or nothing: a version that this Slurm does not serve is 404, and the Cluster says which it does', async () => {
  const headers = { 'X-SLURM-USER-TOKEN': slurm.token() };
  assert.equal((await fetch(`${slurm.server}/slurm/v0.0.41/nodes`, { headers })).status, 404);
  const { status } = await cluster();
  assert.equal(status?.apiVersion, 'v0.0.45');
  assert.match(status?.slurmVersion ?? '', /^26\.05/);
  const served = await fetch(`${slurm.server}/slurm/${status?.apiVersion}/nodes/`, { headers });
  assert.equal(served.status, 200);
});

test('Q5, what is the operator’s client doing? /debug/vars tells, without secrets', () => {
  const [client] = operator.debugVars().slurmClients.filter((one) => one.cluster === 'hpc/slurm');
  assert.deepEqual([client?.circuit, client?.nodes], ['closed', 1]);
  const text = JSON.stringify(operator.debugVars());
  for (const hidden of [slurm.jwtKey.toString(), slurm.jwtKey.toString('base64'), 'eyJ'])
    assert.equal(text.includes(hidden), false);
});
