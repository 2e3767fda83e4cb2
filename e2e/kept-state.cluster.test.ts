/** A chart that is rolled back, uninstalled and installed again with the keys, the state and the database that it left: with real daemons. `SLURM=24.11` chooses the release. */
import assert from 'node:assert/strict';
import { after, before as beforeAll, describe, it } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { installSlurm, smallMachine } from '@slurm-operator/demo/install';
import { deployments, type Live, pods, secrets, services, statefulSets } from '@slurm-operator/kube';
import { clusters, controllers, nodeSets } from '@slurm-operator/operator';
import { installMariadb, installOperator, needsCluster } from './src/given/given-cluster.ts';
import { HelmStage } from './src/helm/helm-stage.ts';
import { until, untilAllReady, untilCondition, untilReady } from './src/until.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

const version = wantedSlurm();
const restVersion = version === '24.11' ? 'v0.0.41' : 'v0.0.45';
const namespace = 'slurm';
const token = { namespace, name: 'tester-token' };
const keys = ['slurm-auth-jwt', 'slurm-auth-slurm'];

/** As a tool applies it. */
const asWritten = ({ apiVersion, kind, metadata, spec }: Live & { readonly spec?: unknown }) => {
  const { name, labels, annotations } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec };
};

describe('a cluster that is installed again', {
  ...needsCluster(2),
  concurrency: false,
  timeout: 1_200_000,
}, () => {
  let stage: HelmStage;

  const imageOf = (part: string): object => (stage.images as Record<string, object>)[part] ?? {};
  const values = (replicas: number) => ({
    ...smallMachine,
    ...stage.images,
    controller: {
      ...smallMachine.controller,
      ...imageOf('controller'),
      persistence: { resources: { requests: { storage: '1Gi' } } },
    },
    jwtKey: { annotations: { 'slinky.slurm.net/token-users': 'root' } },
    accounting: { ...imageOf('accounting'), enabled: true },
    nodesets: {
      compute: {
        replicas,
        extraConfMap: { CPUs: 4 },
        partition: { enabled: true, configMap: { Default: true } },
      },
    },
    extraObjects: [
      {
        apiVersion: 'slinky.slurm.net/v1beta1',
        kind: 'Token',
        metadata: { name: 'tester', namespace },
        spec: {
          username: 'root',
          lifetime: '1h',
          jwtKeyRef: { name: 'slurm-auth-jwt', key: 'jwt.key' },
          secretRef: { name: token.name, key: 'SLURM_JWT' },
        },
      },
    ],
  });
  const install = async (replicas: number) => {
    await installSlurm(stage.helm, { release: 'slurm', namespace, values: values(replicas) });
    await untilAllReady(stage.client, namespace, { timeoutMs: 400_000 });
  };
  const slurm = async (...command: string[]) =>
    (
      await stage.kubectl.say(
        '-n',
        namespace,
        'exec',
        'slurm-controller-0',
        '-c',
        'slurmctld',
        '--',
        ...command,
      )
    ).trim();
  const submit = (...options: string[]) =>
    slurm('sbatch', '--parsable', '--chdir=/tmp', '--output=/dev/null', ...options);
  const job = (id: string) => slurm('scontrol', '--oneliner', 'show', 'job', id);
  const untilState = (id: string, state: string) =>
    until(`job ${id} is ${state}`, async () => (await job(id)).includes(`JobState=${state}`));
  const workers = async () =>
    (await stage.pods(namespace, 'slurmd'))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
      .toSorted();
  const keyData = async () =>
    Promise.all(keys.map(async (name) => (await stage.client.get(secrets, { namespace, name })).data));
  /** As slurmdbd has it, whatever slurmctld remembers. */
  const accounted = (id: string) =>
    slurm(
      'sacct',
      '--noheader',
      '--parsable2',
      '--allocations',
      `--jobs=${id}`,
      '--format=jobid,partition,state',
    );

  beforeAll(async () => {
    stage = await HelmStage.open({ name: `kept-state-${process.pid}`, nodes: 2, version });
    await installOperator(stage.helm);
    await installMariadb(stage.kubectl, namespace, 'a password');
    await install(1);
  });
  after(() => stage?.[Symbol.asyncDispose]());

  it('is rolled back under a running job: the worker that was added is removed, and the job runs on', async () => {
    const before = await workers();
    const id = await submit('--wrap=until [ -e /tmp/rolled-back ]; do sleep 0.5; done');
    await untilState(id, 'RUNNING');
    await install(2);
    assert.equal((await workers()).length, 2);
    await stage.helm.run(['rollback', 'slurm', '1', '--namespace', namespace]);
    await until('one worker is left', async () => (await workers()).length === 1);
    await untilAllReady(stage.client, namespace, { timeoutMs: 400_000 });
    assert.deepEqual(await workers(), before);
    assert.match(await job(id), /JobState=RUNNING .*Restarts=0/);
    const worker = ['-n', namespace, 'exec', 'slurm-worker-compute-0', '-c', 'slurmd', '--'];
    await stage.kubectl.say(...worker, 'touch', '/tmp/rolled-back');
    await untilState(id, 'COMPLETED');
  });

  it('has its keys, its jobs, its partition and its accounting when it is installed again', async () => {
    const ended = await submit('--wrap=true');
    await untilState(ended, 'COMPLETED');
    await until('slurmdbd knows it', async () => (await accounted(ended)) === `${ended}|compute|COMPLETED`);
    const waiting = await submit('--hold', '--wrap=true');
    const [keysBefore, tokenBefore] = [await keyData(), await stage.token(token)];

    await stage.helm.run(['uninstall', 'slurm', '--namespace', namespace, '--wait', '--timeout', '6m']);
    await until('nothing of it runs', async () => {
      const left = [
        ...(await stage.names(pods, namespace)),
        ...(await stage.names(statefulSets, namespace)),
        ...(await stage.names(deployments, namespace)),
        ...(await stage.names(services, namespace)),
        ...(await stage.names(clusters, namespace)),
      ];
      return left.every((name) => name.startsWith('mariadb'));
    });
    await install(1);

    assert.deepEqual(await keyData(), keysBefore);
    const rest = await stage.rest('slurm', token, restVersion);
    await rest.ask('GET', 'nodes');
    assert.equal(await slurm('sinfo', '--noheader', '--format=%P %a'), 'compute* up');
    assert.equal(await accounted(ended), `${ended}|compute|COMPLETED`);
    assert.match(await job(waiting), /JobState=PENDING .*Restarts=0 .*Partition=compute /);
    const next = await submit('--wrap=true');
    assert.ok(Number(next) > Number(waiting), `job ${next} has a number of its own`);
    await untilState(next, 'COMPLETED');
    await slurm('scontrol', 'release', waiting);
    await untilState(waiting, 'COMPLETED');
    assert.equal(await signedBy(tokenBefore), 200, 'a token that was signed before is still good');
  });

  it('keeps a waiting job whose Controller comes back long before the NodeSet', async () => {
    const [controllerRef, nodeSetRef] = [
      { namespace, name: 'slurm' },
      { namespace, name: 'slurm-worker-compute' },
    ];
    const waiting = await submit('--hold', '--wrap=true');
    const controller = asWritten(await stage.client.get(controllers, controllerRef));
    const nodeSet = asWritten(await stage.client.get(nodeSets, nodeSetRef));
    await stage.client.delete(controllers, controllerRef);
    await stage.client.delete(nodeSets, nodeSetRef);
    await until('slurmctld and the worker are gone', async () => {
      const left = [
        ...(await stage.names(pods, namespace)),
        ...(await stage.names(statefulSets, namespace)),
        ...(await stage.names(nodeSets, namespace)),
        ...(await stage.names(clusters, namespace)),
      ];
      return !left.some((name) => /^slurm(-controller|-worker|$)/.test(name));
    });

    await stage.client.create(controllers, controller as never);
    const held = await untilCondition(stage.client, controllers, controllerRef, {
      type: conditionType.configApplied,
      reason: 'ConfigHeld',
    });
    assert.match(held.message, /Partition compute stays/);
    await untilReady(stage.client, controllers, controllerRef);
    assert.match(await job(waiting), /JobState=PENDING .*Restarts=0 .*Partition=compute /);
    assert.match(await slurm('sinfo', '--noheader', '--format=%P %a'), /^compute drain/);

    await stage.client.create(nodeSets, nodeSet as never);
    await untilAllReady(stage.client, namespace, { timeoutMs: 400_000 });
    await until(
      'the partition is open',
      async () => (await slurm('sinfo', '--noheader', '--format=%P %a')) === 'compute* up',
    );
    await slurm('scontrol', 'release', waiting);
    await untilState(waiting, 'COMPLETED');
  });

  /** What slurmrestd answers to a token. */
  const signedBy = async (value: string): Promise<number> => {
    await using forwarded = await stage.kubectl.forward(namespace, 'service/slurm-restapi', 6820);
    const { status } = await fetch(`http://127.0.0.1:${forwarded.port}/slurm/${restVersion}/nodes`, {
      headers: { 'X-SLURM-USER-TOKEN': value },
      signal: AbortSignal.timeout(60_000),
    });
    return status;
  };
});
