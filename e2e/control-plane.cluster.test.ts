/** The control plane with real daemons on a local cluster: everything Ready, everything answers, nothing is done twice. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before as beforeAll, describe, it } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { pods, type Resource, secrets } from '@slurm-operator/kube';
import { accountings, clusters, controllers, loginSets } from '@slurm-operator/operator';
import { SlurmClient, staticToken } from '@slurm-operator/slurm';
import { ControlPlane } from './src/control-plane/control-plane.ts';
import { Visitor } from './src/control-plane/visitor.ts';
import { needsCluster } from './src/given/given-cluster.ts';
import { namespace } from './src/slurm-stage.ts';
import { until } from './src/until.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

const version = wantedSlurm();

describe(`the control plane with Slurm ${version}`, needsCluster(3), () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await ControlPlane.open({ name: `e2e-control-${process.pid}`, nodes: 3, version });
  });
  after(() => plane?.[Symbol.asyncDispose]());

  const controllerConfig = async () => {
    const { spec } = await plane.stage.client.get(controllers, { namespace, name: 'slurm' });
    return spec.extraConf ?? '';
  };
  const configure = (extraConf: string) => plane.patch(controllers, 'slurm', { spec: { extraConf } });
  const slurmctldPod = () => plane.stage.client.get(pods, { namespace, name: 'slurm-controller-0' });

  it('the six kinds of the control plane become Ready, with workers that NodeSet makes', async () => {
    await plane.prepare();
    await plane.apply();
    await plane.untilReady();
  });

  it('scontrol ping, sinfo and sacctmgr answer', async () => {
    assert.match(await plane.slurmctld('scontrol', 'ping'), /is UP/);
    assert.match(await plane.slurmctld('sinfo', '--noheader', '--format=%T'), /idle/);
    await until('the cluster in accounting', async () =>
      (await plane.slurmctld('sacctmgr', '--noheader', 'show', 'cluster', 'format=cluster')).includes('test'),
    );
  });

  it('a token from the Secret of a Token lists nodes through the Service of the RestApi', async () => {
    const { data } = await plane.stage.client.get(secrets, { namespace, name: 'alice-jwt-alice' });
    const token = Buffer.from(data?.['SLURM_JWT'] ?? '', 'base64').toString();
    using client = new SlurmClient({
      server: await plane.stage.reach('slurm-restapi', 6820),
      token: staticToken(token),
    });
    const nodes = await client.nodes.list();
    assert.deepEqual(nodes.items.map(({ name }) => name).toSorted(), ['compute-0', 'compute-1']);
    using unauthenticated = new SlurmClient({ server: client.server, token: staticToken(`${token}x`) });
    await assert.rejects(unauthenticated.nodes.list(), { code: 'Unauthenticated' });
  });

  it('a user of the directory logs in over ssh and runs a job', async () => {
    const visitor = await Visitor.arrive(plane, version);
    const output = await until('srun over ssh as alice', () =>
      visitor.ssh('alice', 'login', 'id -un && srun --chdir=/tmp hostname'),
    );
    assert.match(output, /^alice\ncompute-[01]\n$/);
    await assert.rejects(visitor.ssh('mallory', 'login', 'true'), /Permission denied/);
  });

  it('a changed configuration is in effect within seconds, with no restart', async () => {
    const before = await slurmctldPod();
    const began = Date.now();
    await configure(`${await controllerConfig()}\nMessageTimeout=33`);
    await until('the new value', async () =>
      /MessageTimeout\s+= 33/.test(await plane.slurmctld('scontrol', 'show', 'config')),
    );
    const seconds = (Date.now() - began) / 1000;
    const later = await slurmctldPod();
    assert.equal(later.metadata.uid, before.metadata.uid);
    assert.equal(later.status?.containerStatuses?.[0]?.restartCount, 0);
    console.log(`in effect after ${seconds.toFixed(1)} s`);
  });

  const broken: Record<string, { readonly lines: string; readonly says: RegExp }> = {
    'an unknown key': { lines: 'NoSuchKey=1', says: /NoSuchKey/ },
    'a partition of unknown nodes': { lines: 'PartitionName=bad Nodes=nowhere', says: /nowhere/ },
    'a partition twice': { lines: 'PartitionName=compute Nodes=ALL', says: /compute/ },
    'a priority plugin that does not exist': {
      lines: 'PriorityType=priority/none_such',
      says: /none_such|priority/,
    },
  };

  for (const [name, { lines, says }] of Object.entries(broken))
    it(`${name} never reaches slurmctld, and the condition says why`, async () => {
      const good = await controllerConfig();
      await configure(`${good}\n${lines}`);
      const told = await plane.says(controllers, 'slurm', {
        type: conditionType.configApplied,
        reason: 'ConfigRejected',
      });
      assert.match(told.message, says);
      assert.equal((await plane.condition(controllers, 'slurm', conditionType.ready))?.status, 'True');
      assert.match(await plane.slurmctld('scontrol', 'ping'), /is UP/);
      await configure(good);
      await plane.says(controllers, 'slurm', { type: conditionType.configApplied, status: 'True' });
      assert.equal((await slurmctldPod()).status?.containerStatuses?.[0]?.restartCount, 0);
    });

  it('another ClusterName is refused in words, and slurmctld keeps its own', async () => {
    const good = await controllerConfig();
    await configure(`${good}\nClusterName=other`);
    const told = await plane.says(controllers, 'slurm', {
      type: conditionType.degraded,
      reason: 'InvalidSpec',
    });
    assert.match(told.message, /line \d+ of extraConf sets ClusterName.*spec\.clusterName/);
    assert.match(await plane.slurmctld('scontrol', 'show', 'config'), /ClusterName\s+= test\n/);
    await configure(good);
    await plane.ready(controllers, 'slurm');
  });

  it('an operator that is killed comes back and changes nothing', async () => {
    // A trial that has served is cleared away at any time.
    const running = async () =>
      (await plane.stage.client.list(pods, { namespace })).items
        .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] !== 'config-check')
        .map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
        .toSorted();
    const before = await running();
    await plane.stage.replaceOperator();
    await plane.ready(clusters, 'slurm');
    assert.deepEqual(await running(), before);
  });

  /** Every part that has keys says that all its daemons have the newest. */
  const keysCurrent = async (): Promise<boolean> => {
    for (const [resource, name] of [
      [controllers, 'slurm'],
      [accountings, 'slurm'],
      [loginSets, 'login'],
    ] as readonly (readonly [Resource, string])[])
      if ((await plane.condition(resource, name, conditionType.keysCurrent))?.status !== 'True') return false;
    return true;
  };

  const ownKey = async (app: string, key: string): Promise<string | undefined> =>
    (await plane.podsOf(app))[0]?.metadata.annotations?.[`slinky.slurm.net/${key}`];

  it('a new slurm.key reaches every daemon, and a job that runs meanwhile completes', async () => {
    const asUser = ['setpriv', '--reuid=alice', '--regid=5001', '--clear-groups'];
    const asAlice = async (...command: string[]) =>
      plane.run(await plane.podOf('login'), 'login', [...asUser, ...command]);
    const job = (await asAlice('sbatch', '--parsable', '--chdir=/tmp', '--wrap', 'sleep 25')).trim();
    const shown = () => plane.slurmctld('scontrol', '--oneliner', 'show', 'job', job);
    const state = async () => /JobState=(\w+)/.exec(await shown())?.[1];
    await until('the job to run', async () => (await state()) === 'RUNNING');
    const name = /BatchHost=(\S+)/.exec(await shown())?.[1] ?? '';
    const worker = await plane.stage.client.get(pods, { namespace, name });
    const old = await ownKey('slurmctld', 'slurm-key-hash');
    await plane.rewrite('keys', { 'slurm.key': randomBytes(512) });
    await until(
      'every daemon on the new key',
      async () =>
        (await ownKey('slurmctld', 'slurm-key-hash')) !== old &&
        (await ownKey('slurmd', 'slurm-key-hash')) === (await ownKey('slurmctld', 'slurm-key-hash')) &&
        keysCurrent(),
    );
    await until('the job to complete', async () => (await state()) === 'COMPLETED');
    const later = await plane.stage.client.find(pods, { namespace, name });
    if (later?.metadata.uid === worker.metadata.uid)
      assert.equal(
        later.status?.containerStatuses?.[0]?.restartCount,
        0,
        'slurmd reads it without a restart',
      );
    await plane.untilReady();
    await until('a job from the new login node', async () =>
      (await asAlice('srun', '--chdir=/tmp', 'hostname')).includes('compute-'),
    );
    await until('accounting', async () =>
      (await plane.slurmctld('sacctmgr', '--noheader', 'show', 'cluster', 'format=cluster')).includes('test'),
    );
  });

  it('a new jwt.key reaches slurmctld, slurmdbd, the operator and every Token', async () => {
    const old = await ownKey('slurmctld', 'jwt-key-hash');
    const tokenNow = async () =>
      (await plane.stage.client.get(secrets, { namespace, name: 'alice-jwt-alice' })).data?.['SLURM_JWT'];
    const before = await tokenNow();
    await plane.rewrite('keys', { 'jwt.key': randomBytes(32) });
    await until(
      'the new key in use',
      async () =>
        (await ownKey('slurmctld', 'jwt-key-hash')) !== old &&
        (await ownKey('slurmdbd', 'jwt-key-hash')) === (await ownKey('slurmctld', 'jwt-key-hash')) &&
        (await tokenNow()) !== before &&
        keysCurrent(),
    );
    await plane.untilReady();
    const server = `http://${await plane.addressOf('slurm-restapi')}:6820`;
    const token = Buffer.from((await tokenNow()) ?? '', 'base64').toString();
    using client = new SlurmClient({ server, token: staticToken(token) });
    await until('nodes through the new token', async () => (await client.nodes.list()).items.length === 2);
  });

  it('a new password of the database reaches slurmdbd', async () => {
    await plane.rewrite('mariadb', { password: 'another "one' });
    const told = await plane.says(accountings, 'slurm', {
      type: conditionType.ready,
      status: 'False',
      reason: 'InvalidSpec',
    });
    assert.doesNotMatch(told.message, /another/, 'a password is not repeated');
    await plane.rewrite('mariadb', { password: 'another one' });
    for (const { metadata } of await plane.podsOf('mariadb'))
      await plane.stage.client.delete(pods, { namespace, name: metadata.name }, { gracePeriodSeconds: 1 });
    await plane.ready(accountings, 'slurm');
    await until('accounting', async () =>
      (await plane.slurmctld('sacctmgr', '--noheader', 'show', 'cluster', 'format=cluster')).includes('test'),
    );
  });
});
