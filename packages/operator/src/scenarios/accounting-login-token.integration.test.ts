/** Accounting, Token and LoginSet on an embedded API server. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { deployments, secrets, services, statefulSets } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController, aLoginSet, anAccounting, aToken } from '../../testing/objects.ts';
import { type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { accountings, controllers, loginSets, tokens } from '../cache/resources.ts';
import { allowedUsersAnnotation, readToken } from '../kinds/token/renewal.ts';

const namespace = 'hpc';
const key = Buffer.alloc(64, 7);
let world: OperatorWorld;

before(async () => {
  world = await startOperatorWorld();
  await world.operate();
  await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
  await world.putSecret('slurm-jwt', 'jwt.key', key);
  await world.put(controllers, aController());
});
after(() => world.stop());

const valueOf = async (name: string, field: string) => {
  const secret = await world.client.find(secrets, { namespace, name });
  const data = secret?.data?.[field];
  return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8');
};

test('an Accounting waits for its password, and says so', async () => {
  await world.put(accountings, anAccounting());
  const ready = await world.said(accountings, 'slurm', conditionType.ready, 'SecretNotFound');
  assert.match(ready.message, /storageConfig\.passwordKeyRef\.name is "mariadb"/);
  assert.ok(await world.client.find(services, { namespace, name: 'slurm-accounting' }));
});

test('with it, slurmdbd gets a configuration and a pod; a new password makes both new (upstream weakness 18)', async () => {
  await world.putSecret('mariadb', 'password', 'first');
  await until('slurmdbd.conf', async () =>
    (await valueOf('slurm-accounting', 'slurmdbd.conf'))?.includes('StoragePass="first"'),
  );
  const set = () => world.client.find(statefulSets, { namespace, name: 'slurm-accounting' });
  const hash = (object: Awaited<ReturnType<typeof set>>) =>
    object?.spec?.template.metadata?.annotations?.['slinky.slurm.net/slurmdbd-conf-hash'];
  const first = await until('a StatefulSet', async () => hash(await set()));
  await world.client.mergePatch(
    secrets,
    { namespace, name: 'mariadb' },
    { data: { password: Buffer.from('second').toString('base64') } },
  );
  await until('another hash', async () => hash(await set()) !== first);
  assert.match((await valueOf('slurm-accounting', 'slurmdbd.conf')) ?? '', /StoragePass="second"/);
  await world.said(accountings, 'slurm', conditionType.databaseReachable, 'Starting');
});

test('an external Accounting starts nothing and is ready', async () => {
  const spec = {
    external: true,
    externalConfig: { host: 'dbd.example.com', port: 6819 },
    storageConfig: undefined,
  };
  await world.put(accountings, anAccounting(spec, { name: 'elsewhere' }));
  await world.said(accountings, 'elsewhere', conditionType.ready, 'External');
  assert.equal(await world.client.find(statefulSets, { namespace, name: 'elsewhere-accounting' }), undefined);
});

test('a Token gets a token, in a Secret that goes with it', async () => {
  await world.put(tokens, aToken());
  const token = await until('a token', () => valueOf('alice-jwt-alice', 'SLURM_JWT'));
  assert.equal(readToken(token, key)?.username, 'alice');
  const secret = await world.client.get(secrets, { namespace, name: 'alice-jwt-alice' });
  assert.equal(
    secret.metadata.ownerReferences?.[0]?.kind,
    'Token',
    'not the key’s Secret (upstream weakness 16)',
  );
  const object = await until('issuedAt', async () => {
    const found = await world.client.get(tokens, { namespace, name: 'alice' });
    return found.status?.issuedAt === undefined ? undefined : found;
  });
  assert.equal(object.status?.secretName, 'alice-jwt-alice');
  await world.said(tokens, 'alice', conditionType.ready, 'Ready');
});

test('a deleted Secret is made again, and a new signing key makes a new token (upstream weakness 16)', async () => {
  await world.client.delete(secrets, { namespace, name: 'alice-jwt-alice' });
  await until('the token again', () => valueOf('alice-jwt-alice', 'SLURM_JWT'));
  const other = Buffer.alloc(64, 9);
  await world.client.mergePatch(
    secrets,
    { namespace, name: 'slurm-jwt' },
    { data: { 'jwt.key': other.toString('base64') } },
  );
  await until('a token of the new key', async () => {
    const token = await valueOf('alice-jwt-alice', 'SLURM_JWT');
    return token !== undefined && readToken(token, other) !== undefined;
  });
});

test('a token made once cannot change, and still follows its key', async () => {
  await world.put(tokens, aToken({ refresh: false }, { name: 'once' }));
  const secret = await until('the Secret', () =>
    world.client.find(secrets, { namespace, name: 'once-jwt-alice' }),
  );
  assert.equal(secret.immutable, true);
  const third = Buffer.alloc(64, 3);
  await world.client.mergePatch(
    secrets,
    { namespace, name: 'slurm-jwt' },
    { data: { 'jwt.key': third.toString('base64') } },
  );
  await until('another token', async () => {
    const token = await valueOf('once-jwt-alice', 'SLURM_JWT');
    return token !== undefined && readToken(token, third) !== undefined;
  });
});

test('a Token for root or slurm is refused unless the Secret of the key allows the user', async () => {
  await world.put(tokens, aToken({ username: 'slurm' }, { name: 'admin' }));
  const ready = await world.said(tokens, 'admin', conditionType.ready, 'UserNotAllowed');
  assert.match(ready.message, /annotate Secret slurm-jwt/);
  assert.equal(await valueOf('admin-jwt-slurm', 'SLURM_JWT'), undefined);
  await world.client.mergePatch(
    secrets,
    { namespace, name: 'slurm-jwt' },
    { metadata: { annotations: { [allowedUsersAnnotation]: 'slurm' } } },
  );
  await until('a token with consent', () => valueOf('admin-jwt-slurm', 'SLURM_JWT'));
});

test('an existing Secret is not filled, regardless of its owner', async () => {
  await world.put(tokens, aToken({ secretRef: { name: 'slurm-auth', key: 'slurm.key' } }, { name: 'thief' }));
  await world.said(tokens, 'thief', conditionType.ready, 'NameConflict');
  assert.equal(await valueOf('slurm-auth', 'slurm.key'), 'k'.repeat(64));
});

test('a key that is too short, and one of no Controller, are named', async () => {
  await world.putSecret('short', 'k', 'too short');
  await world.put(tokens, aToken({ jwtKeyRef: { name: 'short', key: 'k' } }, { name: 'short' }));
  const short = await world.said(tokens, 'short', conditionType.ready, 'InvalidKey');
  assert.match(short.message, /9 bytes.*at least 32/);
  assert.doesNotMatch(short.message, /too short/);
  await world.putSecret('unrelated', 'k', 's'.repeat(40));
  await world.put(tokens, aToken({ jwtKeyRef: { name: 'unrelated', key: 'k' } }, { name: 'unrelated' }));
  await world.said(tokens, 'unrelated', conditionType.ready, 'Ready');
  await world.said(tokens, 'unrelated', conditionType.degraded, 'InvalidKey');
});

test('login nodes get their host keys once, and keep them whatever changes (upstream weakness 36)', async () => {
  await world.put(loginSets, aLoginSet());
  const missing = await world.said(loginSets, 'login', conditionType.ready, 'SecretNotFound');
  assert.match(missing.message, /sssdConfRef\.name is "sssd"/);
  await world.putSecret('sssd', 'sssd.conf', '[sssd]');
  const deployment = () => world.client.find(deployments, { namespace, name: 'login' });
  await until('a Deployment', deployment);
  const keys = () => valueOf('login-ssh-host-keys', 'ssh_host_ed25519_key');
  const first = await keys();
  assert.match(first ?? '', /BEGIN OPENSSH PRIVATE KEY/);
  await world.client.mergePatch(
    loginSets,
    { namespace, name: 'login' },
    { spec: { replicas: 2, extraSshdConfig: 'X11Forwarding no' } },
  );
  await until('two replicas', async () => (await deployment())?.spec?.replicas === 2);
  assert.equal(await keys(), first);
  const scaled = await until('a selector for autoscalers', async () => {
    const found = await world.client.get(loginSets, { namespace, name: 'login' });
    return found.status?.selector === '' ? undefined : found.status?.selector;
  });
  assert.equal(scaled, 'app.kubernetes.io/name=login,app.kubernetes.io/instance=login');
});

test('a changed sssd.conf replaces the login nodes', async () => {
  const hash = async () => {
    const found = await world.client.get(deployments, { namespace, name: 'login' });
    return found.spec?.template.metadata?.annotations?.['slinky.slurm.net/sssd-conf-hash'];
  };
  const first = await hash();
  await world.client.mergePatch(
    secrets,
    { namespace, name: 'sssd' },
    { data: { 'sssd.conf': Buffer.from('[other]').toString('base64') } },
  );
  await until('another hash', async () => (await hash()) !== first);
});

test('the strategy of login nodes may change, and change back, although Kubernetes fills in the first', async () => {
  const strategy = async () =>
    (await world.client.get(deployments, { namespace, name: 'login' })).spec?.strategy;
  const change = (wanted: object | null) =>
    world.client.mergePatch(loginSets, { namespace, name: 'login' }, { spec: { strategy: wanted } });
  assert.ok((await strategy())?.rollingUpdate, 'filled in by Kubernetes, not set by the operator');
  await change({ type: 'Recreate' });
  await until('Recreate', async () => (await strategy())?.type === 'Recreate');
  assert.deepEqual(await strategy(), { type: 'Recreate' });
  await change(null);
  await until('RollingUpdate', async () => (await strategy())?.type === 'RollingUpdate');
  assert.ok((await strategy())?.rollingUpdate);
});

test('nothing of this is written twice', async () => {
  await world.settled();
  const count = world.writes().length;
  const poke = { metadata: { annotations: { 'kubectl.kubernetes.io/poke': 'now' } } };
  await world.client.mergePatch(accountings, { namespace, name: 'slurm' }, poke);
  await world.client.mergePatch(loginSets, { namespace, name: 'login' }, poke);
  await world.client.mergePatch(tokens, { namespace, name: 'alice' }, poke);
  await world.settled();
  const writes = world.writes().slice(count);
  assert.deepEqual(
    writes.map(({ verb, resource, subresource, name }) => `${verb} ${resource}/${subresource} ${name}`),
    [],
  );
});
