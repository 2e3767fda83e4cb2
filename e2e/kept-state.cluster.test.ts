/** A chart that is rolled back, uninstalled and installed again with the keys, the state and the database that it left: with real daemons. */
import assert from 'node:assert/strict';
import { after, before as beforeAll, describe, it } from 'node:test';
import { installSlurm, smallMachine } from '@slurm-operator/demo/install';
import { deployments, pods, secrets, services, statefulSets } from '@slurm-operator/kube';
import { clusters } from '@slurm-operator/operator';
import { installMariadb, installOperator, needsCluster } from './src/given/given-cluster.ts';
import { HelmStage } from './src/helm/helm-stage.ts';
import { until, untilAllReady } from './src/until.ts';

const namespace = 'slurm';
const token = { namespace, name: 'tester-token' };
const keys = ['slurm-auth-jwt', 'slurm-auth-slurm'];

describe('a cluster that is installed again', {
  ...needsCluster(2),
  concurrency: false,
  timeout: 1_200_000,
}, () => {
  let stage: HelmStage;

  const values = (replicas: number) => ({
    ...smallMachine,
    ...stage.images,
    controller: {
      ...smallMachine.controller,
      persistence: { resources: { requests: { storage: '1Gi' } } },
    },
    jwtKey: { annotations: { 'slinky.slurm.net/token-users': 'root' } },
    accounting: { enabled: true },
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
    stage = await HelmStage.open({ name: `kept-state-${process.pid}`, nodes: 2 });
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

  // docs/known-issues.md: "A cluster that is installed again may lose jobs that wait".
  const onRequest =
    process.env['KEPT_STATE'] === undefined &&
    'not run: it fails now and then, because of a known issue; KEPT_STATE=yes make test ONLY=e2e/kept-state TIER=cluster';

  it('has its keys, its jobs, its partition and its accounting when it is installed again', {
    skip: onRequest,
  }, async () => {
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
    const rest = await stage.rest('slurm', token, 'v0.0.45');
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

  /** What slurmrestd answers to a token. */
  const signedBy = async (value: string): Promise<number> => {
    await using forwarded = await stage.kubectl.forward(namespace, 'service/slurm-restapi', 6820);
    const { status } = await fetch(`http://127.0.0.1:${forwarded.port}/slurm/v0.0.45/nodes`, {
      headers: { 'X-SLURM-USER-TOKEN': value },
      signal: AbortSignal.timeout(60_000),
    });
    return status;
  };
});
